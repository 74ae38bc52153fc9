package compare

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"crosstalk"
)

// grid is a run over temperatures, models and similarities.
func grid() *recorded {
	r := &recorded{signature: func(measure string, condition map[string]string) string {
		return measure + "|suite:s@1|sim:" + condition["similarity"] + "|v0.1.0"
	}}
	for _, model := range []string{"m1", "m2"} {
		for _, temperature := range []string{"0", "0.5", "1", "1.5"} {
			for _, similarity := range []string{"gloss@1", "sbert@1"} {
				condition := columns{"model": model, "temperature": temperature, "similarity": similarity}
				for i := range 20 {
					r.add("leak_rate", fmt.Sprint(i), fmt.Sprint(i/2), float64(i%2), condition, nil)
				}
			}
		}
	}
	return r
}

// pairsOf lists the comparisons as "condition against what differs".
func pairsOf(r Result) (pairs []string) {
	for _, c := range r.Comparisons {
		pairs = append(pairs, Describe(c.Condition, nil)+" against "+Describe(c.Reference, c.Condition))
	}
	return pairs
}

// In one run every condition is compared with the first that is comparable.
func TestGrid(t *testing.T) {
	r := runs(t, Options{}, grid())
	if len(r.Comparisons) != 14 || r.Family != 14 {
		t.Fatalf("%d comparisons: %q", len(r.Comparisons), pairsOf(r))
	}
	for _, c := range r.Comparisons {
		if c.Reference["model"] != "m1" || c.Reference["temperature"] != "0" || c.Reference["similarity"] != c.Condition["similarity"] {
			t.Errorf("%v against %v", c.Condition, c.Reference)
		}
	}
	if len(r.Refused) != 1 || r.Refused[0].Fields["sim"] != [2]string{"gloss@1", "sbert@1"} {
		t.Errorf("refused %+v", r.Refused)
	}
	if s := r.Refused[0].String(); !strings.Contains(s, "under similarity gloss@1 and under similarity sbert@1: sim is gloss@1 and sbert@1 (use --across sim") {
		t.Errorf("refusal: %s", s)
	}
	// Across similarities there is one reference.
	if r := runs(t, Options{Across: []string{"sim"}}, grid()); len(r.Comparisons) != 15 ||
		!slices.Equal(r.Comparisons[0].Across, []string{"sim"}) {
		t.Errorf("%d comparisons across similarities", len(r.Comparisons))
	}
	if r := runs(t, Options{AllPairs: true}, grid()); len(r.Comparisons) != 2*8*7/2 {
		t.Errorf("%d pairs", len(r.Comparisons))
	}
}

// A reference that is comparable is taken before one that is nearer but was measured differently.
func TestComparableBeforeNearest(t *testing.T) {
	r := &recorded{signature: func(measure string, condition map[string]string) string {
		return measure + "|suite:s@1|sim:" + condition["similarity"] + "|v0.1.0"
	}}
	far := columns{"set": "old", "model": "m1", "temperature": "0", "similarity": "gloss@1"}
	near := columns{"set": "old", "model": "m2", "temperature": "1", "similarity": "sbert@1"}
	of := columns{"set": "new", "model": "m2", "temperature": "1", "similarity": "gloss@1"}
	for _, condition := range []columns{far, near, of} {
		for i := range 20 {
			r.add("leak_rate", fmt.Sprint(i), fmt.Sprint(i/2), float64(i%2), condition, nil)
		}
	}
	result := runs(t, Options{Reference: columns{"set": "old"}}, r)
	if len(result.Comparisons) != 1 || result.Comparisons[0].Reference["model"] != "m1" || len(result.Refused) > 0 {
		t.Errorf("%q, refused %+v", pairsOf(result), result.Refused)
	}
}

// A stated reference is several conditions, and each other condition is
// compared with the one most like it.
func TestReference(t *testing.T) {
	r := runs(t, Options{Reference: columns{"temperature": "0.5"}}, grid())
	if len(r.Comparisons) != 12 {
		t.Fatalf("%d comparisons: %q", len(r.Comparisons), pairsOf(r))
	}
	for _, c := range r.Comparisons {
		if Describe(c.Reference, c.Condition) != "temperature 0.5" {
			t.Errorf("%v against %v", c.Condition, c.Reference)
		}
	}
	for want, reference := range map[string]columns{
		`unknown column "colour"; choose one of: model, similarity, temperature`: {"colour": "red"},
		"no condition has temperature 7; choose one of: 0, 0.5, 1, 1.5":          {"model": "m1", "temperature": "7"},
	} {
		if _, err := Runs([]Run{grid().run(t)}, Options{Reference: reference}); err == nil || err.Error() != want {
			t.Errorf("%v: %v", reference, err)
		}
	}
}

// Between runs like is compared with like.
func TestSeveralRuns(t *testing.T) {
	before, after := grid(), grid()
	before.name, after.name = "before", "after"
	r := runs(t, Options{}, before, after)
	if len(r.Comparisons) != 16 {
		t.Fatalf("%d comparisons", len(r.Comparisons))
	}
	for _, c := range r.Comparisons {
		if Describe(c.Condition, c.Reference) != "run after" || Describe(c.Reference, c.Condition) != "run before" {
			t.Errorf("%v against %v", c.Condition, c.Reference)
		}
	}
	// Runs of one condition each differ in that.
	one := func(name, model, suite string) *recorded {
		r := &recorded{name: name, signature: func(measure string, _ map[string]string) string {
			return measure + "|suite:" +
				suite + "|v0.1.0"
		}}
		for i := range 10 {
			r.add("lpr", fmt.Sprint(i), "", 1, columns{"model": model}, nil)
		}
		return r
	}
	if pairs := pairsOf(runs(t, Options{}, one("x", "m1", "s@1"), one("y", "m2", "s@1"))); !slices.Equal(pairs, []string{"model m2, run y against model m1, run x"}) {
		t.Errorf("%q", pairs)
	}
	_, err := Runs([]Run{one("x", "m1", "s@1").run(t), one("y", "m1", "s@2").run(t)}, Options{})
	if err == nil || !strings.Contains(err.Error(), "there is nothing to compare: lpr was measured differently under run x and under run y: suite is s@1 and s@2 (use --across suite") {
		t.Errorf("%v", err)
	}
	if _, err := Runs([]Run{one("x", "m1", "a@1+b@2").run(t), one("y", "m1", "c@1+b@2").run(t)}, Options{}); err == nil {
		t.Error("several suites are compared with others")
	}
	// The suite of recorded answers is called as their file; the items are the same.
	if r := runs(t, Options{}, one("x", "m1", "before@1"), one("y", "m1", "after@1")); len(only(t, r).Across) > 0 {
		t.Errorf("the same items: %+v", r)
	}
	for _, across := range []string{"suite", acrossAll} {
		if r := runs(t, Options{Across: []string{across}}, one("x", "m1", "s@1"),
			one("y", "m1", "s@2")); !slices.Equal(only(t, r).Across, []string{"suite"}) {
			t.Errorf("across %s: %+v", across, r)
		}
	}
}

func TestNothingToCompare(t *testing.T) {
	r := &recorded{name: "x"}
	r.add("lpr", "1", "", 1, first, nil)
	for name, c := range map[string]struct {
		runs    []Run
		options Options
		want    string
	}{
		"one condition":   {[]Run{r.run(t)}, Options{}, "there is only one condition (model a): name another run to compare it with"},
		"unknown measure": {[]Run{r.run(t)}, Options{Measures: []string{"bleu"}}, `unknown measure "bleu"; choose one of: lpr`},
		"unknown field":   {[]Run{r.run(t)}, Options{Across: []string{"color"}}, `unknown signature field "color"; choose one of: all, suite, version`},
		"no observation":  {[]Run{(&recorded{name: "x"}).run(t)}, Options{}, "x has no observations"},
		"every condition": {[]Run{r.run(t)}, Options{Reference: columns{"model": "a"}}, "every condition matches the reference model a: nothing is left to compare it with"},
	} {
		if _, err := Runs(c.runs, c.options); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	broken := errors.New("line 3: broken")
	failing := r.run(t)
	failing.Observations = func(yield func(crosstalk.Observation, error) bool) { yield(crosstalk.Observation{}, broken) }
	if _, err := Runs([]Run{failing}, Options{}); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	// A figure without observations of its own is refused, the others are not.
	r.add("lpr", "1", "", 0, second, nil)
	run := r.run(t)
	for _, e := range slices.Clone(run.Estimates) {
		e.Measure = "bleu_consistency_pearson"
		run.Estimates = append(run.Estimates, e)
	}
	result, err := Runs([]Run{run}, Options{})
	if err != nil || len(result.Comparisons) != 1 || len(result.Refused) != 2 || result.Refused[0].Reason != NoAverage {
		t.Errorf("%+v, %v", result, err)
	}
}

// Groups that never share a figure, as data sets, have a total each.
func TestOutermost(t *testing.T) {
	group := func(side *side, by columns) figure {
		return figure{Estimate: &crosstalk.Estimate{Measure: "m"}, side: side, group: by}
	}
	x, y := &side{}, &side{}
	got := outermost([]figure{
		group(x, columns{"dataset": "1"}), group(x, columns{"dataset": "1", "category": "c"}), group(x, columns{"dataset": "2"}),
		group(y, columns{"dataset": "1", "category": "c"}), group(x, columns{"dataset": "3", "category": "c"}),
	})
	if want := []bool{true, false, true, true, true}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// p-values are adjusted against any false difference, or for a share of those found.
func TestAdjust(t *testing.T) {
	for method, want := range map[string][]crosstalk.Value{Holm: {0.03, 0.06, 0.06}, BH: {0.03, 0.04, 0.04}} {
		r := Result{Level: 0.95, Adjustment: method, Comparisons: []Comparison{{P: 0.01}, {P: 0.03}, {P: 0.04}}}
		r.adjust()
		for i, c := range r.Comparisons {
			near(t, method, float64(c.Adjusted), float64(want[i]), 1e-12)
			if c.Shown != (want[i] < 0.05) {
				t.Errorf("%s: %+v", method, c)
			}
		}
		if r := runs(t, Options{Adjust: method}, grid()); r.Adjustment != method {
			t.Errorf("%s, want %s", r.Adjustment, method)
		}
	}
	if err := (Options{Level: 0.95, Adjust: "none"}).Check(); err == nil {
		t.Error("another adjustment is taken")
	}
}
