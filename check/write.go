package check

import (
	"bufio"
	"cmp"
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

// Kinds of findings besides guard.Line and guard.Word.
const (
	untranslated = "untranslated" // a message equal to its source
	unreadable   = "unreadable"   // a file that cannot be parsed
)

// finding is a part of a file in another language than expected.
type finding struct {
	File     string  `json:"file"`
	Line     int     `json:"line"`   // from 1
	Column   int     `json:"column"` // in characters, from 1
	EndLine  int     `json:"end_line"`
	EndCol   int     `json:"end_column"` // after the last character
	Kind     string  `json:"kind"`
	Expected string  `json:"expected"`
	Language string  `json:"language"` // empty if unknown
	Risk     float64 `json:"risk"`
	Text     string  `json:"text"`            // of the part
	Key      string  `json:"key,omitempty"`   // of a message
	Error    string  `json:"error,omitempty"` // of a file that is unreadable

	answer string // identifies an answer in a log; empty: none
}

func unread(path string, line int, err error) finding {
	return finding{File: path, Line: line, Column: 1, EndLine: line, EndCol: 1, Kind: unreadable, Error: err.Error()}
}

type writer struct {
	w        io.Writer
	note     func(string)
	format   string
	accepted map[string]bool // keys of accepted findings, and whether they were found
	result   *Result
	files    int             // of prose or messages
	with     map[string]bool // files and answers with findings
	skipped  []string        // files without a language
	sarif    []any
	old      int // accepted findings
}

func (w *writer) json(v any) error {
	e := json.NewEncoder(w.w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// answer writes the verdict of an answer, or in formats other than jsonl its faults.
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
	id := ""
	if json.Unmarshal(v.ID, &id) != nil {
		id = string(v.ID)
	}
	for _, s := range v.Spans {
		if s.Excuse != "" {
			continue
		}
		err := w.finding(finding{File: v.File, Line: v.Line, Column: 1, EndLine: v.Line, EndCol: 1, Kind: s.Kind,
			Expected: v.Expected, Language: s.Language, Risk: s.Risk, Text: v.judged[s.Start:s.End], Key: id,
			answer: strconv.Itoa(w.result.Answers)})
		if err != nil {
			return err
		}
	}
	return nil
}

// fingerprint identifies a finding wherever it is in the file.
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
	w.with[f.File+"\x00"+f.answer] = true
	switch w.format {
	case "jsonl":
		return w.json(f)
	case "github":
		_, err := fmt.Fprintf(w.w, "::error file=%s,line=%d,col=%d,endLine=%d,title=%s::%s\n", property.Replace(f.File),
			f.Line, f.Column, f.EndLine, property.Replace(visible.Line(f.title())), data.Replace(visible.Text(f.message())))
		return err
	case "sarif":
		w.sarif = append(w.sarif, f.sarif())
		return nil
	}
	_, err := fmt.Fprintf(w.w, "%s:%d:%d: %s\n", visible.Line(f.File), f.Line, f.Column, visible.Line(f.message()))
	return err
}

func (f finding) title() string {
	return cmp.Or(map[string]string{guard.Line: "wrong language", guard.Word: "wrong words"}[f.Kind], f.Kind)
}

// message describes the fault and quotes the text.
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

// longestShown is the most characters of a text that a message quotes.
const longestShown = 80

// GitHub's workflow commands end at a line break, their properties at some punctuation marks.
var (
	data     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

type object = map[string]any

// sarif returns the finding as a result of SARIF 2.1.0.
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

// readBaseline reads accepted findings as jsonl. No key counts as found yet.
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
