package study

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/measure/estimate"
	"crosstalk/run"
	"crosstalk/run/view"
)

// Figures says which figures of a finished run to compute.
type Figures struct {
	View view.View

	// By are the columns that figures are grouped by: there is a figure for each
	// prefix of them. Nil: as when they were measured.
	By []string
	// Cross are columns that are crossed instead: there is a figure for each
	// combination of their values, those over all values of a column among them.
	// It goes before By.
	Cross []string

	Measures []string // nil: all

	plain bool // grouped by columns of observations only; an unknown one is a *crosstalk.OptionError of "by"
}

// Of computes the figures of a run. It reads the run's observations once. An error
// about the view or the columns names what the run has.
func (f Figures) Of(path string) ([]crosstalk.Estimate, error) {
	all, err := figuresOf(path, f)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// figuresOf computes several sets of figures of a run in one pass.
func figuresOf(path string, figures ...Figures) (all [][]crosstalk.Estimate, err error) {
	manifest, err := finished(path)
	if err != nil {
		return nil, err
	}
	s, err := newSummary(path, manifest, figures...)
	if err != nil {
		return nil, err
	}
	for o, err := range run.ReadValues(path, s.kind.Reads...) {
		if err != nil {
			return nil, err
		}
		s.known.Add(o.Labels)
		s.known.Add(o.Condition)
		s.Add(o)
	}
	for i := range s.sets {
		if err := s.sets[i].check(s.kind, s.known); err != nil {
			return nil, err
		}
	}
	for i := range s.sets {
		estimates, err := s.estimates(i)
		if err != nil {
			return nil, err
		}
		all = append(all, estimates)
	}
	return all, nil
}

// check checks the columns; known are those of the observations.
func (f *set) check(kind crosstalk.Kind, known Columns) error {
	if f.plain {
		return known.Check(f.By)
	}
	known = maps.Clone(known)
	known[view.SampleColumn] = true
	if err := f.reader.Check(slices.Sorted(maps.Keys(known))); err != nil {
		return err
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
			return known.Unknown(column)
		}
	}
	return nil
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
		reader := f.reader()
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
		is := func(e crosstalk.Estimate) bool { return instrument.Chosen([]string{m}, e.Measure) }
		if !slices.ContainsFunc(estimates, is) {
			return fmt.Errorf("unknown measure %q; choose one of: %s", m, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
	}
	return nil
}

// reader returns a reader of the view.
func (f Figures) reader() *view.Reader { return f.View.Reader(slices.Concat(f.By, f.Cross)...) }

// split returns the choices of figures, and leaves to the view those of observations,
// which do not have some columns and values. What needs such columns is grouped by
// what gives figures these columns.
func (f Figures) split(kind crosstalk.Kind) (Figures, []view.Choice) {
	choices := f.View.Only
	f.View.Only = nil
	for _, c := range choices {
		column := kind.Column(c.Column)
		if column.OfFigures {
			continue
		}
		var values []string
		for _, v := range c.Values {
			if v = cmp.Or(column.Made[v], v); !slices.Contains(values, v) {
				values = append(values, v)
			}
		}
		f.View.Only = append(f.View.Only, view.Choice{Column: c.Column, Values: values})
	}
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
func (f *set) parts(kind crosstalk.Kind, p protocol, condition map[string]string) (parts []part) {
	if f.Cross == nil {
		by := f.By
		if by == nil {
			by = p.by
		}
		return []part{{nil, f.estimator(p.rules, by)}}
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
		parts = append(parts, part{of, f.estimator(p.rules, slices.Concat(of, derived))})
	}
	return parts
}

// estimator is one of figures by these columns. If groups are among those that are
// crossed, it takes an observation once for each group.
func (f *set) estimator(rules crosstalk.Rules, by []string) crosstalk.Estimator {
	e := rules.Estimator(by)
	if f.Cross != nil && slices.Contains(by, view.GroupColumn) {
		return members{e, f.reader}
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
