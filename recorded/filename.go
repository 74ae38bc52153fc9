package recorded

import (
	"fmt"
	"iter"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"crosstalk/internal/table"
)

// FileName says which columns are in the names of files: {dataset}_prompts_{model}.
type FileName struct {
	pattern string
	columns []string
	match   *regexp.Regexp
}

var nameColumn = regexp.MustCompile(`\{([^{}]*)\}`)

// ParseFileName reads a pattern: a file's name without folder and endings, with the
// names of columns in braces. A column's value is as short as possible, and not empty.
// Nil for an empty pattern.
func ParseFileName(pattern string) (*FileName, error) {
	if pattern == "" {
		return nil, nil
	}
	n := &FileName{pattern: pattern}
	expression, at := "^", 0
	for _, m := range nameColumn.FindAllStringSubmatchIndex(pattern, -1) {
		column := strings.TrimSpace(pattern[m[2]:m[3]])
		if column == "" || slices.Contains(n.columns, column) {
			return nil, fmt.Errorf("%q has a column without a name, or twice; expected a pattern such as "+
				"{dataset}_prompts_{model}", pattern)
		}
		n.columns = append(n.columns, column)
		expression += regexp.QuoteMeta(pattern[at:m[0]]) + "(.+?)"
		at = m[1]
	}
	if n.columns == nil {
		return nil, fmt.Errorf("%q has no column in braces; expected a pattern such as {dataset}_prompts_{model}", pattern)
	}
	n.match = regexp.MustCompile(expression + regexp.QuoteMeta(pattern[at:]) + "$")
	return n, nil
}

// values are the columns in a file's name.
func (n *FileName) values(path string) (map[string]string, error) {
	name := strings.TrimSuffix(filepath.Base(path), ".gz")
	name = strings.TrimSuffix(name, filepath.Ext(name))
	m := n.match.FindStringSubmatch(name)
	if m == nil {
		return nil, fmt.Errorf("%s: the file's name is not of the form %s", path, n.pattern)
	}
	values := map[string]string{}
	for i, column := range n.columns {
		values[column] = m[i+1]
	}
	return values, nil
}

// named adds the columns in a file's name to its rows where they have no value.
func (n *FileName) named(path string, rows iter.Seq2[table.Row, error]) iter.Seq2[table.Row, error] {
	if n == nil {
		return rows
	}
	return func(yield func(table.Row, error) bool) {
		values, err := n.values(path)
		if err != nil {
			yield(table.Row{}, err)
			return
		}
		for row, err := range rows {
			if err == nil && !row.Blank() {
				for column, value := range values {
					if strings.TrimSpace(row.Values[column]) == "" {
						row.Values[column] = value
					}
				}
			}
			if !yield(row, err) {
				return
			}
		}
	}
}
