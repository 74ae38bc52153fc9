package recorded

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/internal/table"
)

// Files replaces each folder, such as an assistant's sessions, by the JSON Lines files in and below it, sorted by
// name.
func Files(paths []string) (files []string, err error) {
	for _, path := range paths {
		if info, err := os.Stat(path); err != nil || !info.IsDir() {
			files = append(files, path) // reading it will report the error
			continue
		}
		n := len(files)
		err := filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
			if err == nil && entry.Type().IsRegular() && slices.Contains([]string{".jsonl", ".ndjson"}, table.Format(file)) {
				files = append(files, file)
			}
			return err
		})
		if err == nil && len(files) == n {
			err = fmt.Errorf("%s: has no files of JSON Lines (.jsonl)", path)
		}
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// documentRows yields the rows of a JSON document: an array, the samples of Inspect's log, or promptfoo's results.
func documentRows(f *table.File) iter.Seq2[table.Row, error] {
	return rowsBy(func(yield func(table.Row) error) error {
		r := documentReader{Document: f.Document(maxSample), path: f.Path, alone: !f.Named, yield: yield}
		return r.read()
	})
}

type documentReader struct {
	*table.Document
	path  string
	yield func(table.Row) error
	log   spec
	alone bool // an object without rows is a row
	found bool // rows were found, or an empty list of rows
	rest  map[string]json.RawMessage
}

func (r *documentReader) read() error {
	start, err := r.Starts()
	switch {
	case err != nil:
		return err
	case start == '[':
		err = r.rows(table.ParseObject)
	case start == '{':
		err = r.Keys(r.member)
	}
	if err == nil {
		err = r.End()
	}
	if err == nil && !r.found {
		err = r.wrapped()
	}
	if err == nil && !r.found {
		err = fmt.Errorf("%s:1: expected an array of objects, a log of Inspect (with samples) "+
			"or promptfoo's output (with results)", r.path)
	}
	return err
}

func (r *documentReader) member(key string) error {
	switch key {
	case "eval":
		text, line, err := r.Raw()
		if err == nil && json.Unmarshal(text, &r.log) != nil {
			err = fmt.Errorf("%s:%d: eval is not from a log of Inspect", r.path, line)
		}
		return err
	case spansColumn:
		return r.list(func(file string, line int, text []byte) (table.Row, error) {
			return table.Row{File: file, Line: line, Header: line, Values: map[string]string{},
				Lists: map[string][]string{spansColumn: {string(text)}}}, nil
		})
	case "samples":
		return r.list(r.log.sample)
	case "results": // an object with results in promptfoo; Inspect's has no rows
		start, err := r.Starts()
		switch {
		case err != nil || start == 0:
			return err
		case start == '[':
			return r.rows(table.ParseObject)
		}
		return r.Keys(func(key string) error {
			if key == "results" {
				return r.list(table.ParseObject)
			}
			return r.skip(key)
		})
	}
	text, _, err := r.Raw()
	if r.rest == nil {
		r.rest = map[string]json.RawMessage{}
	}
	r.rest[key] = slices.Clone(text)
	return err
}

// pages are the members of APIs' responses that hold the rows of a log.
var pages = []string{"data", "runs", "requests", "traces", "observations", "conversations", "items"}

// wrapped yields the rows of the log inside an object, or else the object itself.
func (r *documentReader) wrapped() error {
	whole, err := json.Marshal(r.rest)
	if err != nil {
		return err
	}
	texts := []json.RawMessage{whole}
	for _, name := range pages {
		var list []json.RawMessage
		if json.Unmarshal(r.rest[name], &list) == nil && len(list) > 0 {
			texts = list
			break
		}
	}
	var rows []table.Row
	for i, text := range texts {
		row, err := table.ParseObject(r.path, i+1, text)
		if err != nil && slices.ContainsFunc(rows, isLog) {
			return err
		} else if err != nil {
			return nil // it contains no rows
		}
		rows = append(rows, row)
	}
	if r.found = slices.ContainsFunc(rows, isLog) || r.alone && len(rows) == 1; !r.found {
		return nil
	}
	for _, row := range rows {
		if err := r.yield(row); err != nil {
			return err
		}
	}
	return nil
}

// isLog reports whether a row comes from a log: it has an answer or a conversation.
func isLog(row table.Row) bool {
	if s, ok := shapeOf(row); ok {
		_, replies, err := logged(s, map[string][]string{}).read(row)
		return err == nil && (s.answer == "" || len(replies) > 0 && replies[0].values["completion"] != "" &&
			(replies[0].turns != nil || s.request == "" || s.answer == "."))
	}
	messages, _, err := messagesIn(row)
	return err == nil && len(messages) > 0 || isSpan(row) || isMessage(row)
}

// list reads a list of rows, or null.
func (r *documentReader) list(parse func(file string, line int, text []byte) (table.Row, error)) error {
	switch start, err := r.Starts(); {
	case err != nil || start == 0:
		return err
	case start == '{':
		return r.Keys(r.skip)
	}
	return r.rows(parse)
}

// skip reads a member and ignores it.
func (r *documentReader) skip(string) error {
	_, _, err := r.Raw()
	return err
}

func (r *documentReader) rows(parse func(file string, line int, text []byte) (table.Row, error)) error {
	r.found = true
	return r.Elements(func(line int, text []byte) error {
		row, err := parse(r.path, line, text)
		if err == nil {
			err = r.yield(row)
		}
		return err
	})
}

// thoughtColumns hold a model's thoughts, if a file keeps them apart. They are neither scored nor labels.
var thoughtColumns = []string{"reasoning_content", "reasoning_details"}

// rowsOf yields the results of read for a file's rows, up to the first error.
func rowsOf[T any](rows iter.Seq2[table.Row, error], path string, read func(table.Row) (T, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		empty := true
		for row, err := range rows {
			if err == nil && row.Blank() {
				continue
			}
			var v T
			if err == nil {
				v, err = read(row)
			}
			if !yield(v, err) || err != nil {
				return
			}
			empty = false
		}
		if empty {
			var none T
			yield(none, fmt.Errorf("%s: has no rows", path))
		}
	}
}

// rowsBy yields the rows of a reader that continues until yield returns an error.
func rowsBy(read func(yield func(table.Row) error) error) iter.Seq2[table.Row, error] {
	return func(yield func(table.Row, error) bool) {
		stop := errors.New("no more rows are wanted")
		err := read(func(row table.Row) error {
			if !yield(row, nil) {
				return stop
			}
			return nil
		})
		if err != nil && !errors.Is(err, stop) {
			yield(table.Row{}, err)
		}
	}
}

func where(row table.Row) string { return fmt.Sprintf("%s:%d", row.File, row.Line) }

// labelsOf returns the columns that are neither thoughts nor contents.
func labelsOf(values map[string]string, contents []string) map[string]string {
	labels := make(map[string]string, len(values)+1)
	for column, value := range values {
		if value != "" && column != "" && !slices.Contains(contents, column) && !slices.Contains(thoughtColumns, column) {
			labels[column] = value
		}
	}
	return labels
}

// refuseLists refuses a list instead of text in one of the columns. It would otherwise be read as empty.
func refuseLists(row table.Row, columns []string) error {
	for _, column := range columns {
		if _, list := row.Lists[column]; list {
			return row.Errorf("%s is a list; expected text", column)
		}
	}
	return nil
}

// answerColumns names the columns that are scored, by our names.
var answerColumns = []string{"completion", "concept", "test", "control", "answer"}

// refuseObjects refuses an object instead of text in what is scored. Its JSON would be scored.
func refuseObjects(row table.Row) error {
	for _, column := range answerColumns {
		if err := refuseObject(row, column, column); err != nil {
			return err
		}
	}
	return nil
}

func refuseObject(row table.Row, ours, theirs string) error {
	if json, is := row.Objects[theirs]; is && row.Values[theirs] == json {
		return row.Errorf("%s is an object; expected text (--column %s=%[1]s.NAME reads a part of it)", theirs, ours)
	}
	return nil
}

func numberIn(row table.Row, column string, least int) (n int, stated bool, err error) {
	s := strings.TrimSpace(row.Values[column])
	if s == "" {
		return 0, false, nil
	}
	n, ok := wholeNumber(s)
	if !ok || n < least {
		return 0, false, row.Errorf("%s is %q; expected a whole number from %d", column, s, least)
	}
	return n, true, nil
}

// wholeNumber reads a number from 0; a workbook or a data frame may contain 12.0.
func wholeNumber(s string) (int, bool) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != math.Trunc(f) || f < 0 || f > 1<<30 {
		return 0, false
	}
	return int(f), true
}

// usual maps our columns to the names that exports use for them, in lower case with underscores.
var usual = map[string][]string{
	"completion": {"completion", "reply", "response", "answer", "output", "generation", "generated_text", "model_output",
		"model_response", "model_answer", "assistant", "assistant_message", "assistant_reply", "bot_message", "bot_reply",
		"bot_response"},
	"language": {"language", "locale", "lang", "language_code", "lang_code", "expected_language", "target_language",
		"target_lang", "user_language", "user_locale"},
	"prompt": {"prompt", "user_message", "user_prompt", "user_input", "question", "query", "input", "request",
		"instruction"},
}

// names maps our columns to the file's names: those that the user gave, and the usual ones for columns that the file
// lacks. A file that has all needed columns needs no usual names. It also returns what is expected: see Reading.Suit.
func (r Reading) names(row table.Row, columns map[string]string, of layout) (map[string]string, string, error) {
	names := maps.Clone(r.Columns)
	if names == nil {
		names = map[string]string{}
	}
	delete(names, messagesColumn) // already read
	if of.name == chat.name {
		delete(names, "completion") // and so is the answer to the messages
	}
	has := func(ours string) bool {
		_, is := columns[ours]
		_, stated := names[ours]
		return is || stated || row.Has(ours) && of.name == ""
	}
	isClear := func(ours string) bool { return has(ours) || len(candidates(columns, ours, names)) == 1 }
	if _, hasText := columns[textColumn]; r.Suit && of.name == "" && hasText && !isClear("completion") {
		names["completion"] = textColumn
	}
	if r.Suit && r.Expect == "" && !isClear("language") && (of.name != "" || isClear("completion") && isClear("prompt")) {
		if r.Expect = ExpectUser; !of.quiet {
			r.Note(row.File + ": no column names the language that answers should be in: expecting the user's (--language user)")
		}
	}
	var needed, wanted []string // columns that a file must have, and a useful one
	if r.Expect == "" {
		needed = append(needed, "language")
	}
	if of.name == "" {
		needed, wanted = append(needed, "completion"), []string{"prompt"}
		if r.Expect == ExpectUser || r.Expect == ExpectPrompt {
			needed, wanted = append(needed, "prompt"), nil
		}
	}
	if !slices.ContainsFunc(needed, func(ours string) bool { return !has(ours) }) {
		return names, r.Expect, nil
	}
	var said []string
	for _, ours := range []string{"completion", "language", "prompt"} {
		need := slices.Contains(needed, ours)
		if has(ours) || !need && !slices.Contains(wanted, ours) {
			continue
		}
		found := candidates(columns, ours, names)
		switch {
		case len(found) == 1:
			names[ours] = found[0]
			said = append(said, fmt.Sprintf("%s as %s", found[0], ours))
		case need && found != nil:
			return nil, "", row.HeaderErrorf("has no column %q; it may be %s: say which, with --column %s=%s",
				ours, strings.Join(found, " or "), ours, found[0])
		case need:
			return nil, "", row.HeaderErrorf("has no column %q; %s", ours, r.remedy(row, columns, of, ours))
		}
	}
	if r.Note != nil {
		r.Note(fmt.Sprintf("%s: reading %s (to change it: --column %s=NAME)",
			row.File, strings.Join(said, ", "), said[0][strings.LastIndex(said[0], " ")+1:]))
	}
	return names, r.Expect, nil
}

func (r Reading) remedy(row table.Row, columns map[string]string, of layout, ours string) string {
	expected := "expected completion and language, and optionally model, task, source, id, prompt, sample; " +
		"the columns are "
	if of.name != "" {
		expected = "the columns of " + of.name + " are "
	}
	name := "name it with --column " + ours + "=NAME"
	switch {
	case ours == "language":
		name += ", or say what to expect: --language user or a language, as in --language en"
	case ours == "prompt":
		name += "; --language " + r.Expect + " takes the language from it"
	}
	return expected + list(row, columns) + "; " + name
}

// candidates returns the columns that have a usual name of ours.
func candidates(columns map[string]string, ours string, taken map[string]string) (found []string) {
	used := slices.Collect(maps.Values(taken))
	for column := range columns {
		name := strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(strings.TrimSpace(column)))
		if slices.Contains(usual[ours], name) && !slices.Contains(used, column) {
			found = append(found, column)
		}
	}
	slices.Sort(found)
	return found
}

// list lists the columns that a user may mean, in the file's order.
func list(row table.Row, columns map[string]string) string {
	var names []string
	for _, c := range slices.Concat(row.Columns, slices.Sorted(maps.Keys(columns))) {
		if !slices.Contains(names, c) && (c != "" || len(row.Columns) == 0) {
			names = append(names, c)
		}
	}
	return cmp.Or(strings.Join(names, ", "), "none")
}

// ParseColumns reads OURS=THEIRS, as in completion=reply.
func ParseColumns(pairs []string) (map[string]string, error) {
	columns := map[string]string{}
	for _, pair := range pairs {
		ours, theirs, _ := strings.Cut(pair, "=")
		ours, theirs = strings.TrimSpace(ours), strings.TrimSpace(theirs)
		switch {
		case ours == "" || theirs == "":
			return nil, crosstalk.BadOption("column", " is %q; expected OURS=THEIRS, as in completion=reply", pair)
		case columns[ours] != "":
			return nil, crosstalk.BadOption("column", " names %s twice: %s and %s", ours, columns[ours], theirs)
		}
		columns[ours] = theirs
	}
	return columns, nil
}
