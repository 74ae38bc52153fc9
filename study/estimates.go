package study

import (
	"cmp"
	"fmt"

	"crosstalk"
	"crosstalk/instrument"
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
			warning := fmt.Sprintf("%s: %d of %d could not be judged, and this figure leaves them out", crosstalk.MostlyUnchecked, unjudged, of)
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
	manifest, err := finished(path)
	if err != nil {
		return nil, err
	}
	sums, err := newSums(path, manifest, func(s sum, _ map[string]string) (parts []part) {
		for _, columns := range by {
			parts = append(parts, part{nil, s.rules.Estimator(columns)})
		}
		return parts
	})
	if err != nil {
		return nil, err
	}
	if err := sums.read(path, func(o crosstalk.Observation) (crosstalk.Observation, bool) { return o, true }); err != nil {
		return nil, err
	}
	for _, columns := range by {
		if err := sums.known.Check(columns); err != nil {
			return nil, err
		}
	}
	grouped := make([][]crosstalk.Estimate, len(by))
	for i := range by {
		for s := range sums.all {
			grouped[i] = append(grouped[i], sums.parts(s)[i].estimator.Estimates(manifest.SuiteIDs())...)
		}
		mark(manifest, grouped[i])
	}
	return grouped, nil
}

// mark adds the warnings that concern figures of a run as a whole.
func mark(manifest run.Manifest, estimates []crosstalk.Estimate) {
	markUnjudged(manifest.Plan.Instrument, estimates)
	if n := manifest.NotMeasured; n > 0 { // observations do not have this number
		markNotMeasured(estimates, n, "of the items were not measured")
	}
}

// Summary sums up observations as those of a run were when they were measured.
type Summary struct {
	manifest run.Manifest
	sums     *sums
}

// NewSummary returns a summary of the observations of a run with this manifest; path
// is where it is, for errors.
func NewSummary(path string, manifest run.Manifest) (*Summary, error) {
	sums, err := newSums(path, manifest, func(s sum, _ map[string]string) []part {
		return []part{{nil, s.rules.Estimator(s.by)}}
	})
	return &Summary{manifest, sums}, err
}

// Add adds an observation, in the order of the run.
func (s *Summary) Add(o crosstalk.Observation) { s.sums.add(o.Condition[crosstalk.ProtocolColumn], o) }

// Estimates are the figures over what was added.
func (s *Summary) Estimates() (estimates []crosstalk.Estimate) {
	for i := range s.sums.all {
		estimates = append(estimates, s.sums.parts(i)[0].estimator.Estimates(s.manifest.SuiteIDs())...)
	}
	mark(s.manifest, estimates)
	return estimates
}

// sums add up the observations of a run, those of each protocol for themselves.
type sums struct {
	known Columns // of the observations
	all   []sum
	open  func(s sum, condition map[string]string) []part
}

// sum is a protocol's.
type sum struct {
	protocol string
	rules    crosstalk.Rules
	by       []string // as when it was measured
	opened   []part
}

// part adds up some of the figures.
type part struct {
	of        []string // of crossed columns, those of which each figure has a single value
	estimator crosstalk.Estimator
}

// newSums returns the sums over nothing of the run at path. open makes the parts of
// a protocol, the same number each time, when its first observation says what its
// condition is; it is nil if there is no observation.
func newSums(path string, manifest run.Manifest, open func(sum, map[string]string) []part) (*sums, error) {
	s := &sums{known: Columns{}, open: open}
	for _, column := range instrument.Named(manifest.Plan.Instrument).Derived {
		s.known[column] = true
	}
	for _, of := range manifest.Scoring {
		rules, err := instrument.ReadRules(manifest.Plan.Instrument, of.Rules)
		if err != nil {
			return nil, fmt.Errorf("%s: cannot read the rules it was scored with: %w", path, err)
		}
		s.all = append(s.all, sum{protocol: of.Protocol, rules: rules, by: of.By})
	}
	return s, nil
}

// read adds the observations of a run as see has them, which leaves some out.
func (s *sums) read(path string, see func(crosstalk.Observation) (crosstalk.Observation, bool)) error {
	return run.Each(path, func(o crosstalk.Observation) error {
		s.known.Add(o.Labels)
		s.known.Add(o.Condition)
		if seen, in := see(o); in {
			s.add(o.Condition[crosstalk.ProtocolColumn], seen)
		}
		return nil
	})
}

// add adds an observation of a protocol; a run of a single one need not name it.
func (s *sums) add(protocol string, o crosstalk.Observation) {
	for i := range s.all {
		if of := &s.all[i]; cmp.Or(protocol, of.protocol) == of.protocol {
			if of.opened == nil {
				of.opened = s.open(*of, o.Condition)
			}
			for _, p := range of.opened {
				p.estimator.Add(o)
			}
		}
	}
}

// parts are those of a protocol.
func (s *sums) parts(i int) []part {
	of := &s.all[i]
	if of.opened == nil {
		of.opened = s.open(*of, nil)
	}
	return of.opened
}
