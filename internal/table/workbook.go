package table

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// The most rows and columns of a sheet, as Excel has them.
const (
	maxRows    = 1 << 20
	maxColumns = 1 << 14
)

// maxCells is the most cells that are read of a sheet, blank ones included: more
// than maxWorkbook has room for. It changes in tests only.
var maxCells = 1 << 26

// readWorkbook reads the first sheet of a workbook (ECMA-376, Part 1, section
// 18.3) to its end. Anything that could lose a row or a value is an error: the
// sheet's XML must be well-formed to its last byte, rows and cells in order, and
// every shared string there.
//
// Values are as they are stored: a number as it is written, a date as a number,
// true as 1, and a formula's cached result.
func readWorkbook(path string, in io.Reader, yield func(Row) bool) error {
	book, err := openWorkbook(&bounded{in: in, most: maxWorkbook})
	if err != nil {
		return fmt.Errorf("%s: is not a readable workbook: %w", path, err)
	}
	sheet, err := book.firstSheet()
	if err != nil {
		return fmt.Errorf("%s: is not a readable workbook: %w", path, err)
	}
	defer sheet.close()
	var columns, repeated []string
	line, cells := 0, 0
	// emit hands on one row of the sheet; more is false when the reader has enough.
	emit := func(record []string) (more bool, err error) {
		line++
		if line == 1 {
			columns = append([]string{}, record...)
			repeated, err = checkHeader(path, line, columns)
			return true, err
		}
		if cells += max(1, len(columns)); cells > maxCells {
			return false, fmt.Errorf("%s:%d: has more than %d cells up to here", path, line, maxCells)
		}
		row, err := padded(path, line, columns, record)
		row.repeated = repeated
		return err == nil && yield(row), err
	}
	for {
		number, record, err := sheet.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", path, max(1, number), err)
		}
		for line < number {
			var values []string // of a row that is not written because it is blank
			if line+1 == number {
				values = record
			}
			if more, err := emit(values); err != nil || !more {
				return err
			}
		}
	}
	if line == 0 {
		return fmt.Errorf("%s: the first sheet is empty", path)
	}
	return nil
}

// sheet reads the rows of a worksheet.
type sheet struct {
	*part
	shared []string

	row     int // the last one that was read
	in      bool
	over    bool // sheetData has ended
	scratch []string
}

// next returns the next row that is written in the sheet, with its number from
// 1, and io.EOF at the end of the file. The values are valid until the next call;
// empty ones at the end are left out. After an error, number is where it is.
func (s *sheet) next() (number int, values []string, err error) {
	for {
		token, err := s.token()
		if err != nil {
			return s.row, nil, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			switch name := t.Name.Local; {
			case s.depth == 1 && name == "worksheet":
			case s.depth == 1:
				return s.row, nil, fmt.Errorf("the first sheet is a %s; expected a worksheet", name)
			case s.depth == 2 && name == "sheetData":
				if s.in || s.over {
					return s.row, nil, fmt.Errorf("the sheet has a second sheetData")
				}
				s.in = true
			case s.in && name == "row":
				if s.row, err = s.rowNumber(t); err != nil {
					return s.row, nil, err
				}
				values, err = s.cells()
				return s.row, values, err
			case s.in:
				return s.row, nil, fmt.Errorf("unexpected element %s; expected row", name)
			default:
				if err := s.skip(); err != nil {
					return s.row, nil, err
				}
			}
		case xml.EndElement:
			if s.in && s.depth == 1 {
				s.in, s.over = false, true
			}
		}
	}
}

// rowNumber is the number of a row: the next one if it is not written.
func (s *sheet) rowNumber(t xml.StartElement) (int, error) {
	number, err := s.row+1, error(nil)
	if text := attribute(t, "r"); text != "" {
		if number, err = strconv.Atoi(text); err != nil || number < 1 {
			return s.row, fmt.Errorf("after this row comes one with the number %q; expected 1 to %d", text, maxRows)
		}
	}
	switch {
	case number > maxRows:
		return s.row, fmt.Errorf("after this row comes row %d; a sheet has at most %d", number, maxRows)
	case number <= s.row:
		return s.row, fmt.Errorf("after this row comes row %d; expected rows in ascending order", number)
	}
	return number, nil
}

// cells reads the values of a row to its end.
func (s *sheet) cells() ([]string, error) {
	values, size, column := s.scratch[:0], 0, 0
	for {
		token, err := s.token()
		if err != nil {
			return nil, err
		}
		switch t := token.(type) {
		case xml.EndElement:
			s.scratch = values
			return values, nil
		case xml.StartElement:
			switch t.Name.Local {
			case "c":
			case "row":
				return nil, fmt.Errorf("unexpected element row inside of a row")
			default:
				if err := s.skip(); err != nil {
					return nil, err
				}
				continue
			}
			if column, err = s.column(t, column); err != nil {
				return nil, err
			}
			value, formula, err := s.cell(t)
			if err != nil {
				return nil, fmt.Errorf("column %d: %w", column, err)
			}
			if size += len(value); size > maxRecord {
				return nil, tooLong(maxRecord)
			}
			if value != "" || formula {
				for len(values) < column-1 {
					values = append(values, "")
				}
				values = append(values, value)
			}
		}
	}
}

// column is the column of a cell, from 1, after that of the one before: the next
// one if it is not written.
func (s *sheet) column(t xml.StartElement, before int) (int, error) {
	ref := attribute(t, "r")
	if ref == "" {
		if before == maxColumns {
			return 0, fmt.Errorf("has more than %d columns", maxColumns)
		}
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

// cell reads the value of a cell to its end.
func (s *sheet) cell(t xml.StartElement) (value string, formula bool, err error) {
	kind := attribute(t, "t")
	var inline string
	var hasValue, hasInline bool
	for {
		token, err := s.token()
		if err != nil {
			return "", false, err
		}
		if _, ended := token.(xml.EndElement); ended {
			break
		}
		child, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		switch name := child.Name.Local; {
		case name == "v" && !hasValue:
			hasValue = true
			value, err = s.text()
		case name == "is" && !hasInline:
			hasInline = true
			inline, err = s.richText()
		case name == "v", name == "is":
			err = fmt.Errorf("a cell has two values")
		default:
			formula = formula || name == "f"
			err = s.skip()
		}
		if err != nil {
			return "", false, err
		}
	}
	switch kind {
	case "", "n", "b", "d", "e", "str":
		return value, formula, nil
	case "inlineStr":
		if hasInline {
			value = inline
		}
		return value, formula, nil
	case "s":
		if value == "" {
			return "", formula, nil
		}
		n, err := strconv.Atoi(strings.TrimSpace(value))
		if err != nil || n < 0 || n >= len(s.shared) {
			return "", false, fmt.Errorf("refers to the shared string %q; the workbook has %d of them", value, len(s.shared))
		}
		return s.shared[n], formula, nil
	}
	return "", false, fmt.Errorf("a cell has the unknown type %q", kind)
}

// padded is a row of a workbook, extended to the full number of columns.
func padded(path string, line int, columns, record []string) (Row, error) {
	for i := len(columns); i < len(record); i++ {
		if record[i] != "" {
			return Row{}, fmt.Errorf("%s:%d: has %d cells; the header has %d", path, line, len(record), len(columns))
		}
	}
	row := Row{File: path, Line: line, Header: 1, Columns: columns, Values: make(map[string]string, len(columns))}
	for i, c := range columns {
		if c == "" {
			continue
		}
		row.Values[c] = ""
		if i < len(record) {
			row.Values[c] = record[i]
		}
	}
	return row, nil
}
