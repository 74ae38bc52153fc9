package openai

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"crosstalk"
	"crosstalk/model/settle"
)

var choices = []struct {
	name string
	chat bool
	body string
	want crosstalk.Answer
}{
	{"parts", true, `{"choices":[{"message":{"content":[{"type":"thinking","thinking":[]},{"type":"text","text":"a"},{"type":"text","text":"b"}]},"finish_reason":"stop"}]}`,
		crosstalk.Answer{Status: crosstalk.Text, Text: "ab", Reason: "stop"}},
	{"a part that refuses", true, `{"choices":[{"message":{"content":[{"type":"refusal","refusal":"no"}]}}]}`,
		crosstalk.Answer{Status: crosstalk.Refused, Reason: "no"}},
	{"reasoning content", true, `{"choices":[{"message":{"content":null,"reasoning_content":"hm"},"finish_reason":"length"}]}`,
		crosstalk.Answer{Status: crosstalk.Empty, Reason: "thinking", Reasoning: "hm"}},
	{"vLLM between versions", true, `{"choices":[{"message":{"content":"a","reasoning_content":"hm","reasoning":"hm"}}]}`,
		crosstalk.Answer{Status: crosstalk.Text, Text: "a", Reasoning: "hm"}},
	{"OpenRouter's details", true, `{"choices":[{"message":{"content":"a","reasoning":null,"reasoning_details":[{"type":"reasoning.summary","summary":"h"},{"type":"reasoning.text","text":"m"},{"type":"reasoning.encrypted","data":"x"}]},"native_finish_reason":"STOP","finish_reason":"stop"}]}`,
		crosstalk.Answer{Status: crosstalk.Text, Text: "a", Reasoning: "hm", Reason: "stop"}},
	{"encrypted thoughts alone", true, `{"choices":[{"message":{"content":"","reasoning_details":[{"type":"reasoning.encrypted","data":"x"}]},"finish_reason":"length"}]}`,
		crosstalk.Answer{Status: crosstalk.Empty, Reason: "thinking"}},
	{"odd reasoning", true, `{"choices":[{"message":{"content":"a","reasoning":{"effort":1},"reasoning_content":[],"reasoning_details":"x"}}]}`,
		crosstalk.Answer{Status: crosstalk.Text, Text: "a"}},
	{"Mistral's parts", true, `{"choices":[{"message":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"h"},{"type":"text","text":"m"}]},{"type":"text","text":"a"}]}}]}`,
		crosstalk.Answer{Status: crosstalk.Text, Text: "a", Reasoning: "hm"}},
	{"Cohere's parts", true, `{"choices":[{"message":{"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"a"}]}}]}`,
		crosstalk.Answer{Status: crosstalk.Text, Text: "a", Reasoning: "hm"}},
	{"Groq, raw", true, `{"choices":[{"message":{"content":"<think>\nhm\n</think>\n\na"}}]}`,
		crosstalk.Answer{Status: crosstalk.Text, Text: "a", Reasoning: "hm"}},
	{"gpt-oss on Bedrock", true, `{"choices":[{"message":{"content":"<reasoning>hm</reasoning>a"}}]}`,
		crosstalk.Answer{Status: crosstalk.Text, Text: "a", Reasoning: "hm"}},
	{"Gemini, filtered", true, `{"choices":[{"message":{"role":"assistant","content":null},"finish_reason":"PROHIBITED_CONTENT"}]}`,
		crosstalk.Answer{Status: crosstalk.Refused, Reason: "PROHIBITED_CONTENT"}},
	{"Gemini, filtered, no message", true, `{"choices":[{"index":0,"finish_reason":"content_filter: RECITATION"}]}`,
		crosstalk.Answer{Status: crosstalk.Refused, Reason: "content_filter: RECITATION"}},
	{"GLM, filtered", true, `{"choices":[{"message":{"content":"a"},"finish_reason":"sensitive"}]}`,
		crosstalk.Answer{Status: crosstalk.Refused, Text: "a", Reason: "sensitive"}},
	{"reasoning beside the details", true, `{"choices":[{"message":{"content":"a"}}],"usage":{"prompt_tokens":1,"completion_tokens":9,"reasoning_tokens":7}}`,
		crosstalk.Answer{Status: crosstalk.Text, Text: "a", Usage: crosstalk.Usage{Prompt: 1, Completion: 9, Reasoning: 7}}},
	{"tool calls", true, `{"choices":[{"message":{"content":null,"tool_calls":[{}]},"finish_reason":"tool_calls"}]}`,
		crosstalk.Answer{Status: crosstalk.Empty, Reason: "tool_calls"}},
	{"reasoning only in the total", true, `{"choices":[{"message":{"content":"a"}}],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":45}}`,
		crosstalk.Answer{Status: crosstalk.Text, Text: "a", Usage: crosstalk.Usage{Prompt: 10, Completion: 35, Reasoning: 30}}},
	{"odd usage", true, `{"choices":[{"message":{"content":"a"}}],"usage":{"prompt_tokens":12.0,"completion_tokens":"?","total_tokens":null,"completion_tokens_details":null}}`,
		crosstalk.Answer{Status: crosstalk.Text, Text: "a", Usage: crosstalk.Usage{Prompt: 12}}},
	{"no usage", false, `{"choices":[{"text":"a","finish_reason":null}],"usage":null}`,
		crosstalk.Answer{Status: crosstalk.Text, Text: "a"}},
	{"vLLM completions", false, `{"choices":[{"text":"ab","logprobs":{"text_offset":[0,1],"token_logprobs":[-0.5,-9999.0],"tokens":["a","b"],"top_logprobs":[{"x":-1.5,"a":-0.5},null]}}]}`,
		crosstalk.Answer{Status: crosstalk.Text, Text: "ab", Logprobs: []crosstalk.TokenLogprob{
			{Token: "a", Logprob: -0.5, Top: []crosstalk.CandidateLogprob{{Token: "a", Logprob: -0.5}, {Token: "x", Logprob: -1.5}}},
			{Token: "b", Logprob: -9999}}}},
	{"echo", false, `{"choices":[{"text":"ab","logprobs":{"tokens":["a","b"],"token_logprobs":[null,-1]}}]}`,
		crosstalk.Answer{Status: crosstalk.Text, Text: "ab", Logprobs: []crosstalk.TokenLogprob{{Token: "b", Logprob: -1}}}},
	{"llama.cpp completions", false, `{"choices":[{"text":"a","logprobs":{"content":[{"id":7,"token":"a","bytes":[97],"logprob":-0.1,"top_logprobs":[{"id":8,"token":"b","logprob":-3},{"id":7,"token":"a","logprob":-0.1}]}]}}]}`,
		crosstalk.Answer{Status: crosstalk.Text, Text: "a", Logprobs: []crosstalk.TokenLogprob{
			{Token: "a", Logprob: -0.1, Top: []crosstalk.CandidateLogprob{{Token: "a", Logprob: -0.1}, {Token: "b", Logprob: -3}}}}}},
	{"llama.cpp after sampling", true, `{"choices":[{"message":{"content":"a"},"logprobs":{"content":[{"id":7,"token":"a","bytes":[97],"prob":0.5,"top_probs":[{"id":7,"token":"a","bytes":[97],"prob":0.5},{"id":8,"token":"b","bytes":[98],"prob":0.25},{"id":9,"token":"c","bytes":[99],"prob":0}]}]}}]}`,
		crosstalk.Answer{Status: crosstalk.Text, Text: "a", Logprobs: []crosstalk.TokenLogprob{
			{Token: "a", Logprob: math.Log(0.5), Top: []crosstalk.CandidateLogprob{{Token: "a", Logprob: math.Log(0.5)},
				{Token: "b", Logprob: math.Log(0.25)}}}}}},
	{"parts of a character", true, `{"choices":[{"message":{"content":"é"},"logprobs":{"content":[{"token":"\\xc3","bytes":[195],"logprob":-1,"top_logprobs":[{"token":"\\xc3","bytes":[195],"logprob":-1}]},{"token":"\\xa9","bytes":[169],"logprob":-2}]}}]}`,
		crosstalk.Answer{Status: crosstalk.Text, Text: "é", Logprobs: []crosstalk.TokenLogprob{
			{Token: `\xc3`, Bytes: []byte{195}, Logprob: -1,
				Top: []crosstalk.CandidateLogprob{{Token: `\xc3`, Bytes: []byte{195}, Logprob: -1}}},
			{Token: `\xa9`, Bytes: []byte{169}, Logprob: -2}}}},
	{"a token with a better text in bytes", true, `{"choices":[{"message":{"content":"é"},"logprobs":{"content":[{"token":"Ã©","bytes":[195,169],"logprob":-1}]}}]}`,
		crosstalk.Answer{Status: crosstalk.Text, Text: "é", Logprobs: []crosstalk.TokenLogprob{{Token: "é", Logprob: -1}}}},
	{"odd bytes", true, `{"choices":[{"message":{"content":"a"},"logprobs":{"content":[{"token":"a","bytes":"YQ==","logprob":-1,"top_logprobs":[{"token":"b","bytes":[300],"logprob":-2},{"token":"c","bytes":null,"logprob":-3}]}]}}]}`,
		crosstalk.Answer{Status: crosstalk.Text, Text: "a", Logprobs: []crosstalk.TokenLogprob{
			{Token: "a", Logprob: -1, Top: []crosstalk.CandidateLogprob{{Token: "b", Logprob: -2}, {Token: "c", Logprob: -3}}}}}},
	{"parts of a character in completions", false, `{"choices":[{"text":" é","logprobs":{"tokens":["bytes: \\xc3","bytes:\\xa9","bytes:"],"token_logprobs":[-1,-2,-3],"top_logprobs":[{"bytes: \\xc3":-1},null,null]}}]}`,
		crosstalk.Answer{Status: crosstalk.Text, Text: " é", Logprobs: []crosstalk.TokenLogprob{
			{Token: `bytes: \xc3`, Bytes: []byte{32, 195}, Logprob: -1,
				Top: []crosstalk.CandidateLogprob{{Token: `bytes: \xc3`, Bytes: []byte{32, 195}, Logprob: -1}}},
			{Token: `bytes:\xa9`, Bytes: []byte{169}, Logprob: -2}, {Token: "bytes:", Logprob: -3}}}},
	{"Together chat", true, `{"choices":[{"message":{"content":"a"},"logprobs":{"tokens":["a"],"token_logprobs":[-0.2]}}]}`,
		crosstalk.Answer{Status: crosstalk.Text, Text: "a", Logprobs: []crosstalk.TokenLogprob{{Token: "a", Logprob: -0.2}}}},
	{"no content of logprobs", true, `{"choices":[{"message":{"content":"a"},"logprobs":{"content":null,"refusal":null}}]}`,
		crosstalk.Answer{Status: crosstalk.Text, Text: "a"}},
}

var broken = []string{
	``, `{`, `null`, `{}`, `[]`, `7`, `"ok"`, `{"choices":null}`, `{"choices":[]}`, `{"choices":{}}`, `{"choices":[{}]}`,
	`{"choices":[{"message":null,"text":null}]}`, `{"choices":[{"message":{"content":7},"text":7}]}`,
	`{"choices":[{"message":{"content":[7]},"text":[]}]}`, `{"choices":[{"message":{"content":[{"type":"text"}]}}]}`,
	`{"choices":[{"message":{"content":"a"},"text":"a","finish_reason":"error"}]}`,
	`{"choices":[{"message":{"content":"a"},"text":"a","finish_reason":"insufficient_system_resource"}]}`,
	`{"error":{"message":"m","code":502},"choices":[{"message":{"content":"a"},"text":"a"}]}`,
	`{"choices":[{"message":{"content":"a"},"text":"a","logprobs":{"tokens":["a"],"token_logprobs":[]}}]}`,
	`{"choices":[{"message":{"content":"a"},"text":"a","logprobs":{"tokens":["a"],"token_logprobs":[-1],"top_logprobs":[]}}]}`,
	`{"choices":[{"message":{"content":"a"},"text":"a","logprobs":{"tokens":["a"],"token_logprobs":[1e999]}}]}`,
}

func TestRead(t *testing.T) {
	for _, c := range choices {
		read := readCompletion
		if c.chat {
			read = readChat
		}
		r, err := read([]byte(c.body))
		a := settle.Answer(crosstalk.Request{}, r)
		c.want.Finish = settle.FinishOf(a.Reason) // settle's tests are about it
		if a.Reason == crosstalk.Thinking {
			c.want.Finish = a.Finish
		}
		if err != nil || !reflect.DeepEqual(a, c.want) {
			t.Errorf("%s:\n got %+v, %v\nwant %+v", c.name, a, err, c.want)
		}
	}
	for _, body := range broken {
		if a, err := readChat([]byte(body)); err == nil {
			t.Errorf("chat %s: %+v, want an error", body, a)
		}
		if a, err := readCompletion([]byte(body)); err == nil {
			t.Errorf("completion %s: %+v, want an error", body, a)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, c := range choices {
		f.Add([]byte(c.body))
	}
	for _, body := range broken {
		f.Add([]byte(body))
	}
	for _, c := range responses {
		f.Add([]byte(c.body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, read := range []func([]byte) (settle.Received, error){readChat, readCompletion, readResponse} {
			r, err := read(body)
			if err != nil {
				continue
			}
			a := settle.Answer(crosstalk.Request{Decoding: crosstalk.Decoding{MaxTokens: 2, ReasoningTokens: 1}}, r)
			if !json.Valid(body) {
				t.Fatalf("%q is not JSON, and was read", body)
			}
			if a.Status != crosstalk.Text && a.Status != crosstalk.Empty && a.Status != crosstalk.Refused {
				t.Fatalf("status %q", a.Status)
			}
			if a.Usage.Prompt < 0 || a.Usage.Completion < a.Usage.Reasoning && a.Usage.Completion < 0 {
				t.Fatalf("usage %+v", a.Usage)
			}
			for _, l := range a.Logprobs {
				if math.IsNaN(l.Logprob) || math.IsInf(l.Logprob, 0) {
					t.Fatalf("logprob %v", l)
				}
			}
			crosstalk.Canonical(a) // the journal writes it
		}
	})
}
