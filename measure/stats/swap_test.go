package stats

import (
	"cmp"
	"math"
	"math/rand/v2"
	"testing"
)

// For one plain mean Swap is SignFlip on the differences.
func TestSwapOfAMeanIsSignFlip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var a, b, diffs Clusters
	for g := range 40 {
		for range 1 + g%3 {
			x, y := rng.NormFloat64()+0.4, rng.NormFloat64()
			a.Add(Cluster(g), x)
			b.Add(Cluster(g), y)
			diffs.Add(Cluster(g), x-y)
		}
	}
	mean := func(means []float64) float64 { return means[0] }
	got := Swap([]*Clusters{&a}, []*Clusters{&b}, cmp.Compare[Cluster], mean, 100000, 1)
	near(t, "P", got, SignFlip(&diffs, 100000, 2), 0.004)
	if again := Swap([]*Clusters{&a}, []*Clusters{&b}, cmp.Compare[Cluster], mean, 100000, 1); again != got {
		t.Errorf("P %v, then %v with the same seed", got, again)
	}
}

// A harmonic mean of two rates, of which the second is of some observations of
// the first only: equal conditions are told apart as often as they should be,
// different ones are told apart.
func TestSwapOfAHarmonicMean(t *testing.T) {
	const sets = 300
	reject := map[bool]int{}
	for seed := range uint64(sets) {
		for _, differ := range []bool{false, true} {
			rng := rand.New(rand.NewPCG(seed, 5))
			var line, word [2]Clusters
			for g := range 120 {
				u := rng.Float64()
				for side := range 2 {
					rate := 0.85
					if differ && side == 1 {
						rate = 0.65
					}
					if 0.5*u+0.5*rng.Float64() > rate {
						line[side].Add(Cluster(g), 0)
						continue
					}
					line[side].Add(Cluster(g), 1)
					word[side].Add(Cluster(g), math.Ceil(rng.Float64()-0.1))
				}
			}
			p := Swap([]*Clusters{&line[0], &word[0]}, []*Clusters{&line[1], &word[1]}, cmp.Compare[Cluster], harmonic, 400,
				seed)
			if p <= 0.05 {
				reject[differ]++
			}
		}
	}
	near(t, "rejections at 5 %", float64(reject[false])/sets, 0.05, 0.04)
	if reject[true] < sets*3/4 {
		t.Errorf("a real difference was found in %d of %d sets", reject[true], sets)
	}
}

func TestSwapEdges(t *testing.T) {
	mean := func(means []float64) float64 { return means[0] }
	one := func(values ...float64) []*Clusters {
		c := &Clusters{}
		for i, v := range values {
			c.Add(Cluster(i), v)
		}
		return []*Clusters{c}
	}
	if p := Swap(one(1, 0, 1), one(1, 0, 1), cmp.Compare[Cluster], mean, 0, 1); p != 1 {
		t.Errorf("equal conditions: P %v, want 1", p)
	}
	if p := Swap(one(), one(), cmp.Compare[Cluster], mean, 0, 1); !math.IsNaN(p) {
		t.Errorf("no data: P %v, want NaN", p)
	}
	if p := Swap(one(math.NaN()), one(1), cmp.Compare[Cluster], mean, 0, 1); !math.IsNaN(p) {
		t.Errorf("an undefined value: P %v, want NaN", p)
	}
	// All eight clusters differ alike: 2 of 256 exchanges are as extreme.
	near(t, "P", Swap(one(1, 1, 1, 1, 1, 1, 1, 1), one(0, 0, 0, 0, 0, 0, 0, 0), cmp.Compare[Cluster], mean, 100000, 1),
		2.0/256, 0.002)
	// A part that an exchange leaves without a mean is as extreme as any.
	if p := Swap([]*Clusters{one(1)[0], one()[0]}, []*Clusters{one(0)[0], one(1)[0]}, cmp.Compare[Cluster],
		func(m []float64) float64 {
			if math.IsNaN(m[1]) {
				return 0
			}
			return m[0] * m[1]
		}, 100, 1); p != 1 {
		t.Errorf("P %v, want 1", p)
	}
}

func TestEstimateP(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	var a, b Clusters
	for range 50 {
		a.AddIndependent(rng.NormFloat64() + 0.4)
		b.AddIndependent(2 * rng.NormFloat64())
	}
	e := Combine([]*Clusters{&a, &b}, func(m []float64) float64 { return m[0] - m[1] }, Unbounded, 0.95)
	if p := Mean(&Clusters{}, Unbounded, 0.95).P(0); !math.IsNaN(p) {
		t.Errorf("no data: P %v", p)
	}
	// With many degrees of freedom t is the normal, and power is what it finds.
	e.DF = 1e7
	for _, power := range []float64{0.3, 0.5, 0.8} {
		z, d := NormalQuantile(0.995), e.MinDetectable(0.01, power)/e.SE
		near(t, "power", normalCDF(d-z)+normalCDF(-d-z), power, 1e-5)
	}
	if d := (Estimate{DF: 5}).MinDetectable(0.05, 0.8); !math.IsNaN(d) {
		t.Errorf("without variance %v is detectable", d)
	}
	if d := (Design{}).Detectable(9, 0.05, 0.8); !math.IsNaN(d) {
		t.Errorf("without variance %v is detectable", d)
	}
}
