package gate

import (
	"cmp"
	"errors"
	"slices"

	"crosstalk"
	"crosstalk/compare"
	"crosstalk/run"
	"crosstalk/study"
)

// Rules are the requirements on a run.
type Rules struct {
	Require     []string // requirements, as Parse reads them
	NoWorseThan string   // the directory of a run that this one must not be worse than; empty: none
	Margin      float64  // how much worse it may be, 0 to 1: no data can show that two runs are equal
	By          []string // columns of the groups that are compared too; nil: totals only

	// Nights are runs of earlier nights, the oldest first: with Options.Night all of them
	// together are evidence that the run is worse. Unfinished ones are left out.
	Nights []string

	Compare compare.Options
	Options
}

// Check judges a run. An unfinished run fails, with the reason. It is an error to require nothing.
func (r Rules) Check(path string) (Verdict, error) {
	if _, err := run.ReadManifest(path); err != nil {
		return Verdict{}, err
	}
	switch {
	case len(r.Require) == 0 && r.NoWorseThan == "":
		return Verdict{}, errors.New("nothing is required: expected --require, such as --require 'lpr>=0.98', or " +
			"--no-worse-than RUN")
	case r.MaxUnjudged < 0:
		return Verdict{}, crosstalk.BadOption("max-unchecked", " is %g; expected 0 or more", r.MaxUnjudged)
	case r.Margin < 0:
		return Verdict{}, crosstalk.BadOption("margin", " is %g; expected 0 or more", r.Margin)
	}
	checks, err := r.checkBounds(path)
	if err != nil {
		return Verdict{}, err
	}
	if r.NoWorseThan != "" {
		found, err := r.checkNoWorse(path, len(checks))
		if err != nil {
			return Verdict{}, err
		}
		checks = append(checks, found...)
	}
	if len(checks) == 0 {
		return Verdict{}, errors.New("no figure has a better direction; name the figures to compare with --measure")
	}
	r.decide(checks)
	verdict := Judge(path, checks)
	if !verdict.Passed && r.NoWorseThan != "" {
		if verdict.Broken, err = brokenOf(r.NoWorseThan, path); err != nil {
			return verdict, err
		}
	}
	verdict.Names, err = study.Names(path)
	return verdict, err
}

func (r Rules) checkBounds(path string) (checks []Check, err error) {
	var requirements []Requirement
	var sets []study.Figures
	for _, text := range r.Require {
		requirement, err := Parse(text)
		if err != nil {
			return nil, crosstalk.BadOption("require", ": %w", err)
		}
		requirements = append(requirements, requirement)
		sets = append(sets, study.Figures{By: append([]string{}, requirement.Columns()...)})
	}
	if len(requirements) == 0 {
		return nil, nil
	}
	if reason, err := unfinished(path); reason != "" || err != nil {
		for _, requirement := range requirements {
			checks = append(checks, Unfinished(requirement.Text, reason))
		}
		return checks, err
	}
	grouped, err := study.FiguresOf(path, nil, sets...)
	if err != nil {
		var unknown *study.ColumnError
		if errors.As(err, &unknown) {
			i := slices.IndexFunc(sets, func(f study.Figures) bool { return slices.Contains(f.By, unknown.Column) })
			err = crosstalk.BadOption("require", " %s: %w", requirements[i].Text, unknown)
		}
		return nil, err
	}
	for i, requirement := range requirements {
		found, err := requirement.Check(grouped[i], r.Options)
		if err != nil {
			return nil, crosstalk.BadOption("require", ": %w", err)
		}
		checks = append(checks, found...)
	}
	return checks, nil
}

// checkNoWorse compares the run with the one that it must not be worse than. There are some checks apart.
func (r Rules) checkNoWorse(path string, apart int) ([]Check, error) {
	var paths []string
	all := slices.Concat([]string{r.NoWorseThan}, r.Nights, []string{path})
	for i, p := range all {
		reason, err := unfinished(p)
		switch earlier := i > 0 && i < len(all)-1; {
		case err != nil || reason != "" && !earlier:
			return []Check{Unfinished("no worse than "+r.NoWorseThan, p+": "+reason)}, err
		case reason == "":
			paths = append(paths, p)
		}
	}
	runs, err := compare.Open(paths, r.By)
	if err != nil {
		return nil, err
	}
	options := r.Compare
	options.Unpaired, options.Apart, options.Level = true, apart, cmp.Or(r.Level, options.Level)
	result, err := compare.Runs(runs, options)
	if err != nil && len(result.Refused) == 0 {
		return nil, err
	}
	checks := NoWorse(result, r.NoWorseThan, runs[len(runs)-1].Name, r.Margin, options.Measures, r.Options)
	return append(checks, Lost(runs[len(runs)-1].Estimates, runs[0].Estimates, r.NoWorseThan, options.Measures)...), nil
}

// unfinished is the reason why a run has no figures yet; empty if it has them.
func unfinished(path string) (reason string, err error) {
	if _, err = run.ReadEstimates(path); errors.Is(err, run.ErrUnfinished) {
		return "incomplete: the run is not finished; run the same command again to resume it", nil
	}
	return "", err
}
