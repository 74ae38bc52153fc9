package gate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"crosstalk"
	"crosstalk/compare"
	"crosstalk/internal/numbers"
	"crosstalk/measure/stats"
	"crosstalk/run"
	"crosstalk/run/figures"
)

// Rules are the requirements on a run.
type Rules struct {
	Require     []string // requirements, as Parse reads them
	NoWorseThan string   // the directory of a run that this one must not be worse than; empty: none
	Margin      float64  // how much worse it may be, 0 to 1: no data can show that two runs are equal
	By          []string // columns of the groups that are compared too; nil: totals only

	// Nights are runs of earlier nights, the oldest first: with Options.Night, all of them together are evidence that the
	// run is worse. Unfinished ones are left out.
	Nights []string

	Compare compare.Options
	Options
}

// Check judges a run. An unfinished run fails, with the reason. It is an error if there are no rules.
func (r Rules) Check(path string) (Verdict, error) {
	manifest, err := run.ReadManifest(path)
	if err != nil {
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
	checks, err := r.checkBounds(path, manifest)
	if err != nil {
		return Verdict{}, err
	}
	if r.NoWorseThan != "" {
		found, err := r.checkNoWorse(path, len(checks))
		if err != nil {
			return Verdict{}, err
		}
		checks = append(checks, uncovered(manifest, "no worse than "+r.NoWorseThan, nil, found)...)
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
	verdict.Names, err = figures.Names(path)
	return verdict, err
}

// uncovered adds to the checks of a requirement one that fails if items that it concerns were not measured, and no
// figure is there to say so: nothing was measured under their condition or in their group.
func uncovered(manifest run.Manifest, requirement string, where []Match, checks []Check) []Check {
	concerned := map[string]string{}
	for _, m := range where {
		concerned[m.Column] = m.Value
	}
	n := 0
	for _, of := range manifest.MissingItems() {
		if of.In(concerned) && !slices.ContainsFunc(checks, func(c Check) bool { return of.In(c.By) }) {
			n += of.Items
		}
	}
	if n == 0 {
		return checks
	}
	return append(checks, Unfinished(requirement, fmt.Sprintf(
		"incomplete: %d items were not measured, and no figure has them; resume the run to measure them", n)))
}

func (r Rules) checkBounds(path string, manifest run.Manifest) (checks []Check, err error) {
	var requirements []Requirement
	var sets []figures.Set
	for _, text := range r.Require {
		requirement, err := Parse(text)
		if err != nil {
			return nil, crosstalk.BadOption("require", ": %w", err)
		}
		requirements = append(requirements, requirement)
		sets = append(sets, figures.Set{By: append([]string{}, requirement.Columns()...)})
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
	grouped, err := figures.Of(path, nil, sets...)
	if err != nil {
		var unknown *figures.ColumnError
		if errors.As(err, &unknown) {
			i := slices.IndexFunc(sets, func(f figures.Set) bool { return slices.Contains(f.By, unknown.Column) })
			err = crosstalk.BadOption("require", " %s: %w", requirements[i].Text, unknown)
		}
		return nil, err
	}
	for i, requirement := range requirements {
		found, err := requirement.Check(grouped[i], r.Options)
		if err != nil {
			return nil, crosstalk.BadOption("require", ": %w", err)
		}
		checks = append(checks, uncovered(manifest, requirement.Text, requirement.Where, found)...)
	}
	return checks, nil
}

// checkNoWorse compares the run with the one that it must not be worse than. apart counts the other checks.
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

// unfinished returns why a run has no figures yet; "" if it has them.
func unfinished(path string) (reason string, err error) {
	if _, err = run.ReadEstimates(path); errors.Is(err, run.ErrUnfinished) {
		return "incomplete: the run is not finished; run the same command again to resume it", nil
	}
	return "", err
}

// NoWorse checks that no compared figure is worse than its reference by more than the margin, by the difference and
// its interval. Figures without a direction are skipped unless wanted names them. Checks are still undecided.
//
// For several nights, it checks the last run's figures, with the evidence of all nights. Figures without known evidence
// are skipped likewise.
func NoWorse(result compare.Result, reference, last string, margin float64, wanted []string,
	o Options) (checks []Check) {
	text := fmt.Sprintf("no worse than %s by more than %s", reference, numbers.Points(margin))
	for _, c := range result.Comparisons {
		of, against := c.Of, c.Against
		if c.Better == "" && !slices.Contains(wanted, c.Measure) || o.Night > 0 && c.Condition[compare.RunColumn] != last {
			continue
		}
		var over *Nightly
		if o.Night > 0 {
			if over = nightly(c, result.Comparisons, margin); over == nil && c.Paired && !slices.Contains(wanted, c.Measure) {
				continue
			}
		}
		check := Check{Requirement: c.Measure + " " + text, Measure: c.Measure, By: of.By, Unit: c.Unit,
			Value: c.Difference, Interval: c.Interval, N: c.N, Reference: c.Reference, Remarks: remarks(c, *against),
			bound: bound{op: ">=", value: -margin}, strict: c.Together, clusters: c.Clusters,
			Nightly: over, margin: margin,
			still: c.Same}
		if c.Better == crosstalk.Lower {
			check.bound = bound{op: "<=", value: margin}
		}
		check.Reason = unfit(*of, o.MaxUnjudged)
		switch {
		case check.Reason != "":
		case c.Unit != "":
			check.Reason = "a margin in points does not apply to " + c.Unit
		case c.Better == "":
			check.Reason = "the measure has no better direction"
		case !against.Value.Defined():
			check.Reason = "the reference is undefined"
		case o.Night > 0 && !c.Paired:
			check.Reason = "the runs share too few items to pair them"
		case o.Night > 0 && over == nil:
			check.Reason = "evidence of several nights is for means of fractions"
		default:
			check.undecided = true
		}
		checks = append(checks, check)
	}
	for _, r := range result.Refused {
		if r.Reason == compare.NoAverage && !slices.Contains(wanted, r.Measure) ||
			o.Night > 0 && r.Condition[compare.RunColumn] != last {
			continue
		}
		by := maps.Clone(r.Condition)
		maps.Copy(by, r.By)
		checks = append(checks, Check{Requirement: r.Measure + " " + text, Measure: r.Measure, By: by,
			Value:  crosstalk.Undefined,
			Reason: "cannot be compared: " + r.String(), Reference: r.Reference})
	}
	return checks
}

// Lost returns a failed check for each measure of the reference that the run lacks.
func Lost(of, reference []crosstalk.Estimate, name string, wanted []string) (checks []Check) {
	has := map[string]bool{}
	for _, e := range of {
		has[e.Measure] = true
	}
	for _, e := range reference {
		if !has[e.Measure] && (len(wanted) == 0 && e.Better != "" || slices.Contains(wanted, e.Measure)) {
			has[e.Measure] = true
			c := Unfinished(e.Measure+" no worse than "+name, "measured in the reference run only")
			c.Measure = e.Measure
			checks = append(checks, c)
		}
	}
	return checks
}

// fewestClusters can show that a rate near 100 % fell by at most some points; fewer cannot, whatever the number of
// items.
const fewestClusters = 12

func remarks(c compare.Comparison, against crosstalk.Estimate) (list []string) {
	if !c.Paired {
		list = append(list, "the runs share too few items to pair them")
	}
	if n := against.Counts["failed"]; n > 0 {
		list = append(list, fmt.Sprintf("%d answers of the reference run failed", n))
	}
	if left := c.Missing(); left > 0 {
		list = append(list, fmt.Sprintf("%d items were left out", left))
	}
	return append(list, c.Warnings...)
}

// Nightly is evidence from several nights that runs are worse than a reference.
type Nightly struct {
	Nights   int             `json:"nights"`
	Luck     crosstalk.Value `json:"luck"`     // standard deviation of the reference's figure over its own answers
	Margin   crosstalk.Value `json:"margin"`   // the tested margin: the stated one, but at least twice the luck
	Evidence crosstalk.Value `json:"evidence"` // that the loss exceeds the margin (stats.NightlyEvidence)
	Limit    crosstalk.Value `json:"limit"`    // the check fails at this evidence
	Since    int             `json:"since"`    // the night with the largest evidence, from 1

	nights []stats.Night
	faults float64 // the expected share of items that differ
}

// nightly returns the evidence for the last night's comparison, given all nights' comparisons in order. It is nil if
// the figure is not a paired mean of fractions.
func nightly(last compare.Comparison, all []compare.Comparison, margin float64) *Nightly {
	condition := func(c compare.Comparison) map[string]string {
		rest := maps.Clone(c.Condition)
		delete(rest, compare.RunColumn)
		return rest
	}
	var nights []stats.Night
	for _, c := range all {
		same := c.Measure == last.Measure && maps.Equal(c.By, last.By) && maps.Equal(condition(c), condition(last))
		if same && c.Night.N > 0 {
			nights = append(nights, c.Night)
		}
	}
	if last.Night.N == 0 {
		return nil
	}
	reference := last.Against
	faults := float64(last.ReferenceValue)
	if last.Better == crosstalk.Higher {
		faults = 1 - faults
	}
	luck := stats.Luck(nights, max(1, float64(reference.Observations)/float64(max(1, reference.N))))
	margin = max(margin, 2*luck)
	n := &Nightly{Nights: len(nights), Luck: crosstalk.Value(luck), Margin: crosstalk.Value(margin), nights: nights,
		faults: faults}
	if margin < 1 {
		evidence, since := stats.NightlyEvidence(nights, margin, n.faults)
		n.Evidence, n.Since = crosstalk.Value(evidence), since
	}
	return n
}

func (c *Check) decideNightly(limit float64) {
	n := c.Nightly
	n.Limit = crosstalk.Value(limit)
	c.Passed = float64(n.Evidence) < limit
	text := fmt.Sprintf("evidence of a loss of more than %s: %.2g of %.3g after %d nights",
		numbers.Points(float64(n.Margin)),
		float64(n.Evidence), limit, n.Nights)
	if n.Nights == 1 {
		text = text[:len(text)-1]
	}
	if !c.Passed {
		c.Reason = fmt.Sprintf("%s, since night %d", text, n.Since)
		return
	}
	if float64(n.Margin) > c.margin+slack {
		text += fmt.Sprintf("; the margin is twice %s, the standard deviation of the reference run's luck",
			numbers.Percent(n.Luck))
	}
	c.Remarks = append([]string{text}, c.Remarks...)
}
