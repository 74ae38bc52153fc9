// Package compare decides whether two conditions differ: a model and its quantised copy, two temperatures, a run and
// the previous one. It works with estimates and observations, and imports no instruments.
//
// # Pairs
//
// A condition is a distinct Observation.Condition; between runs it includes the run. Figures of the same measure
// and group are compared if their signatures agree. The comparison uses the items with a value under both
// conditions. An item's value is the mean over its samples, and items are averaged as in the figure
// (crosstalk.Average). So values can differ slightly from the figures, which cover all items with a value.
//
// # Statistics
//
//   - A rate, or a mean of rates over languages and sources: Tango's score interval of the paired differences, on
//     effective counts where items are clustered or weighted, with McNemar's test, which is the same score test, or
//     the sign-flip test over clusters.
//   - Other means: the interval of stats.Mean or stats.Combine, and the sign-flip test.
//   - A harmonic mean (LCPR): both conditions' rates on the items paired under its first measure, the interval of
//     stats.Combine over clusters that the conditions share, and the exchange test stats.Swap.
//   - Unpaired, if allowed and at most half of the items pair: Miettinen and Nurminen's score interval and test of
//     rates; of other figures the t-test of stats.Combine.
//
// No interval is narrower than if no item differed: one more wrong answer never makes a run look safer.
//
// All comparisons of one call form a family of tests. Its p-values are adjusted by Holm's method, and the detectable
// difference is for the strictest step. Intervals are not adjusted.
package compare

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/measure/stats"
)

// Schema names the machine format of a Result.
const Schema = "crosstalk/comparison/v1"

// RunColumn is the column of a condition that names its run if several runs are compared.
const RunColumn = "run"

// Run is a run to compare.
type Run struct {
	Name         string // unique among the runs
	Estimates    []crosstalk.Estimate
	Observations iter.Seq2[crosstalk.Observation, error] // read once

	// Settings returns the settings, by name, that were sent under a condition of the observations; nil if unknown.
	// Comparisons report where they differ.
	Settings func(condition map[string]string) map[string]string
}

// Options select what to compare.
type Options struct {
	Groups    bool              // every figure; otherwise only totals
	Measures  []string          // nil: all except any fault, which repeats the others
	Reference map[string]string // selects the conditions that others are compared with; nil: the first run or condition
	AllPairs  bool              // every pair of conditions
	Across    []string          // fields in which signatures may differ; "all"
	Unpaired  bool              // compare as independent if at most half of the items pair
	Level     float64           // confidence level of intervals; tests use 1 - Level; 0: 0.95
	Seed      uint64            // of the permutation tests
	Adjust    string            // one of adjustments: how p-values are adjusted; "": holm
	Apart     int               // further statements that Comparison.Together must hold with
}

// Default are the options that commands and pages start from.
var Default = Options{Level: 0.95, Seed: 1, Adjust: Holm}

// Adjustments of p-values: they bound the probability of any false difference, or the share of false ones.
const (
	Holm = "holm"
	BH   = "bh"
)

var adjustments = []string{Holm, BH}

// Check returns an error if the options contradict each other. It does not look at the runs.
func (o Options) Check() error {
	if _, err := crosstalk.Chosen("adjustment", cmp.Or(o.Adjust, Holm), adjustments); err != nil {
		return crosstalk.BadOption("adjust", ": %w", err)
	}
	switch {
	case !(o.Level > 0 && o.Level < 1):
		return crosstalk.BadOption("level", " is %g; expected a number between 0 and 1, such as 0.95", o.Level)
	case o.AllPairs && o.Reference != nil:
		return crosstalk.BadOption("reference", " is all, which compares every two conditions; expected no others")
	}
	return nil
}

// ParseReference parses the columns of Options.Reference, COLUMN=VALUE,...; nil for an empty text.
func ParseReference(text string) (map[string]string, error) {
	if text == "" {
		return nil, nil
	}
	columns := map[string]string{}
	for part := range strings.SplitSeq(text, ",") {
		column, value, ok := strings.Cut(part, "=")
		if column = strings.TrimSpace(column); !ok || column == "" {
			return nil, crosstalk.BadOption("reference", " has %q; expected COLUMN=VALUE, such as temperature=0", part)
		}
		columns[column] = strings.TrimSpace(value)
	}
	return columns, nil
}

// Result is the content of --format json.
type Result struct {
	Schema      string       `json:"schema"`
	Level       float64      `json:"level"`
	Adjustment  string       `json:"adjustment"` // one of adjustments: how p-values are adjusted
	Family      int          `json:"family"`     // number of tests
	Comparisons []Comparison `json:"comparisons"`
	Refused     []Refusal    `json:"refused"`
}

// Subject is a figure and the two conditions compared.
type Subject struct {
	Measure   string            `json:"measure"`
	By        map[string]string `json:"by"` // the group, without columns of conditions
	Condition map[string]string `json:"condition"`
	Reference map[string]string `json:"reference"` // empty if a pilot has only one condition
}

// Comparison is the difference of one figure between two conditions.
type Comparison struct {
	Subject
	Unit           string              `json:"unit,omitempty"` // unit of all figures; empty: a fraction
	Value          crosstalk.Value     `json:"value"`          // over the pairs
	ReferenceValue crosstalk.Value     `json:"reference_value"`
	Difference     crosstalk.Value     `json:"difference"` // Value - ReferenceValue
	Interval       *crosstalk.Interval `json:"interval"`   // of Difference; nil if there is none
	Method         string              `json:"method"`     // the test's name
	P              crosstalk.Value     `json:"p"`
	Adjusted       crosstalk.Value     `json:"adjusted_p"`
	Shown          bool                `json:"shown"`      // significant: Adjusted is at most 1 - level
	Detectable     crosstalk.Value     `json:"detectable"` // true difference that is found with 80 % power in this family
	Paired         bool                `json:"paired"`
	N              int                 `json:"n"` // pairs; for unpaired figures, items on both sides
	Clusters       int                 `json:"clusters"`
	LeftOut        map[string]int      `json:"left_out"` // items, by reason: "unpaired", or why one had no value
	Better         crosstalk.Direction `json:"better,omitempty"`
	Signature      string              `json:"signature"`        // signature of the reference
	Across         []string            `json:"across,omitempty"` // fields in which the other signature differs
	Warnings       []string            `json:"warnings,omitempty"`

	// Together is the interval at the level at which all intervals hold together (Bonferroni). Undefined if Interval is
	// nil.
	Together    crosstalk.Interval  `json:"-"`
	Same        bool                `json:"-"` // no item differs between the two
	Of, Against *crosstalk.Estimate `json:"-"` // the two figures, over all their items

	// Night describes how the items differ, as evidence over several nights. It has items only for pairs of rates and of
	// other means of fractions. Losses are items that are worse under the condition.
	Night stats.Night `json:"-"`
}

// Missing is the number of items left out.
func (c Comparison) Missing() int { return total(c.LeftOut) }

// unpaired is the reason for items that only one condition has.
const unpaired = "unpaired"

// Runs compares the conditions of one run or of several. It reads the observations of each run once, and keeps a value
// for each item, condition and measure in memory. An error is from reading, or explains why nothing can be compared.
func Runs(runs []Run, o Options) (Result, error) {
	o.Level = cmp.Or(o.Level, 0.95)
	result := Result{Schema: Schema, Level: o.Level, Adjustment: cmp.Or(o.Adjust, Holm),
		Comparisons: []Comparison{}, Refused: []Refusal{}}
	t, err := o.read(runs, false)
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
		result.Comparisons = append(result.Comparisons, t.match(p, o).compare(o, len(pairs)))
	}
	result.adjust()
	return result, nil
}

func (r *Result) adjust() {
	ps := make([]float64, len(r.Comparisons))
	for i, c := range r.Comparisons {
		ps[i] = float64(c.P)
		if c.P.Defined() {
			r.Family++
		}
	}
	adjust := stats.Holm
	if r.Adjustment == BH {
		adjust = stats.BenjaminiHochberg
	}
	for i, p := range adjust(ps) {
		c := &r.Comparisons[i]
		c.Adjusted = crosstalk.Value(p)
		c.Shown = p <= 1-r.Level+1e-12
	}
}

func nothing(t *table, refused []Refusal) error {
	if len(refused) > 0 {
		return fmt.Errorf("there is nothing to compare: %s", refused[0].String())
	}
	if len(t.sides) == 1 {
		return fmt.Errorf("there is only one condition (%s): name another run to compare it with",
			Describe(t.sides[0].condition, nil))
	}
	return fmt.Errorf("there are no figures to compare")
}

// staged runs a permutation test with increasing numbers of draws, until enough of them are as extreme as the data to
// determine the p-value to within a tenth of itself. The last stage has enough draws for the smallest p-value to stay
// small after Holm's adjustment. A p-value of at most alpha can only come from a stage whose own p-value is at most
// alpha, so its probability is at most alpha, as in a single run of the test.
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
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
