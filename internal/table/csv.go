package table

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
)

// delimiterOf is the character that separates the names in a CSV file's first line: a comma, or a semicolon or tab
// where there are more of them, as spreadsheet programs of many countries write.
func delimiterOf(in *bufio.Reader) rune {
	start, _ := in.Peek(in.Size()) // an error comes again
	most, delimiter := 0, ','
	for _, c := range ",;\t" {
		r := csv.NewReader(bytes.NewReader(start))
		r.Comma = c
		if names, _ := r.Read(); len(names) > most {
			most, delimiter = len(names), c
		}
	}
	return delimiter
}

func readCSV(path string, in io.Reader, comma rune, yield func(Row) bool) error {
	record := &bounded{in: in, most: maxRecord}
	r := csv.NewReader(record)
	r.Comma, r.ReuseRecord = comma, true
	r.FieldsPerRecord = -1 // our own message says more
	return readRecords(path, yield, func() (fields []string, line int, err error) {
		if fields, err = r.Read(); err == nil {
			line, _ = r.FieldPos(0)
		} else if err != io.EOF {
			err = csvError(path, err)
		}
		record.reset()
		return fields, line, err
	})
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
		line := 0
		return readRecords(path, yield, func() ([]string, int, error) {
			for lines.Scan() {
				line++
				if text := strings.TrimSuffix(lines.Text(), "\r"); text != "" {
					return strings.Split(text, "\t"), line, nil
				}
			}
			if err := lines.Err(); err != nil {
				return nil, 0, fmt.Errorf("%s:%d: %w", path, line+1, err)
			}
			return nil, 0, io.EOF
		})
	})
}

// readRecords yields the rows of records, of which the first is the header. next returns a record, which is valid until
// the next one, and the line where it starts; io.EOF at the end.
func readRecords(path string, yield func(Row) bool, next func() (fields []string, line int, err error)) error {
	fields, header, err := next()
	if err == io.EOF {
		return fmt.Errorf("%s:1: is empty; expected a header line with the names of the columns", path)
	}
	if err != nil {
		return err
	}
	columns := slices.Clone(fields)
	columns[0] = strings.TrimPrefix(columns[0], "\ufeff")
	repeated, err := checkHeader(columns)
	if err != nil {
		return fmt.Errorf("%s:%d: %w", path, header, err)
	}
	for {
		fields, line, err := next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		row := rowOf(path, line, header, columns, repeated, fields)
		if len(fields) != len(columns) {
			return row.Errorf("has %d fields; the header has %d", len(fields), len(columns))
		}
		for i, value := range fields {
			if err := checkUTF8(columns[i], value); err != nil {
				return row.Errorf("%w", err)
			}
		}
		if !yield(row) {
			return nil
		}
	}
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
