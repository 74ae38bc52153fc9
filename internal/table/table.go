// Package table reads files of records: CSV, TSV, JSON Lines or a workbook's
// first sheet, optionally gzip-compressed. It reads one record at a time, so
// memory does not grow with the file (except for workbooks).
package table

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Row is one record.
type Row struct {
	File    string
	Line    int                 // where it starts, from 1; the sheet's row in a workbook
	Columns []string            // in the file's order
	Values  map[string]string   // a missing value, null included, is ""
	Lists   map[string][]string // values that are lists (JSON Lines only)
}

// Errorf is an error that names the file and the line.
func (r Row) Errorf(format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", r.File, r.Line, fmt.Errorf(format, args...))
}

// Has reports whether the row has the column, empty or not.
func (r Row) Has(column string) bool {
	if _, ok := r.Values[column]; ok {
		return true
	}
	_, ok := r.Lists[column]
	return ok
}

// Blank reports whether all columns of the row are empty.
func (r Row) Blank() bool {
	for _, v := range r.Values {
		if strings.TrimSpace(v) != "" {
			return false
		}
	}
	return len(r.Lists) == 0
}

// Read yields the file's rows and stops after an error. Blank lines are
// skipped, but a blank row of a workbook is a row. Columns without a name (row
// numbers that some programs write) are dropped.
func Read(path string) iter.Seq2[Row, error] {
	return rows(path, func(yield func(Row) bool) error { return read(path, yield) })
}

func rows(path string, read func(yield func(Row) bool) error) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		if err := read(func(r Row) bool { return yield(r, nil) }); err != nil {
			yield(Row{File: path}, err)
		}
	}
}

// Formats are the file name endings that Read supports, each optionally with
// ".gz".
const Formats = ".csv, .tsv, .jsonl or .xlsx"

func read(path string, yield func(Row) bool) error {
	f, err := os.Open(path)
	if err != nil {
		return notFound(path, err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return fmt.Errorf("%s: is a directory; expected a file (%s, optionally with .gz)", path, Formats)
	}
	return readFrom(path, f, yield)
}

// ReadFrom yields the rows of a reader's content; the ending of the file name
// gives the format.
func ReadFrom(path string, in io.Reader) iter.Seq2[Row, error] {
	return rows(path, func(yield func(Row) bool) error { return readFrom(path, in, yield) })
}

func readFrom(path string, in io.Reader, yield func(Row) bool) (err error) {
	in = bufio.NewReaderSize(in, 1<<16)
	name := strings.ToLower(filepath.Base(path))
	if strings.HasSuffix(name, ".gz") {
		name = strings.TrimSuffix(name, ".gz")
		if in, err = gunzip(in); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	switch filepath.Ext(name) {
	case ".csv":
		return readCSV(path, in, ',', yield)
	case ".tsv", ".tab":
		return readCSV(path, in, '\t', yield)
	case ".jsonl", ".ndjson":
		return readJSONLines(path, in, yield)
	case ".xlsx":
		return readWorkbook(path, in, yield)
	}
	return fmt.Errorf("%s: expected a file that ends in %s, optionally with .gz", path, Formats)
}

func notFound(path string, err error) error {
	var e *os.PathError
	if errors.As(err, &e) {
		err = e.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}

// checkHeader refuses duplicate and malformed names.
func checkHeader(path string, line int, columns []string) error {
	seen := map[string]bool{}
	for _, c := range columns {
		if err := checkUTF8(path, line, c, c); err != nil {
			return err
		}
		if c != "" && seen[c] {
			return fmt.Errorf("%s:%d: duplicate column %q in the header", path, line, c)
		}
		seen[c] = true
	}
	if len(seen) == 0 || len(seen) == 1 && seen[""] {
		return fmt.Errorf("%s:%d: expected a header line with the names of the columns", path, line)
	}
	return nil
}

func checkUTF8(path string, line int, column, value string) error {
	if !utf8.ValidString(value) {
		return fmt.Errorf("%s:%d: the column %q is not valid UTF-8: save the file as UTF-8", path, line, column)
	}
	return nil
}
