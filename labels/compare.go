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

// comparison computes an Agreement.
type comparison struct {
	q      Question
	o      Options
	names  []string // of labels
	units  []labelledUnit
	result Agreement
}

// grouped are the groups of figures: all units that may be mixed, then each value of
// each column of Options.By.
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

// people adds the rates and the shares of labels.
func (c *comparison) people() {
	for _, g := range c.grouped(c.units, func(u labelledUnit) map[string]string { return c.q.apart(u.Unit) }) {
		rated := valued(g.units)
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
				continue // nobody could choose it
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

// valueBy is the value of an annotator's label, NaN without one.
func (c *comparison) valueBy(annotator string) func(labelledUnit) float64 {
	return func(u labelledUnit) float64 { return c.q.value(u.labels[annotator]) }
}

// ratedBy are the units to which all these annotators gave a label with a value.
func (c *comparison) ratedBy(units []labelledUnit, annotators ...string) []labelledUnit {
	return filter(units, func(u labelledUnit) bool {
		return !slices.ContainsFunc(annotators, func(a string) bool { return math.IsNaN(c.q.value(u.labels[a])) })
	})
}

// annotators adds the agreement between annotators.
func (c *comparison) annotators() {
	names := c.result.Annotators
	if len(names) < 2 {
		return
	}
	for _, g := range c.grouped(c.units, everything) {
		for i, a := range names {
			for _, b := range names[i+1:] {
				of, by := a+" and "+b, func(name string) func(labelledUnit) string {
					return func(u labelledUnit) string { return u.labels[name] }
				}
				both := filter(g.units, func(u labelledUnit) bool { return u.labels[a] != "" && u.labels[b] != "" })
				c.add(CohensKappa, of, g.by, both, kappa(both, by(a), by(b)))
				rated := c.ratedBy(both, a, b)
				c.add(TauB, of, g.by, rated, tau(rated, c.valueBy(a), c.valueBy(b), 0))
			}
		}
		several := filter(g.units, func(u labelledUnit) bool { return len(u.labels) > 1 })
		c.add(Alpha, "all annotators", g.by, several, alpha(several))
	}
}

// addMean adds the mean of a value of these units. The interval of a weighted mean
// is from the bootstrap, any other from stats.Mean.
func (c *comparison) addMean(
	measure, of string, by map[string]string, units []labelledUnit, value func(labelledUnit) float64,
) {
	if len(units) == 0 {
		return
	}
	values := each(units, value)
	if slices.ContainsFunc(units, func(u labelledUnit) bool { return u.weight != units[0].weight }) {
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

// fewestResampled is how many units a bootstrap needs: the resamples of fewer have few
// values.
const fewestResampled = 10

// pairsPerFigure bounds the pairs of units in all resamples of a tau-b.
const pairsPerFigure = 3e8

// add adds a figure of these units, with the interval of a bootstrap over their
// clusters. There is none of few units, and none where one resample in ten has no
// value or where the ends are equal.
func (c *comparison) add(
	measure, of string, by map[string]string, units []labelledUnit, stat statistic,
) {
	if len(units) == 0 {
		return
	}
	f := Figure{Measure: measure, Of: of, By: by, N: len(units), Value: crosstalk.Value(stat(indexes(len(units))))}
	clusters := groupBy(indexes(len(units)), func(i int) string { return units[i].Cluster })
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

// statistic is one of some units, given by their indexes, with repeats.
type statistic func(at []int) float64

// tau is tau-b of two values of units, the second with slack.
func tau(units []labelledUnit, a, b func(labelledUnit) float64, slack float64) statistic {
	x, y := each(units, a), each(units, b)
	return func(at []int) float64 { return stats.KendallTauB(pick(x, at), pick(y, at), 0, slack) }
}

// numbers gives each label a number.
type numbers map[string]int

func (n numbers) of(label string) int {
	if _, known := n[label]; !known {
		n[label] = len(n)
	}
	return n[label]
}

// kappa is Cohen's kappa of two labels of units.
func kappa(units []labelledUnit, a, b func(labelledUnit) string) statistic {
	n := numbers{}
	x := each(units, func(u labelledUnit) int { return n.of(a(u)) })
	y := each(units, func(u labelledUnit) int { return n.of(b(u)) })
	return func(at []int) float64 { return stats.CohenKappa(pick(x, at), pick(y, at)) }
}

// alpha is Krippendorff's alpha of all labels of units, nominal.
func alpha(units []labelledUnit) statistic {
	n := numbers{}
	return stats.NominalAlpha(each(units, func(u labelledUnit) (labels []int) {
		for _, l := range u.labels {
			labels = append(labels, n.of(l))
		}
		return labels
	}))
}
