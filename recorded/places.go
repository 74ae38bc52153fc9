package recorded

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"crosstalk/internal/nearest"
	"crosstalk/internal/table"
)

// places are what the user says our columns are called in a file. One that no row has is an error.
type places struct {
	of    map[string]string // the file's names, by ours
	file  string
	rows  int
	lacks map[string]*lack // by our names
}

// lack is a place that rows do not have.
type lack struct {
	rows  int
	first error // about the first of them
}

// lacking are our columns whose places a row, as it was read, does not have.
func (p *places) lacking(row table.Row) (ours []string) {
	for column, theirs := range p.of {
		if _, found := nested(row, theirs); !found && row.Lists[theirs] == nil {
			ours = append(ours, column)
		}
	}
	return ours
}

// see counts a row, whose layout may have columns that it lacked. A table's header has all columns.
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

// done returns an error about a place that no row has had, and notes those that some lacked.
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

// absent is the error about a place that a row does not have. It says how far the place can be followed.
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
