// Package numbers formats figures for people: fractions as percentages with one decimal, and other figures in their
// unit with two. What is undefined is "-", never 0.
package numbers

import (
	"fmt"
	"strconv"
	"strings"

	"crosstalk"
)

// Percent formats a fraction as a percentage with one decimal, "-" if undefined.
func Percent(f crosstalk.Value) string {
	if !f.Defined() {
		return "-"
	}
	return strconv.FormatFloat(100*float64(f), 'f', 1, 64)
}

// Value formats a figure: as a percentage if it has no unit, or a number in its unit; "-" if undefined.
func Value(f crosstalk.Value, unit string) string {
	if unit == "" || !f.Defined() {
		return Percent(f)
	}
	return strconv.FormatFloat(float64(f), 'f', 2, 64)
}

// Decimals formats a coefficient or a probability with three decimals, "-" if undefined.
func Decimals(f crosstalk.Value) string {
	if !f.Defined() {
		return "-"
	}
	return strconv.FormatFloat(float64(f), 'f', 3, 64)
}

// Difference formats a signed difference in its unit, for fractions in percentage points; "-" if undefined.
func Difference(f crosstalk.Value, unit string) string {
	s := Value(f, unit)
	switch {
	case !f.Defined():
		return "-"
	case strings.Trim(s, "-0.") == "":
		return strings.TrimPrefix(s, "-")
	case f > 0:
		return "+" + s
	}
	return s
}

// Points formats a share as percentage points with three digits: "1 point", "2.5 points".
func Points(share float64) string {
	if s := fmt.Sprintf("%.3g", 100*share); s != "1" {
		return s + " points"
	}
	return "1 point"
}

// Interval formats an interval as "LOW to HIGH" in the figure's unit, "-" if there is none.
func Interval(i *crosstalk.Interval, unit string) string { return interval(i, unit, Value) }

// DifferenceInterval formats the interval of a difference, such as "-0.9 to +0.1".
func DifferenceInterval(i *crosstalk.Interval, unit string) string {
	return interval(i, unit, Difference)
}

func interval(i *crosstalk.Interval, unit string, text func(crosstalk.Value, string) string) string {
	if i == nil {
		return "-"
	}
	return text(crosstalk.Value(i.Low), unit) + " to " + text(crosstalk.Value(i.High), unit)
}
