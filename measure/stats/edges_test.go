package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestBinomialSampler(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	for _, x := range []struct {
		n int
		p float64
	}{{5, 0.3}, {40, 0.1}, {40, 0.9}, {100, 0.5}, {1000, 0.02}, {5000, 0.4}} {
		const draws = 200000
		n := float64(x.n)
		var sum, sq, low float64
		cut := n*x.p - math.Sqrt(n*x.p*(1-x.p))
		for range draws {
			k := float64(binomial(rng, x.n, x.p))
			if k < 0 || k > n {
				t.Fatalf("n %d: drew %v", x.n, k)
			}
			sum += k
			sq += (k - n*x.p) * (k - n*x.p)
			if k <= cut {
				low++
			}
		}
		sd := math.Sqrt(n * x.p * (1 - x.p))
		near(t, fmt.Sprintf("n %d p %v: mean", x.n, x.p), sum/draws, n*x.p, 5*sd/math.Sqrt(draws))
		near(t, fmt.Sprintf("n %d p %v: variance", x.n, x.p), sq/draws/sd/sd, 1, 0.02)
		// P(K <= k) by summing the mass function.
		var want float64
		for k := 0.0; k <= cut; k++ {
			want += math.Exp(logFactorial(n) - logFactorial(k) - logFactorial(n-k) + k*math.Log(x.p) + (n-k)*math.Log(1-x.p))
		}
		near(t, fmt.Sprintf("n %d p %v: lower tail", x.n, x.p), low/draws, want, 5*math.Sqrt(want/draws))
	}
	for _, k := range []float64{0, 1, 5, 31, 32, 33, 170, 1e6} {
		g, _ := math.Lgamma(k + 1)
		near(t, fmt.Sprintf("log %v!", k), logFactorial(k), g, 1e-12*math.Max(1, g))
	}
}

func TestSignFlipUnderTheNull(t *testing.T) {
	const sets = 400
	reject := 0
	for seed := range uint64(sets) {
		rng := rand.New(rand.NewPCG(seed, 3))
		var c Clusters
		for g := range 25 {
			u := rng.NormFloat64()
			for range 1 + g%4 {
				c.Add(Cluster(g), u+rng.NormFloat64())
			}
		}
		if SignFlip(&c, 500, seed) <= 0.05 {
			reject++
		}
	}
	near(t, "rejections at 5 %", float64(reject)/sets, 0.05, 0.035)
}

func TestSignFlipBounds(t *testing.T) {
	var c Clusters
	for g := range 40 {
		c.Add(Cluster(g), 1+float64(g)/100)
	}
	r := SignFlip(&c, 999, 1)
	near(t, "the least p-value", r, 1.0/1000, 1e-15)
	var none, empty Clusters
	none.Add(1, 0)
	none.Add(2, 0)
	near(t, "no difference", SignFlip(&none, 99, 1), 1, 0)
	near(t, "no data", SignFlip(&empty, 99, 1), math.NaN(), 0)
}

func TestUndefinedIsNaN(t *testing.T) {
	nan := math.NaN()
	var one Clusters
	one.Add(1, 0.5)
	for what, got := range map[string]float64{
		"t of one value":             TTest(&one, 0).P,
		"cluster t of one value":     ClusterTTest(&one, 0).P,
		"effect of one value":        TTest(&one, 0).Effect,
		"pearson of a constant":      Pearson([]float64{0.1, 0.1, 0.1}, []float64{1, 2, 3}, 0.95).Value,
		"pearson of one pair":        Pearson([]float64{1}, []float64{1}, 0.95).Value,
		"pearson with NaN":           Pearson([]float64{1, nan, 3}, []float64{1, 2, 3}, 0.95).Value,
		"p of two pairs":             Pearson([]float64{1, 2}, []float64{1, 3}, 0.95).P,
		"kendall of ties":            KendallTauB([]float64{1, 1}, []float64{1, 2}, 0, 0),
		"kendall of nothing":         KendallTauB(nil, nil, 0, 0),
		"kappa of nothing":           CohenKappa[int](nil, nil),
		"kappa of one label":         CohenKappa([]int{1, 1}, []int{1, 1}),
		"alpha of nothing":           NominalAlpha(nil)(nil),
		"alpha of single ratings":    NominalAlpha([][]int{{1}, {2}})([]int{0, 1}),
		"alpha of one value":         NominalAlpha([][]int{{1, 1}, {1, 1}})([]int{0, 1}),
		"mcnemar of negative counts": McNemar(-1, 3),
		"wilson of nothing":          Wilson(0, 0, 0.95).Low,
		"clopper-pearson of x > n":   ClopperPearson(3, 2, 0.95).Low,
		"holm of NaN":                Holm([]float64{nan, 0.5})[0],
		"items for no difference":    Design{Between: 1}.Items(0, 0.05, 0.8),
		"items without variance":     Design{Size: 3}.Items(.1, 0.05, 0.8),
		"items without alpha":        Design{Between: 1}.Items(1, 0, 0.8),
		"negative variance":          Design{Between: -1}.StdErr(10),
		"no items":                   Design{Between: 1}.StdErr(0),
		"impossible discordance":     PairedRates(0.5, 0.7, 0.1).Between,
	} {
		near(t, what, got, nan, 0)
	}
	near(t, "holm leaves NaN out of the family", Holm([]float64{nan, 0.5})[1], 0.5, 0)
	// R: p.adjust(c(.01, .04, NA, .03, .005, .9), "BH")
	for i, want := range []float64{.025, .05, nan, .05, .025, .9} {
		near(t, "bh", BenjaminiHochberg([]float64{.01, .04, nan, .03, .005, .9})[i], want, 1e-12)
	}
	near(t, "mcnemar without discordant pairs", McNemar(0, 0), 1, 0)
}

// Clusters that are added together are as if all their values had been added, each times the factor.
func TestAddAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, factor := range []float64{1, -2.5, 0.125} {
		var a, b, all Clusters
		for k := range 60 {
			v := rng.NormFloat64()
			switch cluster := Cluster(rng.IntN(9)); {
			case k%7 == 0:
				b.AddIndependent(v)
				all.AddIndependent(factor * v)
			case k%2 == 0:
				a.Add(cluster, v)
				all.Add(cluster, v)
			default:
				b.Add(cluster, v)
				all.Add(cluster, factor*v)
			}
		}
		a.AddAll(&b, factor)
		x, y := Mean(&a, Unbounded, 0.95), Mean(&all, Unbounded, 0.95)
		for what, pair := range map[string][2]float64{"mean": {x.Value, y.Value}, "SE": {x.SE, y.SE}, "DF": {x.DF, y.DF}, "ICC": {x.ICC, y.ICC},
			"least": {a.lo, all.lo}, "greatest": {a.hi, all.hi}, "n": {float64(x.N), float64(y.N)}, "clusters": {float64(x.Clusters), float64(y.Clusters)}} {
			near(t, what, pair[0], pair[1], 1e-12)
		}
		for cluster, i := range all.index {
			g, h := a.cluster(cluster), all.groups[i]
			near(t, "sum of squares", g.ss, h.ss, 1e-12)
			near(t, "sum", g.sum, h.sum, 1e-12)
		}
	}
}

// A statistic of all units that is undefined has no interval, even where those of resamples are defined.
func TestBootstrapOfUndefined(t *testing.T) {
	b := UnitBootstrap(4, func(units []int) float64 {
		if slices.Equal(units, []int{0, 1, 2, 3}) {
			return math.NaN()
		}
		return 1
	}, 50, 0.9, 1)
	if !math.IsNaN(b.Value) || !math.IsNaN(b.Mean) || !math.IsNaN(b.Interval.Low) || b.Skipped != 0 {
		t.Errorf("%+v", b)
	}
}

// An invalid level is a programming error.
func TestLevels(t *testing.T) {
	var c Clusters
	c.Add(1, 0.5)
	for name, f := range map[string]func(level float64){
		"Mean": func(l float64) { Mean(&Clusters{}, Proportion, l) }, "Wilson": func(l float64) { Wilson(0, 0, l) },
		"Combine":        func(l float64) { Combine(nil, func([]float64) float64 { return 0 }, Proportion, l) },
		"ClopperPearson": func(l float64) { ClopperPearson(0, 0, l) },
		"TInterval":      func(l float64) { TInterval(0, 0, 0, Proportion, l) },
		"AtLevel":        func(l float64) { AtLevel(Interval{}, 0, 0, l) },
		"Pearson":        func(l float64) { Pearson(nil, nil, l) },
		"UnitBootstrap":  func(l float64) { UnitBootstrap(0, nil, 1, l, 1) },
		"ItemsForMargin": func(l float64) { Discordance{}.ItemsForMargin(0, l, 0.8) },
		"Interval":       func(l float64) { Discordance{}.Interval(Counts{9, math.Inf(1)}, l) },
		"Minus":          func(l float64) { Rate{Counts{9, 9}, 0.5}.Minus(Rate{Counts{9, 9}, 0.5}, l) },
		"Estimate":       func(l float64) { (&Corrected{}).Estimate(func([]float64) float64 { return 0 }, Proportion, l) },
	} {
		for _, level := range []float64{0, 1, 95, math.NaN()} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s: the level %v was taken", name, level)
					}
				}()
				f(level)
			}()
		}
	}
}

func TestKendallSlackForgivesRounding(t *testing.T) {
	// 0.53 - 0.5 exceeds 0.03 by rounding only.
	x, y := []float64{0.5, 0.53, 0.9}, []float64{1, 2, 3}
	near(t, "tau", KendallTauB(x, y, 0.03, 0), 2/math.Sqrt(6), 1e-12)
}

func TestPlanning(t *testing.T) {
	d := PairedRates(0.8, 0.75, IndependentDiscordance(0.8, 0.75))
	near(t, "variance of a paired difference", d.Between, 0.8*0.2+0.75*0.25, 1e-12)
	n := d.Items(0.05, 0.05, 0.8)
	// Connor (1987): (1.96 sqrt(0.35) + 0.8416 sqrt(0.3475))^2 / 0.05^2
	near(t, "items", n, 1097, 0)
	d.Null = 0
	near(t, "what they detect", d.Detectable(d.Items(0.05, 0.05, 0.8), 0.05, 0.8), 0.05, 1e-4)
	// In clusters of 20: 12 by the normal distribution, and what Student's t needs for as many less one.
	d = Design{Between: 0.3 * 0.3 * 12 / 7.8489, Effect: 20, Size: 20}
	n = d.Items(0.3, 0.05, 0.8)
	if n < 280 || n > 300 {
		t.Errorf("%v items in clusters of 20", n)
	}
	near(t, "what they detect in clusters", d.Detectable(n, 0.05, 0.8), 0.3, 3e-3)
	if few := d.Detectable(20, 0.05, 0.8); !(few > 1) {
		t.Errorf("one cluster detects %v", few)
	}
	d = Design{Between: 0.1, Within: 0.4, Samples: 4, Effect: 1.5}
	near(t, "standard error", d.StdErr(30), math.Sqrt(1.5*(0.1+0.1)/30), 1e-12)
}

func TestWarningsAreSaid(t *testing.T) {
	var c Clusters
	for i := range 12 {
		c.Add(Cluster(i%4), float64(i%2))
	}
	ws := Mean(&c, Proportion, 0.95).Warnings
	if len(ws) != 2 || ws[0].String() != "only 12 observations (need at least 30)" ||
		ws[1].String() != "only 4 clusters (need at least 5)" {
		t.Errorf("%v", ws)
	}
	var few Clusters
	for i := range 12 {
		few.AddIndependent(float64(i % 2))
	}
	if e := Mean(&few, Proportion, 0.95); e.Interval != ClopperPearson(6, 12, 0.95) {
		t.Errorf("12 independent answers: %+v, want the exact interval", e.Interval)
	}
}

// An interval at another level is the one that would have been computed.
func TestAtLevel(t *testing.T) {
	var rate, few, same, none, graded, plain, change, unchanged Clusters
	for i := range 90 {
		rate.AddIndependent(float64(min(i%9, 1)))
		graded.Add(Cluster(i%13), float64(i%3)/2)
		plain.Add(Cluster(i%13), float64(i*i%7))
		same.Add(Cluster(i/3), 1)
		none.Add(Cluster(i/3), 0)
		change.Add(Cluster(i%13), float64(i%3)/2-float64(i%2)/5)
		if i < 2 {
			unchanged.AddIndependent(0)
		}
		if i < 20 {
			few.AddIndependent(float64(i % 2))
		}
	}
	for what, c := range map[string]*Clusters{"rate": &rate, "few": &few, "all equal": &same, "none": &none,
		"graded": &graded, "plain": &plain, "change": &change, "unchanged": &unchanged} {
		bounds := Proportion
		switch what {
		case "plain":
			bounds = Unbounded
		case "change", "unchanged":
			bounds = Difference
		}
		for _, level := range []float64{0.5, 0.9, 0.95, 0.9983} {
			e, want := Mean(c, bounds, 0.95), Mean(c, bounds, level)
			got := AtLevel(e.Interval, e.Value, e.N, level)
			near(t, what+" low", got.Low, want.Interval.Low, 1e-9)
			near(t, what+" high", got.High, want.Interval.High, 1e-9)
			if got.Level != level || got.Method != want.Interval.Method {
				t.Errorf("%s: %+v", what, got)
			}
		}
	}
	// Of other methods the distances grow with the normal quantile, or the logits do.
	i := AtLevel(Interval{Low: -0.1, High: 0.3, Level: 0.95, Method: "x"}, 0.1, 9, 0.99)
	near(t, "low", i.Low, 0.1-0.2*2.575829/1.959964, 1e-6)
	near(t, "high", i.High, 0.1+0.2*2.575829/1.959964, 1e-6)
	for _, b := range []Bounds{Proportion, Difference} {
		i = AtLevel(Interval{Low: 0.5, High: 0.99, Level: 0.95, Range: [2]float64{b.Low, b.High}}, 0.9, 9, 0.999)
		if !(i.Low < 0.5 && i.High > 0.99 && i.High < 1) {
			t.Errorf("%+v", i)
		}
		i = AtLevel(Interval{Low: b.Low, High: 1, Level: 0.95, Range: [2]float64{b.Low, b.High}}, 1, 9, 0.999)
		if i.Low != b.Low || i.High != 1 {
			t.Errorf("%+v", i)
		}
	}
	x, y := []float64{1, 2, 3, 4, 5, 6, 7}, []float64{2, 1, 4, 3, 7, 8, 5}
	c := Pearson(x, y, 0.95)
	i, want := AtLevel(c.Interval, c.Value, c.N, 0.999), Pearson(x, y, 0.999).Interval
	near(t, "correlation low", i.Low, want.Low, 1e-9)
	near(t, "correlation high", i.High, want.High, 1e-9)
}

// Labels that are all at one end up to rounding have the bounds of labels exactly at the end.
func TestRoundedLabels(t *testing.T) {
	for _, x := range [][2]labelCell{
		{{labels: 5}, {labels: 5, sum: 1e-11, squares: 1e-20}},
		{{labels: 5, sum: 5, squares: 5}, {labels: 5, sum: 5 - 1e-11, squares: 5 + 1e-9}},
	} {
		for _, alone := range []bool{true, false} {
			low, high := x[0].interval(1.5, .95, alone)
			if l, h := x[1].interval(1.5, .95, alone); math.Abs(l-low) > 1e-6 || math.Abs(h-high) > 1e-6 || low == high {
				t.Errorf("%+v: %v to %v, want %v to %v", x[1], l, h, low, high)
			}
		}
	}
}

// A number of items is enough if and only if it is at least Items.
func TestNeeds(t *testing.T) {
	for _, d := range []Design{
		{Between: 0.2}, {Between: 0.2, Null: 0.01}, {Between: 0.2, Within: 0.3, Samples: 2, Size: 1.5, Effect: 1.2},
		{Between: 0.1, Size: 4, Null: 0.02}, {Between: 0.05, Size: 30.5, Effect: 7},
	} {
		for _, delta := range []float64{0.1, 0.23, 0.5, 2} {
			for _, power := range []float64{0.4, 0.8} {
				needed := d.Items(delta, 0.05, power)
				for n := math.Max(1, needed-40); n < needed+40; n++ {
					if got := d.Needs(n, delta, 0.05, power) <= n; got != (needed <= n) {
						t.Fatalf("%+v, %g at %g: %g items are enough: %v; %g are needed", d, delta, power, n, got, needed)
					}
				}
			}
		}
	}
	if n := (Design{Between: 0.2}).Needs(10, 0, 0.05, 0.8); n <= 10 {
		t.Errorf("no difference needs %g items", n)
	}
}

// If every remaining value must be 1 for a mean above the margin, a 1 decides nothing and any other value decides.
func TestAllThatIsLeft(t *testing.T) {
	s, err := NewSequential(SequentialPlan{Margin: 0.2, Level: 1 - 1e-9, Discord: 0.2, Population: 10, Step: 1,
		Together: 1})
	if err != nil {
		t.Fatal(err)
	}
	for range 7 {
		s.Add(1, 0, 0)
	}
	before := s.Evidence[0]
	for range 2 {
		if s.Add(1, 1, 1); s.Outcome != Open || s.Evidence[0] != before {
			t.Fatalf("%v, %v after %v", s.Outcome, s.Evidence, before)
		}
	}
	if s.Add(1, 0, 0); s.Outcome != Accepted || !math.IsInf(s.Evidence[0], 1) {
		t.Errorf("%v, %v", s.Outcome, s.Evidence)
	}
}

// The shares of wins and losses are weighted over parts.
func TestDiscordanceOf(t *testing.T) {
	var parts []*Clusters
	for _, values := range [][]float64{{1, 1, -1, 0}, {-1, 0}} {
		var c Clusters
		for i, v := range values {
			c.Add(Cluster(i/2), v)
		}
		parts = append(parts, &c)
	}
	d := DiscordanceOf(parts, []float64{0.75, 0.25})
	near(t, "wins", d.Wins, 0.75*0.5, 1e-12)
	near(t, "losses", d.Losses, 0.75*0.25+0.25*0.5, 1e-12)
}
