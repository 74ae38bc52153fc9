package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/ask/journal"

	"github.com/google/go-cmp/cmp"
)

const awkward = "animals \"x\" \\ \n\t\x01\u2028 žluť 是"

// pairOf are the texts of a leakage observation.
func pairOf(test, control string) []crosstalk.NamedText {
	return []crosstalk.NamedText{{Name: "concept", Role: crosstalk.Topic, Text: "koalas"}, {Name: "test", Role: crosstalk.Side, Text: test},
		{Name: "control", Role: crosstalk.Side, Text: control}}
}

func observations() []crosstalk.Observation {
	o := crosstalk.Observation{Measure: "leak_rate", Item: "a/1", Cluster: "a", Sample: 0, Value: 1, Condition: map[string]string{"model": "m", "similarity": "gloss@1"},
		Labels: map[string]string{"category": awkward, "language": "en"}, Numbers: map[string]float64{"test": 0.75, "control": 0.1},
		Finding: "leaked", Texts: pairOf("eucalyptus", "bread, \"fresh\""), Answers: []crosstalk.Key{{1}, {2}}}
	none := o
	none.Sample, none.Value, none.NotScored, none.Numbers, none.Texts, none.Finding = 1, crosstalk.Undefined, "empty", nil,
		pairOf("", "rice"), ""
	line := crosstalk.Observation{Measure: "lpr", Item: "b", Value: 0, Finding: "line", Condition: map[string]string{"model": "m"},
		Spans: []crosstalk.Span{{Line: 1, End: 2, Text: "ab", Language: "de", Probability: 0.5}},
		Texts: []crosstalk.NamedText{{Name: "answer", Role: crosstalk.Side, Text: "ab"}}, Labels: map[string]string{"language": "ar"}}
	accuracy := line
	accuracy.Measure, accuracy.Value, accuracy.Texts, accuracy.Spans, accuracy.Finding = "line_accuracy", 0.25, nil, nil, ""
	token := line
	token.Measure, token.Labels = "entropy", map[string]string{"language": "ar", "at": "elsewhere"}
	return []crosstalk.Observation{o, none, line, accuracy, token}
}

func seq[T any](list []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, v := range list {
			if !yield(v, nil) {
				return
			}
		}
	}
}

func TestJSONLines(t *testing.T) {
	var b bytes.Buffer
	if err := WriteLines(&b, seq(observations())); err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(&b)
	for i, want := range observations() {
		var got crosstalk.Observation
		if err := d.Decode(&got); err != nil {
			t.Fatal(err)
		}
		if !want.Value.Defined() {
			if got.Value.Defined() {
				t.Errorf("%d: a value of nothing is %v", i, got.Value)
			}
			got.Value, want.Value = 0, 0
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%d: %s", i, d)
		}
	}
}

func TestCSV(t *testing.T) {
	var b bytes.Buffer
	if err := WriteCSV(&b, Mapped(seq(observations()), observationRow), first, nil); err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if want := "measure item cluster sample value not_scored finding answers condition.model condition.similarity label.at label.category label.language " +
		"number.control number.test spans text.answer text.concept text.control text.test"; strings.Join(records[0], " ") != want {
		t.Errorf("columns %q", records[0])
	}
	for i, want := range []map[string]string{
		{"value": "1", "sample": "0", "label.category": awkward, "text.control": `bread, "fresh"`, "number.test": "0.75", "text.answer": "",
			"answers": crosstalk.Key{1}.String() + " " + crosstalk.Key{2}.String()},
		{"value": "", "sample": "1", "not_scored": "empty", "number.test": "", "text.test": ""},
		{"measure": "lpr", "value": "0", "spans": `[{"line":1,"start":0,"end":2,"text":"ab","language":"de","probability":0.5}]`},
	} {
		for name, value := range want {
			if got := records[i+1][slices.Index(records[0], name)]; got != value {
				t.Errorf("row %d, %s: %q; want %q", i+1, name, got, value)
			}
		}
	}
}

func TestAnswers(t *testing.T) {
	temperature := 0.5
	a := journal.Record{Identity: crosstalk.Identity{Provider: "openai", Name: "m"},
		Request: crosstalk.Request{API: crosstalk.Completions, Prompt: "He saw",
			Decoding: crosstalk.Decoding{Temperature: &temperature}, Sample: 3},
		Answer: crosstalk.Answer{Key: crosstalk.Key{7}, Status: crosstalk.Text, Text: "a <bus>",
			Usage: crosstalk.Usage{Prompt: 2}, Attempts: 1}}
	var b bytes.Buffer
	if err := WriteLines(&b, Mapped(seq([]journal.Record{a}), answerRow)); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{"key": a.Answer.Key.String(), "prompt": "He saw", "text": "a <bus>", "sample": 3.0, "status": "text", "prompt_tokens": 2.0,
		"request": `{"api":"completions","prompt":"He saw","decoding":{"temperature":0.5},"sample":3}`} {
		if got[name] != want {
			t.Errorf("%s is %v; want %v", name, got[name], want)
		}
	}
	if err := WriteCSV(io.Discard, Mapped(seq([]journal.Record{a}), answerRow), first, nil); err != nil {
		t.Error(err)
	}
	if err := WriteCSV(io.Discard, Mapped(seq[journal.Record](nil), answerRow), first, nil); err != nil {
		t.Errorf("nothing as CSV: %v", err)
	}
}

// Samples have the fields that lm-evaluation-harness writes.
func TestSamples(t *testing.T) {
	asked := func(k crosstalk.Key) (journal.Record, bool) {
		if k != (crosstalk.Key{1}) {
			return journal.Record{}, false
		}
		return journal.Record{Request: crosstalk.Request{API: crosstalk.Completions, Prompt: "He likes koalas. He eats"},
			Answer: crosstalk.Answer{Text: " eucalyptus. And"}}, true
	}
	var b bytes.Buffer
	if err := writeSamples(&b, seq(observations()), asked); err != nil {
		t.Fatal(err)
	}
	var got []map[string]any
	for _, l := range strings.Split(strings.TrimSpace(b.String()), "\n") {
		m := map[string]any{}
		if err := json.Unmarshal([]byte(l), &m); err != nil {
			t.Fatal(err)
		}
		got = append(got, m)
	}
	if len(got) != 3 { // the two measures of item b are of one answer, and entropy is of its tokens
		t.Fatalf("%d samples:\n%s", len(got), &b)
	}
	want := map[string]any{
		"doc_id": 0.0, "doc": map[string]any{"id": "a/1", "category": awkward, "language": "en", "condition_model": "m", "condition_similarity": "gloss@1"},
		"target": "koalas", "filter": "none", "metrics": []any{"leak_rate"}, "leak_rate": 1.0,
		"arguments": map[string]any{"gen_args_0": map[string]any{"arg_0": "He likes koalas. He eats", "arg_1": map[string]any{}}, "gen_args_1": map[string]any{"arg_0": "", "arg_1": map[string]any{}}},
		"resps":     []any{[]any{" eucalyptus. And"}, []any{`bread, "fresh"`}}, "filtered_resps": []any{"eucalyptus", `bread, "fresh"`},
	}
	if d := cmp.Diff(want, got[0]); d != "" {
		t.Error(d)
	}
	if got[1]["doc_id"] != 0.0 || got[2]["doc_id"] != 1.0 {
		t.Errorf("doc ids %v, %v", got[1]["doc_id"], got[2]["doc_id"])
	}
	if _, scored := got[1]["leak_rate"]; scored || len(got[1]["metrics"].([]any)) > 0 {
		t.Errorf("an empty answer has a value: %v", got[1])
	}
	if got[2]["lpr"] != 0.0 || got[2]["line_accuracy"] != 0.25 || got[2]["target"] != "ar" || !reflect.DeepEqual(got[2]["resps"], []any{[]any{"ab"}}) {
		t.Errorf("%v", got[2])
	}
}

func TestErrors(t *testing.T) {
	broken := func(yield func(crosstalk.Observation, error) bool) {
		yield(crosstalk.Observation{Value: crosstalk.Value(math.NaN())}, errors.New("line 3"))
	}
	var b strings.Builder
	if err := WriteCSV(&b, Mapped(broken, observationRow), first, nil); err == nil || err.Error() != "line 3" || b.Len() > 0 {
		t.Errorf("%v after %q", err, b.String())
	}
	if err := WriteLines(io.Discard, broken); err == nil || err.Error() != "line 3" {
		t.Error(err)
	}
}
