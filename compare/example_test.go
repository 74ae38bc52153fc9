package compare_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"crosstalk/ask"
	"crosstalk/compare"
	"crosstalk/study"
)

// measured is the directory of a run that has measured a model of known truth.
func measured(dir, model string) string {
	path := filepath.Join(dir, model[len("reference:"):])
	s, err := study.Leakage{Sweep: study.Sweep{Models: []string{model}}}.Open()
	if err == nil {
		_, err = s.Run(context.Background(), path, ask.Options{})
	}
	if err != nil {
		log.Fatal(err)
	}
	return path
}

// Does a new model leak more than the old one?
func ExampleOpen() {
	dir, _ := os.MkdirTemp("", "crosstalk")
	defer os.RemoveAll(dir)
	old, now := measured(dir, "reference:leaky?rate=0.3"), measured(dir, "reference:leaky?rate=0.6")

	runs, err := compare.Open([]string{old, now}, nil)
	if err != nil {
		log.Fatal(err)
	}
	result, err := compare.Runs(runs, compare.Options{})
	if err != nil {
		log.Fatal(err)
	}
	c := result.Comparisons[0]
	fmt.Printf("%s %+.1f points, %+.1f to %+.1f\n", c.Measure, 100*c.Difference, 100*c.Interval.Low, 100*c.Interval.High)
	// Output: leak_rate +10.1 points, +7.9 to +12.2
}
