package table

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode/utf8"
)

// delimiterOf is the character that separates the names in a CSV file's first line: a comma, or a semicolon or tab
// where there are more of them, as spreadsheet programs of many countries write.
func delimiterOf(in *bufio.Reader) rune {
	start, _ := in.Peek(in.Size()) // an error comes again
	counts := map[rune]int{}
	quoted := false
	for _, c := range string(start) {
		switch {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '\n':
			return mostOf(counts)
		default:
			counts[c]++
		}
	}
	return mostOf(counts)
}

func mostOf(counts map[rune]int) rune {
	most := ','
	for _, c := range []rune{';', '\t'} {
		if counts[c] > counts[most] {
			most = c
		}
	}
	return most
}

func readCSV(path string, in io.Reader, comma rune, yield func(Row) bool) error {
	record := &bounded{in: in, most: maxRecord}
	r := csv.NewReader(record)
	r.Comma, r.ReuseRecord = comma, true
	r.FieldsPerRecord = -1 // our own message says more
	columns, err := r.Read()
	if err == io.EOF {
		return emptyError(path)
	}
	if err != nil {
		return csvError(path, err)
	}
	columns = append([]string(nil), columns...)
	columns[0] = strings.TrimPrefix(columns[0], "\ufeff")
	header, _ := r.FieldPos(0)
	repeated, err := checkHeader(path, header, columns)
	if err != nil {
		return err
	}
	for {
		record.reset()
		fields, err := r.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return csvError(path, err)
		}
		line, _ := r.FieldPos(0)
		if len(fields) != len(columns) {
			return fmt.Errorf("%s:%d: has %d fields; the header has %d", path, line, len(fields), len(columns))
		}
		for i, value := range fields {
			if err := checkUTF8(path, line, columns[i], value); err != nil {
				return err
			}
		}
		if !yield(rowOf(path, line, header, columns, repeated, fields)) {
			return nil
		}
	}
}

// ReadPlain yields the rows of a TSV file in which every line is a row and quotes have no special meaning.
func ReadPlain(path string) iter.Seq2[Row, error] {
	return rows(path, anyColumn, func(yield func(Row) bool) error {
		in, err := open(path)
		if err != nil {
			return err
		}
		defer in.Close()
		lines := bufio.NewScanner(in)
		lines.Buffer(nil, 1<<20)
		var columns []string
		n := 1
		for ; lines.Scan(); n++ {
			text := strings.TrimSuffix(lines.Text(), "\r")
			fields := strings.Split(text, "\t")
			switch {
			case !utf8.ValidString(text):
				return fmt.Errorf("%s:%d: is not valid UTF-8: save the file as UTF-8", path, n)
			case columns == nil:
				fields[0] = strings.TrimPrefix(fields[0], "\ufeff")
				columns = fields
			case text == "":
			case len(fields) != len(columns):
				return fmt.Errorf("%s:%d: has %d fields; the header has %d", path, n, len(fields), len(columns))
			case !yield(rowOf(path, n, 1, columns, nil, fields)):
				return nil
			}
		}
		if err := lines.Err(); err != nil {
			return fmt.Errorf("%s:%d: %w", path, n, err)
		}
		if columns == nil {
			return emptyError(path)
		}
		return nil
	})
}

func emptyError(path string) error {
	return fmt.Errorf("%s:1: is empty; expected a header line with the names of the columns", path)
}

func csvError(path string, err error) error {
	var e *csv.ParseError
	if errors.As(err, &e) {
		if e.StartLine != e.Line { // an unclosed quote extends to the end of the file
			return fmt.Errorf("%s:%d: in the record that begins here: line %d, column %d: %w",
				path, e.StartLine, e.Line, e.Column, e.Err)
		}
		return fmt.Errorf("%s:%d: column %d: %w", path, e.Line, e.Column, e.Err)
	}
	return fmt.Errorf("%s: %w", path, err)
}
