package labels

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"crosstalk"
	"crosstalk/instrument/consistency"
)

// Unit is one thing that people judge, with what the instrument found.
type Unit struct {
	Item      string
	Sample    int
	Variant   string
	Line      int               // of the answer, from 1; 0: all of it
	Condition map[string]string // without the judge's column
	Cluster   string
	Columns   map[string]string // the item's labels
	Topic     string
	Given     [2]string // what the texts answer, if people should see it
	Texts     [2]string // in the order of the question's sides
	Choices   []string  // the labels to choose from; nil: the question's
	Judged    []Judged  // by each similarity; one where the instrument has no judges
	Doubt     float64   // how far the instrument is from another finding; NaN: not known

	key      string
	near     float64              // of the question
	answered consistency.Answered // of a reading
}

// Judged is what an instrument found in a unit.
type Judged struct {
	Judge      string // the similarity; empty: the instrument itself
	Value      float64
	Difference float64 // of the two sides, NaN where there is none
	Finding    string
}

// Key identifies the unit in its run, as Label.Key does.
func (u Unit) Key() string { return u.key }

// Columns that units have besides the columns of their items and conditions.
const (
	findingColumn  = "finding"  // what the instrument found
	disputedColumn = "disputed" // yes: similarities find different things
	doubtfulColumn = "doubtful" // yes: the instrument nearly found something else
	lengthColumn   = "length"   // how many characters a line has
)

// column returns the value of a unit's column: one of those above, a label or a part
// of its condition. The finding is its first judge's.
func (u *Unit) column(name string) string {
	switch name {
	case findingColumn:
		return cmp.Or(u.Judged[0].Finding, "none")
	case disputedColumn:
		for _, j := range u.Judged {
			if j.Finding != u.Judged[0].Finding {
				return "yes"
			}
		}
		return "no"
	case doubtfulColumn:
		if u.Doubt <= u.near {
			return "yes"
		}
		return "no"
	case lengthColumn:
		if u.Line > 0 {
			return length(u.Texts[0])
		}
	}
	if value, known := u.Columns[name]; known {
		return value
	}
	return u.Condition[name]
}

// stratum names the stratum of a unit: its condition, and these columns.
func (u *Unit) stratum(by []string) string {
	values := []any{u.Condition}
	for _, c := range by {
		values = append(values, u.column(c))
	}
	return string(crosstalk.Canonical(values))
}

// length is the value of lengthColumn for a text.
func length(text string) string {
	n, from := utf8.RuneCountInString(text), 1
	for _, to := range []int{20, 50, 100, 200} {
		if n <= to {
			return fmt.Sprintf("%d to %d", from, to)
		}
		from = to + 1
	}
	return fmt.Sprintf("%d or more", from)
}

// compareNumbered compares texts by the numbers that they begin with, then as texts.
func compareNumbered(a, b string) int {
	number := func(s string) int {
		digits := s[:len(s)-len(strings.TrimLeft(s, "0123456789"))]
		n, _ := strconv.Atoi(digits)
		return n
	}
	return cmp.Or(cmp.Compare(number(a), number(b)), cmp.Compare(a, b))
}
