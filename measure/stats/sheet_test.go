package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"crosstalk/internal/testing/golden"
)

// sheet prints figures, one line for each call, with nine digits.
type sheet struct{ strings.Builder }

func (s *sheet) row(name string, values ...any) {
	fmt.Fprint(s, name)
	for _, v := range values {
		switch v := v.(type) {
		case float64:
			if math.Abs(v) < 1e-13 {
				v = 0
			}
			fmt.Fprintf(s, " %.9g", v)
		case []float64:
			fmt.Fprintf(s, " %.9g", v)
		case Interval:
			fmt.Fprintf(s, " [%.9g %.9g %.3g %s %.6g]", v.Low, v.High, v.Level, v.Method, v.DF)
		case Estimate:
			fmt.Fprintf(s, " %.9g se %.9g df %.9g icc %.9g n %d in %d [%.9g %.9g %s] %v", v.Value, v.SE, v.DF, v.ICC, v.N,
				v.Clusters, v.Interval.Low, v.Interval.High, v.Interval.Method, v.Warnings)
		case Test, Design, Components, Correlation, Bootstrap, Discordance, Counts, [2]float64:
			fmt.Fprintf(s, " %+.9v", v)
		default:
			fmt.Fprintf(s, " %v", v)
		}
	}
	fmt.Fprintln(s)
}

// shape is data with a name.
type shape struct {
	name string
	data *Clusters
}

// shapes are data as instruments have them, and data at the edges of each method.
func shapes() (all []shape) {
	add := func(name string, fill func(c *Clusters, rng *rand.Rand)) {
		var c Clusters
		fill(&c, rand.New(rand.NewPCG(uint64(len(all)), 5)))
		all = append(all, shape{name, &c})
	}
	independent := func(n int, rate float64) func(*Clusters, *rand.Rand) {
		return func(c *Clusters, rng *rand.Rand) {
			for range n {
				c.AddIndependent(indicator(rng.Float64() < rate))
			}
		}
	}
	sized := func(value func(rng *rand.Rand, of float64) float64, sizes ...int) func(*Clusters, *rand.Rand) {
		return func(c *Clusters, rng *rand.Rand) {
			for k, n := range sizes {
				of := rng.Float64()
				for range n {
					c.Add(Cluster(k), value(rng, of))
				}
			}
		}
	}
	binary := func(rng *rand.Rand, of float64) float64 { return indicator(rng.Float64() < .3+.6*of) }
	share := func(rng *rand.Rand, of float64) float64 { return (of + rng.Float64()) / 2 }
	difference := func(rng *rand.Rand, of float64) float64 { return math.Round(2.4*rng.Float64() - 1.2 + .3*of) }
	same := func(_ *rand.Rand, of float64) float64 { return of }
	one := func(*rand.Rand, float64) float64 { return 1 }

	add("nothing", func(*Clusters, *rand.Rand) {})
	for _, n := range []int{1, 2, MinItems - 1, MinItems, 100} {
		add(fmt.Sprintf("%d independent", n), independent(n, .8))
	}
	add("all right", independent(40, 1))
	add("all wrong", independent(40, 0))
	add("one cluster", sized(binary, 12))
	add("two clusters", sized(binary, 7, 9))
	add("uneven clusters", sized(binary, 1, 1, 2, 3, 5, 8, 13, 21))
	add("pairs", sized(share, slices.Repeat([]int{2}, 30)...))
	add("shares", sized(share, 3, 3, 4, 4, 4, 5, 9, 1, 1, 2, 6, 7))
	add("differences", sized(difference, slices.Repeat([]int{3}, 25)...))
	add("each cluster the same", sized(same, 4, 4, 6))
	add("all clusters the same", sized(one, 4, 4, 6))
	add("a cluster and others", func(c *Clusters, rng *rand.Rand) {
		sized(binary, 6, 2)(c, rng)
		independent(20, .7)(c, rng)
	})
	add("random groups", func(c *Clusters, rng *rand.Rand) {
		for i := range 60 {
			c.Add(Cluster(-1-i%9), binary(rng, .5))
		}
	})
	add("not finite", func(c *Clusters, rng *rand.Rand) {
		sized(binary, 3, 3, 3)(c, rng)
		c.Add(1, math.NaN())
		c.AddIndependent(math.Inf(1))
	})
	add("above the bounds", func(c *Clusters, rng *rand.Rand) { sized(share, 3, 3, 3)(c, rng); c.Add(1, 1.5) })
	add("below the bounds", func(c *Clusters, rng *rand.Rand) { sized(share, 3, 3, 3)(c, rng); c.Add(1, -1.5) })
	add("below all numbers", func(c *Clusters, rng *rand.Rand) { sized(share, 3, 3, 3)(c, rng); c.Add(1, math.Inf(-1)) })
	add("the first above the bounds", func(c *Clusters, rng *rand.Rand) { c.Add(7, 1.5); sized(same, 1, 1)(c, rng) })
	add("the first differs", func(c *Clusters, _ *rand.Rand) {
		for i := range 40 {
			c.AddIndependent(indicator(i > 0))
		}
	})
	return all
}

// Every figure of data of many shapes is what it was when simulations and the reference tools confirmed the methods.
// With -update the sheet is written anew: look at what differs.
func TestSheet(t *testing.T) {
	var s sheet
	s.means()
	s.combined()
	s.differences()
	s.permutations()
	s.tests()
	s.agreements()
	s.corrections()
	s.plans()
	s.nested()
	s.sequences()
	golden.Check(t, "testdata/sheet.txt", s.String())
}

func (s *sheet) means() {
	for _, x := range shapes() {
		for _, b := range []Bounds{Proportion, Difference, Unbounded} {
			e := Mean(x.data, b, .95)
			s.row("mean of "+x.name, e, "P", e.P(.5), e.P(0), "detects", e.MinDetectable(.05, .8), e.MinDetectable(.05, .4))
			s.row("  at 0.99", AtLevel(e.Interval, e.Value, e.N, .99))
		}
		s.row("  within", x.data.Within(Proportion), x.data.Len(), x.data.N(), x.data.Mean())
		r := TTest(x.data, .5)
		s.row("  t", r, TInterval(r.Value, r.SE, r.DF, Unbounded, .9))
		r = ClusterTTest(x.data, 0)
		s.row("  clustered t", ClusterTTest(x.data, .5), TInterval(r.Value, r.SE, r.DF, Proportion, .9))
	}
	e := Estimate{SE: .1, DF: 9}
	for _, x := range [][2]float64{{0, .8}, {1, .8}, {.05, 0}, {.05, 1}, {.999, .001}, {.05, .5}} {
		s.row(fmt.Sprint("detects ", x), e.MinDetectable(x[0], x[1]), Design{Between: .1}.Items(.1, x[0], x[1]),
			Design{Between: .1, Size: 3}.Items(.1, x[0], x[1]), Design{Between: .1, Size: 3}.Detectable(100, x[0], x[1]))
	}
	s.row("detects nothing", Estimate{DF: 9}.MinDetectable(.05, .8), Estimate{SE: .1}.MinDetectable(.05, .8))
	for _, x := range [][2]float64{{0, 10}, {1, 10}, {5, 10}, {10, 10}, {11, 10}, {-1, 10}, {3, 0}, {0, 0}, {97, 100}} {
		s.row(fmt.Sprint("binomial ", x), Wilson(x[0], x[1], .95), ClopperPearson(x[0], x[1], .9))
	}
	s.row("t", TInterval(.3, .1, 5, Proportion, .95), TInterval(.3, .1, math.Inf(1), Unbounded, .95),
		TInterval(0, .1, 5, Proportion, .95), TInterval(.3, 0, 5, Difference, .95), TInterval(.3, .1, 0, Unbounded, .95))
}

func (s *sheet) combined() {
	all := shapes()
	by := map[string]*Clusters{}
	for _, x := range all {
		by[x.name] = x.data
	}
	average := func(means []float64) float64 {
		sum := 0.0
		for _, m := range means {
			sum += m
		}
		return sum / float64(len(means))
	}
	harmonic := func(means []float64) float64 { return 2 * means[0] * means[1] / (means[0] + means[1]) }
	for _, names := range [][]string{
		{}, {"uneven clusters"}, {"uneven clusters", "shares"}, {"100 independent", "all right"}, {"all right", "all right"},
		{"one cluster", "shares"}, {"one cluster", "one cluster"}, {"all right", "all wrong"}, {"nothing", "shares"},
		{"not finite", "shares"}, {"above the bounds", "shares"}, {"shares", "below the bounds"},
		{"random groups", "uneven clusters"}, {"a cluster and others", "two clusters"}, {"all clusters the same", "all right"},
		{"each cluster the same", "each cluster the same"}, {"1 independent", "100 independent"},
	} {
		var parts []*Clusters
		for _, name := range names {
			parts = append(parts, by[name])
		}
		for _, b := range []Bounds{Proportion, Unbounded} {
			s.row(fmt.Sprintf("average of %q", names), Combine(parts, average, b, .95))
			if len(parts) == 2 {
				s.row("  harmonic", Combine(parts, harmonic, b, .9))
			}
		}
		if len(parts) == 2 {
			e := Combine(parts, average, Difference, .95)
			s.row("  effective", EffectiveCounts(parts, []float64{.5, .5}, e.SE), EffectiveCounts(parts, []float64{.9, .1}, 0))
			s.row("  of one", EffectiveCounts(parts[:1], []float64{1}, e.SE), EffectiveCounts(parts[1:], []float64{1}, .01))
		}
	}
	for _, x := range all { // the least and the greatest value
		for _, factor := range []float64{1, -.5, 3, 0} {
			var times Clusters
			times.AddAll(x.data, factor)
			s.row(fmt.Sprint("times ", factor, " ", x.name), times.lo, times.hi, times.n, times.bad, times.Len())
			times.AddAll(by["differences"], factor)
			times.AddAll(by["nothing"], factor)
			s.row("  and more", times.lo, times.hi, times.n, times.bad, times.Len(), times.Mean())
		}
	}
	var sum Clusters
	for _, name := range []string{"uneven clusters", "100 independent", "random groups", "differences", "nothing"} {
		sum.AddAll(by[name], 1)
		sum.AddAll(by[name], -.5)
		s.row("sum with "+name, Mean(&sum, Unbounded, .95), sum.Len(), sum.Within(Proportion), sum.Within(Difference))
	}
}

func (s *sheet) differences() {
	for _, d := range []Discordance{{0, 0}, {.02, .01}, {.01, .02}, {0, .05}, {.05, 0}, {.3, .2}, {.5, .5}, {0, 1}} {
		s.row("discordance", d, d.Variance())
		for _, c := range []Counts{{20, math.Inf(1)}, {345, math.Inf(1)}, {120.5, 7}, {3, 1}} {
			s.row("  of", c, d.P(c), d.Interval(c, .95), d.Interval(c, .8))
		}
		for _, margin := range []float64{.01, .05} {
			s.row("  items", d.ItemsForMargin(margin, .95, .8), d.ItemsForMargin(margin, .9, .5))
		}
	}
	rates := []Rate{{Counts{345, math.Inf(1)}, .99}, {Counts{345, math.Inf(1)}, 1}, {Counts{60, 9}, .5},
		{Counts{20, math.Inf(1)}, 0},
		{Counts{33.3, 4}, .9}}
	for _, a := range rates {
		for _, b := range rates {
			s.row(fmt.Sprint("rate ", a, " against ", b), a.PAgainst(b), a.Minus(b, .95))
		}
	}
	for _, x := range [][2][]Stratum{
		{{{100, 20, 18}}, {{900, 40, 1}}}, {{{100, 20, 20}}, {{900, 40, 0}}}, {{{100, 20, 0}}, {{900, 40, 3}}},
		{{{50, 10, 9}, {30, 30, 12}}, {{400, 25, 2}, {10, 5, 5}}}, {nil, {{10, 5, 1}}}, {nil, nil},
	} {
		share, i := StratifiedShare(x[0], x[1], .95)
		s.row(fmt.Sprint("share of strata ", x), share, i)
	}
}

func (s *sheet) permutations() {
	ratio := func(means []float64) float64 { return means[0] / (means[0] + means[len(means)-1]) }
	all := shapes()
	for i, x := range all {
		s.row("sign flip of "+x.name, SignFlip(x.data, 500, 3), SignFlip(x.data, 0, 4))
		y := all[(i+1)%len(all)]
		s.row("  swap with "+y.name, Swap([]*Clusters{x.data}, []*Clusters{y.data},
			func(a, b Cluster) int { return int(a - b) }, ratio, 300, 5))
	}
	right, wrong, none := all[6].data, all[7].data, &Clusters{}
	for _, x := range [][2][]*Clusters{
		{{all[10].data, none}, {none, all[9].data}}, {{all[12].data, right}, {all[10].data, wrong}}, {{none}, {none}},
		{{all[10].data}, {all[10].data}}, {{all[9].data, all[12].data}, {all[12].data, all[9].data}},
	} {
		for _, f := range []func(means []float64) float64{ratio, func(means []float64) float64 {
			sum := 0.0
			for _, m := range means {
				if !math.IsNaN(m) {
					sum += m
				}
			}
			return sum
		}} {
			s.row("swap", Swap(x[0], x[1], func(a, b Cluster) int { return int(a - b) }, f, 300, 5))
		}
	}
	for _, n := range []int{15, 16, 17, 18} { // exact up to 16
		var c Clusters
		for k := range n {
			c.Add(Cluster(k), float64(k%5)-1.2)
		}
		s.row(fmt.Sprint("sign flip of ", n), SignFlip(&c, 200, 1))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, p := range []float64{0, .01, .3, .5, .7, 1} {
		var draws []int
		for _, n := range []int{0, 1, 5, 40, 400, 4000} {
			draws = append(draws, binomial(rng, n, p), binomial(rng, n, p))
		}
		s.row(fmt.Sprint("binomial draws ", p), draws)
	}
	for _, x := range []struct {
		n int
		p float64
	}{{39, .25}, {40, .25}, {41, .25}, {100, .0999}, {100, .1}, {60, .5}, {70, .55}, {500, .3},
		{100000, .48}, {3000000, .004}} {
		sum, places := 0, 0
		for i := range 3000 {
			k := binomial(rng, x.n, x.p)
			sum += k
			places += i % 7 * k
		}
		s.row(fmt.Sprint("binomial draws ", x), sum, places)
	}
	for _, n := range []int{17, 63, 64, 65, 130} { // each sum is another
		var c, twice Clusters
		for k := range n {
			c.Add(Cluster(k), rng.Float64()-.45)
			twice.Add(Cluster(k), float64(k%3)-.9)
		}
		s.row(fmt.Sprint("sign flip of different ", n), SignFlip(&c, 3000, 1), SignFlip(&twice, 3000, 1))
		s.row("  swap", Swap([]*Clusters{&c}, []*Clusters{&twice}, func(a, b Cluster) int { return int(a - b) },
			func(means []float64) float64 { return means[0] }, 3000, 2))
	}
	values := []float64{.1, .4, .4, .8, .9, .2, .7}
	mean := func(units []int) float64 {
		sum := 0.0
		for _, u := range units {
			sum += values[u]
		}
		return sum / float64(len(units))
	}
	some := func(units []int) float64 {
		if units[0] == 3 {
			return math.NaN()
		}
		return mean(units)
	}
	s.row("bootstrap", UnitBootstrap(len(values), mean, 400, .9, 7), UnitBootstrap(len(values), some, 400, .9, 7),
		UnitBootstrap(1, mean, 10, .9, 7), UnitBootstrap(len(values), mean, 0, .95, 8))
}

func (s *sheet) tests() {
	for _, x := range [][2]int{{0, 0}, {1, 0}, {5, 1}, {3, 3}, {40, 20}, {0, 12}} {
		s.row(fmt.Sprint("McNemar ", x), McNemar(x[0], x[1]))
	}
	for _, ps := range [][]float64{{}, {.01}, {.04, .01, .03, .5, .02}, {.2, .2, .9}, {1, 0, 1e-9, .05}} {
		s.row(fmt.Sprint("adjusted ", ps), Holm(ps), BenjaminiHochberg(ps))
	}
	x, y := []float64{1, 2, 3, 4, 5, 6, 7}, []float64{2, 1, 4, 3, 7, 8, 5}
	for _, n := range []int{0, 1, 2, 3, 4, 7} {
		s.row(fmt.Sprint("correlation of ", n), Pearson(x[:n], y[:n], .95), KendallTauB(x[:n], y[:n], 0, 0),
			KendallTauB(x[:n], y[:n], 1, 0), KendallTauB(x[:n], y[:n], 1, 2))
	}
	s.row("of equal values", Pearson(x, []float64{1, 1, 1, 1, 1, 1, 1}, .95), KendallTauB(x, []float64{1, 1, 1, 1, 1, 1, 1}, 0, 0),
		Pearson(x, x, .95), KendallTauB(x, y, -1, 0), KendallTauB(x, y, 0, -1),
		KendallTauB([]float64{1, math.NaN(), 2}, []float64{math.NaN(), 1, 2}, 0, 0),
		KendallTauB([]float64{1, math.NaN(), 2}, x[:3], 0, 0))
	for _, df := range []float64{.5, 1, 2.5, 30, 9999, 10001, 2e4, 1e6} {
		for _, p := range []float64{.5, .9, .975, .9995} {
			s.row(fmt.Sprint("t of ", df, " at ", p), tQuantile(p, df))
		}
	}
	for k := range 4 {
		s.row("log factorial", logFactorial(float64(k)), logFactorial(float64(30+k)), logFactorial(math.Pow(10, float64(k+2))))
	}
	s.row("quantiles", NormalQuantile(.5), NormalQuantile(.975), NormalQuantile(.001), NormalQuantile(0), NormalQuantile(1))
}

func (s *sheet) agreements() {
	a, b := []int{0, 1, 1, 0, 2, 1, 0, 2}, []int{0, 1, 0, 0, 2, 1, 1, 1}
	s.row("kappa", CohenKappa(a, b), CohenKappa(a, a), CohenKappa(a[:1], b[:1]), CohenKappa(a[:0], b[:0]),
		CohenKappa([]int{1, 1}, []int{1, 1}), CohenKappa([]int{1, 0}, []int{0, 1}))
	for _, units := range [][][]int{
		{{2, 0}, {0, 2}, {1, 1}}, {{3, 0, 0}, {0, 2, 1}, {1, 0, 0}, {0, 0, 2}}, {{2, 0}, {2, 0}}, {{1, 0}, {0, 1}}, {},
	} {
		all := make([]int, len(units))
		for i := range all {
			all[i] = i
		}
		alpha := NominalAlpha(units)
		s.row(fmt.Sprint("alpha ", units), alpha(all))
		if len(all) > 1 {
			s.row("  twice the first", alpha(append(all, 0)))
		}
	}
}

func (s *sheet) corrections() {
	second := func(means []float64) float64 { return means[len(means)-1] / means[0] }
	first := func(means []float64) float64 { return means[0] }
	for _, shape := range []struct {
		name            string
		n, every, wrong int
		clusters        int
		f               func([]float64) float64
		steps           int
	}{
		{"alone", 300, 5, 10, 300, first, 1}, {"clusters", 300, 5, 10, 30, first, 1}, {"agree", 200, 4, 1000, 200, first, 1},
		{"disagree", 200, 4, 3, 40, first, 1}, {"steps", 400, 6, 9, 80, second, 2}, {"without labels", 50, 1000, 3, 50, first, 1},
		{"nothing passes", 60, 4, 1000, 60, func(means []float64) float64 { return 0 * means[0] / (means[0] - means[0]) }, 1},
		{"two clusters", 60, 4, 3, 2, first, 1}, {"three clusters", 60, 4, 3, 3, first, 1}, {"11 clusters", 88, 4, 3, 11, first, 1},
		{"12 clusters", 96, 4, 3, 12, first, 1}, {"one", 1, 1000, 3, 1, first, 1},
		{"few", 40, 8, 4, 10, first, 1}, {"found everywhere", 120, 4, 9, 120, first, 1},
	} {
		for _, b := range []Bounds{Proportion, Difference} {
			var c Corrected
			rng := rand.New(rand.NewPCG(9, uint64(shape.n)))
			for i := range shape.n {
				values, labels := make([]float64, shape.steps), make([]float64, shape.steps)
				values[0] = indicator(rng.Float64() < .8 || shape.name == "found everywhere")
				if shape.steps > 1 {
					values[1] = values[0] * indicator(rng.Float64() < .6)
				}
				for k, v := range values {
					labels[k] = v
					if i%shape.wrong == 0 {
						labels[k] = 1 - v
					}
					if i%shape.every != 1 {
						labels[k] = math.NaN()
					}
				}
				if shape.steps > 1 && labels[1] > labels[0] {
					labels[1] = labels[0]
				}
				c.Add(fmt.Sprint(i%shape.clusters), fmt.Sprint(i%2), values, labels)
			}
			r := c.Estimate(shape.f, b, .95)
			s.row("corrected, "+shape.name, r.Corrected, "labels", r.Labels, "weight", r.Weight, r.Labelled)
		}
	}
}

func (s *sheet) plans() {
	for _, d := range []Design{
		{}, {Between: .1}, {Between: .1, Within: .2, Samples: 4}, {Between: .05, Effect: 1.8, Size: 5},
		{Between: .1, Null: .02},
		{Between: -1}, {Between: .2, Size: 30}, PairedRates(.9, .85, .1), PairedRates(.9, .7, .1), PairedRates(.5, .5, 1),
		PairedRates(1.1, .7, .1), PairedRates(.9, .9, 0), PairedRates(.9, .9, .25), PairedRates(.2, .1, .4),
		PairedRates(.9, .9, .2), PairedRates(.2, .1, .3), PairedRates(-.1, .1, .3), PairedRates(.5, 1.1, .7),
		PairedRates(.5, -.1, .7),
		PairedRates(.5, .9, .3), PairedRates(.5, .9, .4), PairedRates(0, .1, .1), PairedRates(.1, 0, .1),
		PairedRates(1, .9, .1), PairedRates(.9, 1, .1), PairedRates(0, 0, 0), PairedRates(1, 1, 0),
		PairedRates(.5, .6, .1), PairedRates(.5, .6, .0999), PairedRates(.3, .4, .7), PairedRates(.3, .4, .7001),
		PairedRates(.7, .8, .5), PairedRates(.7, .8, .5001),
	} {
		s.row("design", d, "se", d.StdErr(100), d.StdErr(0), "items", d.Items(.05, .05, .8), d.Items(0, .05, .8), d.Items(-.1, .01, .9),
			d.Items(.05, 0, .8), d.Items(.3, .05, .4), "detects", d.Detectable(200, .05, .8), d.Detectable(20, .05, .4))
	}
	s.row("discordance of independent rates", IndependentDiscordance(.9, .8), IndependentDiscordance(1, 1))
}

func (s *sheet) nested() {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, sizes := range [][][]int{
		{{1, 1}, {1}}, {{2, 2}, {3, 1}, {2}}, {{1}, {1}, {1}}, {{4}, {4}}, {{2}}, {{1}}, {{3, 3, 3}}, {{5, 1}, {2,
			2, 2}, {1}, {3, 4}},
	} {
		var n Nested
		for _, cluster := range sizes {
			var items [][]float64
			of := rng.Float64()
			for _, samples := range cluster {
				values, at := make([]float64, samples), of+rng.Float64()
				for i := range values {
					values[i] = at + rng.Float64()
				}
				items = append(items, values)
			}
			n = append(n, items)
		}
		c := n.Components()
		s.row(fmt.Sprint("nested ", sizes), c, n.ClusterSize(), n.Flat().Mean(), c.Design(1, n.ClusterSize()), c.Design(5, 3))
	}
}

func (s *sheet) sequences() {
	rng := rand.New(rand.NewPCG(6, 6))
	for _, plan := range []SequentialPlan{
		{Margin: .05, Level: .95, Discord: .1, Population: 60, Step: 1, Together: 1},
		{Margin: .02, Level: .9, Discord: .3, Population: 40, Together: 1},
		{Margin: .1, Level: .95, Discord: .05, Together: 1},
		{Margin: .1, Level: .8, Discord: .2, Together: 4},
		{Margin: .05, Level: .95, Together: 1},
		{Margin: .05, Level: .95, Discord: 1, Together: 2},
		{Margin: .3, Level: .5, Discord: .0005, Population: 20, Step: .5, Together: 1},
		{Margin: .2, Level: .95, Discord: .1, Population: 1, Step: 1, Together: 1},
		{Margin: .2, Level: .95, Discord: .1, Population: 2, Together: 1},
	} {
		for _, loss := range []float64{0, .05, .3} {
			q, err := NewSequential(plan)
			if err != nil {
				s.row("error", err)
				continue
			}
			s.row(fmt.Sprintf("sequence of %+v, loss %g", plan, loss))
			for i := range 60 {
				accept, reject := 0.0, 0.0
				switch x := rng.Float64(); {
				case x < loss:
					accept, reject = 1, 1
				case x > .97:
					accept, reject = 1, -1
				case x > .94:
					accept, reject = -1, -1
				}
				q.Add(plan.Together, accept, reject)
				if i%20 == 19 {
					low, high := q.Bounds()
					s.row(" ", q.Outcome, q.Read, q.Evidence, low, high)
				}
			}
		}
	}
	for _, nights := range [][]Night{
		{{Discordance{.02, .02}, 300}}, {{Discordance{.01, .03}, 300}, {Discordance{0, .08}, 250}, {Discordance{0,
			.09}, 300}},
		{{Discordance{0, 0}, 100}, {Discordance{.1, 0}, 100}},
	} {
		most, since := NightlyEvidence(nights, .02, .05)
		s.row(fmt.Sprint("nights ", nights), most, since, Luck(nights, 1), Luck(nights, 5))
	}
}
