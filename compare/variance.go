package compare

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"crosstalk"
	"crosstalk/measure/stats"
	"crosstalk/report"
)

// VarianceSchema names the machine format of variances.
const VarianceSchema = "crosstalk/variance/v1"

// Spread says where the variance of one answer's value comes from: shares of the sum of its components, means over
// conditions. What the data cannot separate is undefined and part of Item.
type Spread struct {
	Subject                    // without a condition
	Conditions int             `json:"conditions"`
	Items      int             `json:"items"`
	Condition  crosstalk.Value `json:"condition"` // between the figures of conditions, beyond the luck of their items
	Cluster    crosstalk.Value `json:"cluster"`
	Item       crosstalk.Value `json:"item"`
	Sample     crosstalk.Value `json:"sample"` // between answers to the same prompt

	// ICC is the correlation of two items of a cluster under one condition.
	ICC crosstalk.Value `json:"icc"`
}

// WriteVariances writes where the variance of a run's figures is, in one of report.Formats.
func WriteVariances(w io.Writer, format, path string, by []string) error {
	runs, err := Open([]string{path}, by)
	if err != nil {
		return err
	}
	spreads, err := variances(runs, Options{Groups: len(by) > 0})
	if err != nil {
		return err
	}
	return writeVariances(w, format, spreads)
}

func writeVariances(w io.Writer, format string, spreads []Spread) error {
	rows := [][]string{{"figure", "conditions", "items", "condition %", "cluster %", "item %", "sample %", "ICC"}}
	for _, s := range spreads {
		icc := "-"
		if s.ICC.Defined() {
			icc = share(s.ICC)
		}
		rows = append(rows, []string{Study{Subject: &s.Subject}.name(), strconv.Itoa(s.Conditions), strconv.Itoa(s.Items),
			report.Percent(s.Condition), report.Percent(s.Cluster), report.Percent(s.Item), report.Percent(s.Sample), icc})
	}
	document := struct {
		Schema    string   `json:"schema"`
		Variances []Spread `json:"variances"`
	}{VarianceSchema, spreads}
	table := report.Table{Heading: []string{"where the variance of an answer is"}, Header: rows[0], Rows: rows[1:],
		Left: 1,
		Notes: []string{"-: the run cannot tell, without several conditions, clusters of several items, or several answers " +
			"to a prompt; it is part of item"}}
	return report.WriteResult(w, format, document, spreads, func() [][]string { return rows },
		func() []report.Table { return []report.Table{table} })
}

func variances(runs []Run, o Options) ([]Spread, error) {
	t, err := o.read(runs, true)
	if err != nil {
		return nil, err
	}
	var all []Spread
	for _, family := range o.families(t) {
		if len(t.averageOf(family[0]).measures) > 1 {
			continue // a harmonic mean
		}
		all = append(all, t.spread(family))
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("the run has no figure that is a mean over items")
	}
	return all, nil
}

func (t *table) spread(family []figure) Spread {
	s := Spread{Subject: Subject{Measure: family[0].Measure, By: family[0].by()}, Conditions: len(family)}
	var within Variance
	var figures stats.Clusters
	var luck float64
	k := crosstalk.Value(len(family))
	for _, f := range family {
		study := t.study(pair{of: f, against: f})
		v := study.Variance.times(.5 / float64(k)) // one condition stood for both
		within = Variance{within.Cluster + v.Cluster, within.Item + v.Item, within.Sample + v.Sample}
		s.Items = max(s.Items, study.Items)
		se := study.design(0, 1).StdErr(float64(study.Items)) // of a difference of two
		figures.AddIndependent(float64(f.Value))
		luck += se * se / 2 / float64(k)
	}
	between := crosstalk.Undefined
	if len(family) > 1 {
		se := stats.Mean(&figures, stats.Unbounded, 0.95).SE
		between = crosstalk.Value(math.Max(0, se*se*float64(len(family))-luck))
	}
	parts := []crosstalk.Value{between, within.Cluster, within.Item, within.Sample}
	var sum, inside crosstalk.Value
	for i, v := range parts {
		if v.Defined() {
			sum += v
			if i > 0 {
				inside += v
			}
		}
	}
	s.Condition, s.Cluster, s.Item, s.Sample = parts[0]/sum, parts[1]/sum, parts[2]/sum, parts[3]/sum
	s.ICC = within.Cluster / inside
	return s
}
