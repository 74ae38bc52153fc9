package labels

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/instrument"
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
// those of the exported samples.
//
// All are plain means over answers, also where the instrument averages over
// languages. An answer that several people labelled has the mean of their
// values; one that nobody can tell counts as not labelled. Signatures are those
// of own, the run's own figures, with a field for what is different.
func (s *Sheet) Correct(d Design, labels []Label, by []string, own []crosstalk.Estimate) ([]crosstalk.Estimate, error) {
	if err := s.CheckBy(by); err != nil {
		return nil, err
	}
	labels = s.own(labels)
	values := make([]float64, len(s.Units))
	for i := range values {
		values[i] = math.NaN()
	}
	units, _ := s.judged(d.By(), labels)
	for _, u := range units {
		values[s.At[u.key]] = u.value
	}
	judge := instrument.Named(s.Question.Instrument).Judge
	type figure struct {
		by      map[string]string
		column  int // of by; -1: all
		instr   stats.Clusters
		correct stats.Corrected
		n       map[string]bool // items
	}
	var figures []*figure
	at := map[string]*figure{}
	for i := range s.Units {
		u := &s.Units[i]
		for _, j := range u.Judged {
			apart := s.Question.apart(u)
			if judge != "" {
				apart[judge] = j.Judge
			}
			for k := -1; k < len(by); k++ {
				columns := maps.Clone(apart)
				for c, name := range by {
					if _, there := apart[name]; !there {
						columns[name] = crosstalk.All
					}
					if c == k {
						columns[name] = u.Column(name)
					}
				}
				if k >= 0 && apart[by[k]] != "" {
					continue
				}
				id := string(crosstalk.Canonical([]any{k, columns}))
				f := at[id]
				if f == nil {
					f = &figure{by: columns, column: k, n: map[string]bool{}}
					at[id] = f
					figures = append(figures, f)
				}
				f.instr.Add(u.Cluster, j.Value)
				f.correct.Add(u.Cluster, u.stratum(d.By()), j.Value, values[i])
				f.n[u.Item] = true
			}
		}
	}
	slices.SortStableFunc(figures, func(a, b *figure) int { // those of one condition together, all first
		condition := func(f *figure) string {
			columns := maps.Clone(f.by)
			for _, c := range by {
				delete(columns, c)
			}
			return string(crosstalk.Canonical(columns))
		}
		return cmp.Or(cmp.Compare(condition(a), condition(b)), cmp.Compare(a.column, b.column))
	})
	var estimates []crosstalk.Estimate
	for _, f := range figures {
		c := f.correct.Estimate(stats.Proportion, estimate.Level)
		for _, kind := range []struct {
			name string
			stats.Estimate
		}{{Uncorrected, stats.Mean(&f.instr, stats.Proportion, estimate.Level)}, {LabelsAlone, c.Labels}, {Corrected, c.Corrected}} {
			columns := maps.Clone(f.by)
			columns[FigureColumn] = kind.name
			e := crosstalk.Estimate{Measure: s.Question.Measure, N: len(f.n), Observations: kind.N, Clusters: kind.Clusters,
				By: columns, Counts: map[string]int{"labelled": c.Labelled}, Better: better(s.Question)}
			e.Signature = s.signature(own, f.by)
			switch kind.name {
			case LabelsAlone:
				e.Signature = withField(e.Signature, fmt.Sprintf("labels:%d", c.Labelled))
			case Corrected:
				e.Signature = withField(e.Signature, fmt.Sprintf("corrected:%d-labels", c.Labelled))
			}
			estimate.Set(&e, kind.Value, kind.Interval, kind.Warnings)
			estimates = append(estimates, e)
		}
	}
	return estimates, nil
}

// better is the direction of a question's measure: fewer faults.
func better(q Question) crosstalk.Direction {
	if q.FaultValue == 1 {
		return crosstalk.Lower
	}
	return crosstalk.Higher
}

// signature is that of the run's own figure with these columns.
func (s *Sheet) signature(own []crosstalk.Estimate, by map[string]string) string {
	for _, e := range own {
		if e.Measure != s.Question.Measure || !agree(e.By, by) {
			continue
		}
		if e.Average != nil {
			return withField(e.Signature, "mean:answers")
		}
		return e.Signature
	}
	return withField(estimate.Signature(by, s.Question.Measure), "mean:answers")
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
