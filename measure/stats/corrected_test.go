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
		right.Add(id, "", []float64{y}, []float64{label})
		all.Add(id, "", []float64{float64(rng.IntN(2))}, []float64{y})
		noise.Add(id, "", []float64{float64(i % 2)}, []float64{label})
	}
	if c := right.Estimate(only, Proportion, 0.95); math.Abs(c.Corrected.Value-sum/2000) > 1e-3 || c.Weight < 0.99 ||
		c.Labelled != 200 ||
		math.Abs(c.Labels.Value-labels/labelled) > 1e-12 || width(c.Corrected) > 0.5*width(c.Labels) {
		t.Errorf("right: %+v", c)
	}
	if c := all.Estimate(only, Proportion, 0.95); math.Abs(c.Corrected.Value-sum/2000) > 1e-12 ||
		math.Abs(c.Labels.SE-math.Sqrt(0.25/2000)) > 1e-4 {
		t.Errorf("all: %+v", c)
	}
	if c := noise.Estimate(only, Proportion, 0.95); c.Weight > 0.1 ||
		math.Abs(width(c.Corrected)/width(c.Labels)-1) > 0.02 {
		t.Errorf("noise: %+v", c)
	}
}

func width(e Estimate) float64 { return e.Interval.High - e.Interval.Low }

// By hand: two strata of 40 and 60 observations with 16 labels each.
func TestCorrectedByHand(t *testing.T) {
	var c Corrected
	i := 0
	for _, o := range []struct {
		stratum      string
		value, label float64
		n            int
	}{
		{"a", 1, 1, 8}, {"a", 0, 0, 6}, {"a", 1, 0, 1}, {"a", 0, 1, 1}, {"a", 1, math.NaN(), 20}, {"a", 0, math.NaN(), 4},
		{"b", 0, 0, 10}, {"b", 1, 1, 6}, {"b", 0, math.NaN(), 30}, {"b", 1, math.NaN(), 14},
	} {
		for range o.n {
			c.Add(strconv.Itoa(i), o.stratum, []float64{o.value}, []float64{o.label})
			i++
		}
	}
	got := c.Estimate(only, Proportion, 0.95)
	w := got.Weight
	// mean value 49/100; by the labelled ones 0.4*9/16 + 0.6*6/16; mean label the same
	if want := 0.45 + w*(0.49-0.45); math.Abs(got.Corrected.Value-want) > 1e-12 ||
		math.Abs(got.Labels.Value-0.45) > 1e-12 || w < 0.5 || w > 1 {
		t.Errorf("%+v", got)
	}
	c.Add("x", "c", []float64{1}, []float64{math.NaN()})
	if got := c.Estimate(only, Proportion, 0.95); !math.IsNaN(got.Corrected.Value) || len(got.Corrected.Warnings) != 1 ||
		got.Corrected.Warnings[0].String() != "1 parts have no mean" {
		t.Errorf("a stratum without labels: %+v", got)
	}
	if got := new(Corrected).Estimate(only, Proportion, 0.95); !math.IsNaN(got.Corrected.Value) ||
		got.Corrected.Warnings[0].Code != Empty {
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
		c.Add(strconv.Itoa(i), "", []float64{1}, []float64{label})
	}
	got := c.Estimate(only, Proportion, 0.95)
	if got.Corrected.Value != 1 || got.Corrected.Interval.High != 1 || got.Corrected.Interval.Low < 0.85 ||
		got.Corrected.Interval.Low > 0.97 {
		t.Errorf("%+v", got.Corrected)
	}
}

// Where labels agree with the instrument, a ratio of two steps is the
// instrument's; the interval covers the truth of a simulation as often as it says.
func TestCorrectedSteps(t *testing.T) {
	share := func(means []float64) float64 { return means[1] / means[0] }
	rng := rand.New(rand.NewPCG(4, 1))
	covers, alone, wide := 0, 0, [2]float64{}
	const sets = 200
	for range sets {
		var c Corrected
		for i := range 600 {
			line, word := 0.0, 0.0
			if rng.Float64() < 0.8 {
				line = 1
				if rng.Float64() < 0.9 {
					word = 1
				}
			}
			values, labels := []float64{line, word}, []float64{line, word}
			if rng.Float64() < 0.1 { // the instrument takes a right line for a wrong one, or misses a word
				values = []float64{line, line}
				if rng.Float64() < 0.5 {
					values = []float64{0, 0}
				}
			}
			if i%4 != 0 {
				labels = []float64{math.NaN(), math.NaN()}
			}
			c.Add(strconv.Itoa(i), "", values, labels)
		}
		r := c.Estimate(share, Proportion, 0.95)
		if r.Corrected.Interval.Contains(0.9) {
			covers++
		}
		if r.Labels.Interval.Contains(0.9) {
			alone++
		}
		wide[0] += width(r.Corrected)
		wide[1] += width(r.Labels)
	}
	if wide[0] > 0.9*wide[1] {
		t.Errorf("mean widths of the corrected interval and that of the labels: %v", wide)
	}
	// The standard deviation of a share of 95 % is 1.5 points.
	if covers < 180 || alone < 180 {
		t.Errorf("%d corrected intervals and %d of the labels alone of %d contain the truth", covers, alone, sets)
	}
}

// Without clusters, the labels alone have nearly the interval of Jeffreys (Brown,
// Cai and DasGupta 2001, table 5) and, where none is 1, of Clopper and Pearson.
func TestCorrectedLabelsAlone(t *testing.T) {
	for _, c := range []struct {
		x, n      int
		low, high float64
	}{{5, 20, 0.102, 0.464}, {0, 20, 0, 0.168}, {10, 20, 0.292, 0.708}} {
		var all Corrected
		for i := range 5000 {
			y := math.NaN()
			if i < c.n {
				y = 0
			}
			if i < c.x {
				y = 1
			}
			all.Add(strconv.Itoa(i), "", []float64{0}, []float64{y})
		}
		got := all.Estimate(only, Proportion, 0.95).Labels.Interval
		if math.Abs(got.Low-c.low) > 0.012 || math.Abs(got.High-c.high) > 0.012 {
			t.Errorf("%d of %d: %v; expected %v to %v", c.x, c.n, got, c.low, c.high)
		}
	}
}

// only is the mean of the only step.
func only(means []float64) float64 { return means[0] }
