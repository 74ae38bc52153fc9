package compare

import (
	"iter"
	"maps"
	"math"
	"testing"

	"crosstalk"
	"crosstalk/measure/estimate"
)

// recorded is a run in the making: observations, and a figure of each measure
// and group that they belong to.
type recorded struct {
	name         string
	by           []string
	average      map[string]*crosstalk.Average
	observations []crosstalk.Observation
	signature    func(measure string, condition map[string]string) string
}

type columns = map[string]string

func (r *recorded) add(measure, item, cluster string, value float64, condition, labels columns) {
	r.observations = append(r.observations, crosstalk.Observation{Measure: measure, Item: item, Cluster: cluster,
		Value: crosstalk.Value(value), Condition: condition, Labels: labels})
}

func (r *recorded) miss(measure, item, reason string, condition, labels columns) {
	r.observations = append(r.observations, crosstalk.Observation{Measure: measure, Item: item, Value: crosstalk.Undefined,
		NotScored: reason, Condition: condition, Labels: labels})
}

// all yields the observations.
func (r *recorded) all() iter.Seq2[crosstalk.Observation, error] {
	return func(yield func(crosstalk.Observation, error) bool) {
		for _, o := range r.observations {
			if !yield(o, nil) {
				return
			}
		}
	}
}

// run sums up as plain instruments do, and as averages say.
func (r *recorded) run(t *testing.T) Run {
	t.Helper()
	type place struct{ measure, condition, group string }
	var order []place
	figures := map[place]*crosstalk.Estimate{}
	measures := map[string]bool{}
	for _, o := range r.observations {
		for _, group := range estimate.Rollup(o.Labels, r.by) {
			for measure := range r.average {
				if a := r.average[measure]; a != nil && len(a.HarmonicOf) > 0 && a.HarmonicOf[0] == o.Measure {
					measures[measure] = true
				}
			}
			for _, measure := range append(sorted(measures), o.Measure) {
				at := place{measure, string(crosstalk.Canonical(o.Condition)), string(crosstalk.Canonical(group))}
				if figures[at] == nil {
					e := &crosstalk.Estimate{Measure: measure, Value: crosstalk.Undefined, Average: r.average[measure],
						Better: crosstalk.Higher,
						By:     columns{}, Signature: measure + "|suite:s@1|v0.1.0"}
					maps.Copy(e.By, group)
					maps.Copy(e.By, o.Condition)
					if r.signature != nil {
						e.Signature = r.signature(measure, o.Condition)
					}
					figures[at], order = e, append(order, at)
				}
			}
			clear(measures)
		}
	}
	run := Run{Name: r.name, Observations: r.all()}
	for _, at := range order {
		run.Estimates = append(run.Estimates, *figures[at])
	}
	return run
}

func runs(t *testing.T, o Options, rs ...*recorded) Result {
	t.Helper()
	var all []Run
	for _, r := range rs {
		all = append(all, r.run(t))
	}
	result, err := Runs(all, o)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func only(t *testing.T, r Result) Comparison {
	t.Helper()
	if len(r.Comparisons) != 1 {
		t.Fatalf("%d comparisons, want 1: %+v", len(r.Comparisons), r.Comparisons)
	}
	return r.Comparisons[0]
}

func near(t *testing.T, name string, got, want, tolerance float64) {
	t.Helper()
	if math.IsNaN(got) != math.IsNaN(want) || math.Abs(got-want) > tolerance {
		t.Errorf("%s: got %v, want %v", name, got, want)
	}
}

var (
	first  = columns{"model": "a"}
	second = columns{"model": "b"}
)
