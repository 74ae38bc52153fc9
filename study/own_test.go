package study_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"crosstalk"
	"crosstalk/study"
)

// echo is a model that repeats the prompt, which it counts.
type echo struct {
	name string
	asks *atomic.Int64
}

func (e echo) Identity() crosstalk.Identity {
	return crosstalk.Identity{Provider: "mine", Name: e.name}
}

func (echo) API() crosstalk.API { return crosstalk.Chat }

func (e echo) Answer(_ context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	if e.asks != nil {
		e.asks.Add(1)
	}
	return crosstalk.Answer{Status: crosstalk.Text, Text: req.Text()}, nil
}

// Measure a model of one's own: any crosstalk.Model.
func ExampleSweep_own() {
	dir, _ := os.MkdirTemp("", "crosstalk")
	defer os.RemoveAll(dir)

	of := study.Confusion{Sweep: study.Sweep{Own: []crosstalk.Model{echo{name: "echo"}}, Items: 40}, Suite: "confusion"}
	result, err := study.Run(context.Background(), of, filepath.Join(dir, "run"))
	if err != nil {
		log.Fatal(err)
	}
	lpr, _ := result.Figure("lpr")
	fmt.Printf("%s: %s %.0f %%\n", lpr.By["model"], lpr.Measure, 100*lpr.Value)
	// Output: mine:echo: lpr 100 %
}

// A run of a model of the caller's resumes by name, with its own settings or with those of the run.
func TestOwnModels(t *testing.T) {
	var asks atomic.Int64
	mine := echo{"echo", &asks}
	dir := filepath.Join(t.TempDir(), "run")
	of := study.Leakage{Sweep: study.Sweep{Models: []string{"reference:leaky?rate=0.6"}, Own: []crosstalk.Model{mine}, Items: 4,
		Samples: 1}}
	result, err := study.Run(t.Context(), of, dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Estimates) < 2 || result.Estimates[1].By["model"] == "" || asks.Load() == 0 {
		t.Errorf("%d asks, %+v", asks.Load(), result.Estimates)
	}
	before := asks.Load()
	settings, err := study.FromRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := settings.Asked().Models; len(got) != 2 || got[1] != "mine:echo" {
		t.Errorf("the run has the models %q", got)
	}
	if _, err := settings.Open(); err == nil || !strings.Contains(err.Error(), "mine") {
		t.Errorf("without the model: %v", err)
	}
	settings.Asked().Own = []crosstalk.Model{mine}
	for _, again := range []interface{ Open() (*study.Study, error) }{of, settings} {
		if _, err := study.Run(t.Context(), again, dir); err != nil || asks.Load() != before {
			t.Errorf("again: %d asks, then %d, %v", before, asks.Load(), err)
		}
	}
	for want, sweep := range map[string]study.Sweep{
		"are called mine:a":      {Own: []crosstalk.Model{echo{name: "a"}, echo{name: "a"}}},
		`called "mine:"`:         {Own: []crosstalk.Model{echo{}}},
		"base-url is for models": {Own: []crosstalk.Model{mine}, BaseURLs: []string{"http://localhost/v1"}},
		"api is completions":     {Own: []crosstalk.Model{mine}, APIs: []string{"completions"}},
	} {
		if _, err := (study.Leakage{Sweep: sweep}).Open(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if _, found := result.Figure("lpr"); found {
		t.Error("a run of leakage has an LPR")
	}
	if got, found := result.Figure("leak_rate"); !found || got.Key() != result.Estimates[0].Key() {
		t.Errorf("%+v", got)
	}
}
