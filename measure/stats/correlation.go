package stats

import "math"

// Correlation is a coefficient in [-1, 1] over N pairs, with the two-sided
// p-value of the null of no association and an interval; NaN where undefined.
type Correlation struct {
	Value, P float64
	N        int
	Interval Interval
}

// Pearson is the product-moment correlation of x and y. P is from Student's t
// with N-2 degrees of freedom, the interval from Fisher's z (Fisher 1921);
// both assume independent pairs, normal ones for exactness. Undefined with
// fewer than two pairs, a NaN, or a side that does not vary; P needs three
// pairs and the interval four. As in scipy pearsonr. It panics if the lengths
// differ.
func Pearson(x, y []float64, level float64) Correlation {
	checkLevel(level)
	checkPairs(len(x), len(y))
	n := float64(len(x))
	c := Correlation{Value: pearson(x, y), P: math.NaN(), N: len(x), Interval: undefined(level, "fisher-z")}
	if math.IsNaN(c.Value) {
		return c
	}
	c.P = correlationP(c.Value, n)
	if n > 3 {
		z, r := math.Atanh(c.Value), normalQuantile((1+level)/2)/math.Sqrt(n-3)
		c.Interval.Low, c.Interval.High = math.Tanh(z-r), math.Tanh(z+r)
	}
	return c
}

func pearson(x, y []float64) float64 {
	if len(x) < 2 {
		return math.NaN()
	}
	mx, _ := meanSD(x)
	my, _ := meanSD(y)
	var xx, yy, xy float64
	for i := range x {
		dx, dy := x[i]-mx, y[i]-my
		xx += dx * dx
		yy += dy * dy
		xy += dx * dy
	}
	n := float64(len(x))
	if xx <= 1e-28*n*mx*mx || yy <= 1e-28*n*my*my {
		return math.NaN() // a side does not vary but for rounding
	}
	return math.Max(-1, math.Min(1, xy/math.Sqrt(xx)/math.Sqrt(yy)))
}

func correlationP(r, n float64) float64 {
	if n < 3 {
		return math.NaN()
	}
	return tTwoSided(r*math.Sqrt((n-2)/((1-r)*(1+r))), n-2)
}
