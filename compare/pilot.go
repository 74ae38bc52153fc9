package compare

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"crosstalk"
	"crosstalk/internal/ordered"
	"crosstalk/measure/stats"
	"crosstalk/report"
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
			refused = append(refused, p.of.refusal(NotLinear))
		case p.of.Unit != "":
			refused = append(refused, p.of.refusal(NoFraction))
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
	NotLinear  = "a harmonic mean has no variance per item: plan for the measures it combines"
	NoFraction = "a difference in points does not apply: the measure is not a fraction"
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

// Stated returns a study of two rates, one of them stated, with the share of items on which one sample of each
// condition disagrees (NaN: as for independent conditions), the share of the variance between samples of an item, and
// the correlation of the differences of two items in a cluster.
func Stated(rate, discordant, within, correlation, clusterSize float64) (Study, error) {
	s := Study{ClusterSize: clusterSize, stated: func(difference float64) Variance {
		other := rate + difference // towards a half, where rates vary more
		if rate >= 0.5 {
			other = rate - difference
		}
		share := discordant
		if math.IsNaN(share) {
			share = stats.IndependentDiscordance(rate, other)
		}
		v := stats.PairedRates(rate, other, share).Between
		return Variance{crosstalk.Value(correlation), crosstalk.Value(1 - correlation - within),
			crosstalk.Value(within)}.times(v)
	}}
	for name, share := range map[string]float64{"rate": rate, "share of disagreement": discordant,
		"share within items": within, "correlation within clusters": correlation} {
		if share < 0 || share > 1 {
			return s, fmt.Errorf("the %s is %g; expected 0 to 1", name, share)
		}
	}
	if correlation+within > 1 {
		return s, fmt.Errorf("the correlation within clusters is %g and the share within items %g: together they exceed "+
			"the whole variance", correlation, within)
	}
	if !(clusterSize >= 1) {
		return s, fmt.Errorf("the cluster size is %g; expected 1 or more", clusterSize)
	}
	s.Variance = s.stated(0)
	return s, nil
}

// VarianceSchema names the machine format of variances.
const VarianceSchema = "crosstalk/variance/v1"

// Spread splits the variance of one answer's value into components, as shares of their sum, averaged over conditions.
// Components that the data cannot separate are undefined and part of Item.
type Spread struct {
	Subject                    // without a condition
	Conditions int             `json:"conditions"`
	Items      int             `json:"items"`
	Condition  crosstalk.Value `json:"condition"` // between figures of conditions, beyond chance from their items
	Cluster    crosstalk.Value `json:"cluster"`
	Item       crosstalk.Value `json:"item"`
	Sample     crosstalk.Value `json:"sample"` // between answers to the same prompt
	ICC        crosstalk.Value `json:"icc"`    // the correlation of two items of a cluster under one condition
}

// WriteVariances writes the components of variance of a run's figures, in one of report.Formats.
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
		v := study.Variance.times(.5 / float64(k)) // one condition was used for both
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
