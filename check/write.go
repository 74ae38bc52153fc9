package check

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/guard"
	"crosstalk/internal/visible"
)

// writer writes verdicts and findings in a format.
type writer struct {
	w        io.Writer
	note     func(string)
	format   string
	accepted map[string]bool // keys of findings, whether they were found
	result   *Result
	files    int             // of prose or messages
	with     map[string]bool // files and answers with findings
	skipped  []string
	sarif    []any
	old      int // findings that are accepted
}

func (w *writer) json(v any) error {
	e := json.NewEncoder(w.w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// answer writes the verdict of an answer, or in other formats than jsonl what is wrong with it.
func (w *writer) answer(v verdict) error {
	w.result.Answers++
	if v.Expected == "" {
		w.result.Unchecked++
	}
	if w.format == "" || w.format == Formats[1] {
		if !v.log {
			v.File, v.Line = "", 0
		}
		return w.json(v)
	}
	for _, s := range v.Spans {
		if s.Excuse != "" {
			continue
		}
		err := w.finding(finding{File: v.File, Line: v.Line, Column: 1, EndLine: v.Line, EndCol: 1, Kind: s.Kind,
			Expected: v.Expected, Language: s.Language, Risk: s.Risk, Text: v.judged[s.Start:s.End], Key: key(v.ID),
			answer: strconv.Itoa(w.result.Answers)})
		if err != nil {
			return err
		}
	}
	return nil
}

// key is an id as a text.
func key(id json.RawMessage) string {
	var text string
	if json.Unmarshal(id, &text) != nil {
		return string(id)
	}
	return text
}

// skip notes a file in no language.
func (w *writer) skip(path string) { w.skipped = append(w.skipped, path); w.files-- }

// fingerprint says which finding one is, wherever in the file it stands.
func (f finding) fingerprint() string {
	return strings.Join([]string{filepath.ToSlash(filepath.Clean(f.File)), f.Key, f.Language, f.Text, f.Error}, "\x00")
}

func (w *writer) finding(f finding) error {
	if _, known := w.accepted[f.fingerprint()]; known {
		w.accepted[f.fingerprint()] = true
		w.old++
		return nil
	}
	w.result.Findings++
	if w.with == nil {
		w.with = map[string]bool{}
	}
	w.with[f.File+"\x00"+f.answer] = true
	switch w.format {
	case "jsonl":
		return w.json(f)
	case "github":
		_, err := fmt.Fprintf(w.w, "::error file=%s,line=%d,col=%d,endLine=%d,title=%s::%s\n", property.Replace(f.File),
			f.Line, f.Column, f.EndLine, property.Replace(f.title()), data.Replace(f.message()))
		return err
	case "sarif":
		w.sarif = append(w.sarif, f.sarif())
		return nil
	}
	_, err := fmt.Fprintf(w.w, "%s:%d:%d: %s\n", visible.Line(f.File), f.Line, f.Column, visible.Line(f.message()))
	return err
}

// title names the kind of a finding.
func (f finding) title() string {
	switch f.Kind {
	case guard.Line:
		return "wrong language"
	case guard.Word:
		return "wrong words"
	}
	return f.Kind
}

// message says what is wrong, and shows where.
func (f finding) message() string {
	if f.Error != "" {
		return f.Error
	}
	text := f.title() + ": "
	if f.Key != "" {
		text = f.Key + ": " + text
	}
	if f.Language != "" {
		text += f.Language + ", "
	}
	shown := []rune(f.Text)
	if len(shown) > longestShown {
		shown = append(shown[:longestShown-1], '…')
	}
	return fmt.Sprintf("%sexpected %s: %q", text, f.Expected, string(shown))
}

// longestShown is the most characters of a part in a message.
const longestShown = 80

// Workflow commands of GitHub end at a line break, and their properties at some punctuation marks.
var (
	data     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

type object = map[string]any

// sarif is the finding as a result of SARIF 2.1.0.
func (f finding) sarif() any {
	return object{"ruleId": f.Kind, "level": "error", "message": object{"text": f.message()}, "locations": []any{object{
		"physicalLocation": object{"artifactLocation": object{"uri": filepath.ToSlash(f.File)}, "region": object{
			"startLine": f.Line, "startColumn": f.Column, "endLine": f.EndLine, "endColumn": f.EndCol}}}}}
}

// end writes the end of the format, and notes the totals.
func (w *writer) end() error {
	if w.format == "sarif" {
		err := w.json(object{"version": "2.1.0", "$schema": "https://json.schemastore.org/sarif-2.1.0.json", "runs": []any{
			object{"tool": object{"driver": object{"name": "crosstalk", "version": crosstalk.Version}},
				"columnKind": "unicodeCodePoints", "results": append([]any{}, w.sarif...)}}})
		if err != nil {
			return err
		}
	}
	if n := len(w.skipped); n > 0 && w.files+w.result.Answers > 0 {
		w.note(fmt.Sprintf("%d not checked: no language in %s, such as %s (say which with --language)", n,
			plural(n, "its path", "their paths"), w.skipped[0]))
	}
	gone := 0
	for _, found := range w.accepted {
		if !found {
			gone++
		}
	}
	if w.old+gone > 0 {
		w.note(fmt.Sprintf("%d accepted by the baseline, %d of the baseline not found any more", w.old, gone))
	}
	n, of, what := w.result.Findings, w.files, "files"
	if w.result.Answers > 0 {
		of, what = w.result.Answers, "answers"
	}
	if w.files > 0 || w.format != "" && w.format != "jsonl" {
		w.note(fmt.Sprintf("%d %s in %d of %d %s", n, plural(n, "finding", "findings"), len(w.with), of, what))
	}
	if len(w.skipped) > 0 && w.files+w.result.Answers == 0 {
		return fmt.Errorf("%s: no language in its path; say which with --language", w.skipped[0])
	}
	return nil
}

func plural(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// readBaseline reads findings as jsonl: keys that were not found yet.
func readBaseline(path string) (map[string]bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	accepted := map[string]bool{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, longest)
	for n := 1; lines.Scan(); n++ {
		var old finding
		if len(strings.TrimSpace(lines.Text())) == 0 {
			continue
		}
		if err := json.Unmarshal(lines.Bytes(), &old); err != nil || old.File == "" {
			return nil, fmt.Errorf("%s:%d: expected a finding, as --format jsonl writes it", path, n)
		}
		accepted[old.fingerprint()] = false
	}
	return accepted, lines.Err()
}
