package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/measure/stats"
)

// powerSchema names the machine format of a Power.
const powerSchema = "crosstalk/power/v1"

// power is the probability with which a plan detects an existing difference.
const power = 0.8

// Goal is what a study should detect.
type Goal struct {
	Level       float64   `json:"level"` // 0.95
	Samples     []int     `json:"-"`     // answers to each prompt
	Differences []float64 `json:"-"`     // to detect, in either direction
	Margins     []float64 `json:"-"`     // with which a gate passes, if nothing has changed
	Items       []int     `json:"-"`     // numbers to evaluate
}

// Power is the result of planning.
type Power struct {
	Schema string `json:"schema"`
	Goal
	Power       float64   `json:"power"`       // probability to detect an existing difference: 0.8
	Comparisons int       `json:"comparisons"` // in the family: 1; Level allows for others
	Studies     []Study   `json:"studies"`
	Plans       []Plan    `json:"plans"`
	Refused     []Refusal `json:"refused"`
}

// Plan is one size of a study. Given says which of Difference and Items is
// given; the other is computed. A margin is a Difference that the items exclude.
type Plan struct {
	Study        int             `json:"study"` // index
	Samples      int             `json:"samples"`
	Given        string          `json:"given"`        // "difference", "margin" or "items"
	Difference   crosstalk.Value `json:"difference"`   // detected with the stated power
	Items        crosstalk.Value `json:"items"`        // with a value under both conditions
	Observations crosstalk.Value `json:"observations"` // Items x Samples, under each condition
}

// Plan plans studies for a goal: the items that each difference needs, and the
// difference that each number of items detects, for each number of samples.
func (g Goal) Plan(studies []Study) (Power, error) {
	p := Power{Schema: powerSchema, Goal: g, Power: power, Comparisons: 1, Studies: studies, Plans: []Plan{},
		Refused: []Refusal{}}
	switch {
	case !(g.Level > 0 && g.Level < 1):
		return p, fmt.Errorf("the level is %g; expected a number between 0 and 1, such as 0.95", g.Level)
	case len(g.Differences) == 0 && len(g.Items) == 0 && len(g.Margins) == 0:
		return p, fmt.Errorf("expected a difference to find, a margin or a number of items")
	}
	g.Differences = slices.Clone(g.Differences)
	for i, d := range g.Differences {
		g.Differences[i] = math.Abs(d)
	}
	p.Goal = g
	alpha := 1 - g.Level
	for i, s := range studies {
		for _, samples := range g.Samples {
			if samples < 1 {
				return p, fmt.Errorf("the number of samples is %d; expected 1 or more", samples)
			}
			if samples > 1 && s.stated != nil && s.Variance.Sample == 0 {
				return p, crosstalk.BadOption("samples", " %s needs --assume within=, the share of the variance between "+
					"answers to the same prompt; without it, more answers do not help",
					strings.Trim(strings.Join(strings.Fields(fmt.Sprint(g.Samples)), ","), "[]"))
			}
			for _, d := range g.Differences {
				if !(d > 0 && d < 1) {
					return p, fmt.Errorf("the difference is %g; expected more than 0 and less than 1", d)
				}
				if s.stated != nil && math.IsNaN(float64(s.stated(d).Item)) {
					return p, fmt.Errorf("a difference of %g is impossible here: it cannot exceed the share of items on which "+
						"the conditions disagree", d)
				}
				p.Plans = append(p.Plans, plan(i, samples, "difference", d, s.design(d, samples).Items(d, alpha, power)))
			}
			for _, m := range g.Margins {
				if !(m > 0 && m < 1) {
					return p, fmt.Errorf("the margin is %g; expected more than 0 and less than 1", m)
				}
				p.Plans = append(p.Plans, plan(i, samples, "margin", m, math.Ceil(s.itemsForMargin(m, samples, g.Level))))
			}
			for _, n := range g.Items {
				if n < 1 {
					return p, fmt.Errorf("the number of items is %d; expected 1 or more", n)
				}
				p.Plans = append(p.Plans, plan(i, samples, "items", s.detectable(float64(n), samples, alpha), float64(n)))
			}
		}
	}
	return p, nil
}

func plan(study, samples int, given string, difference, items float64) Plan {
	return Plan{study, samples, given, crosstalk.Value(difference), crosstalk.Value(items),
		crosstalk.Value(items * float64(samples))}
}

// itemsForMargin is the number of items with which a gate passes if nothing has changed:
// as many items get better as get worse, and clusters count as the gate counts them.
func (s Study) itemsForMargin(margin float64, samples int, level float64) float64 {
	d := s.design(0, samples)
	effect := math.Max(d.Effect, 1+(s.ClusterSize-1)*stats.LeastICC)
	half := (d.Between + d.Within/float64(d.Samples)) / 2
	return effect * stats.Discordance{Wins: half, Losses: half}.ItemsForMargin(margin, level, power)
}

func (s Study) design(difference float64, samples int) stats.Design {
	v := s.Variance
	if s.stated != nil {
		v = s.stated(difference)
	}
	return stats.Components{Cluster: float64(v.Cluster), Item: float64(v.Item),
		Sample: float64(v.Sample)}.Design(samples, s.ClusterSize)
}

// detectable is the difference that this many items detect; NaN if it is
// impossible. The variance of stated rates depends on the difference, so it is
// found by bisection.
func (s Study) detectable(items float64, samples int, alpha float64) float64 {
	if s.stated == nil {
		return stats.MinDetectable(s.design(0, samples).StdErr(items), alpha, power)
	}
	needed := func(d float64) float64 { return s.design(d, samples).Items(d, alpha, power) }
	low, high := 0.0, 1.0
	for range 60 {
		if d := (low + high) / 2; needed(d) > items {
			low = d
		} else {
			high = d // also if the difference is impossible
		}
	}
	if !(needed(high) <= items) {
		return math.NaN()
	}
	return high
}
