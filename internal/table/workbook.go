package table

import (
	"errors"
	"fmt"
	"io"

	"github.com/xuri/excelize/v2"
)

func readWorkbook(path string, in io.Reader, yield func(Row) bool) error {
	book, rows, err := openWorkbook(&bounded{in: in, most: maxWorkbook})
	if book != nil {
		defer book.Close()
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer rows.Close()
	var columns []string
	for line := 1; ; line++ {
		record, more, err := nextRow(rows)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", path, line, err)
		}
		if !more {
			break
		}
		if columns == nil {
			if columns = record; columns == nil {
				columns = []string{}
			}
			if err := checkHeader(path, line, columns); err != nil {
				return err
			}
			continue
		}
		row, err := padded(path, line, columns, record)
		if err != nil {
			return err
		}
		if !yield(row) {
			return nil
		}
	}
	if columns == nil {
		return fmt.Errorf("%s: the first sheet is empty", path)
	}
	return nil
}

// openWorkbook opens the first sheet.
func openWorkbook(in io.Reader) (book *excelize.File, rows *excelize.Rows, err error) {
	defer unreadable(&err)
	book, err = excelize.OpenReader(in, excelize.Options{RawCellValue: true, UnzipSizeLimit: maxWorkbook})
	if err != nil {
		return nil, nil, fmt.Errorf("is not a readable workbook: %w", err)
	}
	sheets := book.GetSheetList()
	if len(sheets) == 0 {
		return book, nil, errors.New("has no sheet")
	}
	rows, err = book.Rows(sheets[0])
	return book, rows, err
}

// nextRow reads a row; more is false after the last one.
func nextRow(rows *excelize.Rows) (record []string, more bool, err error) {
	defer unreadable(&err)
	if !rows.Next() {
		return nil, false, rows.Error()
	}
	record, err = rows.Columns()
	return record, true, err
}

// unreadable converts a panic to an error: the library panics on some damaged
// files.
func unreadable(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("is not a readable workbook: %v", p)
	}
}

// padded is a row of a workbook, extended to the full number of columns.
func padded(path string, line int, columns, record []string) (Row, error) {
	for i := len(columns); i < len(record); i++ {
		if record[i] != "" {
			return Row{}, fmt.Errorf("%s:%d: has %d cells; the header has %d", path, line, len(record), len(columns))
		}
	}
	row := Row{File: path, Line: line, Columns: columns, Values: make(map[string]string, len(columns))}
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
