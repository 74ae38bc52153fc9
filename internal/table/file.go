package table

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// Formats are the file name endings of files with rows, each optionally with ".gz".
const Formats = ".csv, .tsv, .jsonl, .json, .xlsx or .parquet"

// readers read the rows of a file in a format.
var readers = map[string]func(f *File, yield func(Row) bool) error{
	".csv": readCSV, ".tsv": readTSV, ".tab": readTSV, ".jsonl": readJSONLines, ".ndjson": readJSONLines,
	".json": readJSONArray, ".xlsx": readWorkbook, ".parquet": readParquet,
}

// Format returns the ending of a file's name in lower case, without .gz: ".csv".
func Format(path string) string {
	return filepath.Ext(strings.TrimSuffix(strings.ToLower(filepath.Base(path)), ".gz"))
}

// A File is opened once, so it may be a pipe. It is read as text, decompressed and in UTF-8 without a byte order mark,
// or as rows.
type File struct {
	Path   string
	Format string // of its rows, by its name or else by how it begins: ".csv"; empty: unknown
	Named  bool   // the name tells the format

	file   *os.File // nil for the content of a reader
	packed bool
	text   replay
}

// Open opens a file.
func Open(path string) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		if e := (*os.PathError)(nil); errors.As(err, &e) {
			err = e.Err
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if info, err := file.Stat(); err == nil && info.IsDir() {
		file.Close()
		return nil, fmt.Errorf("%s: is a directory; expected a file (%s, optionally with .gz)", path, Formats)
	}
	f, err := open(path, file)
	if err != nil {
		file.Close()
		return nil, err
	}
	f.file = file
	return f, nil
}

// open returns a reader's content as a file of this name.
func open(path string, in io.Reader) (*File, error) {
	f := &File{Path: path, Format: Format(path)}
	f.Named = readers[f.Format] != nil
	content := bufio.NewReaderSize(in, 1<<16)
	start, _ := content.Peek(2)
	if f.packed = strings.HasSuffix(strings.ToLower(path), ".gz") || string(start) == "\x1f\x8b"; f.packed {
		z, err := gzip.NewReader(content)
		if err != nil {
			return nil, fmt.Errorf("%s: is not a gzip file: %w", path, err)
		}
		content = bufio.NewReaderSize(packed{z}, 1<<16)
	}
	if f.Format != ".xlsx" {
		content = toUTF8(content)
		if start, _ := content.Peek(3); string(start) == "\ufeff" {
			content.Discard(len(start))
		}
	}
	if !f.Named {
		start, more, err := firstLine(content)
		if err == bufio.ErrBufferFull {
			content = bufio.NewReaderSize(content, maxRecord)
			start, more, _ = firstLine(content)
		}
		f.Format = formatOf(start, more)
	}
	f.text.in = content
	return f, nil
}

type packed struct{ *gzip.Reader }

func (p packed) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("the gzip file is truncated or damaged: %w", err)
	}
	return n, err
}

// formatOf returns the format of a content by its first line, and whether there is more; empty if that tells none. A
// text of which the first line has several columns may be a table.
func formatOf(start []byte, more bool) string {
	switch {
	case bytes.HasPrefix(start, []byte("PAR1")):
		return ".parquet"
	case bytes.HasPrefix(start, []byte("PK\x03\x04")):
		return ".xlsx"
	case bytes.HasPrefix(start, []byte("{")) && more && json.Valid(start):
		return ".jsonl"
	case bytes.HasPrefix(start, []byte("{")), bytes.HasPrefix(start, []byte("[")):
		return ".json"
	case columnsIn(start, delimiterOf(start)) > 1:
		return ".csv"
	}
	return ""
}

// firstLine returns the first line that is not blank, and whether anything comes after it. A line that does not fit
// into the buffer is cut, with bufio.ErrBufferFull. It reads no further than it must: the content may be a pipe that
// somebody is still writing to.
func firstLine(content *bufio.Reader) (line []byte, more bool, err error) {
	for from, n := 0, 1; ; n = max(n+1, content.Buffered()) {
		start, err := content.Peek(n)
		line := bytes.TrimLeft(start, " \t\r\n")
		from = max(from, len(start)-len(line))
		end := bytes.IndexByte(start[from:], '\n')
		if end < 0 && err == nil {
			from = len(start)
			continue
		}
		if end < 0 {
			return bytes.TrimSpace(line), false, err
		}
		line = start[len(start)-len(line) : from+end]
		for n = from + end + 1; err == nil && len(bytes.TrimSpace(start[from+end:])) == 0; n++ {
			start, err = content.Peek(n)
		}
		return bytes.TrimSpace(line), len(bytes.TrimSpace(start[from+end:])) > 0, nil
	}
}

// delimiterOf returns the character that separates the names in the first line of a table: a comma, or a semicolon or
// tab if it is more frequent, as spreadsheet programs of many countries write.
func delimiterOf(start []byte) rune {
	most, delimiter := 0, ','
	for _, c := range ",;\t" {
		if n := columnsIn(start, c); n > most {
			most, delimiter = n, c
		}
	}
	return delimiter
}

func columnsIn(start []byte, delimiter rune) int {
	r := csv.NewReader(bytes.NewReader(start))
	r.Comma = delimiter
	names, _ := r.Read() // reading the rows reports any error again
	return len(names)
}

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// Rows yields the file's rows and stops after an error, such as a duplicate column in the header. Blank lines are
// skipped, but not blank rows of a workbook. Columns without a name (row numbers, say) are dropped. If needed is set,
// columns that it does not name may occur twice in the header, as some programs write them, and are dropped.
func (f *File) Rows(needed func(column string) bool) iter.Seq2[Row, error] {
	return rows(f.Path, needed, func(yield func(Row) bool) error {
		read := readers[f.Format]
		if read == nil {
			return fmt.Errorf("%s: expected a file that ends in %s, optionally with .gz", f.Path, Formats)
		}
		return read(f, yield)
	})
}

// rows yields the rows that read yields, unless a needed column occurs twice in the header.
func rows(path string, needed func(string) bool, read func(func(Row) bool) error) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		var repeated error
		err := read(func(r Row) bool {
			isNeeded := func(column string) bool { return needed == nil || needed(column) }
			if i := slices.IndexFunc(r.repeated, isNeeded); i >= 0 {
				repeated = r.HeaderErrorf("duplicate column %q in the header", r.repeated[i])
				return false
			}
			return yield(r, nil)
		})
		if repeated != nil {
			err = repeated
		}
		if err != nil {
			yield(Row{File: path}, err)
		}
	}
}

// Text returns the file's text, from where it was read to.
func (f *File) Text() *bufio.Reader { return bufio.NewReaderSize(&f.text, 1<<16) }

// Document returns the file's text as a JSON document, in pieces of up to most bytes.
func (f *File) Document(most int) *Document { return newDocument(f.Path, &f.text, most) }

// Regular reports whether the file is neither a pipe nor a device, so that opening it again gives the same.
func (f *File) Regular() bool {
	info, err := f.file.Stat()
	return err == nil && info.Mode().IsRegular()
}

// ReaderAt returns the content for reading in any order, and its size: the file, or a copy in memory of at most
// maxWorkbook bytes if it is compressed or a pipe.
func (f *File) ReaderAt() (io.ReaderAt, int64, error) {
	if f.file != nil && !f.packed && f.Regular() {
		info, err := f.file.Stat()
		if err != nil {
			return nil, 0, err
		}
		return f.file, info.Size(), nil
	}
	data, err := io.ReadAll(io.LimitReader(&f.text, maxWorkbook+1))
	if err == nil && len(data) > maxWorkbook {
		err = tooLong(maxWorkbook)
	}
	return bytes.NewReader(data), int64(len(data)), err
}

// Keep keeps what is read from now on, so that Again can return to here.
func (f *File) Keep() { f.text.keeps = true }

// Kept returns what was read since Keep.
func (f *File) Kept() []byte { return f.text.kept }

// Again goes back to where Keep was called, and keeps nothing more.
func (f *File) Again() { f.text = replay{in: io.MultiReader(bytes.NewReader(f.text.kept), f.text.in)} }

// replay reads from in, and may keep a copy.
type replay struct {
	in    io.Reader
	keeps bool
	kept  []byte
}

func (r *replay) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	if r.keeps {
		r.kept = append(r.kept, p[:n]...)
	}
	return n, err
}
