package gate

import (
	"fmt"
	"maps"
	"slices"

	"crosstalk"
	"crosstalk/compare"
)

// NoWorse checks that no compared figure is worse than its reference by more
// than the margin, on the difference and its interval. Figures without a better
// direction are skipped unless wanted names them. Checks are still undecided.
//
// Of several nights, the figures of the last run are checked, with the evidence of all.
// What no evidence is known for is skipped likewise.
func NoWorse(result compare.Result, reference, last string, margin float64, wanted []string,
	o Options) (checks []Check) {
	text := fmt.Sprintf("no worse than %s by more than %s", reference, points(100*margin))
	if o.EitherWay {
		text = fmt.Sprintf("within %s of %s", points(100*margin), reference)
	}
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
		switch {
		case o.EitherWay:
			check.bound = bound{op: eitherWay, value: margin}
		case c.Better == crosstalk.Lower:
			check.bound = bound{op: "<=", value: margin}
		}
		check.Reason = unfit(*of, o.MaxUnjudged)
		switch {
		case check.Reason != "":
		case c.Unit != "":
			check.Reason = "a margin in points does not apply to " + c.Unit
		case c.Better == "" && !o.EitherWay:
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

// fewestClusters can show that a rate near 100 % fell by at most some points; with fewer,
// no number of items in them can.
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
