package suite

import (
	"bufio"
	"fmt"
	"iter"
	"os"
	"strings"
	"unicode/utf8"

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
