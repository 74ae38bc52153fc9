package openai

import (
	"reflect"
	"testing"

	"crosstalk"
	"crosstalk/model/settle"
)

var responses = []struct {
	name, body string
	want       crosstalk.Answer
}{
	{"text", `{"status":"completed","model":"gpt-5.4","error":null,"incomplete_details":null,"output":[{"type":"message","content":[{"type":"output_text","text":"a","annotations":[]},{"type":"output_text","text":"b"}]}],
		"usage":{"input_tokens":9,"output_tokens":3,"total_tokens":12}}`,
		crosstalk.Answer{Status: "text", Text: "ab", Reason: "completed", Finish: "stop", Model: "gpt-5.4", Usage: crosstalk.Usage{Prompt: 9, Completion: 3}}},
	{"thoughts", `{"status":"completed","output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"h"},{"type":"summary_text","text":"m"}]},{"type":"message","content":[{"type":"output_text","text":"a"}]}],
		"usage":{"input_tokens":9,"output_tokens":30,"output_tokens_details":{"reasoning_tokens":27},"total_tokens":39}}`,
		crosstalk.Answer{Status: "text", Text: "a", Reasoning: "hm", Reason: "completed", Finish: "stop",
			Usage: crosstalk.Usage{Prompt: 9, Completion: 30, Reasoning: 27}}},
	{"open thoughts", `{"status":"completed","output":[{"type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"hm"}]},{"type":"message","content":[{"type":"output_text","text":"a"}]}]}`,
		crosstalk.Answer{Status: "text", Text: "a", Reasoning: "hm", Reason: "completed", Finish: "stop"}},
	{"only thoughts", `{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[{"type":"reasoning","summary":[]}]}`,
		crosstalk.Answer{Status: "empty", Reason: "thinking", Finish: "length"}},
	{"cut", `{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[{"type":"message","content":[{"type":"output_text","text":"a"}]}]}`,
		crosstalk.Answer{Status: "text", Text: "a", Reason: "max_output_tokens", Finish: "length"}},
	{"filtered", `{"status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]}`,
		crosstalk.Answer{Status: "refused", Reason: "content_filter", Finish: "filter"}},
	{"refused", `{"status":"completed","output":[{"type":"message","content":[{"type":"refusal","refusal":"no"}]}]}`,
		crosstalk.Answer{Status: "refused", Reason: "no", Finish: "stop"}},
	{"logprobs", `{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"a","logprobs":[{"token":"a","bytes":[97],"logprob":-0.5,"top_logprobs":[{"token":"a","logprob":-0.5}]}]}]}]}`,
		crosstalk.Answer{Status: "text", Text: "a", Reason: "completed", Finish: "stop", Logprobs: []crosstalk.TokenLogprob{
			{Token: "a", Logprob: -0.5, Top: []crosstalk.CandidateLogprob{{Token: "a", Logprob: -0.5}}}}}},
}

func TestReadResponse(t *testing.T) {
	for _, c := range responses {
		r, err := readResponse([]byte(c.body))
		if a := settle.Answer(crosstalk.Request{}, r); err != nil || !reflect.DeepEqual(a, c.want) {
			t.Errorf("%s:\n got %+v, %v\nwant %+v", c.name, a, err, c.want)
		}
	}
	for _, body := range []string{`{}`, `[]`, `null`, `{"status":"failed","error":{"code":"server_error","message":"x"},"output":[]}`, `{"status":"failed","output":[]}`,
		`{"status":"cancelled","output":[]}`, `{"status":"completed","output":[{"type":"message","content":[7]}]}`} {
		if r, err := readResponse([]byte(body)); err == nil {
			t.Errorf("%s: %+v, want an error", body, r)
		}
	}
}
