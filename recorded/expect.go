package recorded

import (
	"cmp"
	"fmt"
	"iter"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/internal/table"
)

// Undetermined is the label of a language that cannot be told, as in BCP 47.
const Undetermined = "und"

// expected returns the language that an answer should be in, as the file or the policy says, and sets the prompt's.
// If there is none, the prompt's is empty, and unjudged says why.
func (r Reading) expected(p *crosstalk.Prompt, stated string, turns []string) (tag, unjudged string) {
	switch r.Expect {
	case "":
		if strings.TrimSpace(stated) == "" {
			return Undetermined, "no language is given"
		}
		tag = stated
	case ExpectUser:
		tag = r.Identify(turns...)
	case ExpectPrompt:
		tag = r.Identify(strings.Join(recent(turns), "\n"))
	default:
		tag = r.Expect
	}
	if tag == "" {
		return Undetermined, "the language of the prompt cannot be told"
	}
	var err error
	if p.Language, p.Tag, err = LanguageOf(tag); err != nil {
		unjudged = err.Error()
	}
	return tag, unjudged
}

// mostBytes is how much of messages is read as one text: it is read again for each
// answer of a conversation, and time would grow with the square of its length.
const mostBytes = 16 << 10

// recent are the last messages that have at most mostBytes together; at least one.
func recent(turns []string) []string {
	first, bytes := len(turns), 0
	for first > 0 && (bytes == 0 || bytes+len(turns[first-1]) <= mostBytes) {
		first--
		bytes += len(turns[first])
	}
	return turns[first:]
}

// CheckExpect returns an error unless a text is a policy or a language.
func CheckExpect(expect string) error {
	if slices.Contains([]string{"", ExpectUser, ExpectPrompt}, expect) {
		return nil
	}
	if _, _, err := LanguageOf(expect); err != nil {
		return crosstalk.BadOption("expect", " is %q; expected user, prompt or a language, such as en or pt-BR",
			cmp.Or(expect, "''"))
	}
	return nil
}

// FileName says which columns are in the names of files: {dataset}_prompts_{model}.
type FileName struct {
	pattern string
	columns []string
	match   *regexp.Regexp
}

var nameColumn = regexp.MustCompile(`\{([^{}]*)\}`)

// ParseFileName reads a pattern: a file's name without folder and endings, with the names of columns in braces. A
// column's value is as short as possible, and not empty. Nil for an empty pattern.
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
