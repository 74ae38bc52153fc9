package settle

import (
	"errors"
	"reflect"
	"testing"

	"crosstalk"
)

// An answer is cut by its tokens where they spell it, however many they are, and by
// about how many they would be else.
func TestAnswerAtItsBounds(t *testing.T) {
	room := crosstalk.Decoding{MaxTokens: 4, ReasoningTokens: 1000}
	one := crosstalk.Decoding{MaxTokens: 1, ReasoningTokens: 9}
	half := []crosstalk.TokenLogprob{{Token: "?", Bytes: []byte("\xc3")}, {Token: "?", Bytes: []byte("\xa9")}}
	for _, c := range []struct {
		name string
		req  crosstalk.Request
		got  Received
		want crosstalk.Answer
	}{
		{"a single token that spells all", crosstalk.Request{Decoding: room},
			Received{Text: "one two three four five six", Finish: "stop", Logprobs: tokens("one two three four five six")},
			crosstalk.Answer{Status: crosstalk.Text, Text: "one two three four five six", Reason: "stop", Finish: "stop",
				Logprobs: tokens("one two three four five six")}},
		{"two letters of another script for a token", crosstalk.Request{Decoding: room},
			Received{Text: "абвгдежзик", Finish: "stop"},
			crosstalk.Answer{Status: crosstalk.Text, Text: "абвгдежзик", Reason: "stop", Finish: "stop"}},
		{"an empty token behind the limit", crosstalk.Request{Decoding: room},
			Received{Text: "abcd", Finish: "stop", Logprobs: tokens("a", "b", "c", "d", "")},
			crosstalk.Answer{Status: crosstalk.Text, Text: "abcd", Reason: "length", Finish: "length",
				Logprobs: tokens("a", "b", "c", "d")}},
		{"cut inside the first character", crosstalk.Request{Decoding: one},
			Received{Text: "é", Finish: "stop", Logprobs: half},
			crosstalk.Answer{Status: crosstalk.Empty, Reason: "length", Finish: "length", Logprobs: half[:1]}},
		{"tokens that begin with the answer", crosstalk.Request{},
			Received{Text: "a", Reasoning: "b", Logprobs: tokens("a", "<|a|>")},
			crosstalk.Answer{Status: crosstalk.Text, Text: "a", Reasoning: "b", Logprobs: tokens("a")}},
		{"a marker and the answer share a token", crosstalk.Request{},
			Received{Text: "a b", Reasoning: "b", Logprobs: tokens("</think>a", " b")},
			crosstalk.Answer{Status: crosstalk.Text, Text: "a b", Reasoning: "b", Logprobs: tokens(" b")}},
	} {
		if got := Answer(c.req, c.got); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s:\n got %+v\nwant %+v", c.name, got, c.want)
		}
	}
}

// A word with digits or with an accent that is a character of its own stays whole.
func TestBoundaryInsideWords(t *testing.T) {
	for _, c := range []struct {
		text  string
		share float64
		want  string
	}{{"ab cde\u0301fg", 0.78, "ab"}, {"in 1984 x", 0.6, "in"}} {
		if got := c.text[:boundary(c.text, c.share)]; got != c.want {
			t.Errorf("%v of %q is %q, want %q", c.share, c.text, got, c.want)
		}
	}
}

// The log probability of one token that spells thoughts and answer is of neither.
func TestRecordedOneToken(t *testing.T) {
	const text = "<think>b</think>a"
	got := Recorded(crosstalk.Answer{Status: crosstalk.Text, Text: text, Logprobs: tokens(text)})
	want := crosstalk.Answer{Status: crosstalk.Text, Text: "a", Reasoning: "b"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// A body that cannot be read is no answer.
func TestReader(t *testing.T) {
	bad := errors.New("not JSON")
	read := Reader(crosstalk.Request{}, func(body []byte) (Received, error) {
		if len(body) == 0 {
			return Received{Text: "half"}, bad
		}
		return Received{Text: string(body)}, nil
	})
	if a, err := read(nil); err != bad || !reflect.DeepEqual(a, crosstalk.Answer{}) {
		t.Errorf("%+v, %v", a, err)
	}
	if a, err := read([]byte("yes")); err != nil || a.Text != "yes" || a.Status != crosstalk.Text {
		t.Errorf("%+v, %v", a, err)
	}
}

// Answers that the provider broke off are asked for again; others are not.
func TestBroken(t *testing.T) {
	for word, want := range map[string]bool{"error": true, "ERROR": true, "insufficient_system_resource": true,
		"network_error": true, "abort": true, "stop": false, "length": false, "": false} {
		if Broken(word) != want {
			t.Errorf("%q: %v", word, !want)
		}
	}
}
