package recorded

import (
	"archive/zip"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"crosstalk/internal/table"
	"crosstalk/measure/thoughts"

	"github.com/klauspost/compress/zstd"
)

// newHarness reads samples_TASK_DATE.jsonl of lm-evaluation-harness: each row is a document with its answers. Answers
// recur for each filter: those of the first count. Documents that compare probabilities have none.
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
		var texts []json.RawMessage // of the only request, in documents whose answers are text
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

// samplesFile matches the name that lm-evaluation-harness gives to a task's file.
var samplesFile = regexp.MustCompile(`^samples_(.+)_\d{4}-\d\d-\d\dT[\d.:-]+\.jsonl`)

// harnessPrompt returns the prompt of a document's first request: {"gen_args_0": {"arg_0": PROMPT}} or, in older
// files, [[PROMPT, ...]]. A chat is a list of one text with its messages as JSON.
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

// maxSample limits a sample of a log, which may contain everything that an agent did.
const maxSample = 64 << 20

func isInspect(row table.Row) bool { return row.Has("eval model") }

// newInspect reads a log of Inspect: the model's last answer in each sample, as Inspect's scorers do. The sample's
// metadata become columns. It refuses duplicate samples.
func newInspect() layout {
	type epoch struct{ id, number string }
	seen := map[epoch]string{} // where each was found
	return layout{name: "samples of Inspect", read: func(row table.Row) (map[string]string, []reply, error) {
		one := epoch{row.Values["id"], row.Values["epoch"]}
		if first := seen[one]; one.id != "" && first != "" {
			return nil, nil, row.Errorf("duplicate sample: id %q, epoch %s (first in %s)", one.id, one.number, first)
		}
		seen[one] = where(row)
		var output struct {
			Choices []struct{ Message map[string]json.RawMessage }
		}
		if text := row.Values["output"]; text != "" && json.Unmarshal([]byte(text), &output) != nil {
			return nil, nil, row.Errorf("output is not from a sample of Inspect: expected choices, each with a message")
		}
		values := map[string]string{"completion": textIn(row.Values["output"]), "id": row.Values["id"]}
		for ours, theirs := range map[string]string{"model": "eval model", "task": "eval task"} {
			if row.Values[theirs] != "" {
				values[ours] = row.Values[theirs]
			}
		}
		if n, err := strconv.Atoi(row.Values["epoch"]); err == nil && n > 0 {
			values["sample"] = strconv.Itoa(n - 1)
		}
		turns := textsOf(listed(row.Lists["messages"]), user)
		if turns == nil {
			turns = textsOf(listed(row.Lists["input"]), user)
		}
		if turns == nil {
			turns = conversation(row.Values["input"])
		}
		failed := values["completion"] == "" && row.Values["error"] != ""
		return members(row.Values["metadata"]), []reply{{values: values, turns: turns, failed: failed}}, nil
	}}
}

// spec holds the properties that a log states for all its samples.
type spec struct {
	Model string `json:"model"`
	Task  string `json:"task"`
}

// sample returns a sample as a row, with the model and the task of the log.
func (s spec) sample(file string, line int, text []byte) (table.Row, error) {
	row, err := table.ParseObject(file, line, text)
	if err == nil {
		row.Values["eval model"], row.Values["eval task"] = s.Model, s.Task
	}
	return row, err
}

// The number of Zstandard in zip files; newer versions of Inspect use it.
const zipZstandard = 93

// inspectSamples yields the samples of a log in Inspect's format .eval: a zip file with header.json (while it is
// being written, _journal/start.json) and a file for each sample. A sample's line is 1 and its file
// FILE:samples/NAME.
func inspectSamples(f *table.File) iter.Seq2[table.Row, error] {
	path := f.Path
	return rowsBy(func(yield func(table.Row) error) error {
		in, size, err := f.ReaderAt()
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		z, err := zip.NewReader(in, size)
		if err != nil {
			return fmt.Errorf("%s: is not a readable log of Inspect: %w", path, err)
		}
		z.RegisterDecompressor(zipZstandard, func(in io.Reader) io.ReadCloser {
			d, _ := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxSample)) // valid options
			return d.IOReadCloser()
		})
		var header struct { // the properties of all samples; it may be empty
			Eval spec `json:"eval"`
		}
		for _, name := range []string{"header.json", "_journal/start.json"} {
			i := slices.IndexFunc(z.File, func(f *zip.File) bool { return f.Name == name })
			if i < 0 {
				continue
			}
			text, err := contentOfMember(z.File[i])
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			if err := json.Unmarshal(text, &header); err != nil {
				return fmt.Errorf("%s: %s is not valid JSON: %w", path, name, err)
			}
			break
		}
		for _, f := range z.File {
			if !strings.HasPrefix(f.Name, "samples/") || !strings.HasSuffix(f.Name, ".json") {
				continue
			}
			text, err := contentOfMember(f)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			row, err := header.Eval.sample(path+":"+f.Name, 1, text)
			if err == nil {
				err = yield(row)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func contentOfMember(f *zip.File) ([]byte, error) {
	in, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	defer in.Close()
	text, err := io.ReadAll(table.Limit(in, maxSample))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	return text, nil
}

// isPromptfoo reports whether a row is a result of promptfoo, from output.jsonl or the results in output.json.
func isPromptfoo(row table.Row) bool {
	return row.Has("testCase") && row.Has("provider") && row.Has("promptIdx")
}

// promptfoo reads a result: a provider's output for a prompt and a test. The test's variables and metadata become
// columns. Results with the same prompt and test belong to one item; promptfoo does not tell repetitions (--repeat)
// apart.
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
	answer, reasoning, told := thoughts.Promptfoo(textOf(response.Output))
	values := map[string]string{
		"completion": answer, "model": cmp.Or(provider.Label, provider.ID), templateColumn: prompt.Label,
		"id": "test-" + row.Values["testIdx"] + "/prompt-" + row.Values["promptIdx"],
	}
	if prompt.Label == prompt.Raw {
		delete(values, templateColumn)
	}
	failed := response.Output == nil && row.Values["error"] != ""
	return columns, []reply{{values: values, turns: turns, cluster: "test-" + row.Values["testIdx"], failed: failed,
		reasoning: reasoning, mixed: !told}}, nil
}}

// templateColumn is promptfoo's prompt before variables are filled in.
const templateColumn = "template"

// A column of promptfoo's table has one provider's outputs for one prompt: [provider] prompt. The columns
// Status, Score and so on that follow each of them have no meaning here.
var promptfooColumn = regexp.MustCompile(`(?s)^\[([^\]]+)\] (.+)$`)

func hasPromptfooColumns(row table.Row) bool {
	for i, column := range row.Columns {
		if promptfooColumn.MatchString(column) && i+1 < len(row.Columns) {
			next := row.Columns[i+1]
			return next == "Status" || next == "" // dropped as duplicates
		}
	}
	return false
}

// promptfooTable reads output.csv: a row has all outputs for a test. The test's variables, in the first columns, name
// it.
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
			answer, reasoning, told := thoughts.Promptfoo(row.Values[column])
			values := map[string]string{"completion": answer, "model": m[1], templateColumn: m[2],
				"id": fmt.Sprintf("%s/prompt-%d", strings.Join(test, "/"), slices.Index(templates, m[2]))}
			if prompt, ok := fill(m[2], columns); ok {
				values["prompt"] = prompt
			}
			replies = append(replies, reply{values: values, cluster: strings.Join(test, "/"), reasoning: reasoning,
				mixed: !told})
		case replies == nil && column != "":
			columns[column] = row.Values[column]
			test = append(test, row.Values[column])
		}
	}
	return columns, replies, nil
}}

var placeholder = regexp.MustCompile(`\{\{\s*([\w.-]+)\s*\}\}`)

// fill fills variables into a template; ok is false if it leaves placeholders.
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
