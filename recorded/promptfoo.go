package recorded

import (
	"cmp"
	"encoding/json"
	"maps"

	"crosstalk/internal/table"
)

// isPromptfoo reports whether a row is a result of promptfoo (output.jsonl, and
// the elements of results.results of output.json).
func isPromptfoo(row table.Row) bool {
	return row.Has("testCase") && row.Has("provider") && row.Has("promptIdx")
}

// promptfoo reads a result: the output of a provider for a prompt and a test. The
// test's variables and metadata are columns. Results with the same prompt and test
// are of one item; repetitions (--repeat) are not told apart by promptfoo.
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
