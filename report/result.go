package report

import (
	"encoding/csv"
	"encoding/json"
	"io"
)

// WriteResult writes a result in one of Formats: the document as JSON, its parts as
// JSON Lines, records as CSV with the header first, or tables for people.
func WriteResult[T any](
	w io.Writer, format string, document any, parts []T, records func() [][]string, tables func() []Table,
) error {
	switch {
	case format == "json" || format == "jsonl":
		return WriteJSON(w, format, document, parts)
	case format == "csv":
		return csv.NewWriter(w).WriteAll(records())
	}
	return WriteTables(w, format, tables())
}

// WriteJSON writes a document as indented JSON or, if the format is jsonl, each of its parts on a line.
func WriteJSON[T any](w io.Writer, format string, document any, parts []T) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	if format != "jsonl" {
		e.SetIndent("", "  ")
		return e.Encode(document)
	}
	for _, p := range parts {
		if err := e.Encode(p); err != nil {
			return err
		}
	}
	return nil
}
