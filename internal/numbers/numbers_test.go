package numbers

import (
	"testing"

	"crosstalk"
)

// Fractions are percentages, other figures are in their unit; what is undefined is a dash, and zero has no sign.
func TestNumbers(t *testing.T) {
	interval := &crosstalk.Interval{Low: -0.009, High: 0.25}
	for i, c := range [][2]string{
		{Percent(crosstalk.Undefined), "-"}, {Percent(0), "0.0"}, {Percent(1), "100.0"}, {Percent(0.70185), "70.2"},
		{Value(2, "bits"), "2.00"}, {Value(0.02, ""), "2.0"}, {Value(crosstalk.Undefined, "bits"), "-"},
		{Difference(0.0364, ""), "+3.6"}, {Difference(-0.0364, ""), "-3.6"}, {Difference(0.0001, ""), "0.0"},
		{Difference(-0.0001, ""), "0.0"}, {Difference(crosstalk.Undefined, ""), "-"}, {Difference(0.25, "bits"), "+0.25"},
		{Difference(-1.5, "bits"), "-1.50"}, {Difference(-0.001, "bits"), "0.00"},
		{Decimals(crosstalk.Undefined), "-"}, {Decimals(0.25), "0.250"},
		{Interval(nil, ""), "-"}, {Interval(interval, "bits"), "-0.01 to 0.25"}, {DifferenceInterval(nil, ""), "-"},
		{DifferenceInterval(interval, ""), "-0.9 to +25.0"}, {DifferenceInterval(interval, "bits"), "-0.01 to +0.25"},
		{Points(0.01), "1 point"}, {Points(0.025), "2.5 points"}, {Points(0.012345), "1.23 points"}, {Points(0), "0 points"},
	} {
		if c[0] != c[1] {
			t.Errorf("%d: %q, want %q", i, c[0], c[1])
		}
	}
}
