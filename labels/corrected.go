package labels

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/instrument/consistency"
	"crosstalk/measure/estimate"
	"crosstalk/measure/stats"
	"crosstalk/run"
)

const figureColumn = "figure" // distinguishes corrected figures from others

// Values of figureColumn.
const (
	uncorrected = "uncorrected"
	labelsAlone = "labels alone"
	corrected   = "corrected"
)

// CorrectedOf returns each figure of a finished run that people's labels can correct, three times: from the instrument,
// from the labels alone, and corrected: an estimate of the mean that people would give to all answers, from their
// labels of some answers and the instrument's values of all (stats.Corrected, prediction-powered inference). There is a
// figure for each condition and judge, and for each value of each column of by. Samples were stratified by the columns
// of the exports. If people marked words, WPR and LCPR are corrected too. Notes name figures that could not be
// corrected.
//
// All figures are plain means over answers (for lines: over lines), even if the instrument averages over languages.
// People's labels of an answer are combined as in AgreementOf (labelledUnit); an answer that nobody can judge counts as
// not labelled. Signatures are the run's own, with an added field.
func CorrectedOf(path string, by []string) (estimates []crosstalk.Estimate, notes []string, err error) {
	labels, design, err := given(path)
	if err != nil {
		return nil, nil, err
	}
	own, err := run.ReadEstimates(path)
	if err != nil {
		return nil, nil, err
	}
	sheets, err := answered(path, labels, func(q Question) bool { return q.Fault != "" }) // others concern no figure
	if err == nil && len(sheets) == 0 {
		err = fmt.Errorf("%s: no label is of a question whose figure can be corrected", path)
	}
	if err != nil {
		return nil, nil, err
	}
	for _, sheet := range sheets {
		corrected, err := sheet.correct(design, labels, by, own)
		if err != nil {
			return nil, nil, err
		}
		estimates = append(estimates, corrected...)
		if sheet.words != nil && !sheet.markedWords(labels) {
			notes = append(notes, "WPR and LCPR are not corrected: no label marks a word")
		}
	}
	return estimates, notes, nil
}

func (s *Sheet) correct(d Design, labels []Label, by []string, own []crosstalk.Estimate) ([]crosstalk.Estimate, error) {
	if err := s.check("by", by); err != nil {
		return nil, err
	}
	labels = s.own(labels)
	strata := d.strata()
	units, _ := s.labelled(nil, labels)
	targets, people := s.targets(units, s.markedWords(labels)), map[string]labelledUnit{}
	for _, u := range units {
		people[u.key] = u
	}
	var figures []*figure
	at := map[string]*figure{}
	for u := range s.judgements() {
		for k := -1; k < len(by); k++ {
			if k >= 0 && u.condition[by[k]] != "" {
				continue
			}
			columns := maps.Clone(u.condition)
			for c, name := range by {
				if _, there := u.condition[name]; !there {
					columns[name] = crosstalk.All
				}
				if c == k {
					columns[name] = u.column(name)
				}
			}
			for t, target := range targets {
				values, given, ok := target.steps(u.at, u.by)
				if !ok {
					continue
				}
				id := string(crosstalk.Canonical([]any{k, t, columns}))
				f := at[id]
				if f == nil {
					f = &figure{target: target, by: columns, order: [2]int{t, k}, items: map[string]bool{}}
					f.parts = make([]*stats.Clusters, len(values))
					for step := range f.parts {
						f.parts[step] = &stats.Clusters{}
					}
					at[id] = f
					figures = append(figures, f)
				}
				f.add(u.Unit, u.stratum(strata), values, given)
				if labelled, is := people[u.key]; is {
					f.people = append(f.people, labelled)
				}
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
	slices.SortStableFunc(figures, func(a, b *figure) int { // same condition together, its total first
		return cmp.Or(cmp.Compare(condition(a), condition(b)), slices.Compare(a.order[:], b.order[:]))
	})
	var estimates []crosstalk.Estimate
	for _, f := range figures {
		estimates = append(estimates, f.estimates(s.Question, s.signature(own, f.measure, f.by))...)
	}
	return estimates, nil
}

// judgement is the finding of one judge, such as a similarity, in a unit.
type judgement struct {
	*Unit
	at        int // index of the unit
	by        Judged
	apart     map[string]string // columns that no figure mixes
	condition map[string]string // apart, with the judge
}

func (s *Sheet) judgements() iter.Seq[judgement] {
	judge := s.Question.kind.Judge
	return func(yield func(judgement) bool) {
		for i := range s.Units {
			u := &s.Units[i]
			apart := s.Question.apart(u)
			for _, j := range u.Judged {
				condition := maps.Clone(apart)
				if judge != "" {
					condition[judge] = j.Judge
				}
				if !yield(judgement{u, i, j, apart, condition}) {
					return
				}
			}
		}
	}
}

// target is a figure that labels correct: of is a function of the means of the steps that an answer passes. steps
// returns a unit's values from the instrument and from people; ok is false if the unit is not part of the figure.
type target struct {
	measure string
	of      func(means []float64) float64
	steps   func(unit int, j Judged) (values, labels []float64, ok bool)
}

// targets returns the question's measure and, if people marked words, the share of answers that pass the check of words
// among those that pass the check of lines (WPR), and the harmonic mean of both in the languages that have both (LCPR).
func (s *Sheet) targets(units []labelledUnit, marked bool) []target {
	values := slices.Repeat([]float64{math.NaN()}, len(s.Units))
	for _, u := range units {
		values[s.at[u.key]] = u.value
	}
	first := target{s.Question.Measure, func(means []float64) float64 { return means[0] },
		func(i int, j Judged) ([]float64, []float64, bool) { return []float64{j.Value}, values[i : i+1], true }}
	corrects := s.Question.Corrects
	if corrects != nil {
		first.measure = corrects[0]
	}
	if !marked {
		return []target{first}
	}
	given := s.passes(units)
	steps := func(i int, j Judged) ([]float64, []float64, bool) {
		right, known := s.words[i]
		return []float64{j.Value, j.Value * right}, given[i][:], known
	}
	share := func(means []float64) float64 { return means[1] / means[0] }
	harmonic := func(means []float64) float64 {
		lines, words := means[0], share(means)
		return 2 * lines * words / (lines + words)
	}
	return []target{first, {corrects[1], share, steps}, {corrects[2], harmonic, steps}}
}

// markedWords reports whether people marked any words. If not, they may not have been asked to.
func (s *Sheet) markedWords(labels []Label) bool {
	return s.words != nil && slices.ContainsFunc(s.own(labels), func(l Label) bool { return len(l.Words) > 0 })
}

// passes returns, for each unit, two shares of its deciding labels that have a value: labels without a wrong line, and
// labels without a wrong line or word.
func (s *Sheet) passes(units []labelledUnit) [][2]float64 {
	list := slices.Repeat([][2]float64{{math.NaN(), math.NaN()}}, len(s.Units))
	for _, u := range units {
		sum, n := [2]float64{}, 0.0
		for _, l := range u.deciding {
			right := s.Question.value(l.Label)
			if math.IsNaN(right) {
				continue
			}
			n++
			sum[0] += right
			if len(l.Words) == 0 {
				sum[1] += right
			}
		}
		list[s.at[u.key]] = [2]float64{sum[0] / n, sum[1] / n}
	}
	return list
}

// figure is the figure of a condition, a judge, or a value of a column.
type figure struct {
	target
	by       map[string]string
	order    [2]int             // by target, then column
	parts    []*stats.Clusters  // the instrument's values at each step, for units that pass the step before
	clusters stats.ClusterNames // clusters of parts
	both     stats.Corrected
	items    map[string]bool
	people   []labelledUnit
}

func (f *figure) add(u *Unit, stratum string, values, labels []float64) {
	passed := 1.0
	for k, v := range values {
		if passed > 0 {
			f.parts[k].Add(f.clusters.Number(u.Cluster), v/passed)
		}
		passed = v
	}
	f.both.Add(u.Cluster, stratum, values, labels)
	f.items[u.Item] = true
}

func (f *figure) uncorrected() stats.Estimate {
	if len(f.parts) == 1 {
		return stats.Mean(f.parts[0], stats.Proportion, estimate.Level)
	}
	return stats.Combine(f.parts, func(rates []float64) float64 { // each among units that pass the step before
		means := slices.Clone(rates)
		for k := 1; k < len(means); k++ {
			means[k] *= means[k-1]
		}
		return f.of(means)
	}, stats.Proportion, estimate.Level)
}

func (f *figure) estimates(q Question, signature string) (list []crosstalk.Estimate) {
	people, warnings := q.quality(f.people)
	if people.Adjudicated > 0 {
		signature = estimate.Extend(signature, fmt.Sprintf("adjudicated:%d", people.Adjudicated))
	}
	c := f.both.Estimate(f.of, stats.Proportion, estimate.Level)
	for _, kind := range []struct {
		name, field string
		stats.Estimate
	}{
		{uncorrected, "", f.uncorrected()},
		{labelsAlone, fmt.Sprintf("labels:%d", c.Labelled), c.Labels},
		{corrected, fmt.Sprintf("corrected:%d-labels", c.Labelled), c.Corrected},
	} {
		columns := maps.Clone(f.by)
		columns[figureColumn] = kind.name
		e := crosstalk.Estimate{Measure: f.measure, N: len(f.items), Observations: kind.N, Clusters: kind.Clusters,
			By: columns, Counts: map[string]int{"labelled": c.Labelled}, Better: instrument.Measure(f.measure).Better,
			Signature: signature,
			People:    &people}
		estimate.Set(&e, kind.Value, kind.Interval, kind.Warnings)
		if kind.field != "" {
			e.Signature, e.Warnings = estimate.Extend(signature, kind.field), append(e.Warnings, warnings...)
		}
		list = append(list, e)
	}
	return list
}

// Labels with a kappa below leastKappa, or with more undecided answers than mostUntold, cannot correct figures.
const (
	leastKappa = 0.6
	mostUntold = 0.05
)

// quality returns how far the labels of units can be trusted, and warnings if they cannot.
func (q Question) quality(units []labelledUnit) (p crosstalk.People, warnings []string) {
	untold := 0.0
	for _, u := range units {
		if math.IsNaN(u.value) {
			untold++
		}
		if u.decided {
			p.Adjudicated++
		}
	}
	p.CannotTell = crosstalk.Value(untold / float64(len(units)))
	sum, n := 0.0, 0.0
	for i, a := range annotators(units) {
		for _, b := range annotators(units)[:i] {
			both, kappa := agreeing(units, a, b)
			if k := kappa(indexes(len(both))); !math.IsNaN(k) {
				sum, n = sum+k*float64(len(both)), n+float64(len(both))
			}
		}
	}
	if p.Kappa = crosstalk.Value(sum / n); p.Kappa < leastKappa {
		warnings = append(warnings,
			"annotators agree little (kappa is below 0.6): do not take their labels for the truth")
	}
	if p.CannotTell > mostUntold {
		warnings = append(warnings, "people could not tell of more than 5 % of the labelled answers, which are left out")
	}
	return p, warnings
}

// signature returns the signature of the run's own figure with these columns.
func (s *Sheet) signature(own []crosstalk.Estimate, measure string, by map[string]string) string {
	lines := s.Question.Unit.Lines
	mean := "mean:answers"
	if lines {
		mean = "mean:lines"
	}
	for _, e := range own {
		if e.Measure != measure || !agree(e.By, by) {
			continue
		}
		if e.Average != nil || lines {
			return estimate.Extend(e.Signature, mean)
		}
		return e.Signature
	}
	return estimate.Extend(estimate.Signature(by, measure), mean)
}

// agree reports whether the columns that two figures share have the same values, or one of them covers all.
func agree(a, b map[string]string) bool {
	for column, value := range a {
		if other, shared := b[column]; shared && other != value && other != crosstalk.All && value != crosstalk.All {
			return false
		}
	}
	return true
}

// Overrides returns the readings that the majority of people gives the answers of a finished consistency run, from the
// labels of the question Reading. If people cannot tell or disagree, an answer has none.
func Overrides(path string) (consistency.Overrides, error) {
	manifest, err := run.ReadManifest(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s is not a run directory: "+
			"expected one written by 'crosstalk run consistency' or 'score consistency --out'", path)
	case err != nil:
		return nil, err
	case manifest.Plan.Instrument != consistency.Kind().Name:
		return nil, fmt.Errorf("%s is a run of %s; expected one of consistency", path, manifest.Plan.Instrument)
	}
	sheet, err := Open(path, Reading)
	if err != nil {
		return nil, err
	}
	labels, _, err := given(path)
	if err != nil {
		return nil, err
	}
	return sheet.overrides(labels), nil
}

func (s *Sheet) overrides(labels []Label) consistency.Overrides {
	overrides := consistency.Overrides{}
	units, _ := s.labelled(nil, s.own(labels))
	for _, u := range units {
		if u.majority == cannotTell {
			continue
		}
		who, agreed := slices.Sorted(maps.Keys(u.labels)), 0
		for _, label := range u.labels {
			if label == u.majority {
				agreed++
			}
		}
		reason := []string{fmt.Sprintf("labelled so by %d of %d", agreed, len(u.labels))}
		for _, l := range u.all {
			if u.labels[l.Annotator] == "" { // they are an adjudicator
				reason[0], who = "decided by "+l.Annotator, append(who, l.Annotator)
			}
			if l.Comment != "" {
				reason = append(reason, l.Comment)
			}
		}
		class := u.majority
		if class == noClass {
			class = ""
		}
		a := u.alike
		overrides[consistency.Answered{Task: a[0], Instruction: a[1], Text: a[2]}] = consistency.Override{
			Class: class, Reviewer: strings.Join(who, ", "), Reason: strings.Join(reason, "; ")}
	}
	return overrides
}
