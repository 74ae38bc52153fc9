package stats_test

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	. "crosstalk/measure/stats"
)

// An instrument that is always right gives its own mean, with weight 1; labels
// of everything give the labels' mean; an instrument that says nothing gets no
// weight.
func TestCorrectedExtremes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var right, all, noise Corrected
	sum, labels, labelled := 0.0, 0.0, 0.0
	for i := range 2000 {
		y := float64(rng.IntN(2))
		label := math.NaN()
		if i%10 == 0 {
			label = y
			labels, labelled = labels+y, labelled+1
		}
		sum += y
		id := strconv.Itoa(i)
		right.Add(id, "", y, label)
		all.Add(id, "", float64(rng.IntN(2)), y)
		noise.Add(id, "", float64(i%2), label)
	}
	if c := right.Estimate(Proportion, 0.95); math.Abs(c.Corrected.Value-sum/2000) > 1e-3 || c.Weight < 0.99 || c.Labelled != 200 ||
		math.Abs(c.Labels.Value-labels/labelled) > 1e-12 || width(c.Corrected) > 0.5*width(c.Labels) {
		t.Errorf("right: %+v", c)
	}
	if c := all.Estimate(Proportion, 0.95); math.Abs(c.Corrected.Value-sum/2000) > 1e-12 || math.Abs(c.Labels.SE-math.Sqrt(0.25/2000)) > 1e-4 {
		t.Errorf("all: %+v", c)
	}
	if c := noise.Estimate(Proportion, 0.95); c.Weight > 0.1 || math.Abs(width(c.Corrected)/width(c.Labels)-1) > 0.02 {
		t.Errorf("noise: %+v", c)
	}
}

func width(e Estimate) float64 { return e.Interval.High - e.Interval.Low }

// By hand: two strata of 4 and 6 observations with two labels each.
func TestCorrectedByHand(t *testing.T) {
	var c Corrected
	for i, o := range []struct {
		stratum      string
		value, label float64
	}{
		{"a", 1, 1}, {"a", 1, 0}, {"a", 1, math.NaN()}, {"a", 0, math.NaN()},
		{"b", 0, 0}, {"b", 1, 1}, {"b", 0, math.NaN()}, {"b", 0, math.NaN()}, {"b", 0, math.NaN()}, {"b", 1, math.NaN()},
	} {
		c.Add(strconv.Itoa(i), o.stratum, o.value, o.label)
	}
	got := c.Estimate(Proportion, 0.95)
	w := got.Weight
	// mean value 5/10; by the labelled ones 0.4*1 + 0.6*0.5; mean label 0.4*0.5 + 0.6*0.5
	if want := 0.5 + w*(0.5-0.7); math.Abs(got.Corrected.Value-want) > 1e-12 || got.Labels.Value != 0.5 || w <= 0 || w > 1 {
		t.Errorf("%+v", got)
	}
	c.Add("x", "c", 1, math.NaN())
	if got := c.Estimate(Proportion, 0.95); !math.IsNaN(got.Corrected.Value) || len(got.Corrected.Warnings) != 1 || got.Corrected.Warnings[0].String() != "1 parts have no mean" {
		t.Errorf("a stratum without labels: %+v", got)
	}
	if got := new(Corrected).Estimate(Proportion, 0.95); !math.IsNaN(got.Corrected.Value) || got.Corrected.Warnings[0].Code != Empty {
		t.Errorf("nothing: %+v", got)
	}
}

// Labels that all agree leave a doubt.
func TestCorrectedAgreeing(t *testing.T) {
	var c Corrected
	for i := range 1000 {
		label := math.NaN()
		if i < 50 {
			label = 1
		}
		c.Add(strconv.Itoa(i), "", 1, label)
	}
	got := c.Estimate(Proportion, 0.95)
	if got.Corrected.Value != 1 || got.Corrected.Interval.High != 1 || got.Corrected.Interval.Low < 0.85 || got.Corrected.Interval.Low > 0.97 {
		t.Errorf("%+v", got.Corrected)
	}
}
