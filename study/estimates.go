package study

import (
	"cmp"
	"fmt"
	"slices"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/run"
	"crosstalk/run/view"
)

// markNotMeasured adds the number of missing items to every figure.
func markNotMeasured(estimates []crosstalk.Estimate, n int, why string) {
	for i := range estimates {
		e := &estimates[i]
		if e.Counts == nil {
			e.Counts = map[string]int{}
		}
		e.Counts[crosstalk.NotMeasured] = n
		e.Warnings = append(e.Warnings, fmt.Sprintf("%d %s", n, why))
	}
}

// markUnjudged warns of figures that rest on a minority of the answers.
func markUnjudged(instrumentName string, estimates []crosstalk.Estimate) {
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

// Names are what runs call values of columns. Of one that several runs name, the
// first name counts.
func Names(paths ...string) (map[string]string, error) {
	names := map[string]string{}
	for _, path := range paths {
		manifest, err := run.ReadManifest(path)
		if err != nil {
			return nil, err
		}
		for value, name := range manifest.Names {
			if _, ok := names[value]; !ok {
				names[value] = name
			}
		}
	}
	return names, nil
}

// EstimatesBy returns the figures of a finished run, grouped by columns; if by is
// nil, as they were written.
func EstimatesBy(path string, by []string) ([]crosstalk.Estimate, error) {
	if by == nil {
		return run.ReadEstimates(path)
	}
	columns, err := ParseBy(by)
	if err != nil {
		return nil, err
	}
	grouped, err := Grouped(path, columns)
	if err != nil {
		return nil, err
	}
	return grouped[0], nil
}

// finished reads the manifest of a run that has figures.
func finished(path string) (run.Manifest, error) {
	manifest, err := run.ReadManifest(path)
	if err == nil {
		_, err = run.ReadEstimates(path)
	}
	return manifest, err
}

// Grouped returns the figures of a run, once for each element of by, grouped by
// its columns. It reads the run's observations once. An unknown column is a
// *crosstalk.OptionError of "by".
func Grouped(path string, by ...[]string) ([][]crosstalk.Estimate, error) {
	figures := make([]Figures, len(by))
	for i, columns := range by {
		figures[i] = Figures{By: append([]string{}, columns...), plain: true}
	}
	return figuresOf(path, figures...)
}

// mark adds the warnings that concern figures of a run as a whole.
func mark(manifest run.Manifest, estimates []crosstalk.Estimate) {
	markUnjudged(manifest.Plan.Instrument, estimates)
	if n := manifest.NotMeasured; n > 0 { // observations do not have this number
		markNotMeasured(estimates, n, "of the items were not measured")
	}
}

// Summary sums up the observations of a run.
type Summary struct {
	manifest  run.Manifest
	kind      crosstalk.Kind
	known     Columns // of the observations, and what figures can be grouped by besides
	protocols []protocol
	sets      []set
}

// protocol is how the observations of a protocol were summed up when they were measured.
type protocol struct {
	name  string
	rules crosstalk.Rules
	by    []string
}

// set adds up a set of figures.
type set struct {
	Figures
	ofFigures []view.Choice // of View.Only, as figures have the values
	reader    *view.Reader
	opened    [][]part // by protocol; nil before its first observation
}

// part adds up some of the figures of a protocol.
type part struct {
	of        []string // of crossed columns, those of which each figure has a single value
	estimator crosstalk.Estimator
}

// NewSummary returns a summary of no observation of a run with this manifest, for
// the figures that it had when it was measured; path is where it is, for errors.
func NewSummary(path string, manifest run.Manifest) (*Summary, error) {
	return newSummary(path, manifest, Figures{})
}

func newSummary(path string, manifest run.Manifest, figures ...Figures) (*Summary, error) {
	s := &Summary{manifest: manifest, kind: instrument.Named(manifest.Plan.Instrument), known: Columns{}}
	for _, column := range s.kind.Derived {
		s.known[column] = true
	}
	for _, f := range figures {
		if err := f.View.Check(); err != nil {
			return nil, err
		}
		f, ofFigures := f.split(s.kind)
		s.sets = append(s.sets, set{f, ofFigures, f.reader(), make([][]part, len(manifest.Scoring))})
	}
	for _, of := range manifest.Scoring {
		rules, err := instrument.ReadRules(manifest.Plan.Instrument, of.Rules)
		if err != nil {
			return nil, fmt.Errorf("%s: cannot read the rules it was scored with: %w", path, err)
		}
		s.protocols = append(s.protocols, protocol{of.Protocol, rules, of.By})
	}
	return s, nil
}

// Add adds an observation, in the order of the run. One of a run of a single
// protocol need not name it.
func (s *Summary) Add(o crosstalk.Observation) {
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

// Estimates are the figures over what was added.
func (s *Summary) Estimates() ([]crosstalk.Estimate, error) { return s.estimates(0) }

// estimates are the figures of a set.
func (s *Summary) estimates(number int) (estimates []crosstalk.Estimate, err error) {
	f := &s.sets[number]
	suites := f.suites(s.manifest.SuiteIDs())
	for k, p := range s.protocols {
		if f.opened[k] == nil {
			f.opened[k] = f.parts(s.kind, p, nil)
		}
		estimates = append(estimates, f.once(f.opened[k], suites)...)
	}
	if err := checkMeasures(estimates, f.Measures); err != nil {
		return nil, err
	}
	estimates = slices.DeleteFunc(estimates, func(e crosstalk.Estimate) bool {
		return len(f.Measures) > 0 && !instrument.Chosen(f.Measures, e.Measure) ||
			!chosen(e, f.ofFigures)
	})
	for i := range estimates {
		f.sign(&estimates[i])
	}
	mark(s.manifest, estimates)
	return estimates, nil
}
