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
	"maps"
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
	var files []file
	if len(paths) == 0 {
		err = o.lines(out, stdin, "standard input")
	} else {
		files, err = o.find(paths)
	}
	if err != nil {
		return r, err
	}
	batches := map[string][]string{}
	for _, f := range files {
		switch {
		case f.kind == records, f.kind == logs && isOwn(f.path):
			err = o.open(out, f.path)
		case f.kind == logs:
			err = o.log(out, f.path, batches)
		default:
			err = o.file(out, f)
		}
		if err != nil {
			return r, err
		}
	}
	if r.Answers+out.files+len(out.skipped) == 0 {
		return r, fmt.Errorf("%s: has no answers to check", cmp.Or(strings.Join(paths, ", "), "standard input"))
	}
	return r, out.end()
}

// Text judges one text of at most 16 MB, and writes it with its foreign parts in brackets, and the verdict.
func (o Options) Text(w io.Writer, in io.Reader) error {
	data, err := whole(in)
	if err != nil {
		return fmt.Errorf("standard input: %w", err)
	}
	text := string(bytes.ReplaceAll(bytes.TrimPrefix(data, byteOrderMark), []byte("\r\n"), []byte("\n")))
	j, err := o.Checker.Check(text, o.Language)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, j.Marked(text)+"\n"+summary(j)+"\n")
	return err
}

// longest is the size limit in bytes of a file, or of a line of JSON.
const longest = 16 << 20

var errLong = fmt.Errorf("longer than %d MB", longest>>20)

// contents reads a file. Its size is not known before: it may be a pipe, or a device that never ends.
func contents(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return whole(f)
}

// whole reads a text, or returns errLong.
func whole(in io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, longest+1))
	if err == nil && len(data) > longest {
		err = errLong
	}
	return data, err
}

// byteOrderMark begins files of some Windows programs. It is not part of their text.
var byteOrderMark = []byte("\ufeff")

func (o Options) open(out *writer, path string) error {
	in, file, err := table.OpenText(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return o.lines(out, in, path)
}

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

// isOwn reports whether JSON Lines are in our own form, by the first record: it has a text, and is not an OpenAI
// response.
func isOwn(path string) bool {
	if format := table.Format(path); format != ".jsonl" && format != ".ndjson" {
		return false
	}
	for row, err := range table.Read(path) {
		_, text := row.Values["text"]
		return err != nil || text && !row.Has("completion") && !row.Has("object")
	}
	return true
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
				line = bytes.TrimPrefix(line, byteOrderMark)
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
	return judge(out, requests, func(line numbered) (v verdict, err error) {
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

// judge writes the verdicts of answers in order.
func judge[T any](out *writer, answers iter.Seq2[T, error], of func(T) (verdict, error)) error {
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
func (o Options) log(out *writer, path string, batches map[string][]string) error {
	r := recorded.Reading{Columns: o.Columns, Expect: o.Language, Batches: batches}
	r.Identify = func(...string) string { return "" } // guard.Request does, by the system messages as well
	r = o.suited(r, path)
	r.Note = o.Note
	return judge(out, r.Confusion(path), func(c recorded.Confusion) (verdict, error) {
		return o.confusion(c, r.Expect), nil
	})
}

// suited adapts the reading of answers: it reads the column text if no usual column exists, and goes by the user's
// language if the file states the prompts but not the languages of answers.
func (o Options) suited(r recorded.Reading, path string) recorded.Reading {
	fits := func(r recorded.Reading) bool {
		r.Batches = maps.Clone(r.Batches)
		for _, err := range r.Confusion(path) {
			return err == nil
		}
		return true // it contains requests
	}
	given := r.Columns["completion"]
	for _, column := range []string{given, cmp.Or(given, "text")} {
		for _, expect := range []string{r.Expect, cmp.Or(r.Expect, recorded.ExpectUser)} {
			of := r
			if of.Expect = expect; column != given {
				of.Columns = map[string]string{"completion": column}
				maps.Copy(of.Columns, r.Columns)
			}
			if !fits(of) {
				continue
			}
			if expect != r.Expect {
				o.Note(path + ": no column names the language that answers should be in: expecting the user's (--language user)")
			}
			return of
		}
	}
	return r
}

// confusion judges an answer from a log, in the language that it states or that is expected of all.
func (o Options) confusion(c recorded.Confusion, expect string) verdict {
	v := verdict{Text: c.Answer.Text, judged: c.Answer.Text, log: true}
	v.ID, _ = json.Marshal(cmp.Or(c.ID, c.Where))
	colon := strings.LastIndexByte(c.Where, ':')
	v.File = c.Where[:colon]
	v.Line, _ = strconv.Atoi(c.Where[colon+1:])
	request := guard.Request{ID: v.ID, Text: c.Answer.Text, Language: c.Item.Labels["language"]}
	if expect == guard.User {
		request.Language, request.Messages = guard.User, []guard.Message{{Role: "system", Content: guard.Content(c.Rules)}}
		for _, said := range c.Said[max(0, len(c.Said)-guard.LookBack):] {
			request.Messages = append(request.Messages, guard.Message{Role: guard.User, Content: guard.Content(said)})
		}
	}
	var err error
	if v.Response, err = request.Check(o.Checker); err != nil || c.Unjudged != "" && expect != guard.User {
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

// kinds maps endings of files to contents, except .json and .txt, which are ambiguous.
var kinds = map[string]int{
	".jsonl": logs, ".ndjson": logs, ".csv": logs, ".tsv": logs, ".xlsx": logs, ".parquet": logs, ".eval": logs,
	".md": document, ".markdown": document, ".mdx": document,
	".html": page, ".htm": page, ".xhtml": page, ".srt": subtitles, ".vtt": subtitles,
	".po": catalogue, ".arb": catalogue, ".yaml": catalogue, ".yml": catalogue, ".xlf": catalogue, ".xliff": catalogue,
}

type file struct {
	path     string
	kind     int
	language string // named in the path; empty: none
}

// find returns the files at the paths. In a folder, it looks for prose and catalogues, or else for answers in JSON
// Lines.
func (o Options) find(paths []string) (files []file, err error) {
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("%s: no such file; without a name, standard input is read", path)
		case err != nil:
			return nil, err
		case !info.IsDir():
			files = append(files, o.kindOf(path, info))
			continue
		}
		below, err := o.walk(path)
		if err == nil && len(below) == 0 {
			var found []string
			found, err = recorded.Files([]string{path})
			for _, path := range found {
				below = append(below, file{path: path, kind: logs})
			}
			if err != nil {
				err = fmt.Errorf("%s: has no prose, catalogues or JSON Lines of answers", path)
			}
		}
		if err != nil {
			return nil, err
		}
		files = append(files, below...)
	}
	return files, nil
}

// kindOf determines the contents of a file that the user named.
func (o Options) kindOf(path string, info fs.FileInfo) file {
	f := file{path: path, language: o.languageOf(path, o.Language != "")}
	format := table.Format(path)
	kind, known := kinds[format]
	switch {
	case known:
		f.kind = kind
	case format == ".json" && isCatalogue(path):
		f.kind = catalogue
	case format == ".json", format == ".txt" && recorded.IsChat(path):
		f.kind = logs
	case format == ".txt", info.Mode().IsRegular() && o.Language != "" && o.Language != guard.User:
		f.kind = document
	default:
		f.kind = records
	}
	return f
}

// walk returns the prose and the catalogues in a folder and below, in the order of their names. It leaves out hidden
// and installed folders, and JSON and YAML without a language.
func (o Options) walk(folder string) (files []file, err error) {
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
		case !entry.Type().IsRegular() || strings.HasPrefix(name, "."):
			return nil
		}
		format := table.Format(path)
		if strings.HasSuffix(path, ".gz") || kinds[format] == logs && format != ".json" && format != ".txt" {
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		f := o.kindOf(path, info)
		if f.kind >= document && (f.language != "" || !slices.Contains([]string{".json", ".yaml", ".yml"}, format)) {
			files = append(files, f)
		}
		return nil
	})
	return files, err
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
