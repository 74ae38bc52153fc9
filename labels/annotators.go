package labels

import (
	"maps"
	"math"
	"slices"
	"strings"

	"crosstalk/measure/stats"
)

// signed are the bounds of coefficients.
var signed = stats.Bounds{Low: -1, High: 1}

// everything is the group of all units.
func everything(judgedUnit) map[string]string { return map[string]string{} }

// labelNames are the labels of figures: the question's or, where any words are a
// label, each that was given.
func labelNames(q Question, units []judgedUnit) []string {
	if !q.Several {
		return q.Labels()
	}
	given := map[string]bool{}
	for _, u := range units {
		for _, l := range u.labels {
			for code := range strings.SplitSeq(l, "; ") {
				given[code] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(given))
}

// annotators adds the agreement between annotators.
func (c *comparison) annotators() {
	names := c.result.Annotators
	if len(names) < 2 {
		return
	}
	for _, g := range c.grouped(everything) {
		for i, a := range names {
			for _, b := range names[i+1:] {
				c.pair(g, a, b)
			}
		}
		several := filter(g.units, func(u judgedUnit) bool { return len(u.labels) > 1 })
		c.add(Alpha, "all annotators", g.by, several, alpha(several), signed)
	}
}

// pair adds the agreement of two annotators.
func (c *comparison) pair(g group, a, b string) {
	both := filter(g.units, func(u judgedUnit) bool { return u.labels[a] != "" && u.labels[b] != "" })
	of := a + " and " + b
	c.add(CohensKappa, of, g.by, both, kappa(both, func(u judgedUnit) string { return u.labels[a] }, func(u judgedUnit) string { return u.labels[b] }), signed)
	rated := filter(both, func(u judgedUnit) bool { return !math.IsNaN(c.value(u, a)) && !math.IsNaN(c.value(u, b)) })
	c.add(TauB, of, g.by, rated, tau(rated, func(u judgedUnit) float64 { return c.value(u, a) }, func(u judgedUnit) float64 { return c.value(u, b) }, 0), signed)
}

// numbers gives each label a number.
type numbers map[string]int

func (n numbers) of(label string) int {
	number, known := n[label]
	if !known {
		number = len(n)
		n[label] = number
	}
	return number
}

// kappa is Cohen's kappa of two labels of units.
func kappa(units []judgedUnit, a, b func(judgedUnit) string) statistic {
	n := numbers{}
	x := each(units, func(u judgedUnit) int { return n.of(a(u)) })
	y := each(units, func(u judgedUnit) int { return n.of(b(u)) })
	return func(at []int) float64 { return stats.CohenKappa(pick(x, at), pick(y, at)) }
}

// alpha is Krippendorff's alpha of all labels of units, nominal.
func alpha(units []judgedUnit) statistic {
	n := numbers{}
	return stats.NominalAlpha(each(units, func(u judgedUnit) (labels []int) {
		for _, l := range u.labels {
			labels = append(labels, n.of(l))
		}
		return labels
	}))
}
