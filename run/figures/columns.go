package figures

import (
	"maps"
	"slices"
	"strings"

	"crosstalk"
)

// Columns are the columns by which observations can be grouped.
type Columns map[string]bool

// Add adds the columns of these labels.
func (known Columns) Add(labels map[string]string) {
	for c := range labels {
		known[c] = true
	}
}

// Check returns an error for an unknown column.
func (known Columns) Check(by []string) error {
	for _, column := range by {
		if !known[column] {
			return crosstalk.BadOption("by", ": %w", known.Unknown(column))
		}
	}
	return nil
}

// Unknown returns the error for an unknown column.
func (known Columns) Unknown(column string) *ColumnError {
	return &ColumnError{column, slices.Sorted(maps.Keys(known))}
}

// ColumnError reports an unknown column for grouping.
type ColumnError struct {
	Column string
	Known  []string // the columns of the observations
}

func (e *ColumnError) Error() string {
	return crosstalk.UnknownName("column", e.Column, e.Known).Error()
}

// ParseBy reads the columns for grouping figures, each once. Nil stays nil.
func ParseBy(by []string) ([]string, error) {
	if by == nil {
		return nil, nil
	}
	clean := []string{}
	for _, column := range by {
		if column = strings.TrimSpace(column); column == "" {
			return nil, crosstalk.BadOption("by", " has an empty column name; expected names such as category,language")
		}
		if !slices.Contains(clean, column) {
			clean = append(clean, column)
		}
	}
	return clean, nil
}
