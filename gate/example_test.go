package gate_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"crosstalk/ask"
	"crosstalk/gate"
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

// Is a run good enough, and no worse than the last one?
func ExampleRules_Check() {
	dir, _ := os.MkdirTemp("", "crosstalk")
	defer os.RemoveAll(dir)
	last, run := measured(dir, "reference:leaky?rate=0.3"), measured(dir, "reference:leaky?rate=0.6")

	verdict, err := gate.Rules{Require: []string{"leak_rate<=65%"}, NoWorseThan: last, Margin: 0.02}.Check(run)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(verdict.Passed, verdict.Failed(), verdict.Headline())
	// Output: false 2 failed: 2 of 2 checks
}
