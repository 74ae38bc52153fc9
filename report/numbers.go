package report

import (
	"math"
	"strconv"
	"strings"

	"crosstalk"
)

// Percent is a fraction as a percentage with one decimal, "-" if undefined.
func Percent(f crosstalk.Value) string {
	if !f.Defined() {
		return "-"
	}
	return strconv.FormatFloat(100*float64(f), 'f', 1, 64)
}

// Value is a figure as printed in tables: a percentage, or a number in its unit.
func Value(f crosstalk.Value, unit string) string {
	if unit == "" || !f.Defined() {
		return Percent(f)
	}
	return strconv.FormatFloat(float64(f), 'f', 2, 64)
}

// Difference is a signed difference of figures in their unit, or in percentage
// points if they are fractions, "-" where undefined.
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

// PValue is a p-value with three decimals, "-" if undefined.
func PValue(p crosstalk.Value) string {
	switch {
	case !p.Defined():
		return "-"
	case p < 0.001:
		return "<0.001"
	}
	return decimals(p)
}

// Interval is "LOW to HIGH" in the figure's unit, "-" if there is none.
func Interval(i *crosstalk.Interval, unit string) string { return interval(i, unit, Value) }

// DifferenceInterval is the interval of a difference, such as "-0.9 to +0.1".
func DifferenceInterval(i *crosstalk.Interval, unit string) string {
	return interval(i, unit, Difference)
}

func interval(i *crosstalk.Interval, unit string, text func(crosstalk.Value, string) string) string {
	if i == nil {
		return "-"
	}
	return text(crosstalk.Value(i.Low), unit) + " to " + text(crosstalk.Value(i.High), unit)
}

// Level is the level of the intervals of figures: "95 %".
func Level(estimates []crosstalk.Estimate) string {
	for _, e := range estimates {
		if e.Interval != nil {
			return strconv.FormatFloat(100*e.Interval.Level, 'g', 4, 64) + " %"
		}
	}
	return "95 %"
}

func pValue(t *crosstalk.Test) string {
	if t == nil {
		return "-"
	}
	return PValue(t.P)
}

// IndependentNote explains the mark of Independent.
const IndependentNote = "*: the test counts all observations as independent, but they come in clusters: p is too small"

// Independent marks a p-value in a table for people: "*" if the test is a t-test as in the
// papers, which knows no clusters, and there are some.
func Independent(e crosstalk.Estimate) string {
	if e.Test != nil && e.Test.Method == "t" && e.Test.P.Defined() && e.Clusters < e.Observations {
		return "*"
	}
	return ""
}

// SmallP is the p-value of a test, with its order of magnitude where PValue has only a bound; "-" without a test.
func SmallP(t *crosstalk.Test) string {
	if t == nil || !t.P.Defined() || t.P >= 0.001 {
		return pValue(t)
	}
	if t.P == 0 {
		return "<1e-300"
	}
	return strconv.FormatFloat(float64(t.P), 'e', 0, 64)
}

// EffectSize is an effect's value, "-" without one.
func EffectSize(e *crosstalk.Effect) string {
	if e == nil || !e.Value.Defined() {
		return "-"
	}
	if math.Abs(float64(e.Value)) < 0.0005 {
		return "0.000"
	}
	return decimals(e.Value)
}

// Number is a number for programs, empty if undefined.
func Number(f crosstalk.Value) string {
	if !f.Defined() {
		return ""
	}
	return strconv.FormatFloat(float64(f), 'g', -1, 64)
}
