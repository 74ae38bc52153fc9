// Package report prints estimates. It depends on estimates and observations, and knows instruments only by their
// Kinds.
//
// Formats for people (table, markdown, latex) have percentages, formats for programs (json, jsonl, csv) fractions.
// An undefined figure is "-", null or an empty field, never 0. Warnings are below a table and in all other formats.
package report

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"crosstalk"
	"crosstalk/internal/numbers"
)

// Formats are the values of --format, the default first.
var Formats = []string{"table", "json", "jsonl", "csv", "markdown", "latex"}

// CheckFormat returns an error for an unknown format.
func CheckFormat(format string) error {
	_, err := crosstalk.Chosen("format", format, Formats)
	return err
}

// ForPeople reports whether a format is a table for people, with percentages.
func ForPeople(format string) bool { return layouts[format] != nil }

// WriteNamed writes estimates in one of Formats; those for people show names.
func WriteNamed(w io.Writer, format string, estimates []crosstalk.Estimate, names Names) error {
	if ForPeople(format) {
		estimates = names.Estimates(estimates)
	}
	return Write(w, format, estimates)
}

// Write writes estimates in one of Formats. Before a table, it tells in words how many answers have a fault.
func Write(w io.Writer, format string, estimates []crosstalk.Estimate) error {
	if lines := PlainTotals(estimates); format == Formats[0] && len(lines) > 0 {
		if _, err := io.WriteString(w, strings.Join(lines, "\n")+"\n\n"); err != nil {
			return err
		}
	}
	return WriteResult(w, format, crosstalk.NewDocument(estimates), estimates,
		func() [][]string { return records(estimates) }, func() []Table { return Tables(estimates) })
}

// WriteResult writes a document as JSON, its parts as JSON Lines, records as CSV with their header, or tables.
func WriteResult[T any](w io.Writer, format string, document any, parts []T, records func() [][]string,
	tables func() []Table) error {
	switch {
	case format == "json" || format == "jsonl":
		return WriteJSON(w, format, document, parts)
	case format == "csv":
		return csv.NewWriter(w).WriteAll(records())
	}
	return WriteTables(w, format, tables())
}

// WriteJSON writes a document as indented JSON or, if the format is jsonl, each of its parts on a line.
func WriteJSON[T any](w io.Writer, format string, document any, parts []T) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if format != "jsonl" {
		e.SetIndent("", "  ")
		return e.Encode(document)
	}
	for _, p := range parts {
		if err := e.Encode(p); err != nil {
			return err
		}
	}
	return nil
}

// PValue formats a p-value with three numbers.Decimals, "-" if undefined.
func PValue(p crosstalk.Value) string {
	switch {
	case !p.Defined():
		return "-"
	case p < 0.001:
		return "<0.001"
	}
	return numbers.Decimals(p)
}

// Level formats the level of the intervals of figures: "95 %".
func Level(estimates []crosstalk.Estimate) string {
	for _, e := range estimates {
		if e.Interval != nil {
			return LevelText(e.Interval.Level)
		}
	}
	return "95 %"
}

// LevelText formats a level: "95 %".
func LevelText(level float64) string { return strconv.FormatFloat(100*level, 'g', 4, 64) + " %" }

func pValue(t *crosstalk.Test) string {
	if t == nil {
		return "-"
	}
	return PValue(t.P)
}

// IndependentNote explains the mark of Independent.
const IndependentNote = "*: the test counts all observations as independent, but they come in clusters: p is too small"

// Independent returns the mark of a p-value in a table for people: "*" if the test is the papers' t-test, which
// ignores clusters, and there are clusters.
func Independent(e crosstalk.Estimate) string {
	if e.Test != nil && e.Test.Method == "t" && e.Test.P.Defined() && e.Clusters < e.Observations {
		return "*"
	}
	return ""
}

// SmallP formats the p-value of a test, with its order of magnitude if PValue only has a bound; "-" without a test.
func SmallP(t *crosstalk.Test) string {
	if t == nil || !t.P.Defined() || t.P >= 0.001 {
		return pValue(t)
	}
	if t.P == 0 {
		return "<1e-300"
	}
	return strconv.FormatFloat(float64(t.P), 'e', 0, 64)
}

// EffectSize formats the value of an effect, "-" without one.
func EffectSize(e *crosstalk.Effect) string {
	if e == nil || !e.Value.Defined() {
		return "-"
	}
	if math.Abs(float64(e.Value)) < 0.0005 {
		return "0.000"
	}
	return numbers.Decimals(e.Value)
}

// Number formats a number for programs; it is empty if undefined.
func Number(f crosstalk.Value) string {
	if !f.Defined() {
		return ""
	}
	return strconv.FormatFloat(float64(f), 'g', -1, 64)
}

// Names are names for values of columns, such as a model or a system message, in tables, pages and plots, by VALUE or
// COLUMN:VALUE. Formats for programs keep the values.
type Names map[string]string

// ParseNames parses VALUE=NAME or COLUMN:VALUE=NAME. A value may contain equals signs, a name may not.
func ParseNames(pairs []string) (Names, error) {
	names, values := Names{}, map[string]string{}
	for _, pair := range pairs {
		i := strings.LastIndexByte(pair, '=')
		if i < 1 || strings.TrimSpace(pair[i+1:]) == "" {
			return nil, fmt.Errorf("%q: expected VALUE=NAME, such as openai:gpt-4o-mini=mini", pair)
		}
		value, name := pair[:i], strings.TrimSpace(pair[i+1:])
		if other, taken := values[name]; taken && other != value {
			return nil, fmt.Errorf("%s and %s have the same name, %s", short(other, maxName), short(value, maxName), name)
		}
		names[value], values[name] = name, value
	}
	return names, nil
}

// fingerprint matches the hash of a file or a version in a value.
var fingerprint = regexp.MustCompile(`@[0-9A-Za-z-]*[0-9a-f]{8,}`)

// Of returns the name of a value, which may lack fingerprints. A name for one column takes precedence over one for
// all.
func (n Names) Of(column, value string) (name string, ok bool) {
	for _, key := range keys(column, value) {
		if name, ok = n[key]; ok {
			return name, true
		}
	}
	return "", false
}

// keys returns the ways in which people may write a value of a column.
func keys(column, value string) []string {
	plain := fingerprint.ReplaceAllString(value, "")
	return []string{column + ":" + value, column + ":" + plain, value, plain}
}

// By returns columns with names instead of values.
func (n Names) By(by map[string]string) map[string]string {
	if len(n) == 0 {
		return by
	}
	for column, value := range by {
		if name, ok := n.Of(column, value); ok {
			by = maps.Clone(by)
			by[column] = name
		}
	}
	return by
}

// Estimates returns figures whose columns have names instead of values.
func (n Names) Estimates(estimates []crosstalk.Estimate) []crosstalk.Estimate {
	named := slices.Clone(estimates)
	for i := range named {
		named[i].By = n.By(named[i].By)
	}
	return named
}

// Unused lists the values that no figure has.
func (n Names) Unused(estimates []crosstalk.Estimate) (values []string) {
	used := map[string]bool{}
	for _, e := range estimates {
		for column, value := range e.By {
			for _, key := range keys(column, value) {
				used[key] = true
			}
		}
	}
	for _, value := range slices.Sorted(maps.Keys(n)) {
		if !used[value] {
			values = append(values, value)
		}
	}
	return values
}

const maxName = 40 // the length of names in tables, in characters

// Shorten returns rows of columns in which long values have names of at most most characters, or 0 for the width of a
// table. Names lack fingerprints and the common start and end of the column's values, and are cut in the middle.
// Different values of a column keep different names. The only value of a column may be twice as long.
func Shorten(rows []map[string]string, most int) []map[string]string {
	most = cmp.Or(most, maxName)
	values := map[string][]string{} // of a column
	for _, row := range rows {
		for column, value := range row {
			if !slices.Contains(values[column], value) {
				values[column] = append(values[column], value)
			}
		}
	}
	names := map[string]map[string]string{}
	for column, of := range values {
		most := most
		if len(of) == 1 { // it is shown once
			most *= 2
		}
		if slices.ContainsFunc(of, func(value string) bool { return tooLong(value, most) }) {
			names[column] = shortNames(of, most)
		}
	}
	shortened := slices.Clone(rows)
	for i, row := range rows {
		for column, value := range row {
			if name, ok := names[column][value]; ok && name != value {
				shortened[i] = maps.Clone(shortened[i])
				shortened[i][column] = name
			}
		}
	}
	return shortened
}

func tooLong(value string, most int) bool { return utf8.RuneCountInString(value) > most }

func shortNames(values []string, most int) map[string]string {
	long := slices.DeleteFunc(slices.Clone(values), func(value string) bool { return !tooLong(value, most) })
	before, after := common(long)
	names, taken := map[string]string{}, map[string]bool{}
	for _, value := range values {
		name := value
		if tooLong(value, most) {
			if name = short(value, most); len(long) > 1 && before+after > 0 {
				name = short(value[before:len(value)-after], most-2)
				if before > 0 {
					name = "…" + name
				}
				if after > 0 {
					name += "…"
				}
			}
		}
		for k, first := 2, name; taken[name]; k++ {
			number := fmt.Sprintf(" (%d)", k)
			name = short(first, most-len(number)) + number
		}
		names[value], taken[name] = name, true
	}
	return names
}

// common returns the number of bytes of the values' common start and end, up to a word, a setting or a part of a
// path.
func common(values []string) (before, after int) {
	first := values[0]
	before, after = len(first), len(first)
	for _, value := range values[1:] {
		for !strings.HasPrefix(value, first[:before]) {
			before--
		}
		for !strings.HasSuffix(value, first[len(first)-after:]) {
			after--
		}
	}
	const between = " ?&/:,;"
	before = strings.LastIndexAny(first[:before], between) + 1
	if i := strings.IndexAny(first[len(first)-after:], between); i >= 0 {
		after -= i
	} else {
		after = 0
	}
	for _, value := range values {
		if before+after >= len(value) { // nothing differs in between
			after = 0
		}
		if before >= len(value) {
			before = 0
		}
	}
	return before, after
}

func short(value string, most int) string {
	r := []rune(strings.Join(strings.Fields(value), " "))
	if len(r) > most {
		r = []rune(fingerprint.ReplaceAllString(string(r), ""))
	}
	if len(r) <= most {
		return string(r)
	}
	tail := most / 3 // texts that begin alike often end differently
	return strings.TrimRight(string(r[:most-1-tail]), " ") + "…" + strings.TrimLeft(string(r[len(r)-tail:]), " ")
}
