package accept_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"crosstalk/ask"
	"crosstalk/gate/accept"
	"crosstalk/study"
)

// Accept a new model as soon as it is certain that it is not worse than the old one by more than a margin.
func Example() {
	dir, _ := os.MkdirTemp("", "crosstalk")
	defer os.RemoveAll(dir)
	ctx, old := context.Background(), filepath.Join(dir, "old")
	_, err := study.Run(ctx, study.Leakage{Sweep: study.Sweep{Models: []string{"reference:leaky?rate=0.6"}, Items: 100}}, old)
	if err != nil {
		log.Fatal(err)
	}
	settings, err := study.FromRun(old)
	if err != nil {
		log.Fatal(err)
	}
	settings.Asked().Models = []string{"reference:leaky?rate=0.1"}
	s, err := settings.Open()
	if err != nil {
		log.Fatal(err)
	}
	m, err := s.Begin(ctx, filepath.Join(dir, "new"), ask.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	result, err := accept.Acceptance{Measure: "leak_rate", Baseline: old, Margin: 0.1, Level: 0.95}.Run(ctx, s, m)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s after %d of %d\n", result.Outcome, result.Read, result.Settings.Units)
	// Output: accepted after 24 of 100
}
