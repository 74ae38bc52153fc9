package recorded

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"

	"crosstalk/internal/nearest"
	"crosstalk/internal/table"
	"crosstalk/measure/thoughts"
)

// Reading specifies how to read files of answers. The zero value reads files with our own column names.
type Reading struct {
	Columns  map[string]string // the file's names by ours; one with dots is a path in nested JSON: metadata.locale
	FileName *FileName         // the columns in the names of files; nil: none
	Expect   string            // the language of answers: BCP 47, ExpectUser, ExpectPrompt; "": in the column language

	// Identify returns the tag of the language that the answer to a user's messages, oldest first, should be in, "" if
	// that is unclear. ExpectUser and ExpectPrompt need it.
	Identify func(messages ...string) string
	// Batches holds the user's messages of batch requests by id. Reading a file of requests adds them, so it must be
	// read before the file of answers; nil: they are unknown.
	Batches map[string][]string
	// Pipes holds what pipes gave, by path, so that they can be read again; nil: they cannot.
	Pipes map[string]*File
	// Suit takes the column text for answers, and expects the user's language, where no one column has the usual name.
	Suit bool
	Note func(text string) // is called, once a file, with the columns recognised as ours; may be nil
}

// The policies of Reading.Expect.
const (
	ExpectUser   = "user"   // the language of the user's last message whose language is clear
	ExpectPrompt = "prompt" // the language of the user's messages before the answer, at most the last 16 KB
)

// reply is an answer in a row, with the messages before it.
type reply struct {
	values  map[string]string // of our columns, unless the user named others for them
	cluster string            // shared by the replies of one conversation
	turns   []string          // the user's messages before the answer; nil: the prompt
	rules   string            // the system messages before it
	failed  bool              // an error was recorded instead of an answer
	mixed   bool              // the answer contains thoughts, and where they end is unknown

	reasoning string // recorded apart from the answer
}

// layout describes the content of a kind of row.
type layout struct {
	name  string // for messages; empty: a row is an answer
	told  string // what is read from a row, for Reading.Note; empty: no note
	quiet bool   // a file without answers is not an error
	// read returns a row's columns, which become labels, and its replies. A reply without values is the row itself.
	read func(row table.Row) (columns map[string]string, replies []reply, err error)
}

// layouts of rows, with the functions that recognise them. Each file is read with a new one.
var layouts = []struct {
	tells func(row table.Row) bool
	open  func() layout
}{
	{isInspect, newInspect},
	{isPromptfoo, func() layout { return promptfoo }},
	{hasPromptfooColumns, func() layout { return promptfooTable }},
	{func(row table.Row) bool { return row.Has("resps") && row.Has("arguments") }, newHarness},
	{isTranscript, newTranscript},
	{isSpan, newSpans},
	{hasMessages, func() layout { return chat }},
	{isMessage, newMessages},
	{func(table.Row) bool { return true }, func() layout { return plain }},
}

var plain = layout{read: func(row table.Row) (map[string]string, []reply, error) {
	return row.Values, []reply{{}}, nil
}}

// answered is a reply in the form of a row with our columns.
type answered struct {
	table.Row
	reply
	expect string // Confusion.Expect
}

func (r Reading) table(path string, needed func(column string) bool) iter.Seq2[table.Row, error] {
	return r.FileName.named(path, func(yield func(table.Row, error) bool) {
		f, err := r.Open(path)
		if err != nil {
			yield(table.Row{File: path}, err)
			return
		}
		defer f.Close()
		f.Rows(r.needing(needed))(yield)
	})
}

// needing adds the columns that the user named to those that are needed.
func (r Reading) needing(needed func(column string) bool) func(column string) bool {
	theirs := slices.Collect(maps.Values(r.Columns))
	return func(column string) bool { return needed(column) || slices.Contains(theirs, column) }
}

// rows yields the rows of a table under our names, as given by the user; nothing is guessed.
func (r Reading) rows(path string, needed func(column string) bool) iter.Seq2[table.Row, error] {
	return func(yield func(table.Row, error) bool) {
		said := places{of: r.Columns, file: path}
		for row, err := range r.table(path, needed) {
			if err == nil {
				err = said.see(row, row.Values, said.lacking(row))
			}
			if err == nil {
				err = rename(row, row.Values, r.Columns, true)
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
		if err := said.done(r.Note); err != nil {
			yield(table.Row{}, err)
		}
	}
}

// replies yields the replies in rows. The first row determines the layout of all.
func (r Reading) replies(path string, rows iter.Seq2[table.Row, error]) iter.Seq2[answered, error] {
	return func(yield func(answered, error) bool) {
		r := r
		var of layout
		var names map[string]string // including guesses
		said := places{of: r.Columns, file: path}
		empty := true
		mixed, firstMixed := 0, "" // answers that contain thoughts
		for row, err := range rows {
			if err == nil && row.Blank() {
				continue
			}
			if err != nil {
				yield(answered{}, err)
				return
			}
			lacking := said.lacking(row)
			row = r.messagesOf(row)
			if of.read == nil {
				of = r.layoutOf(row)
				if of.told != "" && r.Note != nil {
					r.Note(fmt.Sprintf("%s: reading %s: %s", path, of.name, of.told))
				}
			}
			if of.name == chat.name {
				err = r.nameAnswer(row)
			}
			var columns map[string]string
			var replies []reply
			if err == nil {
				columns, replies, err = of.read(row)
			}
			if err == nil {
				err = said.see(row, columns, lacking)
			}
			if err == nil && names == nil {
				names, r.Expect, err = r.names(row, columns, of)
			}
			named := maps.Clone(columns)
			if err == nil {
				err = rename(row, named, names, false)
			}
			if err != nil {
				yield(answered{}, err)
				return
			}
			for _, reply := range replies {
				empty = false
				answer := r.answer(row, named, names, reply)
				if answer.mixed {
					mixed++
					firstMixed = cmp.Or(firstMixed, where(row))
				}
				if !yield(answer, nil) {
					return
				}
			}
		}
		if mixed > 0 && r.Note != nil {
			r.Note(fmt.Sprintf("%s: answers that are not checked: %d: %s (first in %s)", path, mixed, thoughts.PromptfooMixed,
				firstMixed))
		}
		if err := said.done(r.Note); err != nil {
			yield(answered{}, err)
			return
		}
		if empty && !of.quiet {
			what := "has no rows"
			if of.name != "" {
				what = "has no answers in " + of.name
			}
			yield(answered{}, fmt.Errorf("%s: %s", path, what))
		}
	}
}

// layoutOf returns the layout of a file with this first row. Columns that the user named take precedence.
func (r Reading) layoutOf(row table.Row) layout {
	if strings.HasSuffix(strings.ToLower(row.File), ".txt") {
		return newDialogue(r.Columns["completion"])
	}
	named := r.Columns["completion"] != "" || r.Columns[messagesColumn] != ""
	if s, ok := shapeOf(row); ok && !named && (!row.Has("completion") || isJSON(row.Values["completion"])) &&
		!isInspect(row) && !isPromptfoo(row) {
		return logged(s, r.Batches)
	}
	i := 0
	for !layouts[i].tells(row) {
		i++
	}
	of := layouts[i].open()
	if of.name == "" && r.Columns[messagesColumn] != "" {
		return chat
	}
	return of
}

func (r Reading) answer(row table.Row, columns, names map[string]string, of reply) answered {
	if names["completion"] != "" { // the user named another text
		of.mixed, of.reasoning = false, ""
	}
	a := answered{row, of, r.Expect}
	a.Values = columns
	if of.values != nil {
		a.Values, a.Lists = maps.Clone(columns), nil
		if n := len(of.turns); n > 0 {
			of.values["prompt"] = of.turns[n-1]
		}
		for column, value := range of.values {
			if _, named := names[column]; !named {
				a.Values[column] = value
			}
		}
	}
	if a.turns == nil && a.Values["prompt"] != "" {
		a.turns = []string{a.Values["prompt"]}
	}
	return a
}

// rename gives columns of a row our names, including lists if lists is true. A missing path gives an empty value.
func rename(row table.Row, columns, names map[string]string, lists bool) error {
	values, listed := map[string]string{}, map[string][]string{}
	for ours, theirs := range names {
		list, is := row.Lists[theirs]
		switch value, ok := columns[theirs]; {
		case is && lists:
			listed[ours] = list
		case is:
			return row.Errorf("%s is a list; expected text", theirs)
		case ok:
			if values[ours] = value; slices.Contains(answerColumns, ours) {
				if err := refuseObject(row, ours, theirs); err != nil {
					return err
				}
			}
		default:
			values[ours], _ = nested(row, theirs)
		}
	}
	for _, theirs := range names { // delete all before copying: names may be exchanged
		delete(columns, theirs)
		delete(row.Lists, theirs)
	}
	maps.Copy(columns, values)
	maps.Copy(row.Lists, listed)
	return nil
}

// nested returns the text at a path in a row: a column, or names joined by dots, where numbers index lists.
func nested(row table.Row, name string) (string, bool) {
	if value, ok := row.Values[name]; ok {
		return value, true
	}
	column, path, _ := strings.Cut(name, ".")
	value, ok := row.Values[column]
	if list := row.Lists[column]; path != "" && list != nil {
		column, path, _ = strings.Cut(path, ".")
		value, ok = element(list, column)
	}
	for ok && path != "" {
		var fields map[string]json.RawMessage
		var list []json.RawMessage
		var raw json.RawMessage
		column, path, _ = strings.Cut(path, ".")
		if json.Unmarshal([]byte(value), &fields) == nil {
			raw, ok = fields[column]
		} else if json.Unmarshal([]byte(value), &list) == nil {
			raw, ok = element(list, column)
		} else {
			return "", false
		}
		value = textOf(raw)
	}
	return value, ok
}

func element[T any](list []T, number string) (of T, ok bool) {
	i, err := strconv.ParseUint(number, 10, 31)
	if err != nil || i >= uint64(len(list)) {
		return of, false
	}
	return list[i], true
}

// textOf returns a JSON string's text, and other values as written.
func textOf(raw json.RawMessage) string {
	var s *string
	if json.Unmarshal(raw, &s) != nil {
		return string(raw)
	}
	if s == nil {
		return ""
	}
	return *s
}

func members(object string) map[string]string {
	var fields map[string]any
	d := json.NewDecoder(strings.NewReader(object))
	d.UseNumber()
	if d.Decode(&fields) != nil {
		return map[string]string{}
	}
	columns := make(map[string]string, len(fields))
	for name, value := range fields {
		switch value.(type) {
		case nil, []any, map[string]any:
		default:
			columns[name] = fmt.Sprint(value)
		}
	}
	return columns
}

// places maps our columns to their paths in a file, as given by the user. A path that no row has is an error.
type places struct {
	of    map[string]string // the file's paths, by our names
	file  string
	rows  int
	lacks map[string]*lack // by our names
}

// lack describes a path that rows do not have.
type lack struct {
	rows  int
	first error // the error for the first of them
}

// lacking returns our columns whose paths do not exist in a row as read.
func (p *places) lacking(row table.Row) (ours []string) {
	for column, theirs := range p.of {
		if _, found := nested(row, theirs); !found && row.Lists[theirs] == nil {
			ours = append(ours, column)
		}
	}
	return ours
}

// see counts a row. Its layout may add columns that the row itself lacks. A table's header has all columns.
func (p *places) see(row table.Row, columns map[string]string, lacking []string) error {
	p.rows++
	for _, ours := range lacking {
		theirs := p.of[ours]
		if _, has := columns[theirs]; has {
			continue
		}
		if p.lacks[ours] == nil {
			if p.lacks == nil {
				p.lacks = map[string]*lack{}
			}
			p.lacks[ours] = &lack{first: absent(row, columns, ours, theirs)}
		}
		p.lacks[ours].rows++
		if column, _, _ := strings.Cut(theirs, "."); row.Header != row.Line && !row.Has(column) {
			return p.lacks[ours].first
		}
	}
	return nil
}

// done returns an error about a path that no row has, and notes paths that some rows lack.
func (p *places) done(note func(string)) error {
	for _, ours := range slices.Sorted(maps.Keys(p.lacks)) {
		switch n := p.lacks[ours].rows; {
		case n == p.rows:
			return p.lacks[ours].first
		case note != nil:
			note(fmt.Sprintf("%s: %d of %d rows have no %s, which is to be %s", p.file, n, p.rows, p.of[ours], ours))
		}
	}
	return nil
}

// absent returns the error about a path that a row does not have. It tells how far the path can be followed.
func absent(row table.Row, columns map[string]string, ours, theirs string) error {
	has := "the columns are " + list(row, columns)
	known := slices.Concat(row.Columns, slices.Collect(maps.Keys(columns)))
	wanted, _, _ := strings.Cut(theirs, ".")
	for at := strings.LastIndex(theirs, "."); at > 0; at = strings.LastIndex(theirs[:at], ".") {
		value, found := nested(row, theirs[:at])
		elements, isList := row.Lists[theirs[:at]]
		if !found && !isList {
			continue
		}
		var list []json.RawMessage
		var fields map[string]json.RawMessage
		switch has = theirs[:at] + " is a text"; {
		case isList || json.Unmarshal([]byte(value), &list) == nil:
			has = fmt.Sprintf("%s is a list of %d, whose places are numbers from 0", theirs[:at], len(elements)+len(list))
		case json.Unmarshal([]byte(value), &fields) == nil:
			has = theirs[:at] + " has " + strings.Join(slices.Sorted(maps.Keys(fields)), ", ")
		}
		known = slices.Collect(maps.Keys(fields))
		wanted, _, _ = strings.Cut(theirs[at+1:], ".")
		break
	}
	return row.HeaderErrorf("has no column %q, which is to be %s; %s%s",
		theirs, ours, nearest.Question(wanted, known), has)
}
