package study

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/measure/estimate"
	"crosstalk/run"
	"crosstalk/view"
)

// Figures says which figures of a finished run to compute.
type Figures struct {
	View view.View

	// By are the columns that figures are grouped by: there is a figure for each
	// prefix of them, as in Grouped. Nil: as when they were measured.
	By []string
	// Cross are columns that are crossed instead: there is a figure for each
	// combination of their values, those over all values of a column among them.
	// It goes before By.
	Cross []string

	Measures []string // nil: all
}

// Of computes the figures of a run. It reads the run's observations once. An error
// about the view or the columns names what the run has.
func (f Figures) Of(path string) ([]crosstalk.Estimate, error) {
	manifest, err := finished(path)
	if err != nil {
		return nil, err
	}
	if err := f.View.Check(); err != nil {
		return nil, err
	}
	kind := instrument.Named(manifest.Plan.Instrument)
	f, ofFigures := f.split(kind)
	reader := f.View.Reader()
	sums, err := newSums(path, manifest, func(s sum, condition map[string]string) []part {
		return f.parts(kind, s, condition, reader)
	})
	if err != nil {
		return nil, err
	}
	if err := sums.read(path, reader.Read); err != nil {
		return nil, err
	}
	known := sums.known
	known[view.SampleColumn] = true
	if err := reader.Check(slices.Sorted(maps.Keys(known))); err != nil {
		return nil, err
	}
	for _, c := range kind.Columns {
		if c.OfFigures {
			known[c.Key] = true
		}
	}
	if len(f.View.Groups) > 0 {
		known[view.GroupColumn] = true
	}
	for _, column := range slices.Concat(f.By, f.Cross) {
		if !known[column] {
			return nil, known.Unknown(column)
		}
	}
	var estimates []crosstalk.Estimate
	suites := f.suites(manifest.SuiteIDs())
	for i := range sums.all {
		estimates = append(estimates, f.once(sums.parts(i), suites)...)
	}
	if err := checkMeasures(estimates, f.Measures); err != nil {
		return nil, err
	}
	estimates = slices.DeleteFunc(estimates, func(e crosstalk.Estimate) bool {
		return len(f.Measures) > 0 && !slices.Contains(f.Measures, e.Measure) || !chosen(e, slices.Concat(f.View.Only, ofFigures))
	})
	for i := range estimates {
		f.sign(&estimates[i])
	}
	mark(manifest, estimates)
	return estimates, nil
}

// OfRuns computes the figures of several runs. Those of several have the column
// RunColumn, with the run's name, if Cross has it or if they differ in nothing else.
func (f Figures) OfRuns(paths, names []string) ([]crosstalk.Estimate, error) {
	apart := slices.Contains(f.Cross, RunColumn)
	f.Cross = slices.DeleteFunc(slices.Clone(f.Cross), func(column string) bool { return column == RunColumn })
	var all [][]crosstalk.Estimate
	seen := map[string]bool{}
	for _, path := range paths {
		estimates, err := f.Of(path)
		if err != nil {
			return nil, err
		}
		keys := map[string]bool{}
		for _, e := range estimates {
			keys[figureKey(e)] = true
		}
		for key := range keys {
			apart = apart || seen[key]
			seen[key] = true
		}
		all = append(all, estimates)
	}
	if apart && len(paths) > 1 {
		for i, estimates := range all {
			for _, e := range estimates {
				e.By[RunColumn] = names[i]
			}
		}
	}
	return slices.Concat(all...), nil
}

// Compare returns the figures of a run with the observations that they are about, as
// compare.Runs takes them. If the view has groups there are figures of groups only,
// since an observation may be in several.
func (f Figures) Compare(path string) ([]crosstalk.Estimate, iter.Seq2[crosstalk.Observation, error], error) {
	estimates, err := f.Of(path)
	if err != nil {
		return nil, nil, err
	}
	if len(f.View.Groups) > 0 {
		estimates = slices.DeleteFunc(estimates, func(e crosstalk.Estimate) bool { return e.By[view.GroupColumn] == "" })
	}
	manifest, err := run.ReadManifest(path)
	if err != nil {
		return nil, nil, err
	}
	f, _ = f.split(instrument.Named(manifest.Plan.Instrument))
	return estimates, func(yield func(crosstalk.Observation, error) bool) {
		reader := f.View.Reader()
		for o, err := range run.ReadValues(path) {
			if err != nil {
				yield(o, err)
				return
			}
			seen, in := reader.Read(o)
			if !in {
				continue
			}
			all := []crosstalk.Observation{seen}
			if len(f.View.Groups) > 0 {
				all = reader.Members()
			}
			for _, o := range all {
				if !yield(o, nil) {
					return
				}
			}
		}
	}, nil
}

// RunColumn is the column of the run's name in figures of several.
const RunColumn = "run"

// Compared are the columns whose values are compared: the model, the settings that
// vary within a run, and the run.
func Compared(paths []string) ([]string, error) {
	columns := []string{RunColumn, crosstalk.ModelColumn}
	for _, path := range paths {
		manifest, err := run.ReadManifest(path)
		if err != nil {
			return nil, err
		}
		for _, c := range manifest.Plan.Conditions {
			for column := range c.Name {
				if !slices.Contains(columns, column) {
					columns = append(columns, column)
				}
			}
		}
	}
	return columns, nil
}

// checkMeasures returns an error if there are no figures, or none of a measure.
func checkMeasures(estimates []crosstalk.Estimate, measures []string) error {
	known := Columns{}
	for _, e := range estimates {
		known[e.Measure] = true
	}
	for _, m := range measures {
		if !known[m] {
			return fmt.Errorf("unknown measure %q; choose one of: %s", m, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
	}
	return nil
}

// split takes choices of columns of figures from the view: observations do not have
// them. What needs such columns is grouped by what gives figures these columns.
func (f Figures) split(kind crosstalk.Kind) (Figures, []view.Choice) {
	var choices []view.Choice
	f.View.Only = slices.DeleteFunc(slices.Clone(f.View.Only), func(c view.Choice) bool {
		if of := kind.Column(c.Column).OfFigures; of {
			choices = append(choices, c)
			return true
		}
		return false
	})
	return f, choices
}

// suites names the suites of figures over all values of the column that names them.
func (f Figures) suites(ids crosstalk.SuiteIDs) crosstalk.SuiteIDs {
	if ids.All == "" && slices.Contains(f.View.Pool, ids.Column) {
		each := slices.Compact(slices.Sorted(maps.Values(ids.Each)))
		ids.All = strings.Join(each, "+")
	}
	return ids
}

// chosen reports whether a figure is of a chosen value in every column that it has
// one value of.
func chosen(e crosstalk.Estimate, choices []view.Choice) bool {
	return !slices.ContainsFunc(choices, func(c view.Choice) bool {
		v := e.By[c.Column]
		return v != "" && v != crosstalk.All && !slices.Contains(c.Values, v)
	})
}

// sign adds what the view does to a figure's signature.
func (f Figures) sign(e *crosstalk.Estimate) {
	fields := f.View.Fields()
	for _, g := range f.View.Groups {
		if g.Name == e.By[view.GroupColumn] {
			fields = append(fields, g.Field())
		}
	}
	e.Signature = estimate.Extend(e.Signature, fields...)
}

// parts are the figures by prefix, or those of each subset of the columns that are
// crossed. Every figure has the columns of its condition.
func (f Figures) parts(kind crosstalk.Kind, s sum, condition map[string]string, r *view.Reader) (parts []part) {
	if f.Cross == nil {
		by := f.By
		if by == nil {
			by = s.by
		}
		return []part{{nil, f.estimator(s.rules, by, r)}}
	}
	var crossed, derived []string
	for _, column := range f.Cross {
		_, constant := condition[column]
		switch {
		case kind.Column(column).OfFigures:
			derived = kind.Derived
		case !constant:
			crossed = append(crossed, column)
		}
	}
	if slices.ContainsFunc(f.Measures, func(m string) bool { return kind.Measure(m).ByClass }) {
		derived = kind.Derived
	}
	for subset := range 1 << len(crossed) {
		var of []string
		for i, column := range crossed {
			if subset&(1<<i) != 0 {
				of = append(of, column)
			}
		}
		parts = append(parts, part{of, f.estimator(s.rules, slices.Concat(of, derived), r)})
	}
	return parts
}

// estimator is one of figures by these columns. If groups are among those that are
// crossed, it takes an observation once for each group.
func (f Figures) estimator(rules crosstalk.Rules, by []string, r *view.Reader) crosstalk.Estimator {
	e := rules.Estimator(by)
	if f.Cross != nil && slices.Contains(by, view.GroupColumn) {
		return members{e, r}
	}
	return e
}

// members takes the observation that was read last once for each group that it is in.
type members struct {
	crosstalk.Estimator
	reader *view.Reader
}

func (m members) Add(crosstalk.Observation) {
	for _, member := range m.reader.Members() {
		m.Estimator.Add(member)
	}
}

// once returns each figure once: of a subset of columns those that have a value in
// all of them, for smaller subsets have the others.
func (f Figures) once(parts []part, suites crosstalk.SuiteIDs) (estimates []crosstalk.Estimate) {
	seen := map[string]bool{}
	for _, p := range parts {
		for _, e := range p.estimator.Estimates(suites) {
			if slices.ContainsFunc(p.of, func(c string) bool { return e.By[c] == "" || e.By[c] == crosstalk.All }) {
				continue
			}
			key := figureKey(e)
			if f.Cross == nil || !seen[key] {
				estimates = append(estimates, e)
			}
			seen[key] = true
		}
	}
	return estimates
}

// figureKey names a figure by its measure and the columns in which it has one value.
func figureKey(e crosstalk.Estimate) string {
	by := maps.Clone(e.By)
	maps.DeleteFunc(by, func(_, value string) bool { return value == crosstalk.All })
	return e.Measure + "\x00" + string(crosstalk.Canonical(by))
}
