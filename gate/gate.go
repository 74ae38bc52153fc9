// Package gate decides whether a run is good enough: its figures satisfy stated bounds and are no worse than another
// run's. It works with estimates and comparisons, and imports no instruments.
//
// A check has three outcomes. It passes if the whole interval of the figure, or of the difference, satisfies the bound:
// that is evidence for it. It fails if the whole interval violates the bound, and is otherwise inconclusive, with the
// side on which the figure lies and the number of items that may decide it. A gate passes if all of its checks do, so
// each check has the whole level; it fails if one does, so for failures they share the level (Bonferroni). Figures can
// also be judged without intervals, or, for nightly runs, by the evidence of all nights.
//
// What cannot be judged fails, with the reason: a figure that was not measured or has no scored observations; a figure
// that is incomplete because requests failed or items were not measured; and a figure that leaves out too many of the
// answers, since they could not be judged.
package gate

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/internal/nearest"
	"crosstalk/internal/numbers"
	"crosstalk/internal/ordered"
	"crosstalk/measure/estimate"
	"crosstalk/measure/stats"
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

	Names  map[string]string `json:"-"` // names that tables show for values of columns
	Broken []Broken          `json:"-"` // some of them, in a run that is worse than a reference
}

// Headline states the result in a few words.
func (v Verdict) Headline() string {
	checks := fmt.Sprintf("%d checks", len(v.Checks))
	if len(v.Checks) == 1 {
		checks = "1 check"
	}
	switch _, open := v.count(); {
	case v.Passed:
		return "passed: " + checks
	case v.Inconclusive:
		return fmt.Sprintf("inconclusive: %d of %s", open, checks)
	case open > 0:
		return fmt.Sprintf("failed: %d of %s, and %d inconclusive", v.Failed(), checks, open)
	default:
		return fmt.Sprintf("failed: %d of %s", v.Failed(), checks)
	}
}

// Options are the rules for judging figures.
type Options struct {
	Point       bool    // figures are judged without their intervals
	Level       float64 // two-sided, of intervals; 0: 0.95
	Night       int     // which night this is, from 1, if figures are judged every night; 0: once
	MaxUnjudged float64 // the largest accepted share of answers, 0 to 1, that could not be judged; --max-unchecked is 0.1
}

// Check is the result of one requirement for one figure.
type Check struct {
	Requirement  string              `json:"requirement"`
	Measure      string              `json:"measure"`
	By           map[string]string   `json:"by"`             // the figure's columns
	Unit         string              `json:"unit,omitempty"` // of Value and Interval; empty: a fraction
	Passed       bool                `json:"passed"`
	Inconclusive bool                `json:"inconclusive,omitempty"`  // neither passed nor failed: more evidence is needed
	Side         string              `json:"side,omitempty"`          // inconclusive: "within" the bound or "beyond"
	Reason       string              `json:"reason,omitempty"`        // why it did not pass
	Missing      []int               `json:"missing_items,omitempty"` // inconclusive: fewest and most that may decide
	Value        crosstalk.Value     `json:"value"`                   // the figure, or its difference from Reference
	Interval     *crosstalk.Interval `json:"interval"`
	N            int                 `json:"n"`
	Reference    map[string]string   `json:"reference,omitempty"` // the condition of the reference
	Remarks      []string            `json:"remarks,omitempty"`   // cautions about a check that passed
	Nightly      *Nightly            `json:"nightly,omitempty"`

	bound        bound
	observations int
	clusters     int
	margin       float64
	still        bool               // no item differs from the others, or from its reference
	strict       crosstalk.Interval // decides a failure: at the level that all checks share
	undecided    bool               // Reason does not fail the check yet
}

// Judge makes a verdict of checks.
func Judge(run string, checks []Check) Verdict {
	v := Verdict{Schema: Schema, Run: run, Checks: checks}
	passed, inconclusive := v.count()
	v.Passed = passed > 0 && passed == len(checks)
	v.Inconclusive = inconclusive > 0 && passed+inconclusive == len(checks)
	return v
}

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

// Unfinished returns a check that failed for a reason that concerns the whole run.
func Unfinished(requirement, reason string) Check {
	return Check{Requirement: requirement, By: map[string]string{}, Value: crosstalk.Undefined, Reason: reason}
}

// slack allows for rounding in averages.
const slack = 1e-12

type bound struct {
	op    string
	value float64
	unit  string
}

func (b bound) missedBy(i crosstalk.Interval) bool {
	return !b.keeps(i.Low) && !b.keeps(i.High)
}

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

// Check tests the figures of a run, grouped by the requirement's columns. It returns at least one check. Its only error
// is a *SyntaxError: the figure cannot have the stated value.
func (r Requirement) Check(estimates []crosstalk.Estimate, o Options) (checks []Check, err error) {
	var measured []crosstalk.Estimate
	for _, e := range estimates {
		if !instrument.Chosen([]string{r.Measure}, e.Measure) {
			continue
		}
		measured = append(measured, e)
		if r.concerns(e) {
			b := bound{op: r.Op, unit: e.Unit}
			if b.value, err = r.Value.Of(e.Unit); err != nil {
				return nil, err
			}
			c := Check{Requirement: r.Text, Measure: e.Measure, By: e.By, Unit: e.Unit, Value: e.Value, Interval: e.Interval,
				N: e.N, Remarks: slices.Clone(e.Warnings), bound: b, observations: e.Observations,
				still: e.Value == 0 || e.Value == 1, Reason: unfit(e, o.MaxUnjudged)}
			c.undecided = c.Reason == ""
			checks = append(checks, c)
		}
	}
	if checks == nil {
		c := Unfinished(r.Text, r.missing(estimates, measured))
		c.Measure = r.Measure
		checks = append(checks, c)
	}
	return checks, nil
}

func (r Requirement) concerns(e crosstalk.Estimate) bool {
	return !slices.ContainsFunc(r.Where, func(m Match) bool { return e.By[m.Column] != m.Value }) &&
		!slices.ContainsFunc(r.By, func(column string) bool { return e.By[column] == "" || e.By[column] == crosstalk.All })
}

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

func list(estimates []crosstalk.Estimate, text func(crosstalk.Estimate) string) string {
	names := ordered.Distinct(estimates, text)
	names = slices.DeleteFunc(names, func(s string) bool { return s == "" || s == crosstalk.All })
	return cmp.Or(strings.Join(names, ", "), "none")
}

// decide judges the checks together.
func (o Options) decide(checks []Check) {
	level := cmp.Or(o.Level, estimate.Level)
	shared := 0
	for _, c := range checks {
		if c.undecided {
			shared++
		}
	}
	for i := range checks {
		c := &checks[i]
		switch {
		case c.undecided && c.Nightly != nil:
			c.decideNightly(2 * float64(shared) / (1 - level))
		case c.undecided:
			if c.Reference == nil && c.Interval != nil {
				at := func(i crosstalk.Interval, level float64) crosstalk.Interval {
					return stats.AtLevel(i, float64(c.Value), c.observations, level)
				}
				exact := *c.Interval
				if exact.Method == "wilson" { // at strict levels, too narrow for rates near 0 or 1
					exact.Method = "clopper-pearson"
				}
				c.strict = at(exact, 1-(1-level)/float64(shared*o.looks()))
				if level != c.Interval.Level {
					c.Interval = at(*c.Interval, level).Known()
				}
			}
			c.decide(o.Point)
		}
		if !c.Passed {
			c.Remarks = nil
		}
	}
}

// looks divides the level of tonight's figures: over all nights, 1/(t(t+1)) sums to 1.
func (o Options) looks() int { return max(1, o.Night*(o.Night+1)) }

// decide judges a check by its intervals, or by the figure alone.
func (c *Check) decide(point bool) {
	within := c.bound.keeps(float64(c.Value))
	i := c.Interval
	switch {
	case point:
		c.Passed = within
		if i != nil && c.bound.keeps(i.Low) != c.bound.keeps(i.High) {
			c.Remarks = append([]string{fmt.Sprintf("%s is inside the interval, %s: chance may have decided",
				amount(c.bound.value, c.Unit), c.between())}, c.Remarks...)
		}
	case i == nil && c.Reference != nil:
		c.Reason = fmt.Sprintf("the difference over %d items has no interval", c.N)
		return
	case i == nil:
		c.Reason = "the figure has no interval; --point judges it without one"
		return
	case c.bound.keeps(i.Low) && c.bound.keeps(i.High):
		c.Passed = true
	default:
		c.Inconclusive = !c.bound.missedBy(c.strict)
	}
	if c.Passed {
		return
	}
	c.Reason = c.miss(within)
	if !c.Inconclusive {
		return
	}
	c.Side = "beyond"
	if within {
		c.Side = "within"
	}
	if c.Reference != nil && c.clusters < fewestClusters && c.clusters < c.N {
		c.Reason += fmt.Sprintf("; %d clusters are too few to tell", c.clusters)
		return
	}
	c.need(within)
}

func (c *Check) miss(within bool) string {
	i, v := c.Interval, float64(c.Value)
	if c.Reference != nil {
		worst, best := i.Low, i.High
		if c.bound.op == "<=" {
			worst, best = best, worst
		}
		reason := fmt.Sprintf("worse by %s points", numbers.Percent(crosstalk.Value(math.Abs(v))))
		switch {
		case within:
			return fmt.Sprintf("the difference may be as bad as %s points", numbers.Difference(crosstalk.Value(worst), ""))
		case !c.Inconclusive:
		case c.bound.missedBy(*i):
			return fmt.Sprintf("%s, but the interval that decides a failure, %s points, reaches the margin", reason,
				numbers.DifferenceInterval(&c.strict, ""))
		default:
			return fmt.Sprintf("%s, but may be as good as %s points", reason, numbers.Difference(crosstalk.Value(best), ""))
		}
		return reason
	}
	figure := apart(v, c.bound)
	switch {
	case within:
		return fmt.Sprintf("%s is %s, but its interval, %s, is not", figure, c.bound, c.between())
	case c.Inconclusive && (c.bound.keeps(i.Low) || c.bound.keeps(i.High)):
		return fmt.Sprintf("%s is not %s, but its interval, %s, reaches it", figure, c.bound, c.between())
	case c.Inconclusive:
		return fmt.Sprintf("%s is not %s, but the interval that decides a failure, %s %s, reaches it", figure, c.bound,
			numbers.Interval(&c.strict, c.Unit), cmp.Or(c.Unit, "%"))
	}
	return fmt.Sprintf("%s is not %s", figure, c.bound)
}

const (
	// power is the intended probability that the missing items decide a check.
	power = 0.8
	// more than manyTimes the present number of items is no advice.
	manyTimes = 20
)

// need estimates how many more items may decide an inconclusive check: the true figure may be anywhere in the central
// half of the interval's figures; it needs the most items at the end near the bound, the fewest at the other.
func (c *Check) need(within bool) {
	i, v, n := c.Interval, float64(c.Value), float64(c.N)
	if !within { // a failure needs more evidence than a pass
		i = &c.strict
	}
	gap, half := math.Abs(v-c.bound.value), v-i.Low
	if c.bound.keeps(i.High) != within {
		half = i.High - v
	}
	var least, most float64
	if c.still && gap > 0 { // the width shrinks with n; each new fault takes as many more
		least = n * half / gap
		most = 2 * least
	} else {
		z := stats.NormalQuantile((1 + i.Level) / 2)
		se, toBe := half/z, z+stats.NormalQuantile(power)
		probable := stats.NormalQuantile(0.75) * se
		items := func(gap float64) float64 { return n * math.Pow(toBe*se/gap, 2) }
		least, most = items(gap+probable), math.Inf(1)
		if gap > probable {
			most = items(gap - probable)
		}
	}
	more := func(items float64) int { return max(1, int(math.Ceil(items-n-1e-9))) }
	switch {
	case !(least <= manyTimes*n):
		c.Reason += fmt.Sprintf("; it takes more than %d times as many items", manyTimes)
	case !(most <= manyTimes*n):
		c.Missing = []int{more(least)}
		c.Reason += fmt.Sprintf("; it takes at least %s more items", about(more(least)))
	default:
		c.Missing = []int{more(least), more(most)}
		c.Reason += fmt.Sprintf("; about %s to %s more items may decide", about(more(least)), about(more(most)))
	}
}

// about rounds a number to two digits.
func about(n int) string {
	unit := 1
	for n/unit >= 100 {
		unit *= 10
	}
	return strconv.Itoa((n + unit/2) / unit * unit)
}

// unfit explains why a figure cannot be judged; "" if it can.
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

// IntervalText formats the interval of the figure, or of its difference from Reference.
func (c Check) IntervalText() string {
	if c.Reference != nil {
		return numbers.DifferenceInterval(c.Interval, c.Unit)
	}
	return numbers.Interval(c.Interval, c.Unit)
}

func (c Check) between() string { return c.IntervalText() + " " + cmp.Or(c.Unit, "%") }
