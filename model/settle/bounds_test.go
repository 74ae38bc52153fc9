package settle

import (
	"errors"
	"reflect"
	"strings"
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

// How long the visible part is comes from usage where that tells, else from the share of the characters, and is
// guessed only where thoughts are billed and not shown. Every limit counts from one.
func TestVisibleTokens(t *testing.T) {
	room := crosstalk.Decoding{MaxTokens: 4, ReasoningTokens: 1}
	const letters = "a b c d e f g h" // eight tokens, by its length about four
	for _, c := range []struct {
		name string
		got  Received
		want string
	}{
		{"counted", Received{Text: letters, Usage: crosstalk.Usage{Completion: 399, Reasoning: 390}}, "a b c d"},
		{"one token of thoughts", Received{Text: letters, Usage: crosstalk.Usage{Completion: 10, Reasoning: 1}}, "a b c d"},
		{"shown and not counted", Received{Text: letters, Reasoning: letters, Usage: crosstalk.Usage{Completion: 18}}, "a b c d"},
		{"neither shown nor counted", Received{Text: letters, Thought: true, Usage: crosstalk.Usage{Completion: 18}}, letters},
		{"no more than all tokens", Received{Text: strings.Repeat("word ", 20), Thought: true,
			Usage: crosstalk.Usage{Completion: 5}}, strings.Repeat("word ", 20)},
		{"a script without spaces", Received{Text: "一二三四五六七八九"}, "一二三四"},
		{"letters of two bytes", Received{Text: "аб вг де жз ик лм нп"}, "аб вг де"},
		{"nothing", Received{Usage: crosstalk.Usage{Completion: 18}}, ""},
	} {
		c.got.Finish = "stop"
		a := Answer(crosstalk.Request{Decoding: room}, c.got)
		wanted := crosstalk.FinishStop
		if c.want != c.got.Text {
			wanted = crosstalk.FinishLength
		}
		if a.Text != c.want || a.Finish != wanted {
			t.Errorf("%s: %q, %s; want %q, %s", c.name, a.Text, a.Finish, c.want, wanted)
		}
	}
	words := crosstalk.Answer{Text: strings.Repeat("word ", 20), Usage: crosstalk.Usage{Completion: 5}}
	if n := visibleTokens(words, true); n != 5 {
		t.Errorf("an answer has %v of 5 tokens", n)
	}
}

// A parameter is missing only where the answer shows it: no log probabilities of a text, more tokens than the limit,
// thoughts that were switched off.
func TestMissing(t *testing.T) {
	off := crosstalk.Request{Logprobs: 1, Decoding: crosstalk.Decoding{MaxTokens: 1, Reasoning: crosstalk.ReasoningOff}}
	beams := func(n any) crosstalk.Request {
		return crosstalk.Request{Decoding: crosstalk.Decoding{MaxTokens: 40, Extra: map[string]any{"n": n}}}
	}
	for _, c := range []struct {
		name string
		req  crosstalk.Request
		got  Received
		want []string
	}{
		{"all of four beams are counted", beams(4), Received{Text: "a", Usage: crosstalk.Usage{Completion: 164}}, nil},
		{"four beams, read from JSON", beams(4.0), Received{Text: "a", Usage: crosstalk.Usage{Completion: 164}}, nil},
		{"four beams and one token", beams(4), Received{Text: "a", Usage: crosstalk.Usage{Completion: 165}},
			[]string{"max_tokens"}},
		{"no beam", beams(0), Received{Text: "a", Usage: crosstalk.Usage{Completion: 42}}, []string{"max_tokens"}},
		{"an empty answer", off, Received{}, nil},
		{"a refusal", off, Received{Text: "no", Refusal: "no"}, nil},
		{"a text as wanted", off, Received{Text: "a", Logprobs: tokens("a"), Usage: crosstalk.Usage{Completion: 2}}, nil},
		{"one token too many", off, Received{Text: "a", Logprobs: tokens("a"), Usage: crosstalk.Usage{Completion: 3}},
			[]string{"max_tokens"}},
		{"one token of thoughts", off, Received{Text: "a", Logprobs: tokens("a"),
			Usage: crosstalk.Usage{Completion: 2, Reasoning: 1}}, []string{"reasoning"}},
		{"none wanted", crosstalk.Request{}, Received{Text: "a", Thought: true, Usage: crosstalk.Usage{Completion: 99}}, nil},
	} {
		if got := Answer(c.req, c.got).Missing; !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// An answer without thoughts is as it was recorded, whatever its tokens spell; a blank one has no tokens to keep.
func TestRecordedUnchanged(t *testing.T) {
	a := crosstalk.Answer{Status: crosstalk.Text, Text: "a [1]", Logprobs: tokens("x")}
	if got := Recorded(a); !reflect.DeepEqual(got, a) {
		t.Errorf("%+v, want %+v", got, a)
	}
	if got := Answer(crosstalk.Request{}, Received{Text: " ", Thought: true, Logprobs: tokens(" ")}); got.Logprobs != nil ||
		got.Reason != crosstalk.Thinking {
		t.Errorf("a blank answer: %+v", got)
	}
}

// A cut goes back to where a character starts, and not before the text.
func TestWhole(t *testing.T) {
	for _, c := range []struct {
		text     string
		at, want int
	}{{"\x80\x80", 1, 0}, {"aé", 2, 1}, {"ab", 1, 1}, {"é", 1, 0}, {"é", 2, 2}} {
		if got := whole(c.text, c.at); got != c.want {
			t.Errorf("%q is cut at %d instead of %d, want %d", c.text, got, c.at, c.want)
		}
	}
}

// A word with digits or with an accent that is a character of its own stays whole.
func TestBoundaryInsideWords(t *testing.T) {
	for _, c := range []struct {
		text  string
		share float64
		want  string
	}{{"ab cde\u0301fg", 0.78, "ab"}, {"in 1984 x", 0.6, "in"},
		{"ab (cd", 0.67, "ab ("}, {"x ab一二", 0.67, "x ab"}, {"x 一ab", 0.6, "x 一"}} {
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

// Every provider's word for an end is known.
func TestWordsForEnds(t *testing.T) {
	for want, words := range map[crosstalk.Finish]string{
		crosstalk.FinishStop:   "stop eos end_turn stop_sequence tool_calls completed complete",
		crosstalk.FinishLength: "length max_tokens model_length max_output_tokens model_context_window_exceeded incomplete",
		crosstalk.FinishFilter: "content_filter refusal sensitive safety recitation prohibited_content blocklist spii image_safety",
	} {
		for word := range strings.FieldsSeq(words) {
			for _, w := range []string{word, strings.ToUpper(word), " " + word + " : more"} {
				if got := FinishOf(w); got != want {
					t.Errorf("%q: %q, want %q", w, got, want)
				}
			}
		}
	}
}

// A character of a script without spaces is a token.
func TestGuess(t *testing.T) {
	for text, want := range map[string]float64{"": 0, "a": 0.25, " ~": 0.5, "ж": 0.5, "é": 0.5, "漢": 1, "ひ": 1,
		"カ": 1, "ก": 1, "ກ": 1, "ក": 1, "က": 1, "한": 0.5, "a漢ж": 1.75} {
		if got := guess(text); got != want {
			t.Errorf("%q has %v tokens, want %v", text, got, want)
		}
	}
}

// An answer of which nobody says how it ended has a token for its end, too. Of two places
// that spell an answer, the last is its own.
func TestUnknownEnd(t *testing.T) {
	req := crosstalk.Request{Decoding: crosstalk.Decoding{MaxTokens: 4, ReasoningTokens: 9}}
	got := Answer(req, Received{Text: "one two three four", Usage: crosstalk.Usage{Completion: 5}})
	if got.Text != "one two three four" || got.Finish != "" {
		t.Errorf("%+v", got)
	}
	list := tokens("xa", "b", "ya", "b")
	list[3].Logprob = -2
	if got := visible(list, "ab"); len(got) != 1 || got[0].Logprob != -2 {
		t.Errorf("%+v", got)
	}
}
