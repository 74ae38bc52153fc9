// Package compare tells whether two conditions differ: a model and its
// quantised copy, two temperatures, a run and the run before. It knows
// estimates and observations, no instrument.
//
// # Pairs
//
// A condition is a distinct Observation.Condition, and between runs the run as
// well. Figures of the same measure and group are compared if their signatures
// agree. They are compared on the items that have a value under both
// conditions, an item's value being the mean over its samples, and averaged as
// the figure is (crosstalk.Average). So Value and ReferenceValue can differ a
// little from the figures, which are over all items that have a value.
//
// # Statistics
//
//   - A mean, or a mean of means over languages and sources: the paired
//     differences within cells, with the interval of stats.Mean or
//     stats.Combine and the sign-flip test over clusters.
//   - Independent pairs of 0 and 1: McNemar's exact test.
//   - A harmonic mean (LCPR): both conditions' rates on the items paired under
//     its first measure, the interval of stats.Combine over clusters that the
//     conditions share, and the exchange test stats.Swap.
//   - Unpaired, where allowed and no more than half of the items pair: the
//     difference of the figures, with the t test of stats.Combine.
//
// The family of tests is all that one call compares. Its p-values are adjusted
// by Holm's method, and the detectable difference is that of its strictest
// step. Intervals are each for itself.
package compare

import (
	"fmt"
	"iter"
	"slices"

	"crosstalk"
	"crosstalk/measure/stats"
)

// Schema names the machine format of a Result.
const Schema = "crosstalk/comparison/v1"

// RunColumn is the column of a condition that names its run, where several
// runs are compared.
const RunColumn = "run"

// Run is a run as it is compared.
type Run struct {
	Name         string // unique among the runs
	Estimates    []crosstalk.Estimate
	Observations iter.Seq2[crosstalk.Observation, error] // read once
}

// Options say what is compared.
type Options struct {
	Groups    bool              // every figure; else only those that are part of no other
	Measures  []string          // nil: all
	Reference map[string]string // columns of the conditions that the others are compared with; nil: the first run, or the first condition
	AllPairs  bool              // every pair of conditions
	Across    []string          // fields in which signatures may differ; "all"
	Unpaired  bool              // compare as independent where no more than half of the items pair
	Level     float64           // of intervals and, less from 1, of tests; 0: 0.95
	Seed      uint64            // of the permutation tests
}

// Result is the content of --format json.
type Result struct {
	Schema      string       `json:"schema"`
	Level       float64      `json:"level"`
	Adjustment  string       `json:"adjustment"` // of p-values: "holm"
	Family      int          `json:"family"`     // number of tests it is over
	Comparisons []Comparison `json:"comparisons"`
	Refused     []Refusal    `json:"refused"`
}

// Subject is what is compared with what.
type Subject struct {
	Measure   string            `json:"measure"`
	By        map[string]string `json:"by"` // the group, without the columns of conditions
	Condition map[string]string `json:"condition"`
	Reference map[string]string `json:"reference"` // empty where a pilot has one condition
}

// Comparison is the difference of one figure between two conditions.
type Comparison struct {
	Subject
	Unit           string              `json:"unit,omitempty"` // of Value, Difference, Interval and Detectable; empty: a fraction
	Value          crosstalk.Value     `json:"value"`          // over the pairs
	ReferenceValue crosstalk.Value     `json:"reference_value"`
	Difference     crosstalk.Value     `json:"difference"` // Value - ReferenceValue
	Interval       *crosstalk.Interval `json:"interval"`   // of the difference; nil where there is none
	Method         string              `json:"method"`     // of the test
	P              crosstalk.Value     `json:"p"`
	Adjusted       crosstalk.Value     `json:"adjusted_p"`
	Shown          bool                `json:"shown"`      // a difference is: Adjusted is at most 1 - level
	Detectable     crosstalk.Value     `json:"detectable"` // true difference found with 80 % power in this family
	Paired         bool                `json:"paired"`
	N              int                 `json:"n"` // pairs; of unpaired figures, the items of both
	Clusters       int                 `json:"clusters"`
	LeftOut        map[string]int      `json:"left_out"` // items, by reason: "unpaired", or why one had no value
	Better         crosstalk.Direction `json:"better,omitempty"`
	Signature      string              `json:"signature"`        // of the reference
	Across         []string            `json:"across,omitempty"` // fields in which the other differs
	Warnings       []string            `json:"warnings,omitempty"`

	of, against *crosstalk.Estimate
}

// Figures are the two that are compared, over all their items.
func (c Comparison) Figures() (of, against *crosstalk.Estimate) { return c.of, c.against }

// Unpaired is the reason of items that only one condition has.
const Unpaired = "unpaired"

// Runs compares the conditions of one run or of several. It reads the
// observations of each run once and keeps a sum for each item, measure and
// condition. An error is of reading, or says why nothing can be compared.
func Runs(runs []Run, o Options) (Result, error) {
	if o.Level == 0 {
		o.Level = 0.95
	}
	result := Result{Schema: Schema, Level: o.Level, Adjustment: "holm", Comparisons: []Comparison{}, Refused: []Refusal{}}
	t, err := read(runs, false)
	if err != nil {
		return result, err
	}
	if err := o.check(t); err != nil {
		return result, err
	}
	var pairs []pair
	pairs, result.Refused = o.choose(t)
	if len(pairs) == 0 {
		return result, nothing(t, result.Refused)
	}
	for _, p := range pairs {
		result.Comparisons = append(result.Comparisons, t.compare(p, o, len(pairs)))
	}
	result.adjust()
	return result, nil
}

// adjust adjusts the p-values over the family.
func (r *Result) adjust() {
	ps := make([]float64, len(r.Comparisons))
	for i, c := range r.Comparisons {
		ps[i] = float64(c.P)
		if c.P.Defined() {
			r.Family++
		}
	}
	for i, p := range stats.Holm(ps) {
		c := &r.Comparisons[i]
		c.Adjusted = crosstalk.Value(p)
		c.Shown = p <= 1-r.Level+1e-12
	}
}

// nothing says why there is nothing to compare.
func nothing(t *table, refused []Refusal) error {
	if len(refused) > 0 {
		return fmt.Errorf("there is nothing to compare: %s", refused[0].String())
	}
	if len(t.sides) == 1 {
		return fmt.Errorf("there is only one condition (%s): name another run to compare it with", describe(t.sides[0].condition, nil))
	}
	return fmt.Errorf("there are no figures to compare")
}

// staged runs a permutation test with more and more draws, until enough of
// them are as extreme as the data for the p-value to be known to a tenth of
// it. The last stage has so many that the smallest p-value stays small after
// Holm. A p-value of at most alpha can only come from a stage whose own p-value
// is at most alpha, so its chance is at most alpha, as in one run of the test.
func staged(family int, seed uint64, test func(draws int, seed uint64) float64) (p float64) {
	const enough = 100
	for i, draws := range []int{2_000, 20_000, min(2_000*family, 5_000_000)} {
		if i == 2 && draws <= 20_000 {
			break
		}
		if p = test(draws, seed+uint64(i)<<32); !(p < enough/float64(draws+1)) {
			break
		}
	}
	return p
}

// sorted returns the keys of a map in order.
func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
