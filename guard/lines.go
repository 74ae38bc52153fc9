package guard

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"crosstalk/internal/visible"
)

// longestText is the longest text, or line of JSON, that is checked, in bytes.
const longestText = 16 << 20

// byteOrderMark begins files of some Windows programs. It is no part of their text.
var byteOrderMark = []byte("\ufeff")

// UncheckedError says that most texts had no language that they could be checked by: the user's could not be told. The
// responses are written.
type UncheckedError struct{ N, Of int }

func (e *UncheckedError) Error() string {
	return fmt.Sprintf("most answers were not checked: the user's language cannot be told for %d of %d", e.N, e.Of)
}

// CheckLines reads requests as JSON Lines, of at most 16 MB each, and writes a Response for each. Errors name the line
// of the file called name; the responses before it are written. Only an *UncheckedError comes after all of them.
func (k Checker) CheckLines(w io.Writer, r io.Reader, name string) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longestText)
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	n, checked, unchecked := 0, 0, 0
	for lines.Scan() {
		n++
		line := lines.Bytes()
		if n == 1 {
			line = bytes.TrimPrefix(line, byteOrderMark)
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		request, err := ParseRequest(line, "")
		if err != nil {
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
		response, err := request.Check(k)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", name, n, err)
		}
		if err := out.Encode(response); err != nil {
			return err
		}
		if response.Expected == "" {
			unchecked++
		} else {
			checked++
		}
	}
	if err := lines.Err(); err == bufio.ErrTooLong {
		return fmt.Errorf("%s:%d: longer than %d MB", name, n+1, longestText>>20)
	} else if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if unchecked > checked {
		return &UncheckedError{unchecked, unchecked + checked}
	}
	return nil
}

// CheckText reads a text of at most 16 MB that should be in a language. It writes the text with its foreign parts in
// brackets, and the verdict. What it writes cannot control a terminal.
func (k Checker) CheckText(w io.Writer, r io.Reader, name, language string) error {
	data, err := io.ReadAll(io.LimitReader(r, longestText+1))
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if len(data) > longestText {
		return fmt.Errorf("%s: longer than %d MB", name, longestText>>20)
	}
	text := strings.ReplaceAll(string(bytes.TrimPrefix(data, byteOrderMark)), "\r\n", "\n")
	j, err := k.Check(text, language)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, j.marked(text)+"\n"+j.summary()+"\n")
	return err
}

// marked returns a text with its foreign parts in brackets that name their language.
func (j Judgement) marked(text string) string {
	var b strings.Builder
	at := 0
	for _, s := range j.Spans {
		if s.Excuse != "" || s.Start < at {
			continue
		}
		b.WriteString(visible.Text(text[at:s.Start]))
		fmt.Fprintf(&b, "[%s: %s]", s.Language, visible.Text(text[s.Start:s.End]))
		at = s.End
	}
	b.WriteString(visible.Text(text[at:]))
	if !strings.HasSuffix(b.String(), "\n") {
		b.WriteByte('\n')
	}
	return b.String()
}

// Count returns the number of spans of a kind, Line or Word, without an excuse.
func (j Judgement) Count(kind string) (n int) {
	for _, s := range j.Spans {
		if s.Excuse == "" && s.Kind == kind {
			n++
		}
	}
	return n
}

// summary is the verdict in a line.
func (j Judgement) summary() string {
	switch j.Verdict {
	case CannotTell:
		return "cannot tell: too little to judge by"
	case Right:
		return fmt.Sprintf("right (p %.2f, judged: %s)", j.P, j.Judged)
	}
	var parts []string
	if n := j.Count(Line); n > 0 {
		parts = append(parts, fmt.Sprintf("lines: %d", n))
	}
	if n := j.Count(Word); n > 0 {
		parts = append(parts, fmt.Sprintf("runs of words: %d", n))
	}
	return fmt.Sprintf("wrong (p %.2f, judged: %s); in another language: %s", j.P, j.Judged, strings.Join(parts, ", "))
}
