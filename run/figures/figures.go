// Package figures computes figures of finished runs: for all observations or for some, by any of their columns.
package figures

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

// Set specifies which figures of a finished run to compute.
type Set struct {
	View view.View
	By   []string // columns: figures for each prefix of them; nil: those of the measurement
	// Cross lists columns to cross instead: figures for each combination of their values, including all values of a
	// column together. It takes precedence over By.
	Cross    []string
	Measures []string // nil: all
}

// written reports whether the figures are those in a run's directory.
func (f Set) written() bool {
	return f.By == nil && f.Cross == nil && f.Measures == nil && f.View.Empty()
}

// Of returns sets of figures of a finished run, in one pass over its observations. If observations is nil, it
// reads only the parts that figures need. A caller that needs more passes all observations and so takes part in the
// pass. An unknown column of By or Cross is a *ColumnError; an error about the view lists what the run has.
func Of(path string, observations iter.Seq2[crosstalk.Observation, error], sets ...Set) (
	all [][]crosstalk.Estimate, err error) {
	written, err := run.ReadEstimates(path)
	if err != nil {
		return nil, err
	}
	computed := slices.DeleteFunc(slices.Clone(sets), Set.written)
	if len(computed) > 0 || observations != nil {
		manifest, err := run.ReadManifest(path)
		if err != nil {
			return nil, err
		}
		if observations == nil {
			observations = run.ReadValues(path, instrument.Named(manifest.Plan.Instrument).Reads...)
		}
		if all, err = SumUp(path, manifest, observations, computed...); err != nil {
			return nil, err
		}
	}
	for i, f := range sets {
		if f.written() {
			all = slices.Insert(all, i, written)
		}
	}
	return all, nil
}

// Of returns the figures of a finished run, as the function Of does.
func (f Set) Of(path string) ([]crosstalk.Estimate, error) {
	all, err := Of(path, nil, f)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// OfRuns computes the figures of several runs. With several runs, figures have the column RunColumn with the run's
// name if Cross has it, or if they would not differ otherwise.
func (f Set) OfRuns(paths, names []string) ([]crosstalk.Estimate, error) {
	apart := slices.Contains(f.Cross, RunColumn)
	f.Cross = slices.DeleteFunc(slices.Clone(f.Cross), func(column string) bool { return column == RunColumn })
	var all [][]crosstalk.Estimate
	seen := map[string]int{} // the last run with a figure
	for i, path := range paths {
		estimates, err := f.Of(path)
		if err != nil {
			return nil, err
		}
		for _, e := range estimates {
			first, again := seen[e.Key()]
			apart = apart || again && first != i
			seen[e.Key()] = i
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

// Compare returns the figures of a run and their observations, as compare.Runs needs them. If the view has groups,
// there are only figures of groups, because an observation may be in several.
func (f Set) Compare(path string) ([]crosstalk.Estimate, iter.Seq2[crosstalk.Observation, error], error) {
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

// RunColumn is the column for the run's name in figures of several runs.
const RunColumn = "run"

// Compared returns the columns whose values are compared: the model, the settings that vary within a run, and the
// run.
func Compared(paths []string) ([]string, error) {
	columns := []string{RunColumn, crosstalk.ModelColumn}
	for _, path := range paths {
		manifest, err := run.ReadManifest(path)
		if err != nil {
			return nil, err
		}
		for _, c := range manifest.Plan.Conditions {
			for _, column := range slices.Sorted(maps.Keys(c.Name)) {
				if !slices.Contains(columns, column) {
					columns = append(columns, column)
				}
			}
		}
	}
	return columns, nil
}

// split moves the choices of figures out of the view, which keeps those of observations: they lack some columns and
// values. Choices of those use the observations' values from which the figures' are made.
func (f Set) split(kind crosstalk.Kind) (Set, []view.Choice) {
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

// Names returns the names that runs give to values of columns. If several runs name a value, the first name counts.
func Names(paths ...string) (map[string]string, error) {
	names := map[string]string{}
	for _, path := range slices.Backward(paths) {
		manifest, err := run.ReadManifest(path)
		if err != nil {
			return names, err
		}
		maps.Copy(names, manifest.Names)
	}
	return names, nil
}

// SumUp computes sets of figures of a run with this manifest from its observations, which name their protocol if
// there are several. It stops at the first error of observations. path is the run's path, for errors.
func SumUp(path string, manifest run.Manifest, observations iter.Seq2[crosstalk.Observation, error],
	figures ...Set) (all [][]crosstalk.Estimate, err error) {
	s := summary{manifest: manifest, kind: instrument.Named(manifest.Plan.Instrument), known: Columns{}}
	for _, column := range s.kind.Derived {
		s.known[column] = true
	}
	for _, of := range manifest.Scoring {
		rules, err := instrument.ReadRules(manifest.Plan.Instrument, of.Rules)
		if err != nil {
			return nil, fmt.Errorf("%s: cannot read the rules it was scored with: %w", path, err)
		}
		s.protocols = append(s.protocols, protocol{of.Protocol, rules, of.By})
	}
	for _, f := range figures {
		if err := f.View.Check(); err != nil {
			return nil, err
		}
		f, ofFigures := f.split(s.kind)
		s.sets = append(s.sets, set{f, ofFigures, f.reader(), make([][]part, len(manifest.Scoring))})
	}
	for o, err := range observations {
		if err != nil {
			return nil, err
		}
		s.add(o)
	}
	for i := range s.sets {
		if err := s.check(&s.sets[i]); err != nil {
			return nil, err
		}
	}
	for i := range s.sets {
		estimates, err := s.estimates(&s.sets[i])
		if err != nil {
			return nil, err
		}
		all = append(all, estimates)
	}
	return all, nil
}

type summary struct {
	manifest  run.Manifest
	kind      crosstalk.Kind
	known     Columns // columns of the observations, and others by which figures can be grouped
	protocols []protocol
	sets      []set
}

// protocol describes how a protocol's observations were summed up when they were measured.
type protocol struct {
	name  string
	rules crosstalk.Rules
	by    []string
}

type set struct {
	Set
	ofFigures []view.Choice // of View.Only, with the values of figures
	reader    *view.Reader
	opened    [][]part // by protocol; nil before its first observation
}

type part struct {
	of        []string // crossed columns in which each figure has a single value
	estimator crosstalk.Estimator
}

func (s *summary) add(o crosstalk.Observation) {
	s.known.Add(o.Labels)
	s.known.Add(o.Condition)
	for i := range s.sets {
		f := &s.sets[i]
		seen, in := f.reader.Read(o)
		if !in {
			continue
		}
		for k, p := range s.protocols {
			if cmp.Or(o.Condition[crosstalk.ProtocolColumn], p.name) != p.name {
				continue
			}
			if f.opened[k] == nil {
				f.opened[k] = f.parts(s.kind, p, seen.Condition)
			}
			for _, part := range f.opened[k] {
				part.estimator.Add(seen)
			}
		}
	}
}

// check checks the columns of a set once all observations have been added.
func (s *summary) check(f *set) error {
	known := maps.Clone(s.known)
	known[view.SampleColumn] = true
	if err := f.reader.Check(slices.Sorted(maps.Keys(known))); err != nil {
		return err
	}
	for _, column := range f.By {
		if !known[column] {
			return s.known.Check([]string{column})
		}
	}
	for _, c := range s.kind.Columns {
		if c.OfFigures {
			known[c.Key] = true
		}
	}
	if len(f.View.Groups) > 0 {
		known[view.GroupColumn] = true
	}
	for _, column := range f.Cross {
		if !known[column] {
			return known.Unknown(column)
		}
	}
	return nil
}

func (s *summary) estimates(f *set) (estimates []crosstalk.Estimate, err error) {
	suites := s.manifest.SuiteIDs()
	if suites.All == "" && slices.Contains(f.View.Pool, suites.Column) { // figures cover all values of the column
		suites.All = strings.Join(slices.Compact(slices.Sorted(maps.Values(suites.Each))), "+")
	}
	for k, p := range s.protocols {
		if f.opened[k] == nil {
			f.opened[k] = f.parts(s.kind, p, nil)
		}
		estimates = append(estimates, f.once(f.opened[k], suites)...)
	}
	var known []string
	for _, e := range estimates {
		known = append(known, e.Measure)
	}
	for _, m := range f.Measures {
		if !slices.ContainsFunc(known, func(key string) bool { return instrument.Chosen([]string{m}, key) }) {
			slices.Sort(known)
			return nil, fmt.Errorf("unknown measure %q; choose one of: %s", m, strings.Join(slices.Compact(known), ", "))
		}
	}
	estimates = slices.DeleteFunc(estimates, func(e crosstalk.Estimate) bool {
		return len(f.Measures) > 0 && !instrument.Chosen(f.Measures, e.Measure) || !chosen(e, f.ofFigures)
	})
	for i, e := range estimates {
		fields := f.View.Fields()
		for _, g := range f.View.Groups {
			if g.Name == e.By[view.GroupColumn] {
				fields = append(fields, g.Field())
			}
		}
		estimates[i].Signature = estimate.Extend(e.Signature, fields...)
	}
	MarkUnjudged(s.manifest.Plan.Instrument, estimates)
	f.MarkMissing(estimates, s.manifest.MissingItems(), "")
	return estimates, nil
}

func (f Set) reader() *view.Reader { return f.View.Reader(slices.Concat(f.By, f.Cross)...) }

// chosen reports whether a figure's value is chosen in every column in which it has a single value.
func chosen(e crosstalk.Estimate, choices []view.Choice) bool {
	return !slices.ContainsFunc(choices, func(c view.Choice) bool {
		v := e.By[c.Column]
		return v != "" && v != crosstalk.All && !slices.Contains(c.Values, v)
	})
}

// parts returns the parts by prefix, or for each subset of the crossed columns. condition has the columns of all
// figures.
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

// estimator returns an estimator of figures by these columns. If groups are crossed, it gets an observation once per
// group.
func (f *set) estimator(rules crosstalk.Rules, by []string) crosstalk.Estimator {
	e := rules.Estimator(by)
	if f.Cross != nil && slices.Contains(by, view.GroupColumn) {
		return members{e, f.reader}
	}
	return e
}

// members is an estimator that gets the last observation read once for each of its groups.
type members struct {
	crosstalk.Estimator
	reader *view.Reader
}

func (m members) Add(crosstalk.Observation) {
	for _, member := range m.reader.Members() {
		m.Estimator.Add(member)
	}
}

// once returns each figure once. From a subset of columns, it takes figures with a value in each; others are in
// smaller subsets.
func (f Set) once(parts []part, suites crosstalk.SuiteIDs) (estimates []crosstalk.Estimate) {
	seen := map[string]bool{}
	for _, p := range parts {
		for _, e := range p.estimator.Estimates(suites) {
			if slices.ContainsFunc(p.of, func(c string) bool { return e.By[c] == "" || e.By[c] == crosstalk.All }) {
				continue
			}
			key := e.Key()
			if f.Cross == nil || !seen[key] {
				estimates = append(estimates, e)
			}
			seen[key] = true
		}
	}
	return estimates
}

// MarkMissing counts in each figure the items of its groups that were not measured, which observations do not tell.
func (f Set) MarkMissing(estimates []crosstalk.Estimate, missing []run.Missing, why string) {
	for i := range estimates {
		e, n := &estimates[i], 0
		for _, of := range missing {
			if f.shows(of) && of.In(e.By) && f.inGroup(of, e.By[view.GroupColumn]) {
				n += of.Items
			}
		}
		if n > 0 {
			e.Counts[crosstalk.NotMeasured] = n
			e.Warnings = append(e.Warnings, fmt.Sprintf("%d items were not measured%s", n, why))
		}
	}
}

// shows reports whether figures of the view would have these items.
func (f Set) shows(of run.Missing) bool {
	return !slices.ContainsFunc(f.View.Only, func(c view.Choice) bool {
		value, has := of.Labels[c.Column]
		return has && !slices.Contains(c.Values, value)
	})
}

// inGroup reports whether a group of the view, "" for all, would have these items.
func (f Set) inGroup(of run.Missing, name string) bool {
	for _, g := range f.View.Groups {
		if value, has := of.Labels[g.Column]; g.Name == name && has && !slices.Contains(g.Values, value) {
			return false
		}
	}
	return true
}

// MarkUnjudged warns of each figure that leaves out most of its answers because they could not be judged.
func MarkUnjudged(instrumentName string, estimates []crosstalk.Estimate) {
	kind := instrument.Named(instrumentName)
	for i := range estimates {
		e := &estimates[i]
		if unjudged, of := kind.UnjudgedOf(*e); 2*unjudged > of {
			warning := fmt.Sprintf("%s: %d of %d could not be judged, and this figure leaves them out",
				crosstalk.MostlyUnchecked, unjudged, of)
			e.Warnings = append([]string{warning}, e.Warnings...)
		}
	}
}
