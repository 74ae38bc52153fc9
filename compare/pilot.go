package compare

import (
	"fmt"
	"slices"

	"crosstalk"
	"crosstalk/internal/ordered"
	"crosstalk/measure/stats"
)

// Study contains the variance for a planned comparison, either estimated from a pilot or stated.
type Study struct {
	*Subject // of the pilot; nil if stated

	Variance    Variance                          `json:"variance"`
	ClusterSize float64                           `json:"cluster_size"` // mean over items
	Items       int                               `json:"items"`        // in the pilot; 0 if stated
	Samples     int                               `json:"samples"`      // most answers to a prompt in the pilot
	Warnings    []string                          `json:"warnings,omitempty"`
	stated      func(difference float64) Variance // of a stated difference between rates
}

// Variance is the variance of the difference of one sample, by component.
// Components that a pilot cannot separate are undefined and included in Item.
type Variance struct {
	Cluster crosstalk.Value `json:"cluster"`
	Item    crosstalk.Value `json:"item"`
	Sample  crosstalk.Value `json:"sample"`
}

func (v Variance) times(f float64) Variance {
	k := crosstalk.Value(f)
	return Variance{k * v.Cluster, k * v.Item, k * v.Sample}
}

// Pilots estimates the variances of the comparisons that Runs would make. It keeps the runs' observations in memory. If
// there is only one condition, the other is assumed to have the same variance and to be independent, which
// overestimates the variance of most comparisons.
func Pilots(runs []Run, o Options) ([]Study, []Refusal, error) {
	t, err := o.read(runs, true)
	if err != nil {
		return nil, nil, err
	}
	if err := o.check(t); err != nil {
		return nil, nil, err
	}
	var pairs []pair
	refused := []Refusal{}
	if len(t.sides) == 1 {
		for _, figures := range o.families(t) {
			pairs = append(pairs, pair{of: figures[0], against: figures[0]})
		}
	} else {
		pairs, refused = o.choose(t)
	}
	var studies []Study
	for _, p := range pairs {
		switch {
		case len(t.averageOf(p.of).measures) > 1:
			refused = append(refused, p.of.refusal(notLinear))
		case p.of.Unit != "":
			refused = append(refused, p.of.refusal(noFraction))
		default:
			studies = append(studies, t.study(p))
		}
	}
	if len(studies) == 0 {
		return nil, refused, nothing(t, refused)
	}
	return studies, refused, nil
}

// Reasons why nothing is planned for a figure.
const (
	notLinear  = "a harmonic mean has no variance per item: plan for the measures it combines"
	noFraction = "a difference in points does not apply: the measure is not a fraction"
)

// study estimates the components of variance from the paired samples, within the cells of the figure.
func (t *table) study(p pair) Study {
	subject := p.subject()
	s := Study{Subject: &subject}
	m := t.match(p, Options{})
	alone := p.of.side == p.against.side
	d := m.differences
	of, against := d.means(d.of), d.means(d.against)
	var n stats.Nested
	a, b := m.values(0, 0), m.values(1, 0)
	for _, cluster := range ordered.Groups(m.pairs, t.cluster) {
		var items [][]float64
		for _, i := range cluster {
			k := t.cell(m.average, i, 0)
			var samples []float64
			for _, x := range a.samples[i] {
				if alone {
					samples = append(samples, x.value-of[k])
					continue
				}
				same := func(y sample) bool { return y.number == x.number }
				if at := slices.IndexFunc(b.samples[i], same); at >= 0 {
					samples = append(samples, x.value-b.samples[i][at].value-(of[k]-against[k]))
				}
			}
			if samples != nil {
				items = append(items, samples)
			}
			s.Samples = max(s.Samples, len(samples))
		}
		if items != nil {
			n = append(n, items)
		}
		s.Items += len(items)
	}
	v := n.Components()
	s.Variance = Variance{crosstalk.Value(v.Cluster), crosstalk.Value(v.Item), crosstalk.Value(v.Sample)}
	if alone {
		s.Variance = s.Variance.times(2)
		s.Reference = map[string]string{}
		s.Warnings = append(s.Warnings, "the pilot has one condition: the other is assumed to vary as much and to be "+
			"independent, so most comparisons need fewer items than stated")
	}
	s.ClusterSize = n.ClusterSize()
	for _, w := range stats.Mean(n.Flat(), stats.Unbounded, 0.95).Warnings {
		s.Warnings = append(s.Warnings, "pilot: "+w.String())
	}
	if left := total(m.leftOut); left > 0 {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%d of the pilot's %d items have no pair of values: plan for as many "+
			"more", left, left+len(m.pairs)))
	}
	if k := len(d.cells); k > 1 {
		s.Warnings = append(s.Warnings, fmt.Sprintf("items are assumed to be spread evenly over the %d cells that are "+
			"averaged", k))
	}
	return s
}

func total(counts map[string]int) (n int) {
	for _, k := range counts {
		n += k
	}
	return n
}

// Stated returns a study of a rate, 0 to 1, and another that differs, on the same items without clusters, as if the two
// conditions were independent.
func Stated(rate float64) (Study, error) {
	if !(rate >= 0 && rate <= 1) {
		return Study{}, fmt.Errorf("the rate is %g; expected 0 to 1", rate)
	}
	s := Study{ClusterSize: 1, stated: func(difference float64) Variance {
		other := rate + difference // towards a half, where rates vary more
		if rate >= 0.5 {
			other = rate - difference
		}
		share := stats.IndependentDiscordance(rate, other)
		return Variance{Item: crosstalk.Value(stats.PairedRates(rate, other, share).Between)}
	}}
	s.Variance = s.stated(0)
	return s, nil
}
