package export

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/ask/journal"
	"crosstalk/internal/testing/golden"
)

// Columns of numbers and of texts, with gaps; and answers that differ in one thing from the first. See
// testdata/edges.txt; -update writes it anew.
func TestEdges(t *testing.T) {
	var b strings.Builder
	var rows []Row
	for i := range 13 {
		r := Row{"measure": []string{"lpr", "leak_rate", "unknown"}[i%3], "sample": int64(i - 3), "value": -float64(i) / 4,
			"text.answer": fmt.Sprint(i % 2), "condition.model": fmt.Sprintf("m%02d", i), "finding": fmt.Sprint("f", i%12),
			"spans": "[]", "masked": "[]", "tokens": "[]", "logprobs": "[]", "people.leakage.ann": "test", "nothing known": "x",
			"text.source": fmt.Sprint(i)}
		if i%2 == 0 {
			r["number.test"] = 1e6 * float64(5-i)
		}
		if i == 4 {
			r["latency_ms"] = int64(7)
		}
		rows = append(rows, r)
	}
	for _, of := range [][]Row{rows, nil} {
		fmt.Fprintf(&b, "== %d rows\n", len(of))
		if err := WriteCSV(&b, seq(of), first, nil); err != nil {
			t.Fatal(err)
		}
	}
	one := crosstalk.Observation{Measure: "lpr", Item: "a", Value: 1, Condition: map[string]string{"model": "m"},
		Labels: map[string]string{"language": "de"}, Answers: []crosstalk.Key{{1}}}
	one.AddText(crosstalk.Given, "prompt", "not an answer")
	one.AddText(crosstalk.Side, "answer", "Ja.")
	changed := func(edit func(o *crosstalk.Observation)) crosstalk.Observation {
		o := one
		o.Condition, o.Labels = maps.Clone(o.Condition), maps.Clone(o.Labels)
		edit(&o)
		return o
	}
	all := []crosstalk.Observation{one, changed(func(o *crosstalk.Observation) { o.Measure, o.Value = "line_accuracy", 0.5 }),
		changed(func(o *crosstalk.Observation) { o.Value = 0 }), // again, of another line
		changed(func(o *crosstalk.Observation) { o.Measure, o.NotScored = "wpr", "line_error" }),
		changed(func(o *crosstalk.Observation) { o.Measure, o.Value = "wpr", crosstalk.Undefined }),
		changed(func(o *crosstalk.Observation) { o.Measure = "entropy" }), // of tokens
		changed(func(o *crosstalk.Observation) { o.Sample = 1 }), changed(func(o *crosstalk.Observation) { o.Variant = "v" }),
		changed(func(o *crosstalk.Observation) { o.Condition["model"] = "n" }),
		changed(func(o *crosstalk.Observation) { o.Labels["language"] = "ko" }),
		changed(func(o *crosstalk.Observation) { o.Item, o.Answers = "b", nil }),
		changed(func(o *crosstalk.Observation) { o.Item, o.Answers = "c", []crosstalk.Key{{2}} }), one}
	for i := len(all) - 1; i > 4; i-- { // each one thing away from the one before
		all = slices.Insert(all, i, one)
	}
	temperature := 0.5
	asked := func(k crosstalk.Key) (journal.Record, bool) {
		return journal.Record{Request: crosstalk.Request{Prompt: "Und?", Decoding: crosstalk.Decoding{Temperature: &temperature}},
			Answer: crosstalk.Answer{Text: "Ja. Nein."}}, k == crosstalk.Key{1}
	}
	fmt.Fprintln(&b, "== samples")
	if err := writeSamples(&b, seq(all), asked); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(&b, "== columns")
	for _, names := range [][]string{nil, {"b", "last", "sample", "a", "measure", "first"}} {
		fmt.Fprintln(&b, inOrder(slices.Values(names), []string{"first", "measure"}, []string{"other", "last"}))
	}
	golden.Check(t, "testdata/edges.txt", b.String())
}
