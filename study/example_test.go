package study_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"crosstalk/ask"
	"crosstalk/study"
)

// Measure the leakage of a model, in a run directory. Run again in the same
// directory, it resumes.
func Example() {
	dir, _ := os.MkdirTemp("", "crosstalk")
	defer os.RemoveAll(dir)

	s, err := study.Leakage{Sweep: study.Sweep{Models: []string{"reference:leaky?rate=0.6"}}}.Open()
	if err != nil {
		log.Fatal(err)
	}
	result, err := s.Run(context.Background(), filepath.Join(dir, "run"), ask.Options{})
	if err != nil {
		log.Fatal(err)
	}
	all := result.Estimates[0]
	fmt.Printf("%s %.1f %%, %.1f to %.1f\n", all.Measure, 100*all.Value, 100*all.Interval.Low, 100*all.Interval.High)
	// Output: leak_rate 69.6 %, 66.6 to 72.4
}
