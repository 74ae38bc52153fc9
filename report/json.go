package report

import (
	"encoding/json"
	"io"
)

// WriteJSON writes a document as indented JSON or, if the format is jsonl, each
// of its parts on a line.
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
