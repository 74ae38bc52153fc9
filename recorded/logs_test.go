package recorded

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crosstalk"

	"github.com/klauspost/compress/zstd"
)

// told describes answers in short lines.
func told(t *testing.T, r Reading, path string) []string {
	t.Helper()
	var lines []string
	for c, err := range r.Confusion(path) {
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		lines = append(lines, fmt.Sprintf("%s|%s|%s|%s|%d|%s|%s|%s", c.Model, c.Item.ID, c.Item.Cluster, c.Item.Labels["language"], c.Sample,
			c.Item.Prompt.Text, c.Answer.Status, c.Answer.Text))
	}
	return lines
}

func wantTold(t *testing.T, name string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n  %s\nwant\n  %s", name, strings.Join(got, "\n  "), strings.Join(want, "\n  "))
	}
}

// spoken takes messages for the language that the first word of the last one names, or else of the one before.
func spoken(messages ...string) string {
	for _, text := range slices.Backward(messages) {
		word, _, _ := strings.Cut(text, " ")
		if word == "de" || word == "fr" || word == "ko" {
			return word
		}
	}
	return ""
}

const chatLog = `{"conversation_id": "c1", "locale": "ko-KR", "messages": [
 {"role": "system", "content": "Be kind."},
 {"role": "user", "content": "ko eins"},
 {"role": "assistant", "content": null, "tool_calls": [{"id": "1", "type": "function"}]},
 {"role": "tool", "tool_call_id": "1", "content": "{}"},
 {"role": "assistant", "content": "first"},
 {"role": "user", "content": "ok"},
 {"role": "assistant", "content": "second"}]}
{"id": 7, "locale": "de", "messages": [
 {"role": "user", "content": [{"type": "text", "text": "de zwei"}, {"type": "image", "source": {}}]},
 {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "third"}, {"type": "tool_use", "id": "x"}]},
 {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": "4"}]},
 {"role": "assistant", "content": [{"type": "tool_use", "id": "y"}]},
 {"role": "assistant", "content": ""}]}
{"locale": "fr", "messages": [{"role": "user", "content": "fr trois"}], "response": "fourth"}
{"locale": "fr", "messages": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "fr quatre"}]},
 {"type": "reasoning", "summary": []}, {"type": "function_call", "name": "f"},
 {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "fifth"}, {"type": "refusal", "refusal": "sixth"}]}]}
`

// oneLine puts each object of a log on a line.
func oneLine(log string) string { return strings.ReplaceAll(log, "\n ", "") }

func TestChat(t *testing.T) {
	path := write(t, "log.jsonl", oneLine(chatLog))
	var said []string
	got := told(t, Reading{Note: func(text string) { said = append(said, text) }}, path)
	wantTold(t, "chat", got,
		"|ko-KR/c1/1|c1|ko-KR|0|ko eins|text|first",
		"|ko-KR/c1/2|c1|ko-KR|0|ok|text|second",
		"|de/7/1|7|de|0|de zwei|text|third",
		"|de/7/2|7|de|0|de zwei|empty|",
		"|fr/log.jsonl:3/1|log.jsonl:3|fr|0|fr trois|text|fourth",
		"|fr/log.jsonl:4/1|log.jsonl:4|fr|0|fr quatre|text|fifth\nsixth")
	if want := path + ": reading locale as language (to change it: --column language=NAME)"; len(said) != 1 || said[0] != want {
		t.Errorf("said %q, want %q", said, want)
	}
	got = told(t, Reading{Expect: ExpectUser, Identify: spoken}, path)
	if !strings.HasPrefix(got[1], "|ko/c1/2|c1|ko|0|ok|") { // "ok" is of no language: the message before says it
		t.Errorf("the language of the user: %s", got[1])
	}
	got = told(t, Reading{Expect: "pt-BR"}, path)
	if !strings.HasPrefix(got[0], "|pt-BR/c1/1|c1|pt-BR|") {
		t.Errorf("a fixed language: %s", got[0])
	}
	apart := write(t, "a.jsonl", `{"messages":[{"role":"user","content":"Q"},{"role":"assistant","content":"A"},{"role":"user","content":"R"}],"final":{"text":"B"},"response":"C","language":"fr"}`)
	wantTold(t, "an answer apart", told(t, Reading{Columns: map[string]string{"completion": "final.text"}}, apart),
		"|fr/a.jsonl:1/1|a.jsonl:1|fr|0|Q|text|A", "|fr/a.jsonl:1/2|a.jsonl:1|fr|0|R|text|B")
	system := write(t, "a.jsonl", `{"messages":[{"role":"system","content":"S"}],"response":"C","language":"fr"}`)
	wantTold(t, "an answer to a system message", told(t, Reading{}, system), "|fr/a.jsonl:1/1|a.jsonl:1|fr|0||text|C")
	refused := write(t, "a.jsonl", `{"messages":[{"role":"assistant","content":"A","refusal":"R"},{"role":"assistant","content":null,"refusal":"R"}],"language":"fr"}`)
	wantTold(t, "refusals", told(t, Reading{}, refused), "|fr/a.jsonl:1/1|a.jsonl:1|fr|0||text|A", "|fr/a.jsonl:1/2|a.jsonl:1|fr|0||text|R")
	sharegpt := write(t, "s.jsonl", `{"conversations":[{"from":"human","value":"Q"},{"from":"gpt","value":"A"}],"meta":{"lang":"fr"}}`)
	wantTold(t, "ShareGPT", told(t, Reading{Columns: map[string]string{"language": "meta.lang"}}, sharegpt), "|fr/s.jsonl:1/1|s.jsonl:1|fr|0|Q|text|A")
	table := write(t, "s.csv", "id,chat,language\n1,\"[{\"\"role\"\":\"\"user\"\",\"\"content\"\":\"\"Q\"\"},{\"\"role\"\":\"\"model\"\",\"\"content\"\":\"\"A\"\"}]\",fr\n")
	wantTold(t, "a column of a table", told(t, Reading{Columns: map[string]string{"messages": "chat"}}, table), "|fr/1/1|1|fr|0|Q|text|A")
}

func TestChatErrors(t *testing.T) {
	for content, want := range map[string]string{
		`{"messages":[{"role":"narrator","content":"x"}],"language":"fr"}`:            `a.jsonl:1: message 1: the role is "narrator"; expected system, user, assistant or tool`,
		`{"messages":[{"role":"user","content":"x"},7],"language":"fr"}`:              "a.jsonl:1: message 2: expected an object with role and content",
		`{"messages":[{"role":"user","content":{"a":1}}],"language":"fr"}`:            "a.jsonl:1: message 1: content is neither text nor a list of parts",
		`{"messages":[{"role":"user","content":[1]}],"language":"fr"}`:                "a.jsonl:1: message 1: a part of content is neither text nor an object",
		`{"messages":[{"role":"user","content":"x"}],"language":"fr"}`:                "a.jsonl: has no answers in messages of the assistant",
		`{"messages":[{"role":"assistant","content":"x"}],"place":"fr"}`:              `a.jsonl:1: has no column "language"; the columns of messages of the assistant are messages, place; name it with --column language=NAME, or say`,
		`{"messages":[{"role":"assistant","content":"x"}],"lang":"fr","locale":"fr"}`: `a.jsonl:1: has no column "language"; it may be lang or locale: say which, with --column language=lang`,
	} {
		_, err := readConfusions(write(t, "a.jsonl", content))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", content, err, want)
		}
	}
}

// TestHarness reads the rows that lm-evaluation-harness 0.4 writes: of a task with
// two filters, repeats and a chat template, and of one that compares
// probabilities.
func TestHarness(t *testing.T) {
	row := func(id int, arguments, resps, filter string) string {
		return fmt.Sprintf(`{"doc_id": %d, "doc": {"question": "Q", "lang": "fr"}, "target": "4", "arguments": %s, "resps": %s, `+
			`"filtered_resps": ["x"], "filter": %q, "metrics": ["exact_match"], "doc_hash": "a", "prompt_hash": "b", "target_hash": "c", "exact_match": 0.0}`+"\n",
			id, arguments, resps, filter)
	}
	plain := `{"gen_args_0": {"arg_0": "Question: fr un", "arg_1": {"until": ["\n"]}}}`
	chat := `{"gen_args_0": {"arg_0": ["[{\"role\": \"system\", \"content\": \"s\"}, {\"role\": \"user\", \"content\": \"fr deux\"}]"], "arg_1": {}}}`
	log := row(0, plain, `[["one", "two"]]`, "strict-match") + row(1, chat, `[["[three]"]]`, "strict-match") +
		row(0, plain, `[["one", "two"]]`, "flexible-extract") + row(1, chat, `[["[three]"]]`, "flexible-extract")
	path := write(t, "samples_mgsm_direct_fr_2026-08-21T10-11-12.345678.jsonl", log)
	r := Reading{Columns: map[string]string{"language": "doc.lang"}}
	wantTold(t, "generated", told(t, r, path),
		"|mgsm_direct_fr/fr/0|0|fr|0|Question: fr un|text|one", "|mgsm_direct_fr/fr/0|0|fr|1|Question: fr un|text|two",
		"|mgsm_direct_fr/fr/1|1|fr|0|fr deux|text|[three]")
	old := write(t, "a.jsonl", `{"doc_id": 3, "doc": {}, "target": "4", "arguments": [["fr old", {"until": []}]], "resps": [["four"]], "filtered_resps": ["four"]}`)
	wantTold(t, "older", told(t, Reading{Expect: "fr"}, old), "|fr/3|3|fr|0|fr old|text|four")
	choices := write(t, "b.jsonl", row(0, plain, `[[["-1.5", "False"]], [["-2.5", "True"]]]`, "none"))
	for _, err := range (Reading{Expect: "fr"}).Confusion(choices) {
		if err == nil || !strings.HasSuffix(err.Error(), "b.jsonl: has no answers in generated text") {
			t.Errorf("log-likelihoods: %v", err)
		}
	}
}

// promptfooResult is a result as promptfoo 0.121 writes it, without what is not
// read.
func promptfooResult(prompt, test int, provider, raw, label, vars, response string) string {
	return fmt.Sprintf(`{"cost":0,"error":"boom","promptIdx":%d,"testIdx":%d,"provider":{"id":%q,"label":""},"prompt":{"raw":%q,"label":%q,"config":{}},`+
		`"testCase":{"vars":%s,"metadata":{"topic":"time"}},"vars":%s,"response":%s,"success":false}`, prompt, test, provider, raw, label, vars, vars, response)
}

func TestPromptfoo(t *testing.T) {
	results := []string{
		promptfooResult(0, 0, "openai:m", "Answer: de eins", "Answer: {{q}}", `{"q":"de eins","locale":"de"}`, `{"output":"one"}`),
		promptfooResult(1, 0, "openai:m", `[{"role":"system","content":"s"},{"role":"user","content":"de eins"}]`, "chat.json", `{"q":"de eins","locale":"de"}`, `{"output":{"a":1}}`),
		promptfooResult(0, 1, "openai:m", "Answer: fr deux", "Answer: {{q}}", `{"q":"fr deux","locale":"fr"}`, `{"error":"boom"}`),
	}
	want := []string{
		"openai:m|de/test-0/prompt-0|test-0|de|0|Answer: de eins|text|one",
		`openai:m|de/test-0/prompt-1|test-0|de|0|de eins|text|{"a":1}`,
		"openai:m|fr/test-1/prompt-0|test-1|fr|0|Answer: fr deux|failed|",
	}
	document := `{"evalId":"e","results":{"version":3,"prompts":[{"raw":"x"}],"results":[` + strings.Join(results, ",\n") + `],"stats":{}},"config":{"a":[1]},"shareableUrl":null}`
	wantTold(t, "output.json", told(t, Reading{}, write(t, "output.json", document)), want...)
	wantTold(t, "output.jsonl", told(t, Reading{}, write(t, "output.jsonl", strings.Join(results, "\n"))), want...)

	const table = `q,locale,[m] Answer: {{q}},Status,Score,Named Scores,Grader Reason,Comment,[n] chat.json: {{x}},Status,Score,Named Scores,Grader Reason,Comment
de eins,de,"one, two",PASS,1.00,,,,three,FAIL,0.00,,,
fr deux,fr,,ERROR,0.00,,,,four,PASS,1.00,,,
`
	wantTold(t, "output.csv", told(t, Reading{}, write(t, "output.csv", table)),
		"m|de/de eins/de/prompt-0|de eins/de|de|0|Answer: de eins|text|one, two",
		"n|de/de eins/de/prompt-1|de eins/de|de|0||text|three",
		"m|fr/fr deux/fr/prompt-0|fr deux/fr|fr|0|Answer: fr deux|empty|",
		"n|fr/fr deux/fr/prompt-1|fr deux/fr|fr|0||text|four")
	one := strings.Join([]string{"q,locale,[m] {{q}},Status,Score,Named Scores,Grader Reason,Comment", "de eins,de,one,PASS,1.00,,,\n"}, "\n")
	wantTold(t, "one provider", told(t, Reading{}, write(t, "output.csv", one)), "m|de/de eins/de/prompt-0|de eins/de|de|0|de eins|text|one")
}

// inspectSample is a sample as Inspect's log version 2 has it.
func inspectSample(id string, epoch int, content string) string {
	return fmt.Sprintf(`{"id": %s, "epoch": %d, "input": "fr un", "target": "x", "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "fr un", "source": "input"},
 {"role": "assistant", "content": "", "tool_calls": [{"id": "1"}]}, {"role": "tool", "content": "4"}, {"role": "assistant", "content": %s, "source": "generate"}],
 "output": {"model": "served", "choices": [{"message": {"role": "assistant", "content": %s}, "stop_reason": "stop"}]}, "metadata": {"lang": "fr", "level": 3, "deep": {"a": 1}}, "events": [{"event": "x"}]}`,
		id, epoch, content, content)
}

var inspectWant = []string{"openai/m|poems/fr/1|1|fr|0|fr un|text|one", "openai/m|poems/fr/1|1|fr|1|fr un|text|two", "openai/m|poems/fr/b|b|fr|0|fr un|empty|"}

func inspectArchive(t testing.TB, method uint16, header string, more ...[2]string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	z.RegisterCompressor(zipZstandard, func(out io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(out) })
	for _, member := range append([][2]string{
		{"_journal/start.json", `{"version": 2, "eval": {"task": "start", "model": "start"}}`},
		{"samples/1_epoch_1.json", inspectSample("1", 1, `"one"`)},
		{"samples/1_epoch_2.json", inspectSample("1", 2, `[{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "two"}]`)},
		{"samples/b_epoch_1.json", inspectSample(`"b"`, 1, `""`)},
		{"summaries.json", "[]"},
		{"header.json", header},
	}, more...) {
		out, err := z.CreateHeader(&zip.FileHeader{Name: member[0], Method: method})
		if err == nil {
			_, err = io.WriteString(out, member[1])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const inspectHeader = `{"version": 2, "status": "success", "eval": {"task": "poems", "model": "openai/m"}}`

func TestInspect(t *testing.T) {
	for name, method := range map[string]uint16{"stored": zip.Store, "deflated": zip.Deflate, "Zstandard": zipZstandard} {
		wantTold(t, name, told(t, Reading{}, write(t, "log.eval", string(inspectArchive(t, method, inspectHeader)))), inspectWant...)
	}
	document := strings.TrimSuffix(inspectHeader, "}") + `, "plan": {}, "results": {"scores": []}, "samples": [` +
		strings.Join([]string{inspectSample("1", 1, `"one"`), inspectSample("1", 2, `"two"`), inspectSample(`"b"`, 1, `null`)}, ",") + `], "reductions": []}`
	wantTold(t, "JSON", told(t, Reading{}, write(t, "log.json", document)), inspectWant...)
	nameless := `{"messages": [{"role": "user", "content": "fr un"}], "output": {"choices": [{"message": {"role": "assistant", "content": "one"}}]}, "error": {"message": "late"}}`
	wantTold(t, "samples without an id, answered before an error", told(t, Reading{Expect: "fr"}, write(t, "log.json", `{"eval": {}, "samples": [`+nameless+","+nameless+"]}")),
		"|fr/fr un|fr un|fr|0|fr un|text|one", "|fr/fr un|fr un|fr|0|fr un|text|one")
}

// Places are those of the row or of its layout. Rows may lack them, but not all rows.
func TestPlaces(t *testing.T) {
	log := inspectHeader[:len(inspectHeader)-1] + `, "samples": [` + inspectSample("1", 1, `"one"`) + `]}`
	wantTold(t, "metadata", told(t, Reading{Columns: map[string]string{"language": "lang"}}, write(t, "log.json", log)), "openai/m|poems/fr/1|1|fr|0|fr un|text|one")
	pairs := `{"concept":"c","prompt":"p c","control_prompt":"p","answers":["a","b"],"control_generations":["a","b"]}`
	if got, err := collect(Reading{Columns: map[string]string{"test_generations": "answers"}}.Leakage(write(t,
		"pairs.jsonl", pairs))); err != nil || len(got) != 1 || len(got[0].Test) != 2 {
		t.Errorf("%+v, %v", got, err)
	}
	const row, without = `{"language":"fr","a":[{"b":["x","y"]}]}` + "\n", `{"language":"fr","a":[]}` + "\n"
	for _, c := range []struct{ place, text, want string }{ // a note, or an error
		{"a.0.b.1", row, ""},
		{"a.0.b.1", row + without, "1 of 2 rows have no a.0.b.1, which is to be completion"},
		{"a.0.b.1", without + row + without, "2 of 3 rows have no a.0.b.1, which is to be completion"},
		{"a.0.b.1", without, `:1: has no column "a.0.b.1", which is to be completion; a is a list of 0, whose places are numbers from 0`},
		{"a.0.b.1", without + without, `:1: has no column "a.0.b.1"`},
		{"a.0.b.2", row, "a.0.b is a list of 2, whose places are numbers from 0"},
		{"a.1.b", row, "a is a list of 1, whose places are numbers from 0"},
		{"a.0.c", row, "a.0 has b"},
		{"a.0.b.0.c", row, "a.0.b.0 is a text"},
	} {
		said := ""
		r := Reading{Columns: map[string]string{"completion": c.place}, Note: func(text string) { said += text }}
		_, err := collect(r.Confusion(write(t, "log.jsonl", c.text)))
		if err != nil {
			said = err.Error()
		}
		if (c.want == "") != (said == "") || !strings.Contains(said, c.want) {
			t.Errorf("%s in %s: %q; want %q", c.place, c.text, said, c.want)
		}
	}
}

func TestLogErrors(t *testing.T) {
	archive := string(inspectArchive(t, zip.Deflate, inspectHeader))
	for _, c := range []struct{ name, content, want string }{
		{"a.eval", "not a zip file", "a.eval: is not a readable log of Inspect: zip: not a valid zip file"},
		{"a.eval", archive[:len(archive)/2], "a.eval: is not a readable log of Inspect: "},
		{"a.eval", string(inspectArchive(t, zip.Store, "{")), "a.eval: header.json is not valid JSON"},
		{"a.eval", string(inspectArchive(t, zip.Store, inspectHeader, [2]string{"samples/../x.json", inspectSample("1", 2, `"two"`)})),
			`a.eval:samples/../x.json:1: duplicate sample: id "1", epoch 2 (first in `},
		{"a.eval", string(inspectArchive(t, zip.Store, inspectHeader, [2]string{"samples/1_epoch_2.json", inspectSample("1", 2, `"two"`)})), "a.eval:samples/1_epoch_2.json:1)"},
		{"a.json", "{\"eval\": {},\n\"samples\": [\n" + inspectSample("1", 1, `"a"`) + ",\n" + inspectSample("1", 1, `"b"`) + "]}", `a.json:6: duplicate sample: id "1", epoch 1 (first in `},
		{"a.jsonl", `{"messages": [{"role": "user", "content": "x"}], "response": "a", "reply": "b"}`, "a.jsonl: has no answers in messages"},
		{"a.json", `{"evalId": 1}`, "a.json:1: expected an array of objects, a log of Inspect (with samples) or promptfoo's output (with results)"},
		{"a.json", "{\"eval\": 7,\n\"samples\": []}", "a.json:1: eval is not from a log of Inspect"},
		{"a.json", "{\"eval\": {},\n\"samples\": []}", "a.json: has no rows"},
		{"a.json", "{\"eval\": {},\n\"samples\": [\n{\"id\": 1}, 7]}", "a.json:3: expected a JSON object"},
		{"a.json", "{\"eval\": {},\n\"samples\": [{\"id\": 1, \"output\": 7}]}", "a.json:2: output is not from a sample of Inspect"},
		{"a.json", "{\"results\": {\"results\": [", "a.json:1: not valid JSON: the file is truncated"},
	} {
		_, err := collect(Reading{Expect: "fr"}.Confusion(write(t, c.name, c.content)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %.40q: %v, want %s", c.name, c.content, err, c.want)
		}
	}
}

// FuzzLogs reads what may be a log of each kind. Errors name the file.
func FuzzLogs(f *testing.F) {
	f.Add("log.jsonl", []byte(oneLine(chatLog)))
	f.Add("log.jsonl", []byte(`{"doc_id":0,"arguments":{"gen_args_0":{"arg_0":["[{}]"]}},"resps":[["a",["-1","True"]]],"filter":"none"}`))
	f.Add("log.jsonl", []byte(promptfooResult(0, 0, "p", "[{\"role\":\"user\"}]", "l", `{"locale":"de"}`, `{"output":[1]}`)))
	f.Add("log.csv", []byte("q,[m] {{q}},Status\nx,y,PASS\n"))
	f.Add("log.json", []byte(`{"eval":{"model":"m"},"samples":[`+inspectSample("1", 1, `[{"type":"text","text":"x"}]`)+`]}`))
	f.Add("log.json", []byte(`{"results":{"results":[{"testCase":{},"provider":{},"promptIdx":0}]}}`))
	f.Add("log.eval", inspectArchive(f, zip.Deflate, inspectHeader))
	f.Add("log.eval", inspectArchive(f, zipZstandard, inspectHeader))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, name string, content []byte) {
		if !slices.Contains([]string{"log.jsonl", "log.csv", "log.json", "log.eval"}, name) {
			name = "log.json"
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		for c, err := range (Reading{Expect: ExpectUser, Identify: spoken}).Confusion(path) {
			if err != nil {
				if !strings.HasPrefix(err.Error(), path) {
					t.Errorf("the error names no file: %v", err)
				}
				return
			}
			if (c.Item.Prompt.Language == "") != (c.Unjudged != "") || !strings.HasPrefix(c.Where, path) {
				t.Errorf("%+v", c)
			}
			if c.Answer.Status == crosstalk.Text && strings.TrimSpace(c.Answer.Text) == "" {
				t.Errorf("text without text: %+v", c)
			}
		}
	})
}
