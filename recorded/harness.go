package recorded

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"strconv"

	"crosstalk/internal/table"
)

// newHarness reads samples_TASK_DATE.jsonl of lm-evaluation-harness (--log_samples): each row is a document with
// the answers to it. Its rows repeat the answers for each filter, so those of the first filter count. Answers of
// tasks that compare probabilities have no text and are left out.
func newHarness() layout {
	filter := ""
	return layout{name: "generated text", read: func(row table.Row) (map[string]string, []reply, error) {
		of := row.Values["filter"]
		if filter == "" {
			filter = of
		}
		columns := map[string]string{"id": row.Values["doc_id"]}
		if m := samplesFile.FindStringSubmatch(filepath.Base(row.File)); m != nil {
			columns["task"] = m[1]
		}
		var texts []json.RawMessage // of the only request of a document whose answers are text
		if requests := row.Lists["resps"]; of == filter && len(requests) == 1 &&
			json.Unmarshal([]byte(requests[0]), &texts) != nil {
			return nil, nil, row.Errorf("resps is %.40q; expected a list of lists of answers", requests[0])
		}
		turns := conversation(harnessPrompt(row))
		var replies []reply
		for _, text := range texts {
			if len(text) == 0 || text[0] != '"' {
				continue
			}
			values := map[string]string{"completion": textOf(text), "sample": strconv.Itoa(len(replies))}
			replies = append(replies, reply{values: values, turns: turns})
		}
		return columns, replies, nil
	}}
}

// samplesFile is how lm-evaluation-harness names the file of a task.
var samplesFile = regexp.MustCompile(`^samples_(.+)_\d{4}-\d\d-\d\dT[\d.:-]+\.jsonl`)

// harnessPrompt is the prompt of a document's first request: {"gen_args_0": {"arg_0": PROMPT}} or, in older files,
// [[PROMPT, ...]]. A chat is a list of one text with its messages as JSON.
func harnessPrompt(row table.Row) string {
	var prompt json.RawMessage
	if list := row.Lists["arguments"]; len(list) > 0 {
		var request []json.RawMessage
		if json.Unmarshal([]byte(list[0]), &request) == nil && len(request) > 0 {
			prompt = request[0]
		}
	} else {
		var requests map[string]map[string]json.RawMessage
		if json.Unmarshal([]byte(row.Values["arguments"]), &requests) == nil {
			prompt = requests["gen_args_0"]["arg_0"]
		}
	}
	var chat []string
	if json.Unmarshal(prompt, &chat) == nil && len(chat) == 1 {
		return chat[0]
	}
	return textOf(prompt)
}
