package leakage

import (
	"bytes"
	"fmt"
	"regexp"
	"testing"

	"crosstalk"
	"crosstalk/internal/testing/golden"
	"crosstalk/measure/similarity"
)

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
					if i.ID == "a" || o.Condition[similarityColumn] != "vowels" {
						fmt.Fprintln(&b, o.Condition[similarityColumn], golden.Observation(o))
					}
					for _, e := range estimators {
						e.Add(o)
					}
				}
			}
			for _, e := range estimators {
				for _, one := range e.Estimates(crosstalk.SuiteIDs{All: "s@1"}) {
					if one.By["similarity"] != "vowels" {
						fmt.Fprintln(&b, golden.Figure(one))
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
