package suite

import (
	"bufio"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"crosstalk/internal/parquet"
	"crosstalk/internal/table"
)

// plainRows yields the rows of a TSV file in which every line is a row and
// quotes have no special meaning.
func plainRows(file string) iter.Seq2[table.Row, error] {
	return func(yield func(table.Row, error) bool) {
		fail := func(line int, format string, args ...any) {
			yield(table.Row{}, fmt.Errorf("%s:%d: %w", file, line, fmt.Errorf(format, args...)))
		}
		in, err := os.Open(file)
		if err != nil {
			yield(table.Row{}, err)
			return
		}
		defer in.Close()
		lines := bufio.NewScanner(in)
		lines.Buffer(nil, 1<<20)
		var columns []string
		n := 0
		for lines.Scan() {
			n++
			text := strings.TrimSuffix(lines.Text(), "\r")
			switch {
			case !utf8.ValidString(text):
				fail(n, "is not valid UTF-8: save the file as UTF-8")
				return
			case columns == nil:
				columns = strings.Split(strings.TrimPrefix(text, "\ufeff"), "\t")
				continue
			case text == "":
				continue
			}
			fields := strings.Split(text, "\t")
			if len(fields) != len(columns) {
				fail(n, "has %d fields; the header has %d", len(fields), len(columns))
				return
			}
			row := table.Row{File: file, Line: n, Header: 1, Columns: columns, Values: make(map[string]string, len(columns))}
			for i, column := range columns {
				row.Values[column] = fields[i]
			}
			if !yield(row, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			fail(n+1, "%w", err)
		} else if columns == nil {
			fail(1, "is empty; expected a header line with the names of the columns")
		}
	}
}

// dataColumns are the columns of all data sets.
var dataColumns = []string{"id", "idx", "label", "sentence1", "sentence2", "premise", "hypothesis", "question", "passage", "answer"}

// parquetRows yields the rows of a Parquet file; a row's line is its number.
// The name of a list omits the levels that Parquet puts between a list and its
// elements.
func parquetRows(file string) iter.Seq2[table.Row, error] {
	return func(yield func(table.Row, error) bool) {
		f, err := parquet.Open(file)
		if err != nil {
			yield(table.Row{}, err)
			return
		}
		defer f.Close()
		texts, lists := map[string][]string{}, map[string][][]string{}
		var columns []string
		for _, column := range f.Columns() {
			root, _, _ := strings.Cut(column, ".")
			if !slices.Contains(dataColumns, root) {
				continue
			}
			name, _, isList := strings.Cut(column, ".list.")
			if isList {
				lists[name], err = f.Lists(column)
			} else {
				texts[name], err = f.Text(column)
			}
			if err != nil {
				yield(table.Row{}, fmt.Errorf("%s: %w", file, err))
				return
			}
			columns = append(columns, name)
		}
		for i := range f.Rows {
			row := table.Row{File: file, Line: i + 1, Header: i + 1, Columns: columns, Values: make(map[string]string, len(texts)), Lists: make(map[string][]string, len(lists))}
			for name, values := range texts {
				row.Values[name] = values[i]
			}
			for name, values := range lists {
				row.Lists[name] = values[i]
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}
