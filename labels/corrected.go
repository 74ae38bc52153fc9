package labels

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/instrument/confusion"
	"crosstalk/measure/estimate"
	"crosstalk/measure/stats"
)

// FigureColumn is the column that tells corrected figures from others.
const FigureColumn = "figure"

// Its values.
const (
	Uncorrected = "uncorrected"
	LabelsAlone = "labels alone"
	Corrected   = "corrected"
)

// Correct returns the figures of a run three times: as the instrument has them,
// those of people alone, and corrected: the mean that people would give to all
// answers, from their labels of some and the instrument's values of all
// (stats.Corrected, prediction-powered inference). Figures are given for each
// condition and judge, and for each value of each column of by. The strata are
// those of the exported samples. After ReadWords, WPR and LCPR are figures too.
//
// All are plain means over answers (of lines: over lines), also where the instrument averages over
// languages. An answer that several people labelled has the mean of their
// values; one that nobody can tell counts as not labelled. Signatures are those
// of own, the run's own figures, with a field for what is different.
func (s *Sheet) Correct(d Design, labels []Label, by []string, own []crosstalk.Estimate) ([]crosstalk.Estimate, error) {
	if err := s.CheckBy(by); err != nil {
		return nil, err
	}
	labels = s.own(labels)
	units, _ := s.judged(d.By(), labels)
	targets := s.targets(units, labels)
	var figures []*figure
	at := map[string]*figure{}
	for i, u := range s.judgements() {
		for k := -1; k < len(by); k++ {
			columns := maps.Clone(u.condition)
			for c, name := range by {
				if _, there := u.condition[name]; !there {
					columns[name] = crosstalk.All
				}
				if c == k {
					columns[name] = u.Column(name)
				}
			}
			if k >= 0 && u.condition[by[k]] != "" {
				continue
			}
			for t, target := range targets {
				values, given, ok := target.steps(i, u.by)
				if !ok {
					continue
				}
				id := string(crosstalk.Canonical([]any{k, t, columns}))
				f := at[id]
				if f == nil {
					f = &figure{target: target, by: columns, order: [2]int{t, k}, items: map[string]bool{}}
					at[id] = f
					figures = append(figures, f)
				}
				f.add(u.Unit, u.stratum(d.By()), values, given)
			}
		}
	}
	condition := func(f *figure) string {
		columns := maps.Clone(f.by)
		for _, c := range by {
			delete(columns, c)
		}
		return string(crosstalk.Canonical(columns))
	}
	slices.SortStableFunc(figures, func(a, b *figure) int { // those of one condition together, all first
		return cmp.Or(cmp.Compare(condition(a), condition(b)), slices.Compare(a.order[:], b.order[:]))
	})
	var estimates []crosstalk.Estimate
	for _, f := range figures {
		estimates = append(estimates, f.estimates(s.signature(own, f.measure, f.by), better(s.Question))...)
	}
	return estimates, nil
}

// judgement is what one judge, such as a similarity, says of a unit.
type judgement struct {
	*Unit
	by        Judged
	condition map[string]string // with the judge
}

// judgements yields all judgements with the number of their unit.
func (s *Sheet) judgements() iter.Seq2[int, judgement] {
	judge := instrument.Named(s.Question.Instrument).Judge
	return func(yield func(int, judgement) bool) {
		for i := range s.Units {
			u := &s.Units[i]
			for _, j := range u.Judged {
				condition := s.Question.apart(u)
				if judge != "" {
					condition[judge] = j.Judge
				}
				if !yield(i, judgement{u, j, condition}) {
					return
				}
			}
		}
	}
}

// target is a figure that labels correct: of, of the means of the steps that an
// answer passes. steps has what an instrument and people say of a unit; ok is
// false where the figure does not speak of it.
type target struct {
	measure string
	of      func(means []float64) float64
	steps   func(unit int, j Judged) (values, labels []float64, ok bool)
}

// targets are the question's measure and, if people marked words, those of words.
func (s *Sheet) targets(units []judgedUnit, labels []Label) []target {
	values := slices.Repeat([]float64{math.NaN()}, len(s.Units))
	for _, u := range units {
		values[s.At[u.key]] = u.value
	}
	measure := s.Question.Measure
	if s.Question.Name == Lines {
		measure = confusion.LineAccuracy
	}
	first := target{measure, func(means []float64) float64 { return means[0] },
		func(i int, j Judged) ([]float64, []float64, bool) { return []float64{j.Value}, values[i : i+1], true }}
	return append([]target{first}, s.wordTargets(labels)...)
}

// figure is one of a condition, a judge, or a value of a column.
type figure struct {
	target
	by       map[string]string
	order    [2]int           // of the target and the column
	steps    []stats.Clusters // the instrument's, each of those that pass the one before
	both     stats.Corrected
	clusters stats.ClusterNames // of steps
	items    map[string]bool
}

func (f *figure) add(u *Unit, stratum string, values, labels []float64) {
	if f.steps == nil {
		f.steps = make([]stats.Clusters, len(values))
	}
	passed := 1.0
	for k, v := range values {
		if passed > 0 {
			f.steps[k].Add(f.clusters.Number(u.Cluster), v/passed)
		}
		passed = v
	}
	f.both.AddSteps(u.Cluster, stratum, values, labels)
	f.items[u.Item] = true
}

// uncorrected is the instrument's own figure.
func (f *figure) uncorrected() stats.Estimate {
	if len(f.steps) == 1 {
		return stats.Mean(&f.steps[0], stats.Proportion, estimate.Level)
	}
	parts := make([]*stats.Clusters, len(f.steps))
	for k := range f.steps {
		parts[k] = &f.steps[k]
	}
	return stats.Combine(parts, func(rates []float64) float64 { // of those that pass the step before
		means := slices.Clone(rates)
		for k := 1; k < len(means); k++ {
			means[k] *= means[k-1]
		}
		return f.of(means)
	}, stats.Proportion, estimate.Level)
}

// estimates are the figure's three.
func (f *figure) estimates(signature string, better crosstalk.Direction) (list []crosstalk.Estimate) {
	c := f.both.EstimateOf(f.of, stats.Proportion, estimate.Level)
	for _, kind := range []struct {
		name, field string
		stats.Estimate
	}{
		{Uncorrected, "", f.uncorrected()},
		{LabelsAlone, fmt.Sprintf("labels:%d", c.Labelled), c.Labels},
		{Corrected, fmt.Sprintf("corrected:%d-labels", c.Labelled), c.Corrected},
	} {
		columns := maps.Clone(f.by)
		columns[FigureColumn] = kind.name
		e := crosstalk.Estimate{Measure: f.measure, N: len(f.items), Observations: kind.N, Clusters: kind.Clusters, By: columns,
			Counts: map[string]int{"labelled": c.Labelled}, Better: better, Signature: signature}
		if kind.field != "" {
			e.Signature = withField(signature, kind.field)
		}
		estimate.Set(&e, kind.Value, kind.Interval, kind.Warnings)
		list = append(list, e)
	}
	return list
}

// better is the direction of a question's measure: fewer faults.
func better(q Question) crosstalk.Direction {
	if q.FaultValue == 1 {
		return crosstalk.Lower
	}
	return crosstalk.Higher
}

// signature is that of the run's own figure of this measure with these columns.
func (s *Sheet) signature(own []crosstalk.Estimate, measure string, by map[string]string) string {
	mean := "mean:answers"
	if s.Question.Name == Lines {
		mean = "mean:lines"
	}
	for _, e := range own {
		if e.Measure != measure || !agree(e.By, by) {
			continue
		}
		if e.Average != nil || s.Question.Name == Lines {
			return withField(e.Signature, mean)
		}
		return e.Signature
	}
	return withField(estimate.Signature(by, measure), mean)
}

// agree reports whether the columns that two figures share have the same values,
// or one of them covers all.
func agree(a, b map[string]string) bool {
	for column, value := range a {
		if other, shared := b[column]; shared && other != value && other != crosstalk.All && value != crosstalk.All {
			return false
		}
	}
	return true
}

// withField adds a field to a signature, before the version.
func withField(signature, field string) string {
	i := strings.LastIndex(signature, "|v")
	if i < 0 {
		return signature + "|" + field
	}
	return signature[:i] + "|" + field + signature[i:]
}
