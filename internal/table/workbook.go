package table

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Limits of a sheet. The first two are Excel's.
const (
	maxRows    = 1 << 20
	maxColumns = 1 << 14
	maxStrings = 1 << 24 // shared: an empty one takes five bytes of XML and more of memory
)

// maxCells is the most cells that are read of a sheet, blank ones included: more
// than maxWorkbook has room for. It changes in tests only.
var maxCells = 1 << 26

// readWorkbook reads the first sheet of a workbook (ECMA-376, Part 1, section 18.3) to its end. Anything that could
// lose a row or a value is an error: the sheet's XML must be well-formed to its last byte, rows and cells in order, and
// every shared string there. (excelize reads a sheet that is cut off as a shorter one.)
//
// Values are as they are stored: a number as it is written, a date as a number,
// true as 1, and a formula's cached result.
func readWorkbook(path string, in io.Reader, yield func(Row) bool) error {
	var s *sheet
	book, err := openWorkbook(&bounded{in: in, most: maxWorkbook})
	if err == nil {
		s, err = book.firstSheet()
	}
	if err != nil {
		return fmt.Errorf("%s: is not a readable workbook: %w", path, err)
	}
	defer s.file.Close()
	var columns, repeated []string
	line, cells := 0, 0
	emit := func(number int, record []string) error {
		for line++; line <= number; line++ {
			var values []string // of a row that is not written because it is blank
			if line == number {
				values = record
			}
			if line == 1 {
				columns = slices.Clone(values)
				if repeated, err = checkHeader(path, line, columns); err != nil {
					return placed{err}
				}
				continue
			}
			if cells += max(1, len(columns)); cells > maxCells {
				return placed{fmt.Errorf("%s:%d: has more than %d cells up to here", path, line, maxCells)}
			}
			for i := len(columns); i < len(values); i++ {
				if values[i] != "" {
					return fmt.Errorf("has %d cells; the header has %d", len(values), len(columns))
				}
			}
			if !yield(rowOf(path, line, 1, columns, repeated, values)) {
				return errStop
			}
		}
		line--
		return nil
	}
	err = s.children(func(t xml.StartElement) error { return s.worksheet(t, emit) })
	switch {
	case errors.Is(err, errStop):
		return nil
	case errors.As(err, new(placed)):
		return errors.Unwrap(err)
	case err != nil:
		return fmt.Errorf("%s:%d: %w", path, max(1, s.row), err)
	case line == 0:
		return fmt.Errorf("%s: the first sheet is empty", path)
	}
	return nil
}

// placed is an error that says where it is.
type placed struct{ error }

func (p placed) Unwrap() error { return p.error }

// sheet reads the rows of a worksheet.
type sheet struct {
	*part
	shared  []string
	row     int  // the last one that was read
	data    bool // whether sheetData has begun
	scratch []string
}

// worksheet reads the root of a worksheet. It calls emit with each row that is written in it, with its number from
// 1. The values are valid until emit returns; empty ones at the end are left out.
func (s *sheet) worksheet(t xml.StartElement, emit func(number int, values []string) error) error {
	if t.Name.Local != "worksheet" {
		return fmt.Errorf("the first sheet is a %s; expected a worksheet", t.Name.Local)
	}
	return s.children(func(t xml.StartElement) error {
		switch {
		case t.Name.Local != "sheetData":
			return nil
		case s.data:
			return errors.New("the sheet has a second sheetData")
		}
		s.data = true
		return s.children(func(t xml.StartElement) error {
			if t.Name.Local != "row" {
				return fmt.Errorf("unexpected element %s; expected row", t.Name.Local)
			}
			number, err := s.rowNumber(t)
			if err != nil {
				return err
			}
			s.row = number
			values, err := s.cells()
			if err != nil {
				return err
			}
			return emit(s.row, values)
		})
	})
}

// rowNumber is the number of a row: the next one if it is not written.
func (s *sheet) rowNumber(t xml.StartElement) (int, error) {
	number, err := s.row+1, error(nil)
	if text := attribute(t, "r"); text != "" {
		if number, err = strconv.Atoi(text); err != nil || number < 1 {
			return 0, fmt.Errorf("after this row comes one with the number %q; expected 1 to %d", text, maxRows)
		}
	}
	switch {
	case number > maxRows:
		return 0, fmt.Errorf("after this row comes row %d; a sheet has at most %d", number, maxRows)
	case number <= s.row:
		return 0, fmt.Errorf("after this row comes row %d; expected rows in ascending order", number)
	}
	return number, nil
}

// cells reads the values of a row to its end.
func (s *sheet) cells() ([]string, error) {
	values, size, column := s.scratch[:0], 0, 0
	err := s.children(func(t xml.StartElement) (err error) {
		switch t.Name.Local {
		case "c":
		case "row":
			return errors.New("unexpected element row inside of a row")
		default:
			return nil
		}
		if column, err = s.column(attribute(t, "r"), column); err != nil {
			return err
		}
		value, formula, err := s.cell(attribute(t, "t"))
		if err != nil {
			return fmt.Errorf("column %d: %w", column, err)
		}
		if size += len(value); size > maxRecord {
			return tooLong(maxRecord)
		}
		if value != "" || formula {
			for len(values) < column-1 {
				values = append(values, "")
			}
			values = append(values, value)
		}
		return nil
	})
	s.scratch = values
	return values, err
}

// column returns the column of a cell, from 1, after the column of the one before: the next one if it is not written.
func (s *sheet) column(ref string, before int) (int, error) {
	if ref == "" && before == maxColumns {
		return 0, fmt.Errorf("has more than %d columns", maxColumns)
	}
	if ref == "" {
		return before + 1, nil
	}
	letters := strings.TrimRight(ref, "0123456789")
	column := 0
	for _, c := range []byte(strings.ToUpper(letters)) {
		if c < 'A' || c > 'Z' || column > maxColumns {
			column = 0
			break
		}
		column = 26*column + int(c-'A') + 1
	}
	row, err := strconv.Atoi(ref[len(letters):])
	switch {
	case column < 1 || column > maxColumns || err != nil:
		return 0, fmt.Errorf("has the cell %q; expected A%d to XFD%d", ref, s.row, s.row)
	case row != s.row:
		return 0, fmt.Errorf("has the cell %q, which is of another row", ref)
	case column <= before:
		return 0, fmt.Errorf("has the cell %q after column %d; expected cells in ascending order", ref, before)
	}
	return column, nil
}

// cell reads the value of a cell of a type to its end.
func (s *sheet) cell(kind string) (value string, formula bool, err error) {
	var inline string
	values, inlines := 0, 0
	err = s.children(func(t xml.StartElement) (err error) {
		switch t.Name.Local {
		case "v":
			values++
			value, err = s.text()
		case "is":
			inlines++
			inline, err = s.rich()
		case "f":
			formula = true
		}
		if err == nil && max(values, inlines) > 1 {
			err = errors.New("a cell has two values")
		}
		return err
	})
	if err != nil {
		return "", false, err
	}
	switch kind {
	case "", "n", "b", "d", "e", "str":
	case "inlineStr":
		if inlines > 0 {
			value = inline
		}
	case "s":
		if value == "" {
			break
		}
		n, err := strconv.Atoi(strings.TrimSpace(value))
		if err != nil || n < 0 || n >= len(s.shared) {
			return "", false, fmt.Errorf("refers to the shared string %q; the workbook has %d of them", value, len(s.shared))
		}
		value = s.shared[n]
	default:
		return "", false, fmt.Errorf("a cell has the unknown type %q", kind)
	}
	return value, formula, nil
}
