// Package gate decides whether a run is good enough: its figures satisfy stated
// bounds and are no worse than those of another run. It knows estimates and
// comparisons, but no instruments.
//
// A bound is checked on the point estimate, as users expect of a threshold. If
// the bound lies inside the interval, a remark says that chance may have
// decided; a caller can require the whole interval to satisfy the bound.
// Whether a run is no worse is always decided on the interval, because a
// difference that is not significant may still exist.
//
// What cannot be judged fails, with the reason: a figure that was not measured
// or has no scored observations; a figure that is incomplete because requests
// failed or items were not measured; and a figure that too many of the answers
// are not part of, since they could not be judged. What the data neither show nor
// refute is inconclusive, with the number of items that may decide it.
package gate

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/internal/nearest"
	"crosstalk/measure/stats"
	"crosstalk/report"
)

// Schema names the machine format of a Verdict.
const Schema = "crosstalk/gate/v1"

// Verdict is the content of --format json.
type Verdict struct {
	Schema       string  `json:"schema"`
	Run          string  `json:"run"`
	Passed       bool    `json:"passed"`                 // there are checks, and all of them passed
	Inconclusive bool    `json:"inconclusive,omitempty"` // not passed, and no check failed
	Checks       []Check `json:"checks"`

	Names report.Names `json:"-"` // what tables call values of columns
}

// Options are the rules for judging figures.
type Options struct {
	Interval    bool    // whole intervals must satisfy a bound, not only figures
	MaxUnjudged float64 // the largest share of answers, 0 to 1, that may not have been judged
}

// Check is the result of one requirement for one figure.
type Check struct {
	Requirement  string              `json:"requirement"`
	Measure      string              `json:"measure"`
	By           map[string]string   `json:"by"`             // the figure's columns
	Unit         string              `json:"unit,omitempty"` // of Value and Interval; empty: a fraction
	Passed       bool                `json:"passed"`
	Inconclusive bool                `json:"inconclusive,omitempty"`  // not passed, but more items may decide
	Reason       string              `json:"reason,omitempty"`        // why it did not pass
	Missing      int                 `json:"missing_items,omitempty"` // that may decide an inconclusive check
	Value        crosstalk.Value     `json:"value"`                   // the figure, or its difference from Reference
	Interval     *crosstalk.Interval `json:"interval"`
	N            int                 `json:"n"`
	Reference    map[string]string   `json:"reference,omitempty"` // the condition of the reference
	Remarks      []string            `json:"remarks,omitempty"`   // cautions about a check that passed
}

// Judge makes a verdict of checks.
func Judge(run string, checks []Check) Verdict {
	v := Verdict{Schema: Schema, Run: run, Checks: checks}
	passed, inconclusive := v.count()
	v.Passed = passed > 0 && passed == len(checks)
	v.Inconclusive = inconclusive > 0 && passed+inconclusive == len(checks)
	return v
}

// count counts the checks that passed and the inconclusive ones.
func (v Verdict) count() (passed, inconclusive int) {
	for _, c := range v.Checks {
		switch {
		case c.Passed:
			passed++
		case c.Inconclusive:
			inconclusive++
		}
	}
	return passed, inconclusive
}

// Failed counts the checks that did not pass and are not inconclusive.
func (v Verdict) Failed() int {
	passed, inconclusive := v.count()
	return len(v.Checks) - passed - inconclusive
}

// Unfinished returns a failed check for a reason that concerns the whole run.
func Unfinished(requirement, reason string) Check {
	return Check{Requirement: requirement, By: map[string]string{}, Value: crosstalk.Undefined, Reason: reason}
}

// slack forgives rounding in averages.
const slack = 1e-12

// bound is a threshold for a figure with a unit.
type bound struct {
	op    string
	value float64
	unit  string
}

// keeps reports whether a value satisfies the bound.
func (b bound) keeps(value float64) bool {
	switch b.op {
	case ">=":
		return value >= b.value-slack
	case "<=":
		return value <= b.value+slack
	case ">":
		return value > b.value+slack
	default:
		return value < b.value-slack
	}
}

func (b bound) String() string { return b.op + " " + amount(b.value, b.unit) }

// Check tests the figures of a run, grouped by the requirement's columns. It
// returns at least one check. An error, always a *SyntaxError, means that the
// figure cannot have the stated value.
func (r Requirement) Check(estimates []crosstalk.Estimate, o Options) (checks []Check, err error) {
	var measured []crosstalk.Estimate
	for _, e := range estimates {
		if e.Measure != r.Measure {
			continue
		}
		measured = append(measured, e)
		if r.concerns(e) {
			b := bound{op: r.Op, unit: e.Unit}
			if b.value, err = r.Value.of(e.Unit); err != nil {
				return nil, err
			}
			checks = append(checks, r.check(e, b, o))
		}
	}
	if checks == nil {
		c := Unfinished(r.Text, r.missing(estimates, measured))
		c.Measure = r.Measure
		checks = append(checks, c)
	}
	return checks, nil
}

// concerns reports whether a figure has the values of where and one value for
// each column of by.
func (r Requirement) concerns(e crosstalk.Estimate) bool {
	for _, m := range r.Where {
		if e.By[m.Column] != m.Value {
			return false
		}
	}
	for _, column := range r.By {
		if value := e.By[column]; value == "" || value == crosstalk.All {
			return false
		}
	}
	return true
}

// missing explains why no figure matches.
func (r Requirement) missing(estimates, measured []crosstalk.Estimate) string {
	if len(measured) == 0 {
		has := list(estimates, func(e crosstalk.Estimate) string { return e.Measure })
		return "not measured: " + nearest.Question(r.Measure, strings.Split(has, ", ")) + "the run has " + has
	}
	for _, m := range r.Where {
		if !slices.ContainsFunc(measured, func(e crosstalk.Estimate) bool { return e.By[m.Column] == m.Value }) {
			return fmt.Sprintf("not measured: no figure has %s %s; the run has %s", m.Column, m.Value,
				list(measured, func(e crosstalk.Estimate) string { return e.By[m.Column] }))
		}
	}
	return "not measured: no figure has " + strings.Join(r.Columns(), " and ")
}

// list names each text once.
func list(estimates []crosstalk.Estimate, text func(crosstalk.Estimate) string) string {
	var names []string
	for _, e := range estimates {
		if s := text(e); s != "" && s != crosstalk.All && !slices.Contains(names, s) {
			names = append(names, s)
		}
	}
	if names == nil {
		return "none"
	}
	return strings.Join(names, ", ")
}

func (r Requirement) check(e crosstalk.Estimate, b bound, o Options) Check {
	c := Check{Requirement: r.Text, Measure: e.Measure, By: e.By, Unit: e.Unit, Value: e.Value, Interval: e.Interval,
		N: e.N}
	whole := e.Interval != nil && b.keeps(e.Interval.Low) && b.keeps(e.Interval.High)
	switch reason := unfit(e, o.MaxUnjudged); {
	case reason != "":
		c.Reason = reason
	case !b.keeps(float64(e.Value)):
		c.Reason = fmt.Sprintf("%s is not %s", apart(float64(e.Value), b), b)
	case o.Interval && e.Interval == nil:
		c.Reason = "the figure has no interval"
	case o.Interval && !whole:
		c.Inconclusive = true
		c.Reason = fmt.Sprintf("the interval, %s, is not entirely %s", between(e), b)
		end := e.Interval.Low // the one that does not keep the bound
		if b.keeps(end) {
			end = e.Interval.High
		}
		c.need(items(*e.Interval, e.N, math.Abs(float64(e.Value)-end), math.Abs(float64(e.Value)-b.value)))
	default:
		c.Passed = true
		if !whole && e.Interval != nil {
			c.Remarks = append(c.Remarks, fmt.Sprintf("%s is inside the interval, %s: chance may have decided",
				amount(b.value, b.unit), between(e)))
		}
		c.Remarks = append(c.Remarks, e.Warnings...)
	}
	return c
}

// need says how many more items may decide an inconclusive check, if it is known how
// many it takes.
func (c *Check) need(items float64) {
	if items < 1e9 {
		c.Missing = max(1, int(items)-c.N)
		c.Reason += fmt.Sprintf("; about %d more items may tell", c.Missing)
	}
}

// power is the probability with which the missing items are to decide a check, if
// the true figure is the measured one.
const power = 0.8

// withoutVariance is the method of intervals of values that are all equal, whose
// width falls with the number of items rather than its root.
const withoutVariance = "exact-effective-n"

// items is how many items an interval of n, which reaches over a distance, needs to
// keep a gap; NaN if there is no gap.
func items(i crosstalk.Interval, n int, distance, gap float64) float64 {
	if i.Method == withoutVariance && gap > 0 {
		return math.Ceil(float64(n) * distance / gap)
	}
	return stats.ItemsForWidth(float64(n), distance, gap, i.Level, power)
}

// unfit explains why a figure cannot be judged; it is empty if it can.
func unfit(e crosstalk.Estimate, maxUnjudged float64) string {
	unjudged, of := instrument.Of(e.Measure).UnjudgedOf(e)
	switch failed, missing := e.Counts[string(crosstalk.Failed)], e.Counts[crosstalk.NotMeasured]; {
	case missing > 0:
		return fmt.Sprintf("incomplete: %d items were not measured; resume the run to measure them", missing)
	case failed > 0:
		return fmt.Sprintf("incomplete: %d answers failed; resume the run to retry them", failed)
	case !e.Value.Defined():
		var counts []string
		for _, name := range slices.Sorted(maps.Keys(e.Counts)) {
			if n := e.Counts[name]; n > 0 {
				counts = append(counts, fmt.Sprintf("%s %d", strings.ReplaceAll(name, "_", " "), n))
			}
		}
		return strings.TrimSuffix("undefined: nothing was scored; "+strings.Join(counts, ", "), "; ")
	case float64(unjudged) > maxUnjudged*float64(of)+slack:
		return fmt.Sprintf("%d of %d answers could not be judged (%s); at most %s may be (--max-unchecked)",
			unjudged, of, rounded(float64(unjudged)/float64(of), "", 3), rounded(maxUnjudged, "", 3))
	}
	return ""
}

// amount formats a percentage, or a number with its unit.
func amount(f float64, unit string) string { return rounded(f, unit, 6) }

func rounded(f float64, unit string, digits int) string {
	if unit == "" {
		f, unit = 100*f, "%"
	}
	return strconv.FormatFloat(f, 'g', digits, 64) + " " + unit
}

// apart formats an amount with enough digits to distinguish it from the bound.
func apart(f float64, b bound) string {
	for digits := 3; digits < 17; digits++ {
		if s := rounded(f, b.unit, digits); s != amount(b.value, b.unit) {
			return s
		}
	}
	return amount(f, b.unit)
}

func between(e crosstalk.Estimate) string {
	unit := e.Unit
	if unit == "" {
		unit = "%"
	}
	return report.Value(crosstalk.Value(e.Interval.Low), e.Unit) + " to " +
		report.Value(crosstalk.Value(e.Interval.High), e.Unit) + " " + unit
}
