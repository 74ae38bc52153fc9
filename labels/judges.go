package labels

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"crosstalk"
)

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
		judged := filter(c.units, func(u judgedUnit) bool {
			return slices.ContainsFunc(u.Judged, func(j Judged) bool { return j.Judge == name })
		})
		j := judge{c, name, cmp.Or(name, "instrument")}
		part := comparison{q: c.q, o: c.o, units: judged}
		for _, g := range part.grouped(everything) {
			j.differences(g)
			if _, known := g.by[FindingColumn]; !known { // what it finds there is known by definition
				j.findings(g, judged)
			}
		}
		j.disagreements(judged)
	}
}

// judge compares one judge with people.
type judge struct {
	*comparison
	name string // the similarity; empty: the instrument itself
	of   string // its name in figures
}

// by is what the judge says of a unit.
func (j judge) by(u judgedUnit) Judged {
	i := slices.IndexFunc(u.Judged, func(x Judged) bool { return x.Judge == j.name })
	return u.Judged[i]
}

// finding is what the judge found; an instrument that found nothing has no name
// for it.
func (j judge) finding(u judgedUnit) string { return cmp.Or(j.by(u).Finding, "none") }

// label is the label that says what the judge found.
func (j judge) label(u judgedUnit) string { return j.q.says(j.by(u)) }

// says is the label that says what an instrument found; where it has no value,
// the finding.
func (q Question) says(j Judged) string {
	for _, choice := range q.Choices {
		if choice.Value == j.Value {
			return choice.Label
		}
	}
	return j.Finding
}

// slacks are those of curves.
var slacks = []float64{0, 0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.075, 0.1, 0.15, 0.2}

// differences adds tau-b of the judge's differences and people's labels, and its
// curve.
func (j judge) differences(g group) {
	units := filter(valued(g.units), func(u judgedUnit) bool { return !math.IsNaN(j.by(u).Difference) })
	if len(units) == 0 {
		return
	}
	difference := func(u judgedUnit) float64 { return j.by(u).Difference }
	value := func(u judgedUnit) float64 { return u.value }
	j.add(TauB, j.of+" and people", g.by, units, tau(units, value, difference, j.o.Slack), signed)
	if len(j.result.Annotators) > 1 {
		for _, a := range j.result.Annotators {
			own := filter(units, func(u judgedUnit) bool { return !math.IsNaN(j.value(u, a)) })
			j.add(TauB, j.of+" and "+a, g.by, own, tau(own, func(u judgedUnit) float64 { return j.value(u, a) }, difference, j.o.Slack), signed)
		}
	}
	curve := Curve{Judge: j.name, By: g.by, N: len(units)}
	for _, slack := range slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(slacks), j.o.Slack)))) {
		curve.Points = append(curve.Points, Point{slack, crosstalk.Value(tau(units, value, difference, slack).of(len(units)))})
	}
	j.result.Curves = append(j.result.Curves, curve)
}

// findings adds how often the judge finds what the majority of people finds, in a group
// of the units that it judged.
func (j judge) findings(g group, judged []judgedUnit) {
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
	canTell := func(u judgedUnit) bool { return u.majority != CannotTell }
	decided := filter(g.units, canTell)
	same := func(u judgedUnit) bool { return j.label(u) == u.majority }
	if j.q.Fault != "" {
		found := func(u judgedUnit) bool { return j.by(u).Value == j.q.FaultValue }
		wrong := func(u judgedUnit) bool { return u.majority == j.q.Fault }
		missing := func(u judgedUnit) bool { return !found(u) }
		all := filter(judged, canTell)
		j.addShare(Sensitivity, group{g.by, decided}, all, wrong, found)
		j.addShare(Specificity, group{g.by, decided}, all, func(u judgedUnit) bool { return !wrong(u) }, missing)
		same = func(u judgedUnit) bool { return found(u) == wrong(u) }
	}
	j.addMean(SameFindings, j.of, g.by, decided, oneIf(same))
	j.add(CohensKappa, j.of+" and people", g.by, decided, kappa(decided, j.label, func(u judgedUnit) string { return u.majority }), signed)
}

// oneIf is 1 where the condition is met, else 0.
func oneIf(met func(judgedUnit) bool) func(judgedUnit) float64 {
	return func(u judgedUnit) float64 {
		if met(u) {
			return 1
		}
		return 0
	}
}

// gap is how far the judge is from people: between the values or, where labels
// have none, the share of people who say something else. NaN if nobody can tell.
func (j judge) gap(u judgedUnit) float64 {
	if !math.IsNaN(j.by(u).Value) {
		return math.Abs(u.value - j.by(u).Value)
	}
	others, n := 0.0, 0.0
	for _, l := range u.labels {
		if l == CannotTell {
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
func (j judge) disagreements(units []judgedUnit) {
	if j.q.Several {
		return
	}
	worst := filter(units, func(u judgedUnit) bool { return j.gap(u) > 0 })
	slices.SortStableFunc(worst, func(a, b judgedUnit) int {
		return cmp.Or(cmp.Compare(j.gap(b), j.gap(a)), cmp.Compare(math.Abs(j.by(b).Difference), math.Abs(j.by(a).Difference)))
	})
	for _, u := range worst[:min(len(worst), max(j.o.Worst, 0))] {
		x := Disagreement{Judge: j.name, Item: u.Item, Sample: u.Sample, Variant: u.Variant, Line: u.Line, Condition: u.Condition, Found: j.finding(u),
			Difference: crosstalk.Value(j.by(u).Difference), Topic: u.Topic, Gap: j.gap(u)}
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
