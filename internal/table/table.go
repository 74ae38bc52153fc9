// Package table reads files of records: CSV, TSV, JSON Lines, a JSON array, the first sheet of a workbook, or
// Parquet, each of which may be gzip-compressed. Except for workbooks and Parquet, memory does not grow with the file.
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
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Row is one record.
type Row struct {
	File    string
	Line    int                 // where it starts, from 1; the sheet's row in a workbook
	Header  int                 // the line of the column names
	Columns []string            // in the file's order
	Values  map[string]string   // a missing value, null included, is ""
	Lists   map[string][]string // values that are lists (JSON Lines only)
	Objects map[string]string   // values that are objects, as JSON; Values has them too

	repeated []string // columns that occur twice in the header, which are dropped
}

// Errorf returns an error that names the file and the line.
func (r Row) Errorf(format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", r.File, r.Line, fmt.Errorf(format, args...))
}

// HeaderErrorf returns an error that names the file and the line of the column names.
func (r Row) HeaderErrorf(format string, args ...any) error {
	r.Line = r.Header
	return r.Errorf(format, args...)
}

// Has reports whether the row has the column, empty or not.
func (r Row) Has(column string) bool {
	if _, ok := r.Values[column]; ok {
		return true
	}
	_, ok := r.Lists[column]
	return ok
}

// Blank reports whether all values of the row are empty.
func (r Row) Blank() bool {
	for _, v := range r.Values {
		if strings.TrimSpace(v) != "" {
			return false
		}
	}
	return len(r.Lists) == 0
}

// Read opens a file and yields its rows: see File.Rows.
func Read(path string) iter.Seq2[Row, error] { return ReadNeeding(path, nil) }

// ReadNeeding opens a file and yields its rows: see File.Rows.
func ReadNeeding(path string, needed func(column string) bool) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		f, err := Open(path)
		if err != nil {
			yield(Row{File: path}, err)
			return
		}
		defer f.Close()
		f.Rows(needed)(yield)
	}
}

// ReadFrom yields the rows of a reader's content; the ending of path determines the format.
func ReadFrom(path string, in io.Reader) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		f, err := open(path, in)
		if err != nil {
			yield(Row{File: path}, err)
			return
		}
		f.Rows(nil)(yield)
	}
}

// rowOf returns a row with these values of its columns; values missing at the end are "".
func rowOf(path string, line, header int, columns, repeated, values []string) Row {
	r := Row{File: path, Line: line, Header: header, Columns: columns, repeated: repeated,
		Values: make(map[string]string, len(columns))}
	for i, c := range columns {
		if r.Values[c] = ""; i < len(values) {
			r.Values[c] = values[i]
		}
	}
	delete(r.Values, "")
	return r
}

// checkHeader refuses malformed names. It returns the duplicate names, and clears them in columns.
func checkHeader(columns []string) (repeated []string, err error) {
	times := map[string]int{}
	for _, c := range columns {
		if err := checkUTF8(c, c); err != nil {
			return nil, err
		}
		times[c]++
	}
	if len(times) == 0 || len(times) == 1 && times[""] > 0 {
		return nil, errors.New("expected a header line with the names of the columns")
	}
	for i, c := range columns {
		if c != "" && times[c] > 1 {
			repeated, columns[i] = append(repeated, c), ""
		}
	}
	return repeated, nil
}

func checkUTF8(column, value string) error {
	if !utf8.ValidString(value) {
		return fmt.Errorf("the column %q is not valid UTF-8: save the file as UTF-8", column)
	}
	return nil
}

const (
	// maxRecord limits one record, because a few compressed bytes can expand to a line of gigabytes.
	maxRecord = 16 << 20
	// maxWorkbook limits a workbook, before and after decompression, as it is a zip file.
	maxWorkbook = 256 << 20
)

// Limit returns a reader of in that fails when in is longer than most bytes or has too many values.
func Limit(in io.Reader, most int) io.Reader { return &bounded{in: in, most: most} }

// bounded is a reader that fails when more than most bytes are read between resets, or when the bytes would take
// about a hundred times their size in memory: more than maxValues columns or numbers, or a quarter as many lists and
// objects.
type bounded struct {
	in                io.Reader
	most, got, values int
}

const maxValues = 2 << 20

func (b *bounded) reset() { b.got, b.values = 0, 0 }

func (b *bounded) Read(p []byte) (int, error) {
	if b.got > b.most {
		return 0, tooLong(b.most)
	}
	if b.values > maxValues {
		return 0, fmt.Errorf("has more than %d million values in a record", maxValues>>20)
	}
	n, err := b.in.Read(p)
	b.got += n
	for separator, weight := range map[string]int{",": 1, "\t": 1, "[": 4, "{": 4} {
		b.values += weight * bytes.Count(p[:n], []byte(separator))
	}
	return n, err
}

func tooLong(most int) error { return fmt.Errorf("is longer than %d MiB", most>>20) }

func readCSV(f *File, yield func(Row) bool) error {
	text := f.Text()
	start, _ := text.Peek(text.Size())
	return readSeparated(f.Path, text, delimiterOf(start), yield)
}

func readTSV(f *File, yield func(Row) bool) error {
	return readSeparated(f.Path, f.Text(), '\t', yield)
}

func readSeparated(path string, in io.Reader, comma rune, yield func(Row) bool) error {
	record := &bounded{in: in, most: maxRecord}
	r := csv.NewReader(record)
	r.Comma, r.ReuseRecord = comma, true
	r.FieldsPerRecord = -1 // our own message is more specific
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
	return rows(path, nil, func(yield func(Row) bool) error {
		f, err := Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		lines := bufio.NewScanner(f.Text())
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

// readRecords yields the rows of records, the first of which is the header. next returns a record, which is valid
// until the next call, and the line where it starts; io.EOF at the end.
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

// toUTF8 converts UTF-16, in which spreadsheet programs save "Unicode text". It recognises a byte order mark, or a
// zero byte in the first character, which is ASCII in every text format here. Other content is returned unchanged.
// Whatever is not valid UTF-16 becomes bytes that are not UTF-8; every format refuses them with their line.
func toUTF8(in *bufio.Reader) *bufio.Reader {
	var order unicode.Endianness
	switch start, _ := in.Peek(2); {
	case len(start) < 2:
		return in
	case start[0] == 0xfe && start[1] == 0xff || start[0] == 0 && start[1] != 0:
		order = unicode.BigEndian
	case start[0] == 0xff && start[1] == 0xfe || start[0] != 0 && start[1] == 0:
		order = unicode.LittleEndian
	default:
		return in
	}
	decoder := unicode.UTF16(order, unicode.IgnoreBOM).NewDecoder()
	return bufio.NewReaderSize(transform.NewReader(in, transform.Chain(decoder, unreplaced{})), 1<<16)
}

// unreplaced turns U+FFFD, which replaces undecodable text, into bytes that are not UTF-8.
type unreplaced struct{ transform.NopResetter }

// Transform implements transform.Transformer. It transforms whole characters only.
func (unreplaced) Transform(dst, src []byte, _ bool) (nDst, nSrc int, err error) {
	for nSrc < len(src) {
		r, size := utf8.DecodeRune(src[nSrc:])
		if len(dst)-nDst < size {
			return nDst, nSrc, transform.ErrShortDst
		}
		text := src[nSrc : nSrc+size]
		if r == utf8.RuneError {
			text = []byte("\xff\xff\xff")
		}
		nDst, nSrc = nDst+copy(dst[nDst:], text), nSrc+size
	}
	return nDst, nSrc, nil
}
