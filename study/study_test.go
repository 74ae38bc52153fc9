package study

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/report"
	"crosstalk/report/overview"
	"crosstalk/run"
	"crosstalk/run/figures"
)

// A study that only counts opens nothing that scores, and scores nothing.
func TestCount(t *testing.T) {
	s, err := Leakage{Sweep: Sweep{Temperatures: []string{"0", "1"}, Samples: 2, CountOnly: true},
		Similarities: []string{"exec:/no/such/program"}}.Open()
	if err != nil {
		t.Fatal(err)
	}
	f, err := s.Forecast(t.Context(), ask.Options{})
	if err != nil {
		t.Fatal(err)
	}
	each, total := f.Each, f.Total
	prompts := map[string]bool{}
	for _, item := range s.Suite.Items.All() {
		prompts[item.Pair.Test], prompts[item.Pair.Control] = true, true
	}
	if len(each) != 2 || each[0].Asks != 2*len(prompts) || each[1].Asks != 2*len(prompts) ||
		total.Asks != 4*len(prompts) || total.Priced {
		t.Errorf("%d prompts, 2 samples: %+v, in all %+v", len(prompts), each, total)
	}
	if strings.Contains(s.Directory(), "temperature") || !strings.HasPrefix(s.Directory(), filepath.Join("runs", "leakage-en-leaky")) {
		t.Error(s.Directory())
	}
}

// A forecast for people: of one condition, and of several.
func TestForecast(t *testing.T) {
	prices := ask.Prices{"leaky?rate=0.6&seed=1": {Input: 10, Output: 1000}}
	o := ask.Options{Budget: ask.Budget{Prices: prices}}
	for _, c := range []struct {
		temperatures []string
		o            ask.Options
		want         string
	}{
		{nil, o, `model      reference:leaky?rate=0.6&seed=1
requests   4
tokens     about 100 in, at most 80 out
cost       at most 0.0810
directory  runs/a
`},
		{[]string{"0", "1"}, ask.Options{}, `condition                                         requests  tokens in  max tokens out                       max cost
reference:leaky?rate=0.6&seed=1, temperature low         4        100              80                        unknown
reference:leaky?rate=0.6&seed=1, temperature 1           4        100              80                        unknown
all, each request once                                   8        200             160  unknown (needs --prices FILE)

directory  runs/a
`},
	} {
		s, err := Leakage{Sweep: Sweep{Temperatures: c.temperatures, Samples: 1, MaxTokens: 20, Items: 2,
			CountOnly: true}}.Open()
		if err != nil {
			t.Fatal(err)
		}
		f, err := s.Forecast(t.Context(), c.o)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := overview.WriteForecast(&b, f, report.Names{"0": "low"}, "runs/a"); err != nil || b.String() != c.want {
			t.Errorf("%v\n%s\nwant\n%s", err, b.String(), c.want)
		}
	}
	s, err := Leakage{}.Open()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Forecast(t.Context(), ask.Options{Budget: ask.Budget{Cost: 1}}); err == nil ||
		!strings.HasPrefix(err.Error(), "no price for leaky") {
		t.Error(err)
	}
	for want, o := range map[string]ask.Options{
		"rpm is -1; expected a number above 0":                     {RPM: -1},
		"budget-asks is -5; expected a number above 0":             {Budget: ask.Budget{Asks: -5}},
		"budget-cost is NaN; expected a number above 0":            {Budget: ask.Budget{Cost: math.NaN()}},
		"patience is -1s; expected a duration above 0, such as 2m": {Patience: -time.Second},
	} {
		if _, err := s.Forecast(t.Context(), o); err == nil || err.Error() != want {
			t.Errorf("%v; want %s", err, want)
		}
	}
	if _, err := (Leakage{Sweep: Sweep{Items: -1}}).Open(); err == nil || err.Error() != "items is -1; expected a number above 0" {
		t.Error(err)
	}
	if _, err := s.Forecast(t.Context(), ask.Options{Batch: true}); err == nil || !strings.Contains(err.Error(), "has no batch API") {
		t.Error(err)
	}
}

// What a run would refuse.
func TestCheckSuite(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"maori.csv": "prompt,language\nKei hea,mi\n", "german.csv": "prompt,language\nWo?,de\n"} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, mistakes, err := CheckSuite(t.Context(), file)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		said := strings.Join(mistakes, "\n")
		refused := strings.Contains(said, "run confusion refuses the suite as it is: ")
		if maori := name == "maori.csv"; refused != maori || maori && !strings.Contains(said, "cannot identify the language mi") {
			t.Errorf("%s: %s", name, said)
		}
	}
	for _, name := range []string{"leakage-de", "consistency"} {
		_, mistakes, err := CheckSuite(t.Context(), name)
		if err != nil || strings.Contains(strings.Join(mistakes, "\n"), "refuses") {
			t.Errorf("%s: %q, %v", name, mistakes, err)
		}
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
	stored, err := run.ReadEstimates(dir)
	if err != nil || !equal(stored, result.Estimates) {
		t.Errorf("stored %v (%v), want %v", stored, err, result.Estimates)
	}
	grouped, err := figures.Of(dir, nil,
		figures.Set{}, figures.Set{By: []string{}}, figures.Set{}, figures.Set{By: []string{"category"}})
	if err != nil || len(grouped) != 4 || !equal(grouped[0], stored) || !equal(grouped[2], stored) ||
		!equal(grouped[3], stored) || len(grouped[1]) != 2 {
		t.Fatalf("%v, %v", grouped, err)
	}
	// Observations that are given are read, even where no figure needs them.
	read := 0
	given := func(yield func(crosstalk.Observation, error) bool) {
		for o, err := range run.ReadObservations(dir) {
			read++
			if !yield(o, err) {
				return
			}
		}
	}
	as, err := figures.Of(dir, given, figures.Set{})
	if err != nil || len(as) != 1 || !equal(as[0], stored) || read < 1000 {
		t.Errorf("%d observations are read, %v", read, err)
	}
	broken := errors.New("broken")
	failing := func(yield func(crosstalk.Observation, error) bool) { yield(crosstalk.Observation{}, broken) }
	if _, err := figures.Of(dir, failing, figures.Set{}); err != broken {
		t.Errorf("%v, want %v", err, broken)
	}
	if all := grouped[1][0]; all.Value != stored[0].Value || all.N != stored[0].N || all.Signature != stored[0].Signature {
		t.Errorf("%+v, want %+v", all, stored[0])
	}
	var unknown *figures.ColumnError
	_, err = figures.Of(dir, nil, figures.Set{By: []string{}}, figures.Set{By: []string{"colour"}})
	if !errors.As(err, &unknown) || unknown.Column != "colour" || !slices.Contains(unknown.Known, "category") {
		t.Errorf("%v", err)
	}
	if err := os.Remove(filepath.Join(dir, "estimates.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := figures.Of(dir, nil, figures.Set{By: []string{}}); !errors.Is(err, run.ErrUnfinished) {
		t.Errorf("%v", err)
	}
	if _, err := run.ReadEstimates(t.TempDir()); err == nil || !strings.Contains(err.Error(), "is not a run directory") {
		t.Errorf("%v", err)
	}
}

func equal(a, b []crosstalk.Estimate) bool {
	return string(crosstalk.Canonical(a)) == string(crosstalk.Canonical(b))
}

// Bad settings are errors that name the option; columns by default may be
// missing, columns that were asked for not.
func TestOptions(t *testing.T) {
	for option, open := range map[string]func() (*Study, error){
		"similarity":  Leakage{Similarities: []string{}}.Open,
		"temperature": Leakage{Sweep: Sweep{Temperatures: []string{"warm"}}}.Open,
		"base-url":    Leakage{Sweep: Sweep{Models: []string{"compatible:m"}, BaseURLs: []string{"http://a", "http://b"}}}.Open,
		"param":       Leakage{Sweep: Sweep{Params: []string{"top_k"}}}.Open,
		"by":          Leakage{By: []string{" "}}.Open,
		"threshold": func() (*Study, error) {
			c := Confusion{}
			c.Protocols, c.Threshold = []string{"lcb-paper"}, "warn"
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
		if err := s.source.check(true); (err == nil) != c.ok {
			t.Errorf("by %q: %v", c.by, err)
		}
	}
}
