package server

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// split returns the records of a body: one JSON object, or a list of them.
func split(data []byte) (records []json.RawMessage, many bool, err error) {
	if data = bytes.TrimSpace(data); len(data) == 0 || data[0] != '[' {
		return []json.RawMessage{data}, false, nil
	}
	if err := json.Unmarshal(data, &records); err != nil {
		return nil, true, fmt.Errorf("expected a JSON object, or a list of them: %w", err)
	}
	if len(records) > mostRecords {
		return nil, true, fmt.Errorf("expected at most %d records, found %d", mostRecords, len(records))
	}
	return records, true, nil
}

// place names a record in an error.
func place(i int, many bool) string {
	if !many {
		return ""
	}
	return fmt.Sprintf("record %d: ", i+1)
}
