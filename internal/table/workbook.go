package table

import (
	"fmt"
	"io"

	"github.com/xuri/excelize/v2"
)

// maxWorkbook bounds what a workbook may unpack to: it is a zip file, and a
// small one can hold gigabytes of nothing.
const maxWorkbook = 1 << 30

func readWorkbook(path string, in io.Reader, yield func(Row) bool) error {
	book, err := excelize.OpenReader(in, excelize.Options{RawCellValue: true, UnzipSizeLimit: maxWorkbook})
	if err != nil {
		return fmt.Errorf("%s: is not a readable workbook: %w", path, err)
	}
	defer book.Close()
	sheets := book.GetSheetList()
	if len(sheets) == 0 {
		return fmt.Errorf("%s: has no sheet", path)
	}
	rows, err := book.Rows(sheets[0])
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer rows.Close()
	var columns []string
	for line := 1; rows.Next(); line++ {
		record, err := rows.Columns()
		if err != nil {
			return fmt.Errorf("%s:%d: %w", path, line, err)
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
		if !yield(padded(path, line, columns, record)) {
			return nil
		}
	}
	if err := rows.Error(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if columns == nil {
		return fmt.Errorf("%s: its first sheet is empty", path)
	}
	return nil
}

// padded is a row of a workbook, whose rows may end early.
func padded(path string, line int, columns, record []string) Row {
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
	return row
}
