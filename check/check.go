// Package check judges files: answers in logs, and prose and message catalogues in the language named in the path.
package check

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"crosstalk"
	"crosstalk/guard"
	"crosstalk/internal/parallel"
	"crosstalk/internal/table"
	"crosstalk/measure/langid"
	"crosstalk/recorded"
)

// Formats lists the values of Options.Format. Without one, answers are written as jsonl, and findings in files as text.
var Formats = []string{"text", "jsonl", "github", "sarif"}

// Options control how files are read and results are written. The zero value takes the languages from the files.
type Options struct {
	Checker  guard.Checker
	Language string            // of answers and files that do not state theirs: a tag, or guard.User for answers
	Columns  map[string]string // see recorded.Reading
	Format   string            // one of Formats
	Baseline string            // a file of accepted findings as jsonl; empty: none
	Note     func(text string) // called with what was read from where, and what was left out
}

// A Result sums up a check. Answers that are written as jsonl do not count in Findings.
type Result struct {
	Answers, Unchecked int // Unchecked: answers in an unknown language
	Findings           int
}

// Run judges the files at the paths, or the answers on standard input if there are none, and writes verdicts or
// findings. Errors name a file, and a line in it; results before an error are written.
func (o Options) Run(w io.Writer, stdin io.Reader, paths []string) (r Result, err error) {
	if err := o.Checker.CheckLanguage(o.Language); err != nil {
		return r, err
	}
	out := &writer{w: w, note: o.Note, format: o.Format, result: &r, with: map[string]bool{}}
	if o.Baseline != "" {
		if out.accepted, err = readBaseline(o.Baseline); err != nil {
			return r, err
		}
	}
	if len(paths) == 0 {
		err = o.lines(out, stdin, "standard input")
	}
	for f, ferr := range o.files(paths) {
		if err = ferr; err == nil {
			err = o.judge(out, f)
			f.Close()
		}
		if err != nil {
			break
		}
	}
	if err != nil {
		return r, err
	}
	if r.Answers+out.files+len(out.skipped) == 0 {
		return r, fmt.Errorf("%s: has no answers to check", cmp.Or(strings.Join(paths, ", "), "standard input"))
	}
	return r, out.end()
}

// Text judges one text of at most 16 MB, and writes it with its foreign parts in brackets, and the verdict.
func (o Options) Text(w io.Writer, in io.Reader) error {
	text, err := whole(in)
	if err != nil {
		return fmt.Errorf("standard input: %w", err)
	}
	text = strings.ReplaceAll(strings.TrimPrefix(text, byteOrderMark), "\r\n", "\n")
	j, err := o.Checker.Check(text, o.Language)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, j.Marked(text)+"\n"+summary(j)+"\n")
	return err
}

// longest is the size limit in bytes of a file, or of a line of JSON.
const longest = recorded.MaxText

var errLong = fmt.Errorf("longer than %d MB", longest>>20)

// whole reads a text, or returns errLong: it may come from a pipe, or from a device that never ends.
func whole(in io.Reader) (string, error) {
	data, err := io.ReadAll(io.LimitReader(in, longest+1))
	if err == nil && len(data) > longest {
		err = errLong
	}
	return string(data), err
}

// byteOrderMark begins texts of some Windows programs. It is not part of them.
const byteOrderMark = "\ufeff"

// summary describes the verdict in a line.
func summary(j guard.Judgement) string {
	switch j.Verdict {
	case guard.CannotTell:
		return "cannot tell: too little to judge by"
	case guard.Right:
		return "right " + judged(j)
	}
	var parts []string
	if n := j.Count(guard.Line); n > 0 {
		parts = append(parts, fmt.Sprintf("lines: %d", n))
	}
	if n := j.Count(guard.Word); n > 0 {
		parts = append(parts, fmt.Sprintf("runs of words: %d", n))
	}
	return fmt.Sprintf("wrong %s; in another language: %s", judged(j), strings.Join(parts, ", "))
}

// judged tells how certain a verdict is, and which part of the text was judged.
func judged(j guard.Judgement) string {
	s := fmt.Sprintf("(p %.2f, judged: %s", j.P, j.Judged)
	if j.NotJudged != "" {
		s += "; not judged: " + j.NotJudged
	}
	return s + ")"
}

// verdict is the output for one answer.
type verdict struct {
	guard.Response
	File string `json:"file,omitempty"` // of the log that it comes from
	Line int    `json:"line,omitempty"`
	Text string `json:"text,omitempty"` // of an answer in a log, which the offsets of spans refer to

	judged string // the text
	log    bool   // it comes from a log
}

// lines reads requests as JSON Lines.
func (o Options) lines(out *writer, in io.Reader, name string) error {
	requests := func(yield func(numbered, error) bool) {
		lines := bufio.NewScanner(in)
		lines.Buffer(nil, longest)
		n := 0
		for lines.Scan() {
			n++
			line := lines.Bytes()
			if n == 1 {
				line = bytes.TrimPrefix(line, []byte(byteOrderMark))
			}
			if len(bytes.TrimSpace(line)) > 0 && !yield(numbered{n, bytes.Clone(line)}, nil) {
				return
			}
		}
		switch err := lines.Err(); {
		case err == bufio.ErrTooLong:
			yield(numbered{}, fmt.Errorf("%s:%d: %w", name, n+1, errLong))
		case err != nil:
			yield(numbered{}, fmt.Errorf("%s: %w", name, err))
		}
	}
	return verdicts(out, requests, func(line numbered) (v verdict, err error) {
		if !utf8.Valid(line.text) { // spans are bytes of the text
			return v, fmt.Errorf("%s:%d: is not valid UTF-8: save the file as UTF-8", name, line.n)
		}
		request, err := guard.ParseRequest(line.text, o.Language)
		if err == nil {
			v.Response, err = request.Check(o.Checker)
		}
		if err != nil {
			return v, fmt.Errorf("%s:%d: %w", name, line.n, err)
		}
		v.judged, v.File, v.Line = request.Text, name, line.n
		return v, nil
	})
}

type numbered struct {
	n    int
	text []byte
}

// verdicts writes the verdicts of answers in order.
func verdicts[T any](out *writer, answers iter.Seq2[T, error], of func(T) (verdict, error)) error {
	check := func(_ context.Context, answer T) (verdict, error) { return of(answer) }
	for v, err := range parallel.Map(context.Background(), answers, parallel.Enough(), check) {
		if err == nil {
			err = out.answer(v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// log reads answers as `crosstalk score confusion` does.
func (o Options) log(out *writer, f file) error {
	return verdicts(out, f.Confusion, func(c recorded.Confusion) (verdict, error) { return o.confusion(c), nil })
}

// confusion judges an answer from a log, in the language that it states or that is expected of all.
func (o Options) confusion(c recorded.Confusion) verdict {
	v := verdict{Text: c.Answer.Text, judged: c.Answer.Text, log: true}
	v.ID, _ = json.Marshal(cmp.Or(c.ID, c.Where))
	colon := strings.LastIndexByte(c.Where, ':')
	v.File = c.Where[:colon]
	v.Line, _ = strconv.Atoi(c.Where[colon+1:])
	request := guard.Request{ID: v.ID, Text: c.Answer.Text, Language: c.Item.Labels["language"]}
	if c.Expect == guard.User {
		request.Language, request.Messages = guard.User, []guard.Message{{Role: "system", Content: guard.Content(c.Rules)}}
		for _, said := range c.Said[max(0, len(c.Said)-guard.LookBack):] {
			request.Messages = append(request.Messages, guard.Message{Role: guard.User, Content: guard.Content(said)})
		}
	}
	var err error
	if v.Response, err = request.Check(o.Checker); err != nil || c.Unjudged != "" && c.Expect != guard.User {
		v.Response = guard.Response{ID: v.ID, Judgement: guard.Unknown()}
	}
	if c.Answer.Reason == crosstalk.Mixed {
		v.Response = guard.Response{ID: v.ID, Judgement: guard.Unknown()}
		v.NotJudged = crosstalk.Mixed
	}
	return v
}

// Contents of a file.
const (
	logs      = iota // answers, in any of the forms that `crosstalk score` reads
	records          // answers in our own form
	document         // Markdown or plain text
	page             // HTML
	subtitles        // SubRip, WebVTT
	catalogue        // a program's messages
)

// kinds maps endings of files to contents. What other files hold is told by reading them.
var kinds = map[string]int{
	".md": document, ".markdown": document, ".mdx": document,
	".html": page, ".htm": page, ".xhtml": page, ".srt": subtitles, ".vtt": subtitles,
	".po": catalogue, ".arb": catalogue, ".yaml": catalogue, ".yml": catalogue, ".xlf": catalogue, ".xliff": catalogue,
}

type file struct {
	*recorded.File
	kind     int
	language string // named in the path; empty: none
}

// files opens the files at the paths one after the other; the caller closes them. In a folder these are prose and
// catalogues, or else JSON Lines of answers.
func (o Options) files(paths []string) iter.Seq2[file, error] {
	r := recorded.Reading{Columns: o.Columns, Expect: o.Language, Suit: true,
		Batches: map[string][]string{}, Note: o.Note}
	r.Identify = func(...string) string { return "" } // guard.Request does, by the system messages as well
	return func(yield func(file, error) bool) {
		folders := map[string]bool{}
		for _, path := range paths {
			info, err := os.Stat(path)
			if errors.Is(err, fs.ErrNotExist) {
				err = fmt.Errorf("%s: no such file; without a name, standard input is read", path)
			}
			if err != nil {
				yield(file{}, err)
				return
			}
			folders[path] = info.IsDir()
		}
		for _, path := range paths {
			if folders[path] {
				if !o.folder(r, path, yield) {
					return
				}
			} else if f, err := o.open(r, path); !yield(f, err) {
				return
			}
		}
	}
}

// folder opens the files in a folder. It returns false after an error, or if yield does.
func (o Options) folder(r recorded.Reading, path string, yield func(file, error) bool) bool {
	names, err := o.walk(path)
	found := false
	for _, name := range names {
		f, err := o.open(r, name)
		if err == nil && f.kind == logs {
			f.Close()
			continue
		}
		if found = true; !yield(f, err) {
			return false
		}
	}
	if !found && err == nil {
		if names, err = recorded.Files([]string{path}); err != nil {
			err = fmt.Errorf("%s: has no prose, catalogues or JSON Lines of answers", path)
		}
		for _, name := range names {
			if f, err := o.open(r, name); !yield(f, err) {
				return false
			}
		}
	}
	return err == nil || yield(file{}, err)
}

// open opens a file and tells what it holds.
func (o Options) open(r recorded.Reading, path string) (f file, err error) {
	f.language = o.languageOf(path, o.Language != "")
	if f.File, err = r.Open(path); err != nil {
		return f, err
	}
	format := table.Format(path)
	if kind, known := kinds[format]; known {
		f.kind = kind
		return f, nil
	}
	switch kind := f.Kind(); {
	case kind == recorded.Answers:
		f.kind = logs
	case kind == recorded.Requests:
		f.kind = records
	case format == ".json":
		f.kind = catalogue
	case format == ".txt", o.Language != "" && o.Language != guard.User:
		f.kind = document
	default:
		f.kind = records
	}
	return f, nil
}

// judge writes what is found in a file.
func (o Options) judge(out *writer, f file) error {
	switch f.kind {
	case logs:
		return o.log(out, f)
	case records:
		return o.lines(out, f.Text(), f.Path)
	}
	return o.text(out, f)
}

// text writes what is found in prose or in a catalogue.
func (o Options) text(out *writer, f file) error {
	out.files++
	text, err := whole(f.Text())
	switch {
	case err == errLong:
		return out.finding(unread(f.Path, 1, err))
	case err != nil:
		return fmt.Errorf("%s: %w", f.Path, err)
	case !utf8.ValidString(text):
		return out.finding(unread(f.Path, 1, errors.New("not in UTF-8")))
	}
	src := newSource(text)
	var prose []*passage
	var all messages
	if f.kind == catalogue {
		all, err = parse(f.Path, text)
	} else {
		prose, all.language = passagesOf(f.kind, text)
	}
	if at := new(lineError); errors.As(err, &at) {
		line, _ := src.at(min(at.at, len(text)))
		return out.finding(unread(f.Path, line, err))
	}
	language := o.languageFor(f, all.language)
	if language == "" {
		out.files, out.skipped = out.files-1, append(out.skipped, f.Path)
		return nil
	}
	if f.kind != catalogue {
		return o.prose(out, f.Path, prose, src, language)
	}
	from := cmp.Or(o.tag(all.source), "en")
	return o.catalogue(out, f.Path, all.all, src, from, language)
}

// prose judges the passages of a file.
func (o Options) prose(out *writer, path string, all []*passage, src *source, language string) error {
	for _, p := range all {
		passage := p.text.String()
		j, err := o.Checker.Check(passage, language)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		for _, s := range longEnough(passage, j) {
			found := finding{File: path, Kind: s.Kind, Expected: language, Language: s.Language, Risk: s.Risk,
				Text: strings.Join(strings.Fields(passage[s.Start:s.End]), " ")}
			found.Line, found.Column = src.at(p.from(s.Start))
			found.EndLine, found.EndCol = src.at(p.from(s.End-1) + 1)
			if err := out.finding(found); err != nil {
				return err
			}
		}
	}
	return nil
}

// walk returns the names of files in a folder and below that may hold prose or messages, in order. It leaves out hidden
// and installed folders, and JSON and YAML without a language.
func (o Options) walk(folder string) (names []string, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if path != folder && (strings.HasPrefix(name, ".") || name == "node_modules" || name == "vendor") {
				return fs.SkipDir
			}
			return nil
		case !entry.Type().IsRegular(), strings.HasPrefix(name, "."), strings.HasSuffix(path, ".gz"):
			return nil
		}
		format := table.Format(path)
		_, known := kinds[format]
		needs := slices.Contains([]string{".json", ".yaml", ".yml"}, format)
		if (known || needs || format == ".txt") && (!needs || o.languageOf(path, o.Language != "") != "") {
			names = append(names, path)
		}
		return nil
	})
	return names, err
}

var (
	// folderTag matches a folder named after a language, with a region, script or encoding: de, pt_BR, sr@latin, ja.UTF-8.
	folderTag = regexp.MustCompile(`^([a-z]{2}|fil|ast|ckb)(?:[-_]([A-Za-z]{2}|[A-Za-z]{4}|[0-9]{3}))?` +
		`(?:\.(?i:utf-?8))?(@latin|@cyrillic)?$`)
	// nameTag matches a tag at the end of a file's name without its ending, after a dot, dash or underscore.
	nameTag = regexp.MustCompile(`^(.*?)(?:^|([-._]))((?:[a-z]{2}|fil|ast|ckb)` +
		`(?:[-_](?:[A-Za-z]{2}|[A-Z][a-z]{3}|[0-9]{3}))?(?:@latin)?)$`)
)

// languageOf returns the language that a path names: in the file's name, or else its nearest folder. If given, there is
// a language for files that name none, and folders above the current one do not count: /srv/it need not be Italian.
func (o Options) languageOf(path string, given bool) string {
	if wd, err := os.Getwd(); err == nil && filepath.IsAbs(path) {
		if rel, err := filepath.Rel(wd, path); err == nil && !strings.HasPrefix(rel, "..") {
			path = rel
		}
	}
	folder, name := filepath.Split(filepath.ToSlash(path))
	stem, format := strings.TrimSuffix(name, filepath.Ext(name)), table.Format(name)
	if m := nameTag.FindStringSubmatch(stem); m != nil {
		sure := m[1] == "" || m[2] == "." || m[1] == strings.ToUpper(m[1]) || m[3] != strings.ToLower(m[3]) ||
			kinds[format] == catalogue || format == ".json" // "sign-in.md" names no language
		if tag := o.tag(m[3]); tag != "" && sure {
			return tag
		}
	}
	if given && filepath.IsAbs(path) {
		return ""
	}
	folders := strings.Split(folder, "/")
	for _, name := range slices.Backward(folders) {
		if folderTag.MatchString(name) {
			if tag := o.tag(name); tag != "" {
				return tag
			}
		}
	}
	return ""
}

// tag returns the BCP 47 tag of a language in a common spelling (pt_BR.UTF-8, sr@latin); empty if it cannot be judged.
func (o Options) tag(name string) string {
	name, script, _ := strings.Cut(name, "@")
	name, _, _ = strings.Cut(name, ".")
	tag := strings.ReplaceAll(name, "_", "-")
	tag += map[string]string{"latin": "-Latn", "cyrillic": "-Cyrl"}[script]
	if _, err := o.Checker.Check("", tag); tag == "" || err != nil {
		return ""
	}
	_, locale := langid.Canonical(tag)
	return locale
}

// languageFor returns a file's language: from its path, as stated in the file, or the given one.
func (o Options) languageFor(f file, stated string) string {
	given := o.Language
	if given == guard.User {
		given = ""
	}
	return cmp.Or(f.language, o.tag(stated), given)
}
