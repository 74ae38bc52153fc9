package index

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crosstalk"
)

// Every page reports whether it is the first or the last, forwards, backwards and among chosen numbers.
func TestPages(t *testing.T) {
	dir := t.TempDir()
	var list []crosstalk.Observation
	for i := range 5 {
		o := crosstalk.Observation{Item: fmt.Sprint(i), Measure: "lpr", Value: 1}
		o.AddText(crosstalk.Side, "answer", fmt.Sprintf("word%d again", i))
		list = append(list, o)
	}
	write(t, dir, list)
	x := open(t, dir, t.TempDir())
	for _, c := range []struct {
		q    Query
		want Page
	}{
		{Query{Limit: 5}, Page{Numbers: []int{1, 2, 3, 4, 5}, First: 1, Total: 5}},
		{Query{Limit: 6}, Page{Numbers: []int{1, 2, 3, 4, 5}, First: 1, Total: 5}},
		{Query{Limit: 2}, Page{Numbers: []int{1, 2}, First: 1, Total: 5, Later: true}},
		{Query{After: 2, Limit: 2}, Page{Numbers: []int{3, 4}, First: 3, Total: 5, Earlier: true, Later: true}},
		{Query{After: 3, Limit: 2}, Page{Numbers: []int{4, 5}, First: 4, Total: 5, Earlier: true}},
		{Query{After: 5, Limit: 2}, Page{Total: 5, Earlier: true}},
		{Query{Before: 3, Limit: 2}, Page{Numbers: []int{1, 2}, First: 1, Total: 5, Later: true}},
		{Query{Before: 3, Limit: 1}, Page{Numbers: []int{2}, First: 2, Total: 5, Earlier: true, Later: true}},
		{Query{Before: 1, Limit: 2}, Page{Total: 5, Later: true}},
		{Query{Only: []int{-1, 0, 1, 3, 6, chunkSize + 1}, Limit: 9}, Page{Numbers: []int{1, 3}, First: 1, Total: 2}},
		{Query{Only: []int{}, Limit: 9}, Page{}},
		{Query{Only: []int{1, 3, 5}, After: 1, Limit: 1},
			Page{Numbers: []int{3}, First: 2, Total: 3, Earlier: true, Later: true}},
		{Query{Text: "word3", Limit: 9}, Page{Numbers: []int{4}, First: 1, Total: 1}},
		{Query{Text: `"word3 again"`, Limit: 9}, Page{Numbers: []int{4}, Total: -1}},
		{Query{Text: `"again word3"`, Limit: 9}, Page{Total: -1}},
		{Query{Order: Longest, Text: `"again word3"`, Limit: 9}, Page{First: 1, Total: -1}},
		{Query{Text: `"again"`, Limit: 2}, Page{Numbers: []int{1, 2}, Total: -1, Later: true}},
		{Query{Text: `"again"`, After: 2, Limit: 2}, Page{Numbers: []int{3, 4}, Total: -1, Earlier: true, Later: true}},
		{Query{Order: Longest, Limit: 2}, Page{Numbers: []int{1, 2}, First: 1, Total: 5, Later: true}},
		{Query{Order: Longest, Skip: 3, Limit: 2}, Page{Numbers: []int{4, 5}, First: 4, Total: 5, Earlier: true}},
		{Query{Order: Longest, Skip: 1, Text: `"again"`, Limit: 2},
			Page{Numbers: []int{2, 3}, First: 2, Total: -1, Earlier: true, Later: true}},
	} {
		if p, err := x.Search(t.Context(), c.q); err != nil || fmt.Sprintf("%+v", p) != fmt.Sprintf("%+v", c.want) {
			t.Errorf("%+v:\n%+v, %v, want\n%+v", c.q, p, err, c.want)
		}
	}
}

// A finding that is no fault is clean, and what is close to no decision is known where all its numbers are.
func TestFactOfOne(t *testing.T) {
	nan := math.NaN()
	for i, c := range []struct {
		o       crosstalk.Observation
		verdict Verdict
		doubt   float64
	}{
		{crosstalk.Observation{Measure: "leak_rate", Finding: "leaked", Value: 1, Numbers: map[string]float64{"test": 0.4, "control": 0.1}}, Fault, 0.3},
		{crosstalk.Observation{Measure: "leak_rate", Finding: "not leaked", Numbers: map[string]float64{"test": 0.1, "control": 0.4}}, Clean, 0.3},
		{crosstalk.Observation{Measure: "leak_rate", Finding: "not leaked", NotScored: "x", Numbers: map[string]float64{"test": 0.1}}, Unscored, nan},
		{crosstalk.Observation{Measure: "leak_rate", Value: crosstalk.Undefined, Numbers: map[string]float64{"control": 0.1}}, Unscored, nan},
		{crosstalk.Observation{Measure: "leak_rate"}, Clean, nan},
	} {
		f := factOfOne(&c.o)
		if doubt := float64(f.Doubt); f.Verdict != c.verdict || math.Abs(doubt-c.doubt) > 1e-6 ||
			math.IsNaN(doubt) != math.IsNaN(c.doubt) {
			t.Errorf("%d: %+v", i, f)
		}
	}
	doubts := func(of ...float32) []*seen {
		var list []*seen
		for i, d := range of {
			list = append(list, &seen{fact: Fact{Doubt: d, Length: uint32(i), Verdict: Verdict(i % 2)}})
		}
		return list
	}
	none := float32(nan)
	for _, c := range []struct {
		of   []*seen
		want float32
	}{{doubts(0.3, 0.1, 0.2), 0.1}, {doubts(none, 0.2, none), 0.2}, {doubts(0.2, none), 0.2}, {doubts(none, none), none}} {
		f := factOf(c.of)
		if f.Doubt != c.want && !(f.Doubt != f.Doubt && c.want != c.want) || f.Verdict != 1 || int(f.Length) != len(c.of)-1 {
			t.Errorf("%+v, want %v", f, c.want)
		}
	}
}

// Values that are empty or too long are no values of a column, and a label goes behind a condition of its name.
func TestTags(t *testing.T) {
	long := strings.Repeat("x", longestValue)
	o := crosstalk.Observation{Measure: "leak_rate", Finding: "not leaked", Condition: map[string]string{"model": "m", "empty": "", long + "x": "a"},
		Labels: map[string]string{"model": "other", "long": long, "longer": long + "x", long: "b", "bell": "a\a"}}
	o.AddText(crosstalk.Topic, "concept", "bees")
	o.AddText(crosstalk.Side, "test", "honey")
	var got []string
	for _, tag := range tags(&o) {
		got = append(got, tag.column+"="+tag.value)
	}
	slices.Sort(got)
	want := []string{"bell=a␇", "concept=bees", "found=not leaked", "long=" + long, "model=m", long + "=b"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The path of an index is that of earlier ones of the same run, and a difference between places is not too large.
func TestPathIn(t *testing.T) {
	run, err := filepath.Abs("/runs/a")
	if err != nil || run != "/runs/a" {
		t.Skip("paths look otherwise here")
	}
	if got := pathIn("/cache", run); got != "/cache/704e1951db552e57449e0083.db" {
		t.Error(got)
	}
	for d, want := range map[uint64]error{chunkSize - 1: nil, chunkSize: errSet, chunkSize + 1: errSet, 1 << 63: errSet} {
		var s set
		if err := s.unpack(binary.AppendUvarint(nil, d)); err != want || want == nil && !s.has(int(d)) {
			t.Errorf("%d: %v", d, err)
		}
	}
}

// Waiting for an index can be cancelled.
func TestWaitEnds(t *testing.T) {
	x := &Index{built: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := x.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"Hello, WORLD!":               "hello|world",
		"l'été d’Été":                 "l|été|d|été",
		"東京に行く":                       "東|京|に|行|く",
		"हिन्दी में":                  "हिन्दी|में",
		"العربية, ok 42a":             "العربية|ok|42a",
		"bad\xffbyte":                 "bad|byte",
		strings.Repeat("é", 40):       strings.Repeat("é", 16),
		"a" + strings.Repeat("é", 40): "a" + strings.Repeat("é", 15),
		"":                            "",
	} {
		var got []string
		words(text, func(w string) { got = append(got, w) })
		if strings.Join(got, "|") != want {
			t.Errorf("%q: %q; want %q", text, got, want)
		}
	}
}
