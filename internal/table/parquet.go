package table

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"crosstalk/internal/parquet"
)

// readParquet reads a Parquet file; a row's line is its number. A list of structures (messages.list.element.role) is a
// list of JSON objects. Columns of kinds that cannot be read are left out.
func readParquet(path string, yield func(Row) bool) error {
	if _, err := os.Stat(path); err != nil {
		return notFound(path, err)
	}
	f, err := parquet.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	texts, lists, fields := map[string][]string{}, map[string][][]string{}, map[string]map[string][][]string{}
	var columns []string
	for _, column := range f.Columns() {
		name, field, isList := listOf(column)
		switch {
		case !isList:
			texts[name], err = f.Text(column)
		case field == "":
			lists[name], err = f.Lists(column)
		default:
			if fields[name] == nil {
				fields[name] = map[string][][]string{}
			}
			fields[name][field], err = f.Lists(column)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if len(columns) == 0 || columns[len(columns)-1] != name {
			columns = append(columns, name)
		}
	}
	for i := range f.Rows {
		row := Row{File: path, Line: i + 1, Header: i + 1, Columns: columns,
			Values: make(map[string]string, len(texts)), Lists: map[string][]string{}}
		for name, values := range texts {
			if err := checkUTF8(path, row.Line, name, values[i]); err != nil {
				return err
			}
			row.Values[name] = values[i]
		}
		for name, values := range lists {
			row.Lists[name] = values[i]
		}
		for name, of := range fields {
			if row.Lists[name], err = structures(of, i); err != nil {
				return fmt.Errorf("%s:%d: the column %q: %w", path, row.Line, name, err)
			}
		}
		if !yield(row) {
			return nil
		}
	}
	return nil
}

// listOf splits a column's path into the name of a list and the field of its
// elements, which is empty if they are values.
func listOf(column string) (name, field string, isList bool) {
	name, rest, isList := strings.Cut(column, ".list.")
	_, field, _ = strings.Cut(rest, ".") // the level of the element has a name that depends on the writer
	return name, field, isList
}

// structures are the structures of a list in row i, as JSON objects.
func structures(fields map[string][][]string, i int) ([]string, error) {
	n := -1
	for field, values := range fields {
		if n >= 0 && len(values[i]) != n {
			return nil, fmt.Errorf("%s has %d values; expected %d", field, len(values[i]), n)
		}
		n = len(values[i])
	}
	objects := make([]string, max(n, 0))
	for k := range objects {
		object := make(map[string]string, len(fields))
		for field, values := range fields {
			object[field] = values[i][k]
		}
		text, err := json.Marshal(object)
		if err != nil {
			return nil, err
		}
		objects[k] = string(text)
	}
	return objects, nil
}
