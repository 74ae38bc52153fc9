package settle

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"crosstalk"
)

func tokens(texts ...string) (out []crosstalk.TokenLogprob) {
	for _, t := range texts {
		out = append(out, crosstalk.TokenLogprob{Token: t, Logprob: -1})
	}
	return out
}

func TestAnswer(t *testing.T) {
	const text, empty, refused = crosstalk.Text, crosstalk.Empty, crosstalk.Refused
	room := crosstalk.Decoding{MaxTokens: 4, ReasoningTokens: 1000}
	for _, c := range []struct {
		name string
		req  crosstalk.Request
		got  Received
		want crosstalk.Answer
	}{
		{"plain", crosstalk.Request{}, Received{Text: " a\n", Finish: "stop", Model: "m"},
			crosstalk.Answer{Status: text, Text: " a\n", Reason: "stop", Finish: "stop", Model: "m"}},
		{"thoughts in a field", crosstalk.Request{}, Received{Text: "a", Reasoning: "hm", Finish: "eos"},
			crosstalk.Answer{Status: text, Text: "a", Reasoning: "hm", Reason: "eos", Finish: "stop"}},
		{"thoughts in both places", crosstalk.Request{}, Received{Text: "<think>so</think>a", Reasoning: "hm"},
			crosstalk.Answer{Status: text, Text: "a", Reasoning: "hm\n\nso"}},
		{"only thoughts", crosstalk.Request{}, Received{Text: "<think>\nhm", Finish: "length"},
			crosstalk.Answer{Status: empty, Reasoning: "hm", Reason: "thinking", Finish: "length"}},
		{"hidden thoughts", crosstalk.Request{}, Received{Finish: "MAX_TOKENS", Usage: crosstalk.Usage{Completion: 9, Reasoning: 9}},
			crosstalk.Answer{Status: empty, Reason: "thinking", Finish: "length", Usage: crosstalk.Usage{Completion: 9, Reasoning: 9}}},
		{"nothing", crosstalk.Request{}, Received{Text: "\n", Finish: "end_turn"},
			crosstalk.Answer{Status: empty, Text: "\n", Reason: "end_turn", Finish: "stop"}},
		{"filtered", crosstalk.Request{}, Received{Text: "half", Finish: "content_filter: RECITATION"},
			crosstalk.Answer{Status: refused, Text: "half", Reason: "content_filter: RECITATION", Finish: "filter"}},
		{"refused", crosstalk.Request{}, Received{Refusal: "no", Finish: "stop"},
			crosstalk.Answer{Status: refused, Reason: "no", Finish: "stop"}},
		{"a stop sequence that the server passed over", crosstalk.Request{Decoding: crosstalk.Decoding{Stop: []string{"", "\n", "c"}}},
			Received{Text: "a b c\nd", Finish: "length", Logprobs: tokens("a", " b", " c", "\n", "d")},
			crosstalk.Answer{Status: text, Text: "a b ", Reason: "stop", Finish: "stop", Logprobs: tokens("a", " b", " c")}},
		{"logprobs of thoughts", crosstalk.Request{Logprobs: 1}, Received{Text: "a a", Reasoning: "a", Logprobs: tokens("<think>", "a", "</think>", "a", " a", "<eos>")},
			crosstalk.Answer{Status: text, Text: "a a", Reasoning: "a", Logprobs: tokens("a", " a")}},
		{"logprobs of thoughts in the text", crosstalk.Request{}, Received{Text: "<think>b</think>\n\na c", Logprobs: tokens("<think>", "b", "</think>", "\n\n", "a", " c")},
			crosstalk.Answer{Status: text, Text: "a c", Reasoning: "b", Logprobs: tokens("a", " c")}},
		{"logprobs of another text", crosstalk.Request{Logprobs: 1}, Received{Text: "a", Reasoning: "b", Logprobs: tokens("x")},
			crosstalk.Answer{Status: text, Text: "a", Reasoning: "b", Missing: []string{"logprobs"}}},
		{"no logprobs", crosstalk.Request{Logprobs: 1}, Received{Text: "a"}, crosstalk.Answer{Status: text, Text: "a", Missing: []string{"logprobs"}}},
		{"all dropped", crosstalk.Request{Logprobs: 1, Decoding: crosstalk.Decoding{MaxTokens: 2, Reasoning: "off"}},
			Received{Text: "a", Reasoning: "b", Usage: crosstalk.Usage{Completion: 20, Reasoning: 10}},
			crosstalk.Answer{Status: text, Text: "a", Reasoning: "b", Missing: []string{"logprobs", "max_tokens", "reasoning"},
				Usage: crosstalk.Usage{Completion: 20, Reasoning: 10}}},

		{"cut by tokens", crosstalk.Request{Decoding: room}, Received{Text: "a b c d e", Finish: "stop", Logprobs: tokens("a", " b", " c", " d", " e")},
			crosstalk.Answer{Status: text, Text: "a b c d", Reason: "length", Finish: "length", Logprobs: tokens("a", " b", " c", " d")}},
		{"cut inside a character", crosstalk.Request{Decoding: crosstalk.Decoding{MaxTokens: 1, ReasoningTokens: 9}},
			Received{Text: "aé", Logprobs: []crosstalk.TokenLogprob{{Token: "?", Bytes: []byte("a\xc3")}, {Token: "?", Bytes: []byte("\xa9")}}},
			crosstalk.Answer{Status: text, Text: "a", Reason: "length", Finish: "length",
				Logprobs: []crosstalk.TokenLogprob{{Token: "?", Bytes: []byte("a\xc3")}}}},
		{"cut by usage", crosstalk.Request{Decoding: room},
			Received{Text: "one two three four five six", Finish: "stop", Usage: crosstalk.Usage{Completion: 397, Reasoning: 390}},
			crosstalk.Answer{Status: text, Text: "one two three four", Reason: "length", Finish: "length", Usage: crosstalk.Usage{Completion: 397, Reasoning: 390}}},
		{"cut where reasoning is not counted", crosstalk.Request{Decoding: room},
			Received{Text: "one two three four five six", Reasoning: strings.Repeat("thought ", 27), Finish: "stop", Usage: crosstalk.Usage{Completion: 63}},
			crosstalk.Answer{Status: text, Text: "one two three four", Reasoning: strings.Repeat("thought ", 27),
				Reason: "length", Finish: "length", Usage: crosstalk.Usage{Completion: 63}}},
		{"not cut", crosstalk.Request{Decoding: room}, Received{Text: "one two three four", Finish: "stop", Usage: crosstalk.Usage{Completion: 5}},
			crosstalk.Answer{Status: text, Text: "one two three four", Reason: "stop", Finish: "stop", Usage: crosstalk.Usage{Completion: 5}}},
		{"not ours to cut", crosstalk.Request{Decoding: crosstalk.Decoding{MaxTokens: 4}}, Received{Text: "one two three four five six"},
			crosstalk.Answer{Status: text, Text: "one two three four five six"}},

		{"begins with a stop sequence", crosstalk.Request{Decoding: crosstalk.Decoding{Stop: []string{"\n", "b", "none"}}}, Received{Text: "\nab"},
			crosstalk.Answer{Status: empty, Reason: "stop", Finish: "stop"}},
		{"only the first of two stop sequences", crosstalk.Request{Decoding: crosstalk.Decoding{Stop: []string{"\n", "none"}}},
			Received{Text: "a b\nc", Logprobs: tokens("a", " b", "\n", "c")},
			crosstalk.Answer{Status: text, Text: "a b", Reason: "stop", Finish: "stop", Logprobs: tokens("a", " b")}},
		{"exactly as many tokens as wanted", crosstalk.Request{Decoding: room}, Received{Text: "a b c d", Finish: "stop", Logprobs: tokens("a", " b", " c", " d")},
			crosstalk.Answer{Status: text, Text: "a b c d", Reason: "stop", Finish: "stop", Logprobs: tokens("a", " b", " c", " d")}},
		{"tokens that do not spell the text do not say where to cut", crosstalk.Request{Decoding: room},
			Received{Text: "one two three four five six", Finish: "stop", Logprobs: tokens("u", "v", "w", "x", "y", "z"), Usage: crosstalk.Usage{Completion: 7}},
			crosstalk.Answer{Status: text, Text: "one two three four", Reason: "length", Finish: "length",
				Logprobs: tokens("u", "v", "w", "x", "y", "z"), Usage: crosstalk.Usage{Completion: 7}}},
		{"cut without usage, by characters", crosstalk.Request{Decoding: room}, Received{Text: "one two three four five six", Finish: "stop"},
			crosstalk.Answer{Status: text, Text: "one two three four", Reason: "length", Finish: "length"}},
		{"short without usage", crosstalk.Request{Decoding: room}, Received{Text: "one two three four", Finish: "stop"},
			crosstalk.Answer{Status: text, Text: "one two three four", Reason: "stop", Finish: "stop"}},
		{"cut at the server's limit, so without a token for the end", crosstalk.Request{Decoding: room},
			Received{Text: "one two three four five", Finish: "length", Usage: crosstalk.Usage{Completion: 5}},
			crosstalk.Answer{Status: text, Text: "one two three four", Reason: "length", Finish: "length", Usage: crosstalk.Usage{Completion: 5}}},
		{"hidden thoughts are billed, so the text says how long it is", crosstalk.Request{Decoding: room},
			Received{Text: "one two three four", Thought: true, Finish: "stop", Usage: crosstalk.Usage{Completion: 900}},
			crosstalk.Answer{Status: text, Text: "one two three four", Reason: "stop", Finish: "stop", Usage: crosstalk.Usage{Completion: 900}}},
		{"room for thoughts, and no limit of the answer", crosstalk.Request{Decoding: crosstalk.Decoding{ReasoningTokens: 1000}}, Received{Text: "one two three"},
			crosstalk.Answer{Status: text, Text: "one two three"}},
		{"the end of the text inside a later token", crosstalk.Request{}, Received{Text: "a", Reasoning: "b", Logprobs: tokens("b", "a", "<|a|>")},
			crosstalk.Answer{Status: text, Text: "a", Reasoning: "b", Logprobs: tokens("a")}},
		{"longer logprobs of another text", crosstalk.Request{Logprobs: 1}, Received{Text: "abc", Reasoning: "b", Logprobs: tokens("x", "yz", "w")},
			crosstalk.Answer{Status: text, Text: "abc", Reasoning: "b", Missing: []string{"logprobs"}}},
		{"the end's token without thoughts", crosstalk.Request{}, Received{Text: "a", Logprobs: tokens("a", "<eos>")},
			crosstalk.Answer{Status: text, Text: "a", Logprobs: tokens("a", "<eos>")}},
		{"no limit was asked for", crosstalk.Request{}, Received{Text: "a b", Usage: crosstalk.Usage{Completion: 20}},
			crosstalk.Answer{Status: text, Text: "a b", Usage: crosstalk.Usage{Completion: 20}}},
		{"as long as wanted, and a token for the end", crosstalk.Request{Decoding: crosstalk.Decoding{MaxTokens: 2}},
			Received{Text: "a b", Usage: crosstalk.Usage{Completion: 20, Reasoning: 17}},
			crosstalk.Answer{Status: text, Text: "a b", Usage: crosstalk.Usage{Completion: 20, Reasoning: 17}}},
		{"one token longer than wanted", crosstalk.Request{Decoding: crosstalk.Decoding{MaxTokens: 2}},
			Received{Text: "a b", Usage: crosstalk.Usage{Completion: 21, Reasoning: 17}},
			crosstalk.Answer{Status: text, Text: "a b", Usage: crosstalk.Usage{Completion: 21, Reasoning: 17}, Missing: []string{"max_tokens"}}},
	} {
		if got := Answer(c.req, c.got); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\n got %+v\nwant %+v", c.name, got, c.want)
		}
	}
}

func TestRecorded(t *testing.T) {
	for _, c := range []struct{ before, after crosstalk.Answer }{
		{crosstalk.Answer{Status: "text", Text: "a `<think>` tag", Reason: "stop"}, crosstalk.Answer{Status: "text", Text: "a `<think>` tag", Reason: "stop"}},
		{crosstalk.Answer{Status: "text", Text: "<think>b</think>\na", Reason: "stop", Logprobs: tokens("<think>", "b", "</think>", "\n", "a")},
			crosstalk.Answer{Status: "text", Text: "a", Reasoning: "b", Reason: "stop", Logprobs: tokens("a")}},
		{crosstalk.Answer{Status: "text", Text: "<think>b", Reason: "length"}, crosstalk.Answer{Status: "empty", Reasoning: "b", Reason: "thinking"}},
		{crosstalk.Answer{Status: "text", Text: "<think>is a tag</think>", Reasoning: "separated before"}, crosstalk.Answer{Status: "text", Text: "<think>is a tag</think>", Reasoning: "separated before"}},
		{crosstalk.Answer{Status: "failed", Text: "<think>b"}, crosstalk.Answer{Status: "failed", Text: "<think>b"}},
	} {
		if got := Recorded(c.before); !reflect.DeepEqual(got, c.after) {
			t.Errorf("%+v:\n got %+v\nwant %+v", c.before, got, c.after)
		}
	}
}

func TestBoundary(t *testing.T) {
	for _, c := range []struct {
		text  string
		share float64
		want  string
	}{
		{"one two three", 0.5, "one"},
		{"one two three", 0.55, "one two"},
		{"abcdefgh", 0.5, "abcd"},
		{"一二三四五六", 0.5, "一二三"},
		{"сорок два три", 0.45, "сорок"},
		{"ab cé de", 0.5, "ab"}, // the accent belongs to its letter
		{"a, b", 0.5, "a,"},
		{"\u0301\u0301", 0.5, "\u0301"}, // marks without a letter
		{"สวัสดี", 0.4, "ส"},            // a vowel sign stays with its consonant
	} {
		if got := c.text[:boundary(c.text, c.share)]; got != c.want {
			t.Errorf("%v of %q is %q, want %q", c.share, c.text, got, c.want)
		}
	}
}

func TestFinishOf(t *testing.T) {
	for word, want := range map[string]crosstalk.Finish{
		"stop": "stop", "STOP": "stop", "end_turn": "stop", "stop_sequence": "stop", "length": "length", "max_tokens": "length", "MAX_TOKENS": "length",
		"model_length": "length", "max_output_tokens": "length", "model_context_window_exceeded": "length",
		"content_filter": "filter", "SAFETY": "filter", "RECITATION": "filter", "PROHIBITED_CONTENT": "filter", "sensitive": "filter", "refusal": "filter",
		"": "", "pause_turn": "", "error": "",
	} {
		if got := FinishOf(word); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add("<think>a</think>b c d", "hm", "stop", 3, 30, 10, " ")
	f.Add("一二三é", "", "length", 1, 9, 0, "")
	f.Fuzz(func(t *testing.T, text, reasoning, finish string, limit, completion, thought int, stop string) {
		if !utf8.ValidString(text) || !utf8.ValidString(stop) || limit < 0 || completion < 0 || thought < 0 {
			return
		}
		var probs []crosstalk.TokenLogprob
		for i := 0; i < len(text); i += 3 {
			probs = append(probs, crosstalk.TokenLogprob{Bytes: []byte(text[i:min(i+3, len(text))])})
		}
		for _, l := range [][]crosstalk.TokenLogprob{nil, probs} {
			a := Answer(crosstalk.Request{Decoding: crosstalk.Decoding{MaxTokens: limit, ReasoningTokens: 7,
				Stop: []string{stop}}},
				Received{Text: text, Reasoning: reasoning, Finish: finish, Logprobs: l,
					Usage: crosstalk.Usage{Completion: completion, Reasoning: thought}})
			if !utf8.ValidString(a.Text) {
				t.Fatalf("%q is cut inside a character", a.Text)
			}
			if stop != "" && strings.Contains(a.Text, stop) {
				t.Fatalf("%q contains %q", a.Text, stop)
			}
			if limit > 0 && len(a.Logprobs) > limit && spelled(a.Logprobs) == a.Text {
				t.Fatalf("%d tokens, at most %d wanted", len(a.Logprobs), limit)
			}
			if a.Status == "" {
				t.Fatal("no status")
			}
		}
	})
}
