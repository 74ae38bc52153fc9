package leakage

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/internal/golden"
	"crosstalk/measure/similarity"
)

// inALine is an observation in a line, without what all have in common.
func inALine(o crosstalk.Observation) string {
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
			fmt.Fprintf(&b, " %d:%d-%d %s%s %.4g %.4g %s", s.Line, s.Start, s.End, s.Side, s.Language, s.Probability, s.Score, s.Reason)
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

// figureInALine is a figure in a line.
func figureInALine(e crosstalk.Estimate) string {
	s := fmt.Sprintf("%s %v: %.5g of %d, %d, %d, %v", e.Measure, e.By, float64(e.Value), e.N, e.Observations, e.Clusters, e.Counts)
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

// Every observation and figure of a few items: with all statuses, in windows, with a context, of two similarities, and
// repeated.
func TestSheet(t *testing.T) {
	length := similarity.Func("length", func(_, b string) (float64, bool) { return float64(len(b)) / 100, b != "Unknown." })
	vowels := similarity.Func("vowels", func(_, b string) (float64, bool) {
		return float64(len(regexp.MustCompile("[aeiou]").FindAllString(b, -1))) / 10, true
	})
	items := []crosstalk.Item{
		{ID: "a", Cluster: "c", Labels: map[string]string{"category": "x", "language": "en"}, Pair: &crosstalk.Pair{Concept: "koalas", Test: "He likes koalas. He eats", Control: "He eats"}},
		{ID: "b", Cluster: "c", Labels: map[string]string{"category": "y", "language": "en"},
			Pair: &crosstalk.Pair{Concept: "bees", Test: "He likes bees. He eats", Control: "He eats", Remove: []string{"bees"}}},
		{ID: "n", Labels: map[string]string{"category": "y", "language": "en", "dataset": "d"}, Pair: &crosstalk.Pair{Concept: "bees", Test: "whole", Control: "whole control",
			Context: &crosstalk.Context{Carrier: crosstalk.Note, Prompt: "Why?", Test: crosstalk.Carried{Text: "Ann keeps noisy bees."},
				Control: crosstalk.Carried{Text: "Ann keeps at it."}}}},
	}
	test := []crosstalk.Answer{text("Leaves of trees. And honey.\nAnd so on"), text("Bread."), text("She keeps noisy bees, always noisy bees."), text("Unknown."), text("***"), text("bees"),
		status(crosstalk.Refused), text("Bread.")}
	control := []crosstalk.Answer{text("Bread."), text("bread. It is. Good"), text("Ann keeps noisy bees."), text("Bread."), text("Bread."), text("Bread."), text("Bread.")}
	for i := range test {
		test[i].Key = crosstalk.Key{1, byte(i + 1)}
	}
	var b bytes.Buffer
	signatures := map[string]bool{}
	for _, p := range []Protocol{Protocols[0], Protocols[2]} {
		for _, windows := range []string{"", Sentences} {
			in := &Instrument{Protocol: p, Similarities: []similarity.Similarity{length, vowels},
				Condition: map[string]string{"model": "m"}}
			in.Protocol.Windows, in.Protocol.Counts = windows, windows != ""
			estimators := []crosstalk.Estimator{in.Rules().Estimator(By)}
			fmt.Fprintf(&b, "== %s %s\n", p.Name, windows)
			for _, i := range items {
				list, err := in.Score(bg, i, 3, test, control)
				if err != nil {
					t.Fatal(err)
				}
				for _, o := range list {
					if i.ID == "a" || o.Condition[SimilarityColumn] != "vowels" {
						fmt.Fprintln(&b, o.Condition[SimilarityColumn], inALine(o))
					}
					for _, e := range estimators {
						e.Add(o)
					}
				}
			}
			for _, e := range estimators {
				for _, one := range e.Estimates(crosstalk.SuiteIDs{All: "s@1"}) {
					if one.By["similarity"] != "vowels" {
						fmt.Fprintln(&b, figureInALine(one))
					}
					if i := len(signatures); !signatures[one.Signature] {
						fmt.Fprintln(&b, i, one.Signature)
						signatures[one.Signature] = true
					}
				}
			}
		}
	}
	golden.Check(t, "testdata/sheet.txt", golden.Rounded(b.String()))
}
