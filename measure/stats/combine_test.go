package stats

import (
	"math"
	"slices"
	"testing"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.IsNaN(got) != math.IsNaN(want) || math.Abs(got-want) > tolerance {
		t.Errorf("%s: got %.12g, want %.12g", what, got, want)
	}
}

// macro is the mean over strata.
func macro(means []float64) (m float64) {
	for _, x := range means {
		m += x / float64(len(means))
	}
	return m
}

// harmonic is the harmonic mean of two rates.
func harmonic(m []float64) float64 { return 2 * m[0] * m[1] / (m[0] + m[1]) }

func TestMacroOfOneStratumIsMean(t *testing.T) {
	c := clustered(3, uneven, 0.7, 0.5)
	a, b := Combine([]*Clusters{c}, macro, Proportion, 0.95), Mean(c, Proportion, 0.95)
	near(t, "value", a.Value, b.Value, 1e-12)
	near(t, "SE", a.SE, b.SE, 1e-12)
	near(t, "DF", a.DF, b.DF, 1e-9)
	near(t, "low", a.Interval.Low, b.Interval.Low, 1e-10)
	near(t, "high", a.Interval.High, b.Interval.High, 1e-10)
}

func TestMacroOfSeparateStrata(t *testing.T) {
	var parts []*Clusters
	var sum, squares float64
	for h := range 4 {
		c := new(Clusters)
		for i := range 20 + h {
			c.Add(Cluster(1000*h+i/2), float64((i*i+h)%3)/2)
		}
		parts = append(parts, c)
		sum += c.Mean() / 4
		squares += math.Pow(c.summary().stdErr()/4, 2)
	}
	e := Combine(parts, macro, Proportion, 0.95)
	near(t, "value", e.Value, sum, 1e-12)
	near(t, "SE", e.SE, math.Sqrt(squares), 1e-12)
	if e.N != 86 || e.Clusters != 10+11+11+12 {
		t.Errorf("n %d, clusters %d", e.N, e.Clusters)
	}
}

func TestMacroSeesSharedClusters(t *testing.T) {
	// Two languages that answer every prompt alike know no more than one.
	var a, b, apart Clusters
	for i := range 60 {
		v := float64(i % 2)
		a.Add(Cluster(i), v)
		b.Add(Cluster(i), v)
		apart.Add(Cluster(-i-1), v)
	}
	same := Combine([]*Clusters{&a, &b}, macro, Proportion, 0.95)
	near(t, "shared prompts", same.SE, a.summary().stdErr(), 1e-12)
	near(t, "shared prompts: df", same.DF, 59, 1e-9)
	own := Combine([]*Clusters{&a, &apart}, macro, Proportion, 0.95)
	near(t, "own prompts", own.SE, a.summary().stdErr()/math.Sqrt2, 1e-12)
}

func TestCombineByDeltaMethod(t *testing.T) {
	var lines, words Clusters
	for i := range 100 {
		lines.Add(Cluster(i), indicator(i%5 != 0))
		if i%5 != 0 {
			words.Add(Cluster(i), indicator(i%7 != 0))
		}
	}
	e := Combine([]*Clusters{&lines, &words}, harmonic, Proportion, 0.95)
	l, w := lines.Mean(), words.Mean()
	near(t, "harmonic mean", e.Value, 2*l*w/(l+w), 1e-12)
	// By hand: influence of answer i on l and w, weighted by the partial
	// derivatives 2w^2/(l+w)^2 and 2l^2/(l+w)^2.
	gl, gw := 2*w*w/(l+w)/(l+w), 2*l*l/(l+w)/(l+w)
	var v float64
	for i := range 100 {
		u := gl * (indicator(i%5 != 0) - l) / 100 / math.Sqrt(1-1.0/100)
		if i%5 != 0 {
			u += gw * (indicator(i%7 != 0) - w) / 80 / math.Sqrt(1-1.0/80)
		}
		v += u * u
	}
	near(t, "SE", e.SE, math.Sqrt(v), 1e-11)
}

func TestCombineOfDegenerateParts(t *testing.T) {
	var ones, empty Clusters
	for i := range 50 {
		ones.Add(Cluster(i), 1)
	}
	e := Combine([]*Clusters{&ones, &ones}, macro, Proportion, 0.95)
	near(t, "perfect languages", e.Interval.Low, math.Pow(0.025, 0.01), 1e-9)
	if e.Interval.High != 1 {
		t.Errorf("high %v", e.Interval.High)
	}
	e = Combine([]*Clusters{&ones, &empty}, macro, Proportion, 0.95)
	if !math.IsNaN(e.Value) || e.Interval.Defined() ||
		!slices.ContainsFunc(e.Warnings, func(w Warning) bool { return w.Code == UndefinedPart }) {
		t.Errorf("a stratum without answers: %+v", e)
	}
	if e := Combine(nil, macro, Proportion, 0.95); !math.IsNaN(e.Value) || e.Interval.Defined() {
		t.Errorf("no strata: %+v", e)
	}
}

// Rates of parts of one item each are a binomial: half of 50 wrong is between 36 and 65 %, as Clopper and Pearson say.
func TestCombineOfLoneItems(t *testing.T) {
	var parts []*Clusters
	for i := range 50 {
		c := new(Clusters)
		c.Add(Cluster(i), indicator(i%2 == 0))
		parts = append(parts, c)
	}
	e, binomial := Combine(parts, macro, Proportion, 0.95), ClopperPearson(25, 50, 0.95)
	near(t, "low", e.Interval.Low, binomial.Low, 1e-9)
	near(t, "high", e.Interval.High, binomial.High, 1e-9)
}

func indicator(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
