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
// or has no scored observations, and a figure that is incomplete because
// requests failed or items were not measured.
package gate

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/report"
)

// Schema names the machine format of a Verdict.
const Schema = "crosstalk/gate/v1"

// Verdict is the content of --format json.
type Verdict struct {
	Schema string  `json:"schema"`
	Run    string  `json:"run"`
	Passed bool    `json:"passed"` // there are checks, and all of them passed
	Checks []Check `json:"checks"`
}

// Check is the result of one requirement for one figure.
type Check struct {
	Requirement string              `json:"requirement"`
	Measure     string              `json:"measure"`
	By          map[string]string   `json:"by"`             // the figure's columns
	Unit        string              `json:"unit,omitempty"` // of Value and Interval; empty: a fraction
	Passed      bool                `json:"passed"`
	Reason      string              `json:"reason,omitempty"` // why it failed
	Value       crosstalk.Value     `json:"value"`            // the figure, or its difference from Reference
	Interval    *crosstalk.Interval `json:"interval"`
	N           int                 `json:"n"`
	Reference   map[string]string   `json:"reference,omitempty"` // the condition of the reference
	Remarks     []string            `json:"remarks,omitempty"`   // cautions about a check that passed
}

// Judge makes a verdict of checks.
func Judge(run string, checks []Check) Verdict {
	v := Verdict{Schema: Schema, Run: run, Passed: len(checks) > 0, Checks: checks}
	for _, c := range checks {
		v.Passed = v.Passed && c.Passed
	}
	return v
}

// Failed counts the checks that did not pass.
func (v Verdict) Failed() (n int) {
	for _, c := range v.Checks {
		if !c.Passed {
			n++
		}
	}
	return n
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

// Check tests the figures of a run, grouped by the requirement's columns; with
// interval, whole intervals must satisfy the bound. It returns at least one
// check. An error, always a *SyntaxError, means that the figure cannot have the
// stated value.
func (r Requirement) Check(estimates []crosstalk.Estimate, interval bool) (checks []Check, err error) {
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
			checks = append(checks, r.check(e, b, interval))
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
		return "not measured: the run has " + list(estimates, func(e crosstalk.Estimate) string { return e.Measure })
	}
	for _, m := range r.Where {
		if !slices.ContainsFunc(measured, func(e crosstalk.Estimate) bool { return e.By[m.Column] == m.Value }) {
			return fmt.Sprintf("not measured: no figure has %s %s; the run has %s", m.Column, m.Value, list(measured, func(e crosstalk.Estimate) string { return e.By[m.Column] }))
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

func (r Requirement) check(e crosstalk.Estimate, b bound, interval bool) Check {
	c := Check{Requirement: r.Text, Measure: e.Measure, By: e.By, Unit: e.Unit, Value: e.Value, Interval: e.Interval, N: e.N}
	whole := e.Interval != nil && b.keeps(e.Interval.Low) && b.keeps(e.Interval.High)
	switch reason := unfit(e); {
	case reason != "":
		c.Reason = reason
	case !b.keeps(float64(e.Value)):
		c.Reason = fmt.Sprintf("%s is not %s", apart(float64(e.Value), b), b)
	case interval && e.Interval == nil:
		c.Reason = "the figure has no interval"
	case interval && !whole:
		c.Reason = fmt.Sprintf("the interval, %s, is not entirely %s", between(e), b)
	default:
		c.Passed = true
		if !whole && e.Interval != nil {
			c.Remarks = append(c.Remarks, fmt.Sprintf("%s is inside the interval, %s: chance may have decided", amount(b.value, b.unit), between(e)))
		}
		c.Remarks = append(c.Remarks, e.Warnings...)
	}
	return c
}

// unfit explains why a figure cannot be judged; it is empty if it can.
func unfit(e crosstalk.Estimate) string {
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
	return report.Value(crosstalk.Value(e.Interval.Low), e.Unit) + " to " + report.Value(crosstalk.Value(e.Interval.High), e.Unit) + " " + unit
}
