package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// paired are counts of pairs as shares of n.
func paired(wins, losses, n float64) (Discordance, Counts) {
	return Discordance{wins / n, losses / n}, Counts{n, math.Inf(1)}
}

// Published intervals: Tango's as in Fagerland, Lydersen and Laake (2013) and Newcombe
// (1998), Miettinen and Nurminen's of Newcombe's (1998) examples.
func TestScoreIntervals(t *testing.T) {
	for _, c := range []struct{ wins, losses, n, low, high float64 }{
		{1, 7, 21, -0.517, -0.026},
		{12, 2, 50, 0.0611, 0.3447},
	} {
		d, n := paired(c.wins, c.losses, c.n)
		i := scoreInterval(d.Wins-d.Losses, n.quantile(0.95), 0.95, methodTango,
			func(x float64) float64 { return d.score(n.N, x) })
		near(t, "tango low", i.Low, c.low, 0.0005)
		near(t, "tango high", i.High, c.high, 0.0005)
	}
	for _, c := range []struct{ x1, n1, x2, n2, low, high float64 }{
		{56, 70, 48, 80, 0.0528, 0.3382},
		{9, 10, 3, 10, 0.1700, 0.8406},
	} {
		a, b := Rate{Counts{c.n1, math.Inf(1)}, c.x1 / c.n1}, Rate{Counts{c.n2, math.Inf(1)}, c.x2 / c.n2}
		i := a.Minus(b, 0.95)
		near(t, "miettinen-nurminen low", i.Low, c.low, 0.00005)
		near(t, "miettinen-nurminen high", i.High, c.high, 0.00005)
		j := b.Minus(a, 0.95)
		near(t, "the other way", j.Low, -i.High, 1e-9)
	}
}

// One more wrong answer never raises an end of the interval, so that it never lets a run
// pass that did not pass before, whatever the margin. Counts are all of small n, and
// those near the ends of large ones.
func TestOneMoreLossNeverHelps(t *testing.T) {
	for _, n := range []int{1, 2, 3, 5, 8, 12, 20, 33, 60, 150, 345, 1000, 2000, 10000} {
		for _, level := range []float64{0.9, 0.95} {
			above := make([]Interval, n+1)
			for w := range min(n, 20) + 1 {
				var before Interval
				for l := range min(n-w, 20) + 1 {
					d, counts := paired(float64(w), float64(l), float64(n))
					i := d.Interval(counts, level)
					if !(i.Low >= -1 && i.Low <= d.Wins-d.Losses && d.Wins-d.Losses <= i.High && i.High <= 1) {
						t.Fatalf("n %d, wins %d, losses %d: %+v", n, w, l, i)
					}
					if l > 0 && (i.Low > before.Low+1e-12 || i.High > before.High+1e-12) {
						t.Fatalf("n %d, wins %d, losses %d: %+v, with one loss less %+v", n, w, l, i, before)
					}
					if w > 0 && (i.Low < above[l].Low-1e-12 || i.High < above[l].High-1e-12) {
						t.Fatalf("n %d, wins %d, losses %d: %+v, with one win less %+v", n, w, l, i, above[l])
					}
					before, above[l] = i, i
				}
			}
		}
	}
}

// So it is with unpaired rates, of which two perfect ones have an interval.
func TestOneMoreWrongNeverHelps(t *testing.T) {
	for _, n := range [][2]int{{1, 1}, {2, 5}, {8, 8}, {20, 60}, {60, 20}, {150, 150}, {345, 690}, {2000, 2000}} {
		rate := func(wrong, n int) Rate { return Rate{Counts{float64(n), math.Inf(1)}, float64(n-wrong) / float64(n)} }
		for old := range min(n[1], 20) + 1 {
			before := rate(0, n[0]).Minus(rate(old, n[1]), 0.95)
			if !(before.Low < 0 && before.High > 0) && old == 0 {
				t.Errorf("%d: %+v", n, before)
			}
			for wrong := 1; wrong <= min(n[0], 20); wrong++ {
				i := rate(wrong, n[0]).Minus(rate(old, n[1]), 0.95)
				if i.Low > before.Low+1e-9 || i.High > before.High+1e-9 {
					t.Fatalf("%d, old wrong %d, new wrong %d: %+v, with one less %+v", n, old, wrong, i, before)
				}
				before = i
			}
		}
	}
}

// And in means over languages of any sizes. With clusters the effective counts depend on
// the data a little: where few clusters differ, an end may rise by tenths of a point.
func TestOneMoreLossInLanguages(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for set := range 600 {
		languages, size := 1+rng.IntN(4), []int{1, 4}[set%2]
		values, faults := make([][]float64, languages), rng.Float64()*0.03
		for k := range values {
			values[k] = make([]float64, 8+rng.IntN(100))
			for i := range values[k] {
				values[k][i] = []float64{-1, 1, 0}[min(2, int(rng.Float64()/faults))]
			}
		}
		before := lowEnd(values, size)
		for range 5 {
			k := rng.IntN(languages)
			i := rng.IntN(len(values[k]))
			if values[k][i] < 0 {
				continue
			}
			values[k][i]--
			after := lowEnd(values, size)
			if limit := []float64{0, 5e-3}[set%2]; after > before+limit+1e-9 {
				t.Fatalf("%d languages, clusters of %d: from %v to %v", languages, size, before, after)
			}
			before = after
		}
	}
}

// lowEnd is that of the interval of the mean over languages.
func lowEnd(values [][]float64, clusterSize int) float64 {
	parts, weights := make([]*Clusters, len(values)), make([]float64, len(values))
	for k := range values {
		parts[k], weights[k] = new(Clusters), 1/float64(len(values))
		for i, v := range values[k] {
			parts[k].Add(Cluster(1000*k+i/clusterSize), v)
		}
	}
	e := Combine(parts, func(means []float64) (sum float64) {
		for k, w := range weights {
			sum += w * means[k]
		}
		return sum
	}, Difference, 0.95)
	return DiscordanceOf(parts, weights).Interval(EffectiveCounts(parts, weights, e.SE), 0.95).Low
}

// Items count as fewer where they are alike or weigh more than others.
func TestEffectiveCounts(t *testing.T) {
	cells := func(first, clusters, size int) *Clusters {
		var c Clusters
		for i := range clusters * size {
			c.Add(Cluster(first+i/size), 0)
		}
		return &c
	}
	for _, c := range []struct {
		parts   []*Clusters
		weights []float64
		se      float64
		n, df   float64
	}{
		{[]*Clusters{cells(0, 345, 1)}, []float64{1}, 0, 345, math.Inf(1)},
		{[]*Clusters{cells(0, 40, 20)}, []float64{1}, 0, 800 / (1 + 19*0.3), 39},
		{[]*Clusters{cells(0, 1, 20)}, []float64{1}, math.NaN(), 20 / (1 + 19*0.3), 1},
		{[]*Clusters{cells(0, 100, 1), cells(100, 100, 1)}, []float64{0.5, 0.5}, 0, 200, math.Inf(1)},
		{[]*Clusters{cells(0, 20, 1), cells(20, 500, 1)}, []float64{0.5, 0.5}, 0, (1/80.0 + 1/2000.0) / (1/3200.0 + 1/2e6),
			math.Inf(1)},
		// 20 clusters of 4 and 10 of 2
		{[]*Clusters{cells(0, 20, 2), cells(0, 30, 2)}, []float64{0.4, 0.6}, 0, 100 / (1 + 2.6*0.3), 29},
	} {
		got := EffectiveCounts(c.parts, c.weights, c.se)
		if math.Abs(got.N-c.n) > 1e-9 || !(math.Abs(got.DF-c.df) < 1e-9 || got.DF == c.df) {
			t.Errorf("%+v, want %v and %v", got, c.n, c.df)
		}
	}
	// Clusters more alike than assumed.
	var alike Clusters
	for i := range 400 {
		alike.Add(Cluster(i/4), -indicator(i < 8))
	}
	e := Mean(&alike, Difference, 0.95)
	if got := EffectiveCounts([]*Clusters{&alike}, []float64{1}, e.SE); !(got.N > 95 && got.N < 105) {
		t.Errorf("400 items in clusters of 4 that say the same count as %v", got.N)
	}
}

// How many items a gate takes agrees with when it passes.
func TestItemsForMargin(t *testing.T) {
	for _, c := range []struct{ wins, losses, margin, level, least float64 }{
		{0, 0, 0.01, 0.95, 381}, {0, 0, 0.01, 0.9, 299}, {0, 0, 0.05, 0.95, 73},
	} {
		if got := (Discordance{}).ItemsForMargin(c.margin, c.level, 0.8); got != c.least {
			t.Errorf("%+v: %v items", c, got)
		}
		for n, passes := range map[float64]bool{c.least: true, c.least - 1: false} {
			d, counts := paired(0, 0, n)
			if d.Interval(counts, c.level).Low >= -c.margin != passes {
				t.Errorf("%+v: %v items", c, n)
			}
		}
	}
	// The least numbers that pass with 1, 2 and 3 losses.
	for losses, n := range map[float64]float64{1: 563, 2: 726, 3: 878} {
		d, counts := paired(0, losses, n)
		fewer, one := paired(0, losses, n-1)
		if d.Interval(counts, 0.95).Low < -0.01 || fewer.Interval(one, 0.95).Low >= -0.01 {
			t.Errorf("%v losses of %v", losses, n)
		}
	}
	// With the planned number, four in five pass.
	d := Discordance{0.0196, 0.0196}
	n := d.ItemsForMargin(0.03, 0.95, 0.8)
	rng, passed := rand.New(rand.NewPCG(8, 8)), 0
	for range 2000 {
		x := binomial(rng, int(n), d.Wins)
		y := binomial(rng, int(n)-x, d.Losses/(1-d.Wins))
		if got, counts := paired(float64(x), float64(y), n); got.Interval(counts, 0.95).Low >= -0.03 {
			passed++
		}
	}
	if passed < 1540 || passed > 1700 {
		t.Errorf("%d of 2,000 pass with %v items", passed, n)
	}
	if n := (Discordance{0, 0.02}).ItemsForMargin(0.02, 0.95, 0.8); !math.IsNaN(n) {
		t.Errorf("%v items at the margin", n)
	}
}

// The test of no difference and the interval say the same.
func TestScoreP(t *testing.T) {
	for w := range 30 {
		for l := range 30 {
			d, n := paired(float64(w), float64(l), 400)
			i, p := d.Interval(n, 0.95), d.P(n)
			if (i.Low > 1e-9 || i.High < -1e-9) != (p < 0.05-1e-9) {
				t.Errorf("%d wins, %d losses: %+v, p %v", w, l, i, p)
			}
			a, b := Rate{n, 1 - float64(l)/400}, Rate{n, 1 - float64(w)/400}
			if i, p := a.Minus(b, 0.95), a.PAgainst(b); (i.Low > 1e-9 || i.High < -1e-9) != (p < 0.05-1e-9) {
				t.Errorf("%d and %d of 400 wrong: %+v, p %v", l, w, i, p)
			}
		}
	}
}
