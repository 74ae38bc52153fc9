package compare

import (
	"fmt"
	"math"
	"slices"

	"crosstalk"
	"crosstalk/measure/stats"
)

// powerSchema names the machine format of a Power.
const powerSchema = "crosstalk/power/v1"

// power is a plan's probability of detecting an existing difference.
const power = 0.8

// Goal is the effect that a study should detect.
type Goal struct {
	Level       float64   `json:"level"` // 0.95
	Samples     []int     `json:"-"`     // answers to each prompt
	Differences []float64 `json:"-"`     // to detect, in either direction
	Margins     []float64 `json:"-"`     // for a gate to pass if nothing has changed
	Items       []int     `json:"-"`     // item counts to evaluate
}

// Power is the result of planning.
type Power struct {
	Schema string `json:"schema"`
	Goal
	Power       float64   `json:"power"`       // probability of detecting an existing difference: 0.8
	Comparisons int       `json:"comparisons"` // in the family: 1; Level allows for others
	Studies     []Study   `json:"studies"`
	Plans       []Plan    `json:"plans"`
	Refused     []Refusal `json:"refused"`
}

// GivenMargin is the value of Given in plans for a margin.
const GivenMargin = "margin"

// Plan is one size of a study. Given states which of Difference and Items is given; the other is computed. A margin is
// a Difference that the items rule out.
type Plan struct {
	Study        int             `json:"study"` // index
	Samples      int             `json:"samples"`
	Given        string          `json:"given"`        // "difference", "margin" or "items"
	Difference   crosstalk.Value `json:"difference"`   // detected with the stated power
	Items        crosstalk.Value `json:"items"`        // with a value under both conditions
	Observations crosstalk.Value `json:"observations"` // Items x Samples, under each condition
}

// Plan plans studies for a goal: for each number of samples, the items that each difference needs, and the difference
// that each number of items detects.
func (g Goal) Plan(studies []Study) (Power, error) {
	g.Differences = slices.Clone(g.Differences)
	for i, d := range g.Differences {
		g.Differences[i] = math.Abs(d)
	}
	p := Power{Schema: powerSchema, Goal: g, Power: power, Comparisons: 1, Studies: studies, Plans: []Plan{},
		Refused: []Refusal{}}
	switch {
	case !(g.Level > 0 && g.Level < 1):
		return p, fmt.Errorf("the level is %g; expected a number between 0 and 1, such as 0.95", g.Level)
	case len(g.Differences) == 0 && len(g.Items) == 0 && len(g.Margins) == 0:
		return p, fmt.Errorf("expected a difference to find, a margin or a number of items")
	}
	alpha := 1 - g.Level
	for i, s := range studies {
		for _, samples := range g.Samples {
			if samples < 1 {
				return p, fmt.Errorf("the number of samples is %d; expected 1 or more", samples)
			}
			if samples > 1 && s.stated != nil {
				return p, crosstalk.BadOption("samples", " is %d; expected a pilot run, which tells how much answers to the same "+
					"prompt differ", samples)
			}
			for _, d := range g.Differences {
				if !(d > 0 && d < 1) {
					return p, fmt.Errorf("the difference is %g; expected more than 0 and less than 1", d)
				}
				p.Plans = append(p.Plans, plan(i, samples, "difference", d, s.design(d, samples).Items(d, alpha, power)))
			}
			for _, m := range g.Margins {
				if !(m > 0 && m < 1) {
					return p, fmt.Errorf("the margin is %g; expected more than 0 and less than 1", m)
				}
				p.Plans = append(p.Plans, s.forMargin(m, samples, g.Level, i))
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
	return Plan{Study: study, Samples: samples, Given: given, Difference: crosstalk.Value(difference),
		Items: crosstalk.Value(items), Observations: crosstalk.Value(items * float64(samples))}
}

// forMargin plans the items that show that a loss is at most a margin if nothing has changed: as many items get better
// as get worse, and clusters count as in the gate.
func (s Study) forMargin(margin float64, samples int, level float64, number int) Plan {
	d := s.design(0, samples)
	effect := math.Max(d.Effect, 1+(s.ClusterSize-1)*stats.LeastICC)
	half := (d.Between + d.Within/float64(d.Samples)) / 2
	counts := stats.Discordance{Wins: half, Losses: half}.ItemsForMargin(margin, level, power)
	return plan(number, samples, GivenMargin, margin, math.Ceil(effect*counts))
}

func (s Study) design(difference float64, samples int) stats.Design {
	v := s.Variance
	if s.stated != nil {
		v = s.stated(difference)
	}
	d := stats.Components{Cluster: float64(v.Cluster), Item: float64(v.Item),
		Sample: float64(v.Sample)}.Design(samples, s.ClusterSize)
	if s.stated != nil && s.ClusterSize == 1 {
		d.Null = difference * difference
	}
	return d
}

// detectable returns the difference that this many items detect; NaN if there is none. The variance of stated rates
// depends on the difference, so the difference is found by bisection.
func (s Study) detectable(items float64, samples int, alpha float64) float64 {
	if s.stated == nil {
		return s.design(0, samples).Detectable(items, alpha, power)
	}
	needed := func(d float64) float64 { return s.design(d, samples).Needs(items, d, alpha, power) }
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
