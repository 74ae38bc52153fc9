package study

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/instrument/leakage"
)

// A study that only counts opens nothing that scores, and scores nothing.
func TestCount(t *testing.T) {
	s, err := Leakage{Sweep: Sweep{Temperatures: []string{"0", "1"}, Samples: 2}, Similarities: []string{"exec:/no/such/program"}, CountOnly: true}.Open()
	if err != nil {
		t.Fatal(err)
	}
	each, total, err := s.Count(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	prompts := map[string]bool{}
	for _, item := range s.Suite.Items.All() {
		prompts[item.Pair.Test], prompts[item.Pair.Control] = true, true
	}
	if len(each) != 2 || each[0].Asks != 2*len(prompts) || each[1].Asks != 2*len(prompts) || total.Asks != 4*len(prompts) || total.Priced {
		t.Errorf("%d prompts, 2 samples: %+v, in all %+v", len(prompts), each, total)
	}
	if strings.Contains(s.Directory(), "temperature") || !strings.HasPrefix(s.Directory(), filepath.Join("runs", "leakage-en-leaky")) {
		t.Error(s.Directory())
	}
}

// A run is read once for several groupings, which are those that measuring
// itself would have given.
func TestGrouped(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	s, err := Leakage{By: []string{"category"}}.Open()
	if err != nil {
		t.Fatal(err)
	}
	result, err := s.Run(t.Context(), dir, ask.Options{})
	if err != nil {
		t.Fatal(err)
	}
	stored, err := Estimates(dir)
	if err != nil || !equal(stored, result.Estimates) {
		t.Errorf("stored %v (%v), want %v", stored, err, result.Estimates)
	}
	grouped, err := Grouped(dir, []string{"category"}, nil)
	if err != nil || len(grouped) != 2 || !equal(grouped[0], stored) || len(grouped[1]) != 1 {
		t.Fatalf("%v, %v", grouped, err)
	}
	if all := grouped[1][0]; all.Value != stored[0].Value || all.N != stored[0].N || all.Signature != stored[0].Signature {
		t.Errorf("%+v, want %+v", all, stored[0])
	}
	var unknown *ColumnError
	if _, err := Grouped(dir, nil, []string{"colour"}); !errors.As(err, &unknown) || unknown.Column != "colour" || !slices.Contains(unknown.Known, "category") {
		t.Errorf("%v", err)
	}
	if err := os.Remove(filepath.Join(dir, "estimates.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := Grouped(dir, nil); !errors.Is(err, ErrUnfinished) {
		t.Errorf("%v", err)
	}
	if _, err := Estimates(t.TempDir()); err == nil || !strings.Contains(err.Error(), "is not a run directory") {
		t.Errorf("%v", err)
	}
}

func equal(a, b []crosstalk.Estimate) bool {
	return string(crosstalk.Canonical(a)) == string(crosstalk.Canonical(b))
}

// Bad settings are errors that name the option; columns by default may be
// missing, columns that were asked for not.
func TestOptions(t *testing.T) {
	round, threshold := 99, 1.5
	for option, open := range map[string]func() (*Study, error){
		"round":       Leakage{Options: leakage.Options{Round: &round}}.Open,
		"similarity":  Leakage{Similarities: []string{}}.Open,
		"temperature": Leakage{Sweep: Sweep{Temperatures: []string{"warm"}}}.Open,
		"base-url":    Leakage{Sweep: Sweep{Models: []string{"compatible:m"}, BaseURLs: []string{"http://a", "http://b"}}}.Open,
		"param":       Leakage{Sweep: Sweep{Params: []string{"top_k"}}}.Open,
		"by":          Leakage{By: []string{" "}}.Open,
		"threshold": func() (*Study, error) {
			c := Confusion{}
			c.Threshold = &threshold
			return c.Open()
		},
		"language": Confusion{Languages: []string{"xx"}}.Open,
		"shots":    Confusion{Shots: []int{-1}}.Open,
		"part":     Consistency{Parts: []string{"Z"}}.Open,
		"free":     Consistency{Free: "gloss"}.Open,
		"task":     func() (*Study, error) { return Consistency{}.Recorded([]string{"answers.csv"}, "", "") },
	} {
		_, err := open()
		var bad *crosstalk.OptionError
		if !errors.As(err, &bad) || bad.Option != option || !strings.HasPrefix(err.Error(), option) {
			t.Errorf("%s: %v", option, err)
		}
	}
	suite := filepath.Join(t.TempDir(), "s.yaml")
	text := "suite: s\ninstrument: leakage\nversion: 1\nlanguage: en\nitems:\n  - {id: a, concept: bees, test: He likes bees. He saw a, control: He saw a}\n"
	if err := os.WriteFile(suite, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		by []string
		ok bool
	}{{nil, true}, {[]string{"category"}, false}, {[]string{"similarity"}, true}} {
		s, err := Leakage{Suite: suite, By: c.by, Sweep: Sweep{Models: []string{"compatible:m"}, BaseURLs: []string{"http://127.0.0.1:1/v1"}}}.Open()
		if err != nil {
			t.Fatal(err)
		}
		if err := s.CheckBy(); (err == nil) != c.ok {
			t.Errorf("by %q: %v", c.by, err)
		}
	}
}
