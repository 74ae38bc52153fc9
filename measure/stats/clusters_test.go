package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// uneven are the sizes of 30 clusters that hold 109 observations.
var uneven = []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 3, 3, 3, 3, 5, 5, 5, 6, 6, 6, 6, 7, 7, 9, 17}

// clustered draws values in {0, 0.5, 1} with a shared effect per cluster.
func clustered(seed uint64, sizes []int, rate, rho float64) *Clusters {
	rng := rand.New(rand.NewPCG(seed, 1))
	tie := math.Min(0.04, 1-rate)
	one, half := NormalQuantile(rate-tie), NormalQuantile(math.Min(rate+tie, 1-1e-12))
	var c Clusters
	for g, n := range sizes {
		u := rng.NormFloat64()
		for range n {
			z := math.Sqrt(rho)*u + math.Sqrt(1-rho)*rng.NormFloat64()
			v := 0.0
			if z < one {
				v = 1
			} else if z < half {
				v = 0.5
			}
			c.Add(Cluster(g), v)
		}
	}
	return &c
}

func TestMeanCoversClusteredRates(t *testing.T) {
	for _, rate := range []float64{0.5, 0.7, 0.85, 0.95} {
		const sets = 1000
		hit := 0
		for seed := range uint64(sets) {
			e := Mean(clustered(seed, uneven, rate, 0.4), Proportion, 0.95)
			if e.Interval.Contains(rate) {
				hit++
			}
		}
		if cover := float64(hit) / sets; cover < 0.93 || cover > 0.975 {
			t.Errorf("rate %v: the 95 %% interval covers %.3f", rate, cover)
		}
	}
}

func TestMeanIgnoresOrder(t *testing.T) {
	var a, b Clusters
	for i := range 50 {
		a.Add(Cluster(i%7), float64(i%3)/2)
		j := 49 - i
		b.Add(Cluster(j%7), float64(j%3)/2)
	}
	if p, q := Mean(&a, Proportion, 0.95), Mean(&b, Proportion, 0.95); p.Interval != q.Interval {
		t.Errorf("order of Add changes the interval: %+v, %+v", p, q)
	}
}

func TestMeanOfDegenerateData(t *testing.T) {
	has := func(e Estimate, want Code) bool {
		for _, w := range e.Warnings {
			if w.Code == want {
				return true
			}
		}
		return false
	}
	var empty Clusters
	if e := Mean(&empty, Proportion, 0.95); !math.IsNaN(e.Value) || e.Interval.Defined() || !has(e, Empty) {
		t.Errorf("empty: %+v", e)
	}
	var ones Clusters
	for g, n := range uneven {
		for range n {
			ones.Add(Cluster(g), 1)
		}
	}
	e := Mean(&ones, Proportion, 0.95)
	// 109^2 / sum n^2 clusters' worth of ones.
	want := math.Pow(0.025, 749.0/(109*109))
	if e.Interval.High != 1 || math.Abs(e.Interval.Low-want) > 1e-12 || !has(e, NoVariation) {
		t.Errorf("all ones: %+v, want low %v", e, want)
	}
	if e := Mean(&ones, Unbounded, 0.95); e.Interval.Defined() {
		t.Errorf("no variance, no bounds: %+v", e.Interval)
	}
	var one Clusters
	for i := range 40 {
		one.Add(0, float64(i%2))
	}
	if e := Mean(&one, Proportion, 0.95); !math.IsNaN(e.SE) || !has(e, OneCluster) || e.Interval.Width() < 0.9 {
		t.Errorf("one cluster: %+v", e)
	}
	var tenth Clusters
	for i := range 30 {
		tenth.Add(Cluster(i%3), 0.1)
	}
	if e := Mean(&tenth, Proportion, 0.95); e.SE != 0 || !has(e, NoVariation) || !e.Interval.Contains(0.1) {
		t.Errorf("equal values that are not exact in binary: %+v", e)
	}
	var same Clusters // two models that answer alike
	for i := range 40 {
		same.AddIndependent(0 * float64(i))
	}
	if e := Mean(&same, Difference, 0.95); math.Abs(e.Interval.High-(1-math.Pow(0.025, 1.0/40))) > 1e-12 ||
		e.Interval.Low != -e.Interval.High {
		t.Errorf("no difference at all: %+v", e)
	}
	var nan Clusters
	nan.Add(1, 1)
	nan.Add(2, math.NaN())
	if e := Mean(&nan, Proportion, 0.95); !math.IsNaN(e.Value) || e.Interval.Defined() || !has(e, NotFinite) {
		t.Errorf("NaN: %+v", e)
	}
	var out Clusters
	out.Add(1, 2)
	out.Add(2, 0)
	if e := Mean(&out, Proportion, 0.95); e.Interval.Defined() || !has(e, OutOfBounds) {
		t.Errorf("out of bounds: %+v", e)
	}
}

func TestIndependentEqualsOwnCluster(t *testing.T) {
	var a, b Clusters
	for i := range 97 {
		v := float64(i * i % 5)
		a.Add(Cluster(i), v)
		b.AddIndependent(v)
	}
	x, y := Mean(&a, Bounds{0, 4}, 0.9), Mean(&b, Bounds{0, 4}, 0.9)
	if x.Interval != y.Interval || x.SE != y.SE || x.Clusters != 97 || y.Clusters != 97 {
		t.Errorf("%+v, %+v", x, y)
	}
	if math.Abs(x.DF-96) > 1e-9 || !math.IsNaN(x.ICC) {
		t.Errorf("df %v, icc %v", x.DF, x.ICC)
	}
}
