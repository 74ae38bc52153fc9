package recorded

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// shaped are files as products write them, each with the question "Wo ist mein Paket?" and the answer
// "Es ist unterwegs." to it.
var shaped = map[string]string{
	"openai-log.jsonl":           `{"id":"1","request":{"model":"gpt-4o","messages":[{"role":"system","content":"Be kind."},{"role":"user","content":"Wo ist mein Paket?"}]},"response":{"id":"c1","object":"chat.completion","model":"gpt-4o-2024","choices":[{"index":0,"message":{"role":"assistant","content":"Es ist unterwegs."},"finish_reason":"stop"}]}}`,
	"responses.jsonl":            `{"id":"resp_1","object":"response","model":"gpt-4o","input":"Wo ist mein Paket?","output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"Where is it?"}]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Es ist unterwegs.","annotations":[]}]}],"metadata":{"locale":"de"}}`,
	"helicone.jsonl":             `{"request_id":"h1","request_model":"gpt-4o","request_body":{"model":"gpt-4o","messages":[{"role":"user","content":"Wo ist mein Paket?"}]},"response_body":{"choices":[{"message":{"role":"assistant","content":"Es ist unterwegs."}}]}}`,
	"litellm.jsonl":              `{"litellm_call_id":"l1","model":"gpt-4o","messages":[{"role":"user","content":"Wo ist mein Paket?"}],"response":{"choices":[{"message":{"role":"assistant","content":"Es ist unterwegs."}}]},"metadata":{"user_api_key_team_alias":"shop"}}`,
	"langsmith.jsonl":            `{"id":"r1","run_type":"llm","name":"ChatOpenAI","inputs":{"messages":[[{"lc":1,"type":"constructor","id":["langchain","schema","messages","SystemMessage"],"kwargs":{"content":"Be kind."}},{"lc":1,"type":"constructor","id":["langchain","schema","messages","HumanMessage"],"kwargs":{"content":"Wo ist mein Paket?"}}]]},"outputs":{"generations":[[{"text":"Es ist unterwegs.","type":"ChatGeneration","message":{"lc":1,"id":["langchain","schema","messages","AIMessage"],"kwargs":{"content":"Es ist unterwegs."}}}]]}}`,
	"langsmith-chain.jsonl":      `{"id":"r1","run_type":"chain","inputs":{"question":"Wo ist mein Paket?"},"outputs":{"answer":"Es ist unterwegs."}}`,
	"langfuse-trace.jsonl":       `{"id":"t1","name":"chat","sessionId":"s1","input":{"messages":[{"role":"user","content":"Wo ist mein Paket?"}]},"output":{"role":"assistant","content":"Es ist unterwegs."},"metadata":{"plan":"gold"}}`,
	"langfuse-observation.jsonl": `{"id":"o1","traceId":"t1","type":"GENERATION","model":"gpt-4o","input":"[{\"role\":\"user\",\"content\":\"Wo ist mein Paket?\"}]","output":"{\"role\":\"assistant\",\"content\":\"Es ist unterwegs.\"}"}`,
	"langfuse.csv":               "id,sessionId,input,output\nt1,s1,\"[{\"\"role\"\":\"\"user\"\",\"\"content\"\":\"\"Wo ist mein Paket?\"\"}]\",\"{\"\"content\"\":\"\"Es ist unterwegs.\"\",\"\"role\"\":\"\"assistant\"\"}\"\n",
	"langfuse.json":              `[{"id":"t1","input":[{"role":"user","content":"Wo ist mein Paket?"}],"output":"Es ist unterwegs."}]`,
	"anthropic-log.jsonl":        `{"request":{"model":"claude-sonnet-4-5","system":"Be kind.","max_tokens":100,"messages":[{"role":"user","content":"Wo ist mein Paket?"}]},"response":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"thinking","thinking":"Where?"},{"type":"text","text":"Es ist unterwegs."}],"stop_reason":"end_turn"}}`,
	"ai-sdk.jsonl":               `{"id":"c1","messages":[{"id":"m1","role":"user","parts":[{"type":"text","text":"Wo ist mein Paket?"}]},{"id":"m2","role":"assistant","parts":[{"type":"step-start"},{"type":"reasoning","text":"Where?"},{"type":"text","text":"Es ist unterwegs."}]}]}`,
	"otel.json":                  `{"resourceSpans":[{"resource":{},"scopeSpans":[{"spans":[{"traceId":"t","spanId":"s","name":"chat gpt-4o","attributes":[{"key":"gen_ai.request.model","value":{"stringValue":"gpt-4o"}},{"key":"gen_ai.input.messages","value":{"stringValue":"[{\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"content\":\"Wo ist mein Paket?\"}]}]"}},{"key":"gen_ai.output.messages","value":{"stringValue":"[{\"role\":\"assistant\",\"parts\":[{\"type\":\"text\",\"content\":\"Es ist unterwegs.\"}],\"finish_reason\":\"stop\"}]"}}]},{"traceId":"t","spanId":"db","attributes":[{"key":"db.system","value":{"stringValue":"postgresql"}}]}]}]}]}`,
	"openllmetry.jsonl":          `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"t","spanId":"s","attributes":[{"key":"gen_ai.prompt.0.role","value":{"stringValue":"user"}},{"key":"gen_ai.prompt.0.content","value":{"stringValue":"Wo ist mein Paket?"}},{"key":"gen_ai.completion.0.content","value":{"stringValue":"Es ist unterwegs."}}]}]}]}]}`,
	"claude-code.jsonl": `{"type":"summary","summary":"Paket","leafUuid":"x"}
{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"Wo ist mein Paket?"},"uuid":"a","sessionId":"s1","timestamp":"2026-09-01T10:00:00Z"}
{"parentUuid":"a","isSidechain":false,"type":"assistant","message":{"id":"m","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"thinking","thinking":"Where is it?"}]},"uuid":"b","sessionId":"s1"}
{"parentUuid":"b","isSidechain":false,"type":"assistant","message":{"id":"m","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls"}}]},"uuid":"c","sessionId":"s1"}
{"parentUuid":"c","isSidechain":false,"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"on its way"}]},"uuid":"d","sessionId":"s1"}
{"parentUuid":"d","isSidechain":false,"type":"assistant","message":{"id":"n","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"Es ist unterwegs."}]},"uuid":"e","sessionId":"s1"}`,
	"codex.jsonl": `{"timestamp":"2026-09-01T10:00:00Z","type":"session_meta","payload":{"id":"s1","cwd":"/w"}}
{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>linux</environment_context>"}]}}
{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Wo ist mein Paket?"}]}}
{"timestamp":"t","type":"event_msg","payload":{"type":"user_message","message":"Wo ist mein Paket?"}}
{"timestamp":"t","type":"response_item","payload":{"type":"reasoning","summary":[],"content":null}}
{"timestamp":"t","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{}","call_id":"c"}}
{"timestamp":"t","type":"response_item","payload":{"type":"function_call_output","call_id":"c","output":"on its way"}}
{"timestamp":"t","type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Es ist unterwegs."}]}}`,
	"whatsapp.txt": "12.03.24, 10:15 - Nachrichten sind verschlüsselt.\n12.03.24, 10:15 - Eva: Wo ist mein Paket?\n[12.03.24, 10:16:02] ShopBot: Es ist\nunterwegs.\n",
	"dialogue.txt": "User: Wo ist mein Paket?\n\nBot: Es ist unterwegs.\n",
}

// Each file opens by itself, with the question that the answer is to.
func TestShapes(t *testing.T) {
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range shaped {
			if !yield(name) {
				return
			}
		}
	}) {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(shaped[name]), 0o600); err != nil {
			t.Fatal(err)
		}
		var asked []string
		r := Reading{Expect: ExpectUser, Identify: func(messages ...string) string { asked = messages; return "de" }}
		n := 0
		for c, err := range r.Confusion(path) {
			if err != nil {
				t.Errorf("%s: %v", name, err)
				break
			}
			n++
			got := fmt.Sprintf("%q %q %s", asked, strings.ReplaceAll(c.Answer.Text, "\n", " "), c.Item.Prompt.Language)
			if want := `["Wo ist mein Paket?"] "Es ist unterwegs." de`; got != want {
				t.Errorf("%s: %s", name, got)
			}
			if c.Item.ID == "" || c.Item.Cluster == "" {
				t.Errorf("%s: no id: %+v", name, c.Item)
			}
		}
		if n != 1 {
			t.Errorf("%s: %d answers", name, n)
		}
	}
}

// The input file of a batch has the questions, by the ids of the requests.
func TestBatchWithInput(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	in := write("in.jsonl", `{"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":{"model":"gpt-4o","messages":[{"role":"user","content":"Wo?"}]}}
{"custom_id":"b","method":"POST","url":"/v1/responses","body":{"model":"gpt-4o","input":"Quand ?"}}
`)
	out := write("out.jsonl", `{"id":"batch_1","custom_id":"b","response":{"status_code":200,"body":{"model":"gpt-4o-x","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Demain."}]}]}},"error":null}
{"id":"batch_2","custom_id":"a","response":{"status_code":200,"body":{"model":"gpt-4o-x","choices":[{"message":{"role":"assistant","content":"Hier."}}]}},"error":null}
{"id":"batch_3","custom_id":"c","response":{"status_code":200,"body":{"choices":[]}},"error":{"code":"x"}}
`)
	var notes, got []string
	r := Reading{Expect: ExpectUser, Batches: map[string][]string{},
		Note:     func(text string) { notes = append(notes, text) },
		Identify: func(messages ...string) string { return strings.Join(messages, "|") }}
	for _, path := range []string{in, out} {
		for c, err := range r.Confusion(path) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, fmt.Sprintf("%s %q %q %s %s", c.Item.ID, c.Item.Prompt.Text, c.Answer.Text, c.Model, c.Answer.Status))
		}
	}
	want := []string{`Quand ?/b "Quand ?" "Demain." gpt-4o-x text`, `Wo?/a "Wo?" "Hier." gpt-4o-x text`, `und/c "" ""  failed`}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if len(notes) != 2 || !strings.Contains(notes[0], "the user's messages from body") {
		t.Errorf("%q", notes)
	}
}

// What came before an answer of a coding assistant is a column.
func TestAfter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	text := shaped["claude-code.jsonl"] + `
{"isSidechain":false,"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Noch etwas?"}]},"sessionId":"s1"}
{"isSidechain":false,"isCompactSummary":true,"type":"user","message":{"role":"user","content":"This session is being continued"},"sessionId":"s1"}
{"isSidechain":false,"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Weiter."}]},"sessionId":"s1"}
{"isSidechain":false,"isMeta":true,"type":"user","message":{"role":"user","content":"Caveat: generated"},"sessionId":"s1"}
{"isSidechain":false,"type":"user","message":{"role":"user","content":"Danke"},"sessionId":"s1"}
{"isSidechain":true,"type":"assistant","message":{"role":"assistant","content":"Gern."},"sessionId":"s1"}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var got []string
	for c, err := range (Reading{Expect: "de"}).Confusion(path) {
		if err != nil {
			t.Fatal(err)
		}
		l := c.Item.Labels
		got = append(got, fmt.Sprintf("%s %s %q %s %s", l[turnColumn], l[afterColumn], c.Item.Prompt.Text, c.Answer.Text, l["isSidechain"]))
	}
	want := []string{`1 tool "Wo ist mein Paket?" Es ist unterwegs. false`, `2 assistant "Wo ist mein Paket?" Noch etwas? false`,
		`3 compaction "Wo ist mein Paket?" Weiter. false`, `4 user "Danke" Gern. true`}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
