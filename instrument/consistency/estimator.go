package consistency

import (
	"slices"

	"crosstalk"
	"crosstalk/measure/estimate"
)

// apart are columns whose values never share a figure.
var apart = []string{"task", "pair", "part"}

type estimator struct {
	rules  Rules
	detail bool // figures by class of answers
	groups estimate.Groups[*sum]
}

// Estimator returns an estimator of each condition, task, pair of senses and part, and of each prefix of the other
// columns in by (estimate.Rollup). The counts:
//
//	invalid   pairs, or answers, without a label
//	flagged   pairs whose rewritten input has a flag
//	empty, refused, failed   no text
//	not_scored   no value for another reason: no recorded answer, no rewriting, no correct class
func (r Rules) Estimator(by []string) crosstalk.Estimator {
	columns := slices.DeleteFunc(slices.Clone(by), func(column string) bool { return column == ByClass })
	e := &estimator{rules: r, detail: slices.Contains(by, ByClass)}
	e.groups.Grouping, e.groups.Describe = estimate.Grouping{By: columns, Apart: apart}, e.describe
	e.groups.New = func(map[string]string) *sum { return newSum(&e.groups.Clusters) }
	return e
}

// ofClass are the columns of figures by class of answers.
var ofClass = []string{"class", "from", "to"}

// describe orders the figures of a task: by measure, the columns in by, pair, part and class.
func (e *estimator) describe(measure string, _, labels, extra map[string]string) estimate.Figure {
	part := labels["part"]
	if of, set := extra["part"]; set {
		part = of
	}
	f := estimate.Figure{By: e.groups.By, Unranked: []string{"pair", "part"}, Before: []int{Kind().Place(measure)},
		After: []int{e.groups.Rank("pair", labels["pair"]), slices.Index(Parts, Part(part))}}
	classes := e.rules.classes(labels["task"])
	for _, column := range ofClass {
		f.After = append(f.After, slices.Index(classes, extra[column]))
	}
	return f
}

func (e *estimator) Add(o crosstalk.Observation) {
	cluster := e.groups.Clusters.Number(o.Cluster)
	for o := range Kind().WithFault(o) {
		for _, s := range e.rules.shares(o, e.detail) {
			for _, g := range e.groups.Of(o.Condition, o.Labels, s.measure, s.labels) {
				g.Sum.add(o, s, cluster)
			}
		}
	}
}

func (e *estimator) Estimates(suites crosstalk.SuiteIDs) []crosstalk.Estimate {
	var estimates []crosstalk.Estimate
	for _, g := range e.groups.Ordered() {
		one := g.Sum.estimate(g.Name)
		one.By, one.Signature = g.Labels, e.rules.signature(g.Name, g.Labels, suites)
		estimates = append(estimates, one)
	}
	return estimates
}
