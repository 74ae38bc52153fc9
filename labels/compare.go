package labels

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"crosstalk"
	"crosstalk/internal/ordered"
	"crosstalk/measure/estimate"
	"crosstalk/measure/stats"
)

type comparison struct {
	q      Question
	o      Options
	names  []string // names of labels
	units  []labelledUnit
	result Agreement
}

// grouped returns the groups of figures: all units that may be mixed, then each value of each column of Options.By.
func (c *comparison) grouped(units []labelledUnit, apart func(labelledUnit) map[string]string) (list []group) {
	for _, g := range groups(units, apart) {
		list = append(list, g)
		for _, column := range c.o.By {
			if _, there := g.by[column]; there {
				continue
			}
			parts := groups(g.units, func(u labelledUnit) map[string]string {
				return map[string]string{column: u.column(column)}
			})
			slices.SortFunc(parts, func(a, b group) int { return compareNumbered(a.by[column], b.by[column]) })
			for _, p := range parts {
				maps.Copy(p.by, g.by)
				list = append(list, p)
			}
		}
	}
	return list
}

func (c *comparison) people() {
	for _, g := range c.grouped(c.units, func(u labelledUnit) map[string]string { return c.q.apart(u.Unit) }) {
		rated := filter(g.units, func(u labelledUnit) bool { return !math.IsNaN(u.value) })
		c.addMean(Rate, People, g.by, rated, func(u labelledUnit) float64 { return u.value })
		if len(c.result.Annotators) > 1 {
			for _, a := range c.result.Annotators {
				c.addMean(Rate, a, g.by, c.ratedBy(rated, a), c.valueBy(a))
			}
		}
		for _, label := range c.names {
			if !slices.ContainsFunc(g.units, func(u labelledUnit) bool {
				return u.Choices == nil || slices.Contains(u.Choices, label)
			}) {
				continue // it was not a choice
			}
			c.addMean(Share, label, g.by, g.units, func(u labelledUnit) float64 {
				n := 0.0
				for _, l := range u.labels {
					if l == label || c.q.Several && slices.Contains(codes(l), label) {
						n++
					}
				}
				return n / float64(len(u.labels))
			})
		}
	}
}

// valueBy returns the value of an annotator's label, NaN if there is none.
func (c *comparison) valueBy(annotator string) func(labelledUnit) float64 {
	return func(u labelledUnit) float64 { return c.q.value(u.labels[annotator]) }
}

// ratedBy returns the units to which all these annotators gave a label with a value.
func (c *comparison) ratedBy(units []labelledUnit, annotators ...string) []labelledUnit {
	return filter(units, func(u labelledUnit) bool {
		return !slices.ContainsFunc(annotators, func(a string) bool { return math.IsNaN(c.q.value(u.labels[a])) })
	})
}

func (c *comparison) annotators() {
	names := c.result.Annotators
	for _, g := range c.grouped(c.units, everything) {
		for i, a := range names {
			for _, b := range names[i+1:] {
				of := a + " and " + b
				both, kappa := agreeing(g.units, a, b)
				c.add(CohensKappa, of, g.by, both, kappa)
				rated := c.ratedBy(both, a, b)
				c.add(TauB, of, g.by, rated, tau(rated, c.valueBy(a), c.valueBy(b), 0))
			}
		}
		several := filter(g.units, func(u labelledUnit) bool { return len(u.labels) > 1 })
		c.add(Alpha, "all annotators", g.by, several, alpha(several))
	}
}

// agreeing returns the units that two annotators labelled, with their kappa.
func agreeing(units []labelledUnit, a, b string) ([]labelledUnit, statistic) {
	both := filter(units, func(u labelledUnit) bool { return u.labels[a] != "" && u.labels[b] != "" })
	by := func(name string) func(labelledUnit) string {
		return func(u labelledUnit) string { return u.labels[name] }
	}
	return both, kappa(both, by(a), by(b))
}

// addMean adds the mean of a value of these units. The interval is from the bootstrap if the units are from several
// strata, which are known before anybody labels them, otherwise from stats.Mean.
func (c *comparison) addMean(measure, of string, by map[string]string, units []labelledUnit,
	value func(labelledUnit) float64) {
	if len(units) == 0 {
		return
	}
	values := ordered.Map(units, value)
	if slices.ContainsFunc(units, func(u labelledUnit) bool { return u.stratum != units[0].stratum }) {
		c.add(measure, of, by, units, func(at []int) float64 {
			sum, n := 0.0, 0.0
			for _, i := range at {
				sum += units[i].weight * values[i]
				n += units[i].weight
			}
			return sum / n
		})
		return
	}
	var clusters stats.Clusters
	var names stats.ClusterNames
	for i, u := range units {
		clusters.Add(names.Number(u.Cluster), values[i])
	}
	c.result.Figures = append(c.result.Figures, Figure{Measure: measure, Of: of, By: by, N: len(units),
		Value:    crosstalk.Value(clusters.Mean()),
		Interval: stats.Mean(&clusters, stats.Proportion, estimate.Level).Interval.Known()})
}

// add adds a figure of these units, with the interval of a bootstrap over their clusters. It has none if there are few
// units, if one resample in ten has no value, or if the ends are equal.
func (c *comparison) add(measure, of string, by map[string]string, units []labelledUnit, stat statistic) {
	const pairsPerFigure = 3e8 // bounds the pairs of units in all resamples of a tau-b
	const fewestResampled = 10 // fewest units for a bootstrap: resamples of fewer have few values
	if len(units) == 0 {
		return
	}
	f := Figure{Measure: measure, Of: of, By: by, N: len(units), Value: crosstalk.Value(stat(indexes(len(units))))}
	clusters := ordered.Groups(indexes(len(units)), func(i int) string { return units[i].Cluster })
	if f.Value.Defined() && len(units) >= fewestResampled && len(clusters) > 1 {
		draws := cmp.Or(c.o.Draws, 2000)
		if measure == TauB {
			draws = min(draws, max(200, int(pairsPerFigure/float64(len(units)*len(units)/2+1))))
		}
		b := stats.UnitBootstrap(len(clusters), func(drawn []int) float64 {
			list := make([]int, 0, 2*len(units))
			for _, i := range drawn {
				list = append(list, clusters[i]...)
			}
			return stat(list)
		}, draws, estimate.Level, c.o.Seed)
		if b.Interval.Low < b.Interval.High && b.Skipped <= draws/10 {
			f.Interval = b.Interval.Known()
		}
	}
	c.result.Figures = append(c.result.Figures, f)
}

type statistic func(at []int) float64

func tau(units []labelledUnit, a, b func(labelledUnit) float64, slack float64) statistic {
	x, y := ordered.Map(units, a), ordered.Map(units, b)
	return func(at []int) float64 { return stats.KendallTauB(pick(x, at), pick(y, at), 0, slack) }
}

type numbers map[string]int

func (n numbers) of(label string) int {
	if _, known := n[label]; !known {
		n[label] = len(n)
	}
	return n[label]
}

func kappa(units []labelledUnit, a, b func(labelledUnit) string) statistic {
	n := numbers{}
	x := ordered.Map(units, func(u labelledUnit) int { return n.of(a(u)) })
	y := ordered.Map(units, func(u labelledUnit) int { return n.of(b(u)) })
	return func(at []int) float64 { return stats.CohenKappa(pick(x, at), pick(y, at)) }
}

// alpha computes Krippendorff's alpha of all labels of units, nominal.
func alpha(units []labelledUnit) statistic {
	n := numbers{}
	return stats.NominalAlpha(ordered.Map(units, func(u labelledUnit) (labels []int) {
		for _, l := range u.labels {
			labels = append(labels, n.of(l))
		}
		return labels
	}))
}

type judge struct {
	*comparison
	name  string // the similarity; empty: the instrument itself
	of    string // its name in figures
	units []labelledUnit
}

func (c *comparison) judges() {
	judged := slices.Concat(ordered.Map(c.units, func(u labelledUnit) []Judged { return u.Judged })...)
	for _, name := range ordered.Distinct(judged, func(j Judged) string { return j.Judge }) {
		j := judge{c, name, cmp.Or(name, ownJudge), nil}
		j.units = filter(c.units, func(u labelledUnit) bool {
			return slices.ContainsFunc(u.Judged, func(j Judged) bool { return j.Judge == name })
		})
		for _, g := range c.grouped(j.units, everything) {
			j.differences(g)
			if _, known := g.by[findingColumn]; !known { // the finding there is known by definition
				j.findings(g)
			}
		}
		j.disagreements()
	}
}

func (j judge) by(u labelledUnit) Judged {
	return u.Judged[slices.IndexFunc(u.Judged, func(x Judged) bool { return x.Judge == j.name })]
}

// finding returns the judge's finding, or "none".
func (j judge) finding(u labelledUnit) string { return cmp.Or(j.by(u).Finding, "none") }

func (j judge) label(u labelledUnit) string { return j.q.labelOf(j.by(u)) }

// labelOf returns the label for an instrument's judgement, or its finding if that has no value.
func (q Question) labelOf(j Judged) string {
	for _, choice := range q.Choices {
		if float64(choice.Value) == j.Value {
			return choice.Label
		}
	}
	return j.Finding
}

// slack follows Gonen et al. (2024, section 5): similarity differences that differ by no more are tied in tau-b.
const slack = 0.03

var slacks = []float64{0, 0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.075, 0.1, 0.15, 0.2}

func (j judge) differences(g group) {
	difference := func(u labelledUnit) float64 { return j.by(u).Difference }
	value := func(u labelledUnit) float64 { return u.value }
	units := filter(g.units, func(u labelledUnit) bool { return !math.IsNaN(u.value) && !math.IsNaN(difference(u)) })
	if len(units) == 0 {
		return
	}
	j.add(TauB, j.of+" and people", g.by, units, tau(units, value, difference, slack))
	if names := j.result.Annotators; len(names) > 1 {
		for _, a := range names {
			own := j.ratedBy(units, a)
			j.add(TauB, j.of+" and "+a, g.by, own, tau(own, j.valueBy(a), difference, slack))
		}
		shared := j.ratedBy(units, names...)
		taus := ordered.Map(names, func(a string) statistic { return tau(shared, j.valueBy(a), difference, slack) })
		j.add(TauB, j.of+" and annotators, mean", g.by, shared, func(at []int) (mean float64) {
			for _, tau := range taus {
				mean += tau(at) / float64(len(taus))
			}
			return mean
		})
	}
	curve := Curve{Judge: j.name, By: g.by, N: len(units)}
	for _, slack := range slacks {
		t := tau(units, value, difference, slack)(indexes(len(units)))
		curve.Points = append(curve.Points, Point{slack, crosstalk.Value(t)})
	}
	j.result.Curves = append(j.result.Curves, curve)
}

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

// addShare adds the share of units that meet a condition, as sensitivity and specificity. In a sample by finding some
// units weigh much more than others, and the bootstrap does not notice that few or none of them were drawn. The
// interval is therefore computed from the strata, where labels of other groups also count. It assumes that units are
// independent: if they share clusters, it is widened to contain the bootstrap's interval.
func (j judge) addShare(measure string, by map[string]string, units []labelledUnit, met func(labelledUnit) bool) {
	j.addMean(measure, j.of, by, units, oneIf(met))
	if len(j.result.Weighted) == 0 || len(units) == 0 {
		return
	}
	strata := [2]map[string]stats.Stratum{{}, {}} // of misses and hits
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
	clusters := ordered.Distinct(j.units, func(u labelledUnit) string { return u.Cluster })
	if f.Interval != nil && len(clusters) < len(j.units) {
		i.Low, i.High = min(i.Low, f.Interval.Low), max(i.High, f.Interval.High)
	}
	f.Interval = i.Known()
}

func canTell(u labelledUnit) bool { return u.majority != cannotTell }

func not(met func(labelledUnit) bool) func(labelledUnit) bool {
	return func(u labelledUnit) bool { return !met(u) }
}

func oneIf(met func(labelledUnit) bool) func(labelledUnit) float64 {
	return func(u labelledUnit) float64 {
		if met(u) {
			return 1
		}
		return 0
	}
}

// gap returns how far the judge is from people: the distance between the values or, if labels have none, the share of
// people who chose another label. NaN if nobody can tell.
func (j judge) gap(u labelledUnit) float64 {
	if !math.IsNaN(j.by(u).Value) {
		return math.Abs(u.value - j.by(u).Value)
	}
	others, n := 0.0, 0.0
	for _, l := range u.labels {
		if l != cannotTell {
			n++
		}
		if l != cannotTell && l != j.label(u) {
			others++
		}
	}
	return others / n
}

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
		x := Disagreement{Judge: j.name, Place: u.Place, Found: j.finding(u),
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
