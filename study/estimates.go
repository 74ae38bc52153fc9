package study

import (
	"cmp"
	"fmt"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/report"
	"crosstalk/run"
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
			warning := fmt.Sprintf("%s: %d of %d could not be judged, and this figure leaves them out", report.MostlyUnchecked, unjudged, of)
			e.Warnings = append([]string{warning}, e.Warnings...)
		}
	}
}

// Names are what runs call values of columns. Of one that several runs name, the
// first name counts.
func Names(paths ...string) (report.Names, error) {
	names := report.Names{}
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

// Grouped returns the figures of a run, once for each element of by, grouped by
// its columns. It reads the run's observations once. An unknown column is a
// *crosstalk.OptionError of "by".
func Grouped(path string, by ...[]string) ([][]crosstalk.Estimate, error) {
	manifest, err := run.ReadManifest(path)
	if err != nil {
		return nil, err
	}
	if _, err := run.ReadEstimates(path); err != nil { // it is finished
		return nil, err
	}
	figures, err := newFigures(path, manifest, func(run.Scoring) [][]string { return by })
	if err != nil {
		return nil, err
	}
	if err := run.Each(path, figures.add); err != nil {
		return nil, err
	}
	for _, columns := range by {
		if err := figures.known.Check(columns); err != nil {
			return nil, err
		}
	}
	return figures.estimates(manifest), nil
}

// figures sum a run's observations up as its manifest says.
type figures struct {
	known Columns // of the observations
	sums  []sums
}

// sums are the figures of the observations of one protocol.
type sums struct {
	protocol   string
	estimators []crosstalk.Estimator // by grouping
}

// newFigures returns the figures of the run at path over nothing; by are the
// groupings of each protocol, the same number of them for all.
func newFigures(path string, manifest run.Manifest, by func(run.Scoring) [][]string) (*figures, error) {
	f := &figures{known: Columns{}}
	for _, column := range instrument.Named(manifest.Plan.Instrument).Derived {
		f.known[column] = true
	}
	for _, of := range manifest.Scoring {
		rules, err := instrument.ReadRules(manifest.Plan.Instrument, of.Rules)
		if err != nil {
			return nil, fmt.Errorf("%s: cannot read the rules it was scored with: %w", path, err)
		}
		s := sums{protocol: of.Protocol}
		for _, columns := range by(of) {
			s.estimators = append(s.estimators, rules.Estimator(columns))
		}
		f.sums = append(f.sums, s)
	}
	return f, nil
}

func (f *figures) add(o crosstalk.Observation) error {
	f.known.Add(o.Labels)
	f.known.Add(o.Condition)
	for _, s := range f.sums {
		if cmp.Or(o.Condition["protocol"], s.protocol) == s.protocol {
			for _, e := range s.estimators {
				e.Add(o)
			}
		}
	}
	return nil
}

// estimates are the figures by grouping.
func (f *figures) estimates(manifest run.Manifest) [][]crosstalk.Estimate {
	if len(f.sums) == 0 {
		return nil
	}
	grouped := make([][]crosstalk.Estimate, len(f.sums[0].estimators))
	for i := range grouped {
		for _, s := range f.sums {
			grouped[i] = append(grouped[i], s.estimators[i].Estimates(manifest.SuiteIDs())...)
		}
		markUnjudged(manifest.Plan.Instrument, grouped[i])
		if n := manifest.NotMeasured; n > 0 { // observations do not have this number
			markNotMeasured(grouped[i], n, "of the items were not measured")
		}
	}
	return grouped
}

// Summary sums up observations as those of a run were when they were measured.
type Summary struct{ figures *figures }

// NewSummary returns a summary of the observations of a run with this manifest; path
// is where it is, for errors.
func NewSummary(path string, manifest run.Manifest) (*Summary, error) {
	figures, err := newFigures(path, manifest, func(of run.Scoring) [][]string { return [][]string{of.By} })
	return &Summary{figures}, err
}

// Add adds an observation, in the order of the run.
func (s *Summary) Add(o crosstalk.Observation) { s.figures.add(o) }

// Estimates are the figures over what was added.
func (s *Summary) Estimates(manifest run.Manifest) []crosstalk.Estimate {
	return s.figures.estimates(manifest)[0]
}
