package recorded

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"crosstalk/internal/table"
)

// isPromptfoo reports whether a row is a result of promptfoo: of output.jsonl, or of results in output.json.
func isPromptfoo(row table.Row) bool {
	return row.Has("testCase") && row.Has("provider") && row.Has("promptIdx")
}

// promptfoo reads a result: a provider's output for a prompt and a test, whose variables and metadata are columns.
// Results with the same prompt and test are of one item; promptfoo does not tell repetitions (--repeat) apart.
var promptfoo = layout{name: "promptfoo's results", read: func(row table.Row) (map[string]string, []reply, error) {
	var test struct {
		Vars     json.RawMessage `json:"vars"`
		Metadata json.RawMessage `json:"metadata"`
	}
	var provider struct{ ID, Label string }
	var prompt struct{ Raw, Label string }
	var response struct {
		Output json.RawMessage `json:"output"`
	}
	for column, into := range map[string]any{
		"testCase": &test, "provider": &provider, "prompt": &prompt, "response": &response} {
		if text := row.Values[column]; text != "" {
			if err := json.Unmarshal([]byte(text), into); err != nil {
				return nil, nil, row.Errorf("%s is not from a promptfoo result: %w", column, err)
			}
		}
	}
	columns := members(string(test.Metadata))
	maps.Copy(columns, members(cmp.Or(row.Values["vars"], string(test.Vars))))
	turns := conversation(prompt.Raw)
	values := map[string]string{
		"completion": textOf(response.Output), "model": cmp.Or(provider.Label, provider.ID), templateColumn: prompt.Label,
		"id": "test-" + row.Values["testIdx"] + "/prompt-" + row.Values["promptIdx"],
	}
	if prompt.Label == prompt.Raw {
		delete(values, templateColumn)
	}
	failed := response.Output == nil && row.Values["error"] != ""
	return columns, []reply{{values: values, turns: turns, cluster: "test-" + row.Values["testIdx"], failed: failed}}, nil
}}

// templateColumn is promptfoo's prompt before variables are filled in.
const templateColumn = "template"

// A column of promptfoo's table has the outputs of one provider for one prompt: [provider] prompt. The columns
// Status, Score and so on that follow each of them have no meaning here.
var promptfooColumn = regexp.MustCompile(`(?s)^\[([^\]]+)\] (.+)$`)

func hasPromptfooColumns(row table.Row) bool {
	for i, column := range row.Columns {
		if promptfooColumn.MatchString(column) && i+1 < len(row.Columns) {
			next := row.Columns[i+1]
			return next == "Status" || next == "" // dropped, since it is repeated
		}
	}
	return false
}

// promptfooTable reads output.csv: a row has the outputs of all providers and
// prompts for a test. What precedes them are the test's variables, which name it.
var promptfooTable = layout{name: "promptfoo's table", read: func(row table.Row) (map[string]string, []reply, error) {
	columns := map[string]string{}
	var test, templates []string
	var replies []reply
	for _, column := range row.Columns {
		m := promptfooColumn.FindStringSubmatch(column)
		switch {
		case m != nil:
			if !slices.Contains(templates, m[2]) {
				templates = append(templates, m[2])
			}
			values := map[string]string{"completion": row.Values[column], "model": m[1], templateColumn: m[2],
				"id": fmt.Sprintf("%s/prompt-%d", strings.Join(test, "/"), slices.Index(templates, m[2]))}
			if prompt, ok := fill(m[2], columns); ok {
				values["prompt"] = prompt
			}
			replies = append(replies, reply{values: values, cluster: strings.Join(test, "/")})
		case replies == nil && column != "":
			columns[column] = row.Values[column]
			test = append(test, row.Values[column])
		}
	}
	return columns, replies, nil
}}

var placeholder = regexp.MustCompile(`\{\{\s*([\w.-]+)\s*\}\}`)

// fill fills variables into a template; ok is false if something else is left to fill in.
func fill(template string, vars map[string]string) (text string, ok bool) {
	ok = true
	text = placeholder.ReplaceAllStringFunc(template, func(s string) string {
		value, known := vars[placeholder.FindStringSubmatch(s)[1]]
		ok = ok && known
		return value
	})
	left := placeholder.ReplaceAllString(template, "")
	return text, ok && !strings.Contains(left, "{{") && !strings.Contains(left, "{%")
}
