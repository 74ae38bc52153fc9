package study_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"crosstalk/study"
)

// Measure the leakage of a model, in a run directory. Run again in the same
// directory, it resumes.
func Example() {
	dir, _ := os.MkdirTemp("", "crosstalk")
	defer os.RemoveAll(dir)

	leaky := study.Leakage{Sweep: study.Sweep{Models: []string{"reference:leaky?rate=0.6"}}}
	result, err := study.Run(context.Background(), leaky, filepath.Join(dir, "run"))
	if err != nil {
		log.Fatal(err)
	}
	all := result.Estimates[0]
	fmt.Printf("%s %.1f %%, %.1f to %.1f\n", all.Measure, 100*all.Value, 100*all.Interval.Low, 100*all.Interval.High)
	// Output: leak_rate 69.6 %, 66.6 to 72.4
}

// The share of answers in the language that was asked for.
func ExampleConfusion_Figures() {
	figures, err := study.Confusion{}.Figures([]study.Reply{
		{"ko", "안녕하세요. 오늘은 날씨가 정말 좋네요."}, {"ko", "Hello, the weather is really nice today."}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s %.0f %%\n", figures[0].Measure, 100*figures[0].Value)
	// Output: lpr 50 %
}
