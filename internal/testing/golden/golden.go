// Package golden compares the output of tests with files in testdata.
package golden

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"crosstalk"

	"github.com/google/go-cmp/cmp"
)

// Update writes the files anew. Read their diff before you commit it.
var Update = flag.Bool("update", false, "write files of testdata and docs anew")

// Check compares the lines of a text with those of a file.
func Check(t testing.TB, file, text string) {
	t.Helper()
	if *Update {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(old) != text {
		t.Errorf("%s differs; -update writes it anew:\n%s", file,
			cmp.Diff(strings.Split(string(old), "\n"), strings.Split(text, "\n")))
	}
}

// Cases compares what a function makes of the cases in a file with what the file has. A case is an input, a line
// "----", the output, and a line "====". Neither keeps its last line break.
func Cases(t testing.TB, file string, f func(input string) (output string)) {
	t.Helper()
	var b strings.Builder
	for _, input := range Inputs(t, file) {
		fmt.Fprintf(&b, "%s\n----\n%s\n====\n", input, f(input))
	}
	Check(t, file, b.String())
}

// Inputs returns the inputs of the cases in a file.
func Inputs(t testing.TB, file string) (inputs []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for c := range strings.SplitSeq(strings.TrimSuffix(string(text), "\n====\n"), "\n====\n") {
		input, _, _ := strings.Cut(c, "\n----\n")
		inputs = append(inputs, input)
	}
	return inputs
}

var long = regexp.MustCompile(`\d+\.\d{7,}(e-?\d+)?`)

// Rounded rounds long numbers to six digits: their last digits depend on the processor.
func Rounded(text string) string {
	return long.ReplaceAllStringFunc(text, func(number string) string {
		x, _ := strconv.ParseFloat(number, 64)
		return strconv.FormatFloat(x, 'g', 6, 64)
	})
}

// Observation formats an observation in one line, without its columns.
func Observation(o crosstalk.Observation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s.%d %s %s: ", o.Measure, o.Item, o.Sample, o.Variant, o.Cluster)
	if o.Value.Defined() {
		fmt.Fprintf(&b, "%g", float64(o.Value))
	}
	fmt.Fprint(&b, o.NotScored, " ", o.Finding)
	if o.Implied {
		b.WriteString(" implied")
	}
	for _, name := range slices.Sorted(maps.Keys(o.Numbers)) {
		fmt.Fprintf(&b, " %s=%g", name, o.Numbers[name])
	}
	for _, text := range o.Texts {
		fmt.Fprintf(&b, " %.1s/%s=%.24q", text.Role, text.Name, text.Text)
	}
	for _, spans := range [][]crosstalk.Span{o.Spans, o.Masked} {
		for _, s := range spans {
			fmt.Fprintf(&b, " %d:%d-%d %s%s %.4g %.4g %s",
				s.Line, s.Start, s.End, s.Side, s.Language, s.Probability, s.Score, s.Reason)
		}
	}
	for _, t := range o.Tokens {
		fmt.Fprintf(&b, " %d-%d %t %.4g/%d", t.Start, t.End, t.Fault, float64(t.Entropy), t.Nucleus)
	}
	for _, key := range o.Answers {
		b.WriteString(" " + key.String()[:4])
	}
	return b.String()
}

// Figure formats a figure in one line, without its signature.
func Figure(e crosstalk.Estimate) string {
	s := fmt.Sprintf("%s %v: %.5g of %d, %d, %d, %v",
		e.Measure, e.By, float64(e.Value), e.N, e.Observations, e.Clusters, e.Counts)
	if e.Interval != nil {
		s += fmt.Sprintf(" %.4g to %.4g %s", e.Interval.Low, e.Interval.High, e.Interval.Method)
	}
	if e.Test != nil {
		s += fmt.Sprintf(" %s %g %.4g", e.Test.Method, e.Test.Null, float64(e.Test.P))
	}
	if e.Effect != nil {
		s += fmt.Sprintf(" %s %.4g", e.Effect.Name, float64(e.Effect.Value))
	}
	if e.Average != nil {
		s += fmt.Sprint(" ", *e.Average)
	}
	return s + fmt.Sprintf(" %s %s %q", e.Unit, e.Better, e.Warnings)
}
