package study

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/run"
	"crosstalk/run/view"
)

// Figures says which figures of a finished run to compute.
type Figures struct {
	View     view.View
	Measures []string // nil: all
	By       []string // columns: there is a figure for each prefix of them; nil: as when measured
	// Cross are columns that are crossed instead: there is a figure for each combination of their values, those
	// over all values of a column among them. It goes before By.
	Cross []string
}

// written reports whether the figures are those that runs have on disk.
func (f Figures) written() bool {
	return f.By == nil && f.Cross == nil && f.Measures == nil && f.View.Empty()
}

// FiguresOf returns sets of figures of a finished run, in one pass over its observations. These are read as far as
// figures need it, unless they are given, all of them: who needs more of them takes part in the pass. An unknown
// column of By or Cross is a *ColumnError; an error about the view names what the run has.
func FiguresOf(path string, observations iter.Seq2[crosstalk.Observation, error], sets ...Figures) (
	all [][]crosstalk.Estimate, err error) {
	written, err := run.ReadEstimates(path)
	if err != nil {
		return nil, err
	}
	computed := slices.DeleteFunc(slices.Clone(sets), Figures.written)
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

// Of is FiguresOf for a single set.
func (f Figures) Of(path string) ([]crosstalk.Estimate, error) {
	all, err := FiguresOf(path, nil, f)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// OfRuns computes the figures of several runs. Those of several have the column
// RunColumn, with the run's name, if Cross has it or if they differ in nothing else.
func (f Figures) OfRuns(paths, names []string) ([]crosstalk.Estimate, error) {
	apart := slices.Contains(f.Cross, RunColumn)
	f.Cross = slices.DeleteFunc(slices.Clone(f.Cross), func(column string) bool { return column == RunColumn })
	var all [][]crosstalk.Estimate
	seen := map[string]int{} // the run of a figure
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

// Compare returns the figures of a run with the observations that they are about, as compare.Runs takes them. If
// the view has groups there are figures of groups only, since an observation may be in several.
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

// Compared are the columns whose values are compared: the model, the settings that vary within a run, and the run.
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

// split returns the choices of figures, and leaves to the view those of observations, which do not have some
// columns and values. What needs such columns is grouped by what gives figures these columns.
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

// Names are what runs call values of columns. Of one that several runs name, the first name counts.
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
