package table

import (
	"encoding/json"
	"fmt"
	"strings"

	"crosstalk/internal/ordered"
	"crosstalk/internal/parquet"
)

// readParquet reads a Parquet file; a row's line is its number. A list of structures (messages.list.element.role)
// becomes a list of JSON objects. Columns of unsupported kinds are skipped.
func readParquet(f *File, yield func(Row) bool) error {
	in, size, err := f.ReaderAt()
	if err != nil {
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	columns, rows, err := parquet.Read(in, size)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	nameOf := func(c parquet.Column) string { name, _ := listOf(c); return name }
	names := ordered.Distinct(columns, nameOf)
	groups := ordered.Groups(columns, nameOf) // fields of the structures in a list, or one column
	for i := range rows {
		row := newRow(f.Path, i+1)
		row.Columns = names
		for k, name := range names {
			of := groups[k]
			_, field := listOf(of[0])
			switch {
			case of[0].Texts != nil:
				row.Values[name] = of[0].Texts[i]
			case field == "":
				row.Lists[name] = of[0].Lists[i]
			default:
				if row.Lists[name], err = structures(of, i); err != nil {
					return row.Errorf("the column %q: %w", name, err)
				}
			}
		}
		if !yield(row) {
			return nil
		}
	}
	return nil
}

// listOf returns the name of a column and, if it belongs to a list of structures, its field.
func listOf(c parquet.Column) (name, field string) {
	if c.Texts != nil {
		return c.Name, ""
	}
	name, rest, _ := strings.Cut(c.Name, ".list.")
	_, field, _ = strings.Cut(rest, ".") // the name of the element level depends on the writer
	return name, field
}

func structures(fields []parquet.Column, i int) ([]string, error) {
	list := make([]string, len(fields[0].Lists[i]))
	for k := range list {
		object := make(map[string]string, len(fields))
		for _, field := range fields {
			if n := len(field.Lists[i]); n != len(list) {
				return nil, fmt.Errorf("%s has %d values; expected %d", field.Name, n, len(list))
			}
			_, name := listOf(field)
			object[name] = field.Lists[i][k]
		}
		text, _ := json.Marshal(object)
		list[k] = string(text)
	}
	return list, nil
}
