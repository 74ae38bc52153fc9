package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"crosstalk/instrument"
	"crosstalk/internal/ordered"
)

// Table is a table for people: a heading, rows and notes.
type Table struct {
	Heading []string   // shared by all rows: "model reference:leaky", ...
	Header  []string   // column titles
	Left    int        // number of columns from the left that contain words
	Rows    [][]string // cells, in the order of Header
	Notes   []string   // signatures and warnings

	Above  [][]Span // titles over several columns, above Header: levels from the top
	Breaks []int    // rows that begin a new group
	Bold   []Place  // the best cells: marked where the format can

	Caption string // of a table in LaTeX; empty: Heading
	Label   string // of a table in LaTeX; empty: none
}

// Span is a title over columns next to each other.
type Span struct {
	Title   string
	Columns int
}

// Place is a cell of Table.Rows.
type Place struct{ Row, Column int }

func (t Table) bold(row, column int) bool { return slices.Contains(t.Bold, Place{row, column}) }

var layouts = map[string]func(Table) string{"table": Table.text, "markdown": Table.markdown, "latex": Table.latex}

// WriteTable writes a table as "table", "markdown" or "latex". It replaces control characters by spaces.
func WriteTable(w io.Writer, format string, t Table) error { return WriteTables(w, format, []Table{t}) }

// WriteTables writes several tables as WriteTable does.
func WriteTables(w io.Writer, format string, tables []Table) error {
	layout, ok := layouts[format]
	if !ok {
		return cmp.Or(CheckFormat(format),
			fmt.Errorf("tables are not written as %s; expected table, markdown or latex", format))
	}
	texts := ordered.Map(tables, func(t Table) string { return layout(t.Tidy()) })
	_, err := io.WriteString(w, strings.Join(texts, "\n"))
	return err
}

var firstNumber = regexp.MustCompile(`\d+`)

const maxNamed = 8 // the maximum number of rows that a warning names

// Warnings merges the warnings of the same kind into one, with the rows that have it and, for one with a number,
// the range of its first number. of[i] are the warnings of the row called rows[i].
func Warnings(rows []string, of [][]string) (list []string) {
	type warning struct {
		row, text, kind string
		number          int
	}
	var all []warning
	for i, warnings := range of {
		for _, text := range warnings {
			w := warning{row: rows[i], text: text, kind: text}
			if at := firstNumber.FindStringIndex(text); at != nil {
				w.number, _ = strconv.Atoi(text[at[0]:at[1]])
				w.kind = text[:at[0]] + "#" + text[at[1]:]
			}
			all = append(all, w)
		}
	}
	byNumber := func(a, b warning) int { return a.number - b.number }
	for _, alike := range ordered.Groups(all, func(w warning) string { return w.kind }) {
		text, named := alike[0].text, ordered.Map(alike, func(w warning) string { return w.row })
		low, top := slices.MinFunc(alike, byNumber).number, slices.MaxFunc(alike, byNumber).number
		if at := firstNumber.FindStringIndex(text); at != nil && low < top {
			text = fmt.Sprintf("%s%d to %d%s", text[:at[0]], low, top, text[at[1]:])
		}
		switch n := len(named); {
		case n == len(rows) && n > 1:
			named = []string{"every row"}
		case n > maxNamed:
			named = append(named[:maxNamed:maxNamed], fmt.Sprintf("and %d more rows", n-maxNamed))
		}
		list = append(list, fmt.Sprintf("warning: %s: %s", strings.Join(named, ", "), text))
	}
	return list
}

// Columns lists all columns, conditions first, then the others by name.
func Columns(rows []map[string]string) (columns []string) {
	others := map[string]bool{}
	for _, row := range rows {
		for c := range row {
			others[c] = true
		}
	}
	for _, c := range instrument.Apart() {
		if others[c] {
			columns = append(columns, c)
			delete(others, c)
		}
	}
	return append(columns, slices.Sorted(maps.Keys(others))...)
}

// LaTeX escapes a text for LaTeX.
func LaTeX(text string) string { return latexEscape.Replace(plain(text)) }

// Markdown escapes a text for markdown.
func Markdown(text string) string { return markdownEscape.Replace(plain(text)) }
