package compare

import (
	"fmt"
	"math"
	"testing"

	"crosstalk"
	"crosstalk/measure/stats"
)

// An interval is at least as far from its value as that of no difference is from 0,
// but reaches no further than 0, -1 and 1.
func TestAsWideAs(t *testing.T) {
	nan := math.NaN()
	least := stats.Interval{Low: -0.1, High: 0.125}
	for _, c := range []struct{ value, low, high, wantLow, wantHigh float64 }{
		{0, -0.01, 0.01, -0.1, 0.125},
		{0.5, 0.45, 0.55, 0.4, 0.625},
		{0.5, 0.25, 0.75, 0.25, 0.75},          // wide enough
		{0.5, 0.25, 0.55, 0.25, 0.625},         // on one side
		{0.05, 0.01, 0.09, 0, 0.175},           // above 0 it stays
		{-0.05, -0.09, -0.01, -0.15, 0},        // and below
		{0.05, -0.01, 0.11, -0.05, 0.175},      // what contains 0 may
		{0.05, 0, 0.1, -0.05, 0.175},           // or ends there
		{-0.05, -0.1, 0, -0.15, 0.075},         //
		{0.95, 0.9, 0.99, 0.85, 1},             // no difference is larger than 1
		{-0.95, -0.99, -0.9, -1, -0.825},       //
		{0, nan, nan, -0.1, 0.125},             // undefined
		{0.0625, 0.001, 0.0626, 0, 0.1875},     //
		{-0.0625, -0.0626, -0.001, -0.1625, 0}, //
	} {
		got := asWideAs(least, stats.Estimate{Value: c.value, Interval: stats.Interval{Low: c.low, High: c.high}})
		if math.Abs(got.Low-c.wantLow) > 1e-12 || math.Abs(got.High-c.wantHigh) > 1e-12 {
			t.Errorf("%v in [%v, %v]: [%v, %v], want [%v, %v]", c.value, c.low, c.high, got.Low, got.High, c.wantLow, c.wantHigh)
		}
	}
}

// A composite figure whose items all agree has the interval of no difference; one
// that is equal on both sides while items differ has its own.
func TestNoItemDiffers(t *testing.T) {
	of := func(differ bool) Comparison {
		r := &recorded{average: map[string]*crosstalk.Average{"lcpr": {HarmonicOf: []string{"lpr", "wpr"}}}}
		for i := range 60 {
			for side, condition := range []columns{first, second} {
				right := i%10 > 0
				if differ && side == 1 {
					right = i%10 > 1 || i%10 == 0 // as many, others
				}
				value := map[bool]float64{true: 1}[right]
				r.add("lpr", fmt.Sprint(i), "", value, condition, nil)
				r.add("wpr", fmt.Sprint(i), "", value, condition, nil)
			}
		}
		return only(t, runs(t, Options{Measures: []string{"lcpr"}}, r))
	}
	same, other := of(false), of(true)
	if same.Difference != 0 || other.Difference != 0 || same.Interval == nil || other.Interval == nil {
		t.Fatalf("%+v, %+v", same, other)
	}
	if same.Interval.High != -same.Interval.Low || !(other.Interval.High > 1.2*same.Interval.High) ||
		!(other.Interval.Low < 1.2*same.Interval.Low) {
		t.Errorf("no item differs: %+v; twelve do: %+v", same.Interval, other.Interval)
	}
	if same.P != 1 || same.Shown || same.Detectable.Defined() || !other.Detectable.Defined() {
		t.Errorf("%+v\n%+v", same, other)
	}
}
