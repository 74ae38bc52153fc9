package labels

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"crosstalk"
	"crosstalk/measure/estimate"
	"crosstalk/measure/stats"
)

// judge compares one judge with people.
type judge struct {
	*comparison
	name  string // the similarity; empty: the instrument itself
	of    string // its name in figures
	units []labelledUnit
}

// judges adds the agreement of each judge with people.
func (c *comparison) judges() {
	var names []string
	for _, u := range c.units {
		for _, j := range u.Judged {
			if !slices.Contains(names, j.Judge) {
				names = append(names, j.Judge)
			}
		}
	}
	for _, name := range names {
		j := judge{c, name, cmp.Or(name, ownJudge), nil}
		j.units = filter(c.units, func(u labelledUnit) bool {
			return slices.ContainsFunc(u.Judged, func(j Judged) bool { return j.Judge == name })
		})
		for _, g := range c.grouped(j.units, everything) {
			j.differences(g)
			if _, known := g.by[findingColumn]; !known { // what it finds there is known by definition
				j.findings(g)
			}
		}
		j.disagreements()
	}
}

// by is what the judge found in a unit.
func (j judge) by(u labelledUnit) Judged {
	return u.Judged[slices.IndexFunc(u.Judged, func(x Judged) bool { return x.Judge == j.name })]
}

// finding is the judge's finding; an instrument that found nothing has no name for
// it.
func (j judge) finding(u labelledUnit) string { return cmp.Or(j.by(u).Finding, "none") }

// label is the label for what the judge found.
func (j judge) label(u labelledUnit) string { return j.q.labelOf(j.by(u)) }

// labelOf is the label for what an instrument found; where it has no value, the
// finding.
func (q Question) labelOf(j Judged) string {
	for _, choice := range q.Choices {
		if choice.Value == j.Value {
			return choice.Label
		}
	}
	return j.Finding
}

// slack is that of Gonen et al. (2024, section 5): similarity differences that differ by
// no more are tied in tau-b.
const slack = 0.03

// slacks are the points of curves.
var slacks = []float64{0, 0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.075, 0.1, 0.15, 0.2}

// differences adds tau-b of the judge's differences and people's labels, and its
// curve.
func (j judge) differences(g group) {
	difference := func(u labelledUnit) float64 { return j.by(u).Difference }
	value := func(u labelledUnit) float64 { return u.value }
	units := filter(valued(g.units), func(u labelledUnit) bool { return !math.IsNaN(difference(u)) })
	if len(units) == 0 {
		return
	}
	j.add(TauB, j.of+" and people", g.by, units, tau(units, value, difference, slack))
	if len(j.result.Annotators) > 1 {
		for _, a := range j.result.Annotators {
			own := j.ratedBy(units, a)
			j.add(TauB, j.of+" and "+a, g.by, own, tau(own, j.valueBy(a), difference, slack))
		}
	}
	curve := Curve{Judge: j.name, By: g.by, N: len(units)}
	for _, slack := range slacks {
		t := tau(units, value, difference, slack)(indexes(len(units)))
		curve.Points = append(curve.Points, Point{slack, crosstalk.Value(t)})
	}
	j.result.Curves = append(j.result.Curves, curve)
}

// findings adds how often the judge finds what the majority of people finds in a
// group of its units.
func (j judge) findings(g group) {
	cells := map[[2]string]int{}
	for _, u := range g.units {
		cells[[2]string{u.majority, j.finding(u)}]++
	}
	for _, k := range slices.SortedFunc(maps.Keys(cells), func(a, b [2]string) int {
		return cmp.Or(cmp.Compare(slices.Index(j.names, a[0]), slices.Index(j.names, b[0])), cmp.Compare(a[1], b[1]))
	}) {
		j.result.Cells = append(j.result.Cells, Cell{Judge: j.name, By: g.by, People: k[0], Found: k[1], N: cells[k]})
	}
	if j.q.Several {
		return
	}
	majority := func(u labelledUnit) string { return u.majority }
	decided := filter(g.units, canTell)
	same := func(u labelledUnit) bool { return j.label(u) == u.majority }
	if j.q.Fault != "" {
		found := func(u labelledUnit) bool { return j.by(u).Value == j.q.FaultValue }
		wrong := func(u labelledUnit) bool { return u.majority == j.q.Fault }
		j.addShare(Sensitivity, g.by, filter(decided, wrong), found)
		j.addShare(Specificity, g.by, filter(decided, not(wrong)), not(found))
		same = func(u labelledUnit) bool { return found(u) == wrong(u) }
	}
	j.addMean(SameFindings, j.of, g.by, decided, oneIf(same))
	j.add(CohensKappa, j.of+" and people", g.by, decided, kappa(decided, j.label, majority))
}

// addShare adds the share of units that meet a condition, as sensitivity and
// specificity. In a sample by finding some units weigh much more than others, and the
// bootstrap does not see that few or none of them were drawn. The interval is therefore
// widened to contain the interval from the strata, in which labels of other groups count
// too.
func (j judge) addShare(measure string, by map[string]string, units []labelledUnit, met func(labelledUnit) bool) {
	j.addMean(measure, j.of, by, units, oneIf(met))
	if len(j.result.Weighted) == 0 || len(units) == 0 {
		return
	}
	strata := [2]map[string]stats.Stratum{{}, {}} // misses and hits
	count := func(units []labelledUnit, add stats.Stratum) {
		for _, u := range units {
			side := strata[int(oneIf(met)(u))]
			s := side[u.stratum]
			side[u.stratum] = stats.Stratum{N: s.N + add.N*u.weight, Labels: s.Labels + add.Labels, Count: s.Count + add.Count}
		}
	}
	count(filter(j.units, canTell), stats.Stratum{N: 1, Labels: 1})
	count(units, stats.Stratum{Count: 1})
	var lists [2][]stats.Stratum
	for side := range lists {
		for _, name := range slices.Sorted(maps.Keys(strata[side])) {
			lists[side] = append(lists[side], strata[side][name])
		}
	}
	_, i := stats.StratifiedShare(lists[1], lists[0], estimate.Level)
	f := &j.result.Figures[len(j.result.Figures)-1]
	if f.Interval != nil {
		i.Low, i.High = min(i.Low, f.Interval.Low), max(i.High, f.Interval.High)
	}
	f.Interval = i.Known()
}

func canTell(u labelledUnit) bool { return u.majority != cannotTell }

func not(met func(labelledUnit) bool) func(labelledUnit) bool {
	return func(u labelledUnit) bool { return !met(u) }
}

// oneIf is 1 where the condition is met, else 0.
func oneIf(met func(labelledUnit) bool) func(labelledUnit) float64 {
	return func(u labelledUnit) float64 {
		if met(u) {
			return 1
		}
		return 0
	}
}

// gap is how far the judge is from people: between the values or, where labels
// have none, the share of people who chose another label. NaN if nobody can tell.
func (j judge) gap(u labelledUnit) float64 {
	if !math.IsNaN(j.by(u).Value) {
		return math.Abs(u.value - j.by(u).Value)
	}
	others, n := 0.0, 0.0
	for _, l := range u.labels {
		if l == cannotTell {
			continue
		}
		n++
		if l != j.label(u) {
			others++
		}
	}
	return others / n
}

// disagreements adds those with the largest gaps.
func (j judge) disagreements() {
	if j.q.Several {
		return
	}
	worst := filter(j.units, func(u labelledUnit) bool { return j.gap(u) > 0 })
	slices.SortStableFunc(worst, func(a, b labelledUnit) int {
		return cmp.Or(cmp.Compare(j.gap(b), j.gap(a)),
			cmp.Compare(math.Abs(j.by(b).Difference), math.Abs(j.by(a).Difference)))
	})
	for _, u := range worst[:min(len(worst), max(j.o.Worst, 0))] {
		x := Disagreement{Judge: j.name, Item: u.Item, Sample: u.Sample, Variant: u.Variant, Line: u.Line,
			Condition: u.Condition, Found: j.finding(u), Difference: crosstalk.Value(j.by(u).Difference), Topic: u.Topic,
			Gap: j.gap(u)}
		if j.o.Link != nil {
			x.Link = j.o.Link(u.Item)
		}
		for _, a := range slices.Sorted(maps.Keys(u.labels)) {
			x.People = append(x.People, u.labels[a])
		}
		for _, text := range u.Texts {
			if text != "" {
				x.Texts = append(x.Texts, text)
			}
		}
		j.result.Disagreements = append(j.result.Disagreements, x)
	}
}
