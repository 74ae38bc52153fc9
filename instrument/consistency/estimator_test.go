package consistency

import (
	"fmt"
	"iter"
	"strings"
	"testing"

	"crosstalk"
)

// sumUp is the estimates over observations.
func sumUp(r Rules, observations iter.Seq[crosstalk.Observation], by []string) []crosstalk.Estimate {
	e := r.Estimator(by)
	for o := range observations {
		e.Add(o)
	}
	return e.Estimates(crosstalk.SuiteIDs{})
}

// figuresOf scores items, each with the answers of its id, and names the
// figures by measure and the columns in names.
func figuresOf(t *testing.T, in *Instrument, items []crosstalk.Item, answers map[string]Answers, by []string,
	names ...string) map[string]crosstalk.Estimate {
	t.Helper()
	figures := map[string]crosstalk.Estimate{}
	for _, e := range sumUp(in.Rules(), func(yield func(crosstalk.Observation) bool) {
		for _, item := range items {
			observations, err := in.Score(t.Context(), nil, item, answers[item.ID], nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range observations {
				if !yield(o) {
					return
				}
			}
		}
	}, by) {
		name := []string{e.Measure}
		for _, column := range append([]string{"pair", "part"}, names...) {
			name = append(name, e.By[column])
		}
		key := strings.TrimRight(strings.Join(name, " "), " ")
		if _, again := figures[key]; again {
			t.Errorf("there are two figures %q", key)
		}
		figures[key] = e
	}
	return figures
}

// Items of one cluster, and samples of one item, are not independent.
func TestEstimateClusters(t *testing.T) {
	var items []crosstalk.Item
	answers := map[string]Answers{}
	for i := range 40 {
		it := item(fmt.Sprint(i), "same")
		it.Cluster = fmt.Sprint(i / 4)
		items = append(items, it)
		word := []string{"yes", "no"}[i/4%2]
		answers[it.ID] = Answers{source: said("yes", "yes", "yes"), inputs: said(word, word)}
	}
	e := figuresOf(t, instrument("crosstalk-1"), items, answers, nil)
	if c := e["consistency en>de X"]; c.N != 40 || c.Observations != 80 || c.Clusters != 10 || c.Value != 0.5 ||
		c.Interval.High-c.Interval.Low < 0.5 {
		t.Errorf("%+v %+v", c, c.Interval)
	}
	if c := e["consistency_change en>de X"]; c.Test.Method != "sign-flip" || c.Value != -0.5 {
		t.Errorf("%+v", c)
	}
}
