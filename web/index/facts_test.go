package index

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"crosstalk"
)

// Pages in every order are what sorting all answers gives, over several chunks,
// and also with a filter, an exact phrase, or only some of the answers.
func TestOrder(t *testing.T) {
	dir := t.TempDir()
	observations := answered(chunkSize + 77)
	for i := range observations {
		if i%4 == 0 { // every other answer
			observations[i].Numbers = map[string]float64{"margin": float64(i*7919%1000) / 1000}
		}
	}
	write(t, dir, observations)
	x := open(t, dir, t.TempDir())
	length := func(n int) int { return utf8.RuneCountInString(observations[2*(n-1)].Text("answer")) }
	doubt := func(n int) float64 {
		if d, ok := observations[2*(n-1)].Numbers["margin"]; ok {
			return float64(float32(d))
		}
		return 2 // after all others
	}
	phrase := "word7 and word3"
	only := []int{3, 500, 501, chunkSize, chunkSize + 1, chunkSize + 70}
	for _, order := range Orders[1:] {
		for what, q := range map[string]Query{"all": {}, "one language": {Where: map[string]string{"language": "ja"}},
			"phrase": {Text: `"` + phrase + `"`}, "only some": {Only: only}} {
			var want []int
			for i := range len(observations) / 2 {
				o := observations[2*i]
				if what == "one language" && o.Labels["language"] != "ja" || what == "phrase" && !strings.Contains(strings.ToLower(o.Text("answer")), phrase) ||
					what == "only some" && !slices.Contains(only, i+1) {
					continue
				}
				want = append(want, i+1)
			}
			slices.SortStableFunc(want, func(a, b int) int {
				switch order {
				case Longest:
					return length(b) - length(a)
				case Shortest:
					return length(a) - length(b)
				}
				return int(1e6 * (doubt(a) - doubt(b)))
			})
			q.Order, q.Limit = order, 50
			for _, q.Skip = range []int{0, 50, max(0, len(want)-10)} {
				p, err := x.Search(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				if from := want[min(q.Skip, len(want)):]; !slices.Equal(p.Numbers, from[:min(50, len(from))]) ||
					p.Later != (len(from) > 50) || p.Earlier != (q.Skip > 0) {
					t.Errorf("%s, %s, from %d: %v; want %v", order, what, q.Skip, p.Numbers, from[:min(50, len(from))])
				}
				if what != "phrase" && p.Total != len(want) {
					t.Errorf("%s, %s: %d in all; want %d", order, what, p.Total, len(want))
				}
			}
		}
	}
	p, err := x.Search(t.Context(), Query{Only: only, Where: map[string]string{"language": "de"}, Limit: 50})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range p.Numbers {
		if !slices.Contains(only, n) || observations[2*(n-1)].Labels["language"] != "de" {
			t.Errorf("answer %d is not among those that were asked for", n)
		}
	}
}

// Counts cover the answers that the rest of a query finds; uncounted pages still report whether there are others.
func TestCounts(t *testing.T) {
	dir := t.TempDir()
	observations := answered(chunkSize + 77)
	write(t, dir, observations)
	x := open(t, dir, t.TempDir())
	want, all := map[string]int{}, 0
	for i := 0; i < len(observations); i += 2 {
		if o := observations[i]; o.Labels["language"] == "de" {
			want[o.Condition["model"]]++
			all++
		}
	}
	for _, order := range []Order{ByNumber, Longest} {
		q := Query{Where: map[string]string{"language": "de", "model": "m1"}, Limit: 5, Count: "model", Order: order,
			Only: []int{1, chunkSize + 1}}
		p, err := x.Search(t.Context(), q)
		if err != nil || p.Rest != all {
			t.Fatalf("%d of %d, %v", p.Rest, all, err)
		}
		got := maps.Clone(p.Counts)
		if maps.DeleteFunc(got, func(_ string, n int) bool { return n == 0 }); !maps.Equal(got, want) {
			t.Errorf("%v; want %v", got, want)
		}
		if q.Count = ""; p.Total > 2 {
			t.Errorf("%d of two answers", p.Total)
		}
		if p, err = x.Search(t.Context(), q); err != nil || p.Counts != nil || p.Rest != 0 {
			t.Errorf("counted unasked: %v, %d, %v", p.Counts, p.Rest, err)
		}
	}
	phrase := Query{Text: `"word7 and word3"`, Limit: 5, Count: "model"}
	first, err := x.Search(t.Context(), phrase)
	if first.Counts != nil {
		t.Errorf("phrases are counted: %v", first.Counts)
	}
	if err != nil || first.Earlier || !first.Later || first.Total != -1 || first.First != 0 {
		t.Errorf("%+v, %v", first, err)
	}
	phrase.After = first.Numbers[4]
	next, err := x.Search(t.Context(), phrase)
	if err != nil || !next.Earlier || next.Numbers[0] <= first.Numbers[4] {
		t.Errorf("%+v, %v", next, err)
	}
	phrase.After, phrase.Before = 0, next.Numbers[0]
	back, err := x.Search(t.Context(), phrase)
	if err != nil || back.Earlier || !back.Later || !slices.Equal(back.Numbers, first.Numbers) {
		t.Errorf("%+v, %v", back, err)
	}
}

// A condition is without the columns within an answer.
func TestConditions(t *testing.T) {
	dir := t.TempDir()
	var list []crosstalk.Observation
	for _, similarity := range []string{"gloss", "exec"} {
		list = append(list, crosstalk.Observation{Measure: "leak_rate", Item: "i", Condition: map[string]string{"model": "m", "similarity": similarity}})
	}
	write(t, dir, list)
	got, err := open(t, dir, t.TempDir()).Conditions(t.Context())
	if err != nil || len(got) != 1 || len(got[0]) != 1 || got[0]["model"] != "m" {
		t.Errorf("%v, %v", got, err)
	}
}

// The verdict is that of the worst observation, and answers to the same item have
// the same key.
func TestFacts(t *testing.T) {
	dir := t.TempDir()
	one := crosstalk.Observation{Measure: "lpr", Item: "i", Value: 1, Condition: map[string]string{"model": "a"}}
	two := one
	two.Measure, two.Value, two.Finding = "wpr", 0, "word"
	other := one
	other.Condition = map[string]string{"model": "b"}
	again := other
	again.Sample, again.Value, again.NotScored = 1, crosstalk.Undefined, "unchecked"
	write(t, dir, []crosstalk.Observation{one, two, other, again})
	x := open(t, dir, t.TempDir())
	if conditions, err := x.Conditions(t.Context()); err != nil || len(conditions) != 2 || conditions[1]["model"] != "b" {
		t.Errorf("%v, %v", conditions, err)
	}
	facts, err := x.Facts(t.Context(), nil)
	if err != nil || len(facts) != 3 {
		t.Fatalf("%+v, %v", facts, err)
	}
	for i, want := range []Verdict{Fault, Clean, Unscored} {
		if facts[i].Number != i+1 || facts[i].Verdict != want {
			t.Errorf("%+v; want the verdict %d", facts[i], want)
		}
	}
	if facts[0].Condition != 0 || facts[1].Condition != 1 || facts[2].Condition != 1 {
		t.Errorf("conditions of %+v", facts)
	}
	if facts[0].Key != facts[1].Key || facts[1].Key == facts[2].Key || facts[0].Key != KeyOf("i", "", 0) {
		t.Errorf("keys %x", facts)
	}
}
