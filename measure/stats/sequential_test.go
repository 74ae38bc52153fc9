package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func sequential(t *testing.T, p SequentialPlan) *Sequential {
	t.Helper()
	s, err := NewSequential(p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// run reads values until there is an outcome.
func runSequential(s *Sequential, values []float64) (Outcome, int) {
	for _, x := range values {
		if s.Add(1, x, x); s.Outcome != Open {
			break
		}
	}
	return s.Outcome, s.Read
}

// values are losses (1), wins (-1) and ties in random order.
func values(r *rand.Rand, n, losses, wins int) []float64 {
	list := make([]float64, n)
	for i := range losses {
		list[i] = 1
	}
	for i := range wins {
		list[losses+i] = -1
	}
	r.Shuffle(n, func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// Evidence of short series by the formulas, and the best part of the stake.
func TestSequentialByHand(t *testing.T) {
	t.Parallel()
	// With nothing but ties, evidence for accepting is sum w (1 + c m/(1-m))^n.
	s := sequential(t, SequentialPlan{Margin: .02, Level: .95, Discord: .01, Together: 1})
	for n := 1; n < 40; n++ {
		s.Add(1, 0, 0)
		want := 0.0
		for _, b := range s.bets {
			want += b.weight * math.Pow(1+b.part*.02/.98, float64(n))
		}
		if got := s.processes[accepting].most; math.Abs(got-want) > 1e-12 {
			t.Fatalf("after %d ties: %v, want %v", n, got, want)
		}
	}
	// A loss and a win of a suite of 10 with margin 20 %: K = 2.
	s = sequential(t, SequentialPlan{Margin: .2, Level: .95, Discord: .1, Population: 10, Step: 1, Together: 1})
	s.Add(1, 1, 1)
	s.Add(1, -1, -1)
	accept, reject := 0.0, 0.0
	for _, b := range s.bets {
		c := b.part
		m1, m2 := 3.0/10, 2.0/9
		accept += b.weight * (1 + c*(m1-1)/(1-m1)) * (1 + c*(m2+1)/(1-m2))
		n1 := 2.0 / 10
		reject += b.weight * (1 + c*(1-n1)/(1+n1))
	}
	if got := s.processes[accepting].most; math.Abs(got-max(1, accept)) > 1e-12 {
		t.Errorf("accepting %v, want %v", got, accept)
	}
	if got := s.processes[rejecting].most; math.Abs(got-reject) > 1e-12 { // the largest was after the loss
		t.Errorf("rejecting %v, want %v", got, reject)
	}
	// The best part solves the equation of the growth rate.
	for _, share := range []float64{.002, .01, .1, 1, 3} {
		c := best(share, .02)
		grow := func(c float64) (g float64) {
			l, d := c/(1-.02), min(share, 1)/2
			return (1-2*d)*math.Log(1+l*.02) + d*math.Log(1+l*1.02) + d*math.Log(1-l*.98)
		}
		if c <= 0 || c >= 1 || grow(c) < grow(c*1.01) || grow(c) < grow(c*.99) {
			t.Errorf("share %v: %v is not the best part", share, c)
		}
	}
}

// A suite is decided by its last value at the latest, and by what the whole says then; one
// more loss never turns another outcome into an acceptance.
func TestSequentialSuite(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n := 5 + r.IntN(200)
		losses := r.IntN(n/4 + 1)
		wins := r.IntN(n/4 + 1)
		margin := .01 + .1*r.Float64()
		p := SequentialPlan{Margin: margin, Level: 1 - 1e-12, Discord: .05, Population: n, Step: 1, Together: 1}
		list := values(r, n, losses, wins)
		outcome, read := runSequential(sequential(t, p), list) // no bet reaches this level: only certainty decides
		want := Rejected
		if float64(losses-wins) <= margin*float64(n)+1e-9 {
			want = Accepted
		}
		if outcome != want || read > n {
			t.Fatalf("n %d, losses %d, wins %d, margin %v: %s after %d, want %s", n, losses, wins, margin, outcome, read, want)
		}
		p.Step = 0
		if outcome, _ := runSequential(sequential(t, p), list); outcome != want {
			t.Fatalf("without a step: %s, want %s", outcome, want)
		}
		p.Step, p.Level = 1, .95
		before, _ := runSequential(sequential(t, p), list)
		if k := r.IntN(n); list[k] < 1 {
			list[k]++
			if after, _ := runSequential(sequential(t, p), list); after == Accepted && before != Accepted {
				t.Fatalf("one more loss turns %q into an acceptance", before)
			}
		}
	}
}

// Bounds cover, agree with the outcome, and become a point at the end of a suite.
func TestSequentialBounds(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	covered, all := 0, 0
	for range 200 {
		n := 50 + r.IntN(300)
		losses, wins := r.IntN(n/10+1), r.IntN(n/10+1)
		truth := float64(losses-wins) / float64(n)
		s := sequential(t, SequentialPlan{Margin: .03, Level: .95, Discord: .05, Population: n, Step: 1, Together: 1})
		outcome, read := runSequential(s, values(r, n, losses, wins))
		low, high := s.Bounds()
		if low > high || outcome == Accepted && high > .03+1e-9 || outcome == Rejected && low <= .03 {
			t.Fatalf("%s with bounds %v to %v", outcome, low, high)
		}
		if read == n && (math.Abs(low-truth) > 1e-9 || math.Abs(high-truth) > 1e-9) && outcome == Open {
			t.Fatalf("bounds %v to %v of a whole suite with %v", low, high, truth)
		}
		if all++; low <= truth+1e-9 && truth <= high+1e-9 {
			covered++
		}
	}
	if covered < all*9/10-6 { // each side 95 %; three standard errors
		t.Errorf("bounds cover %d of %d", covered, all)
	}
	s := sequential(t, SequentialPlan{Margin: .02, Level: .95, Discord: .01, Together: 1})
	if outcome, _ := runSequential(s, make([]float64, 2000)); outcome != Accepted {
		t.Fatal("ties are not accepted")
	}
	if low, high := s.Bounds(); high > .02 || high < .01 || low > 0 {
		t.Errorf("bounds %v to %v", low, high)
	}
	if low, high := sequential(t, s.SequentialPlan).Bounds(); low != -1 || high != 1 {
		t.Errorf("of nothing: %v to %v", low, high)
	}
}

// Wrong acceptances at the margin and wrong rejections at no difference stay below the
// level plus three standard errors, for both targets, with units and unknown values.
func TestSequentialErrors(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	const runs = 600
	limit := int(runs*.05 + 3*math.Sqrt(runs*.05*.95))
	for _, n := range []int{100, 345} {
		for _, d := range []int{0, n / 50} {
			p := SequentialPlan{Margin: .02, Level: .95, Discord: max(.002, 2*float64(d)/float64(n)), Population: n,
				Step: 1, Together: 1}
			k := int(.02 * float64(n))
			wrong := [2]int{}
			for range runs {
				if outcome, _ := runSequential(sequential(t, p), values(r, n, d+k+1, d)); outcome == Accepted {
					wrong[0]++
				}
				if outcome, _ := runSequential(sequential(t, p), values(r, n, d+k, d)); outcome == Rejected {
					wrong[1]++
				}
			}
			if wrong[0] > limit || wrong[1] > limit {
				t.Errorf("n %d, discordant %d: wrong acceptances and rejections %v of %d", n, d, wrong, runs)
			}
		}
	}
	// Clusters of four whose values are alike.
	wrong := 0
	for range runs {
		s := sequential(t, SequentialPlan{Margin: .1, Level: .95, Discord: .1, Together: 4})
		for range 100 {
			x := 0.0
			if r.Float64() < .1 {
				x = 1
			}
			if s.Add(4, 4*x, 4*x); s.Outcome == Accepted {
				wrong++
				break
			}
		}
	}
	if wrong > limit {
		t.Errorf("%d of %d accepted wrongly in clusters", wrong, runs)
	}
	// Unknown values are the worst for both.
	s := sequential(t, SequentialPlan{Margin: .3, Level: .95, Discord: .1, Population: 10, Step: 1, Together: 1})
	for range 6 {
		s.Add(1, 1, -1)
	}
	for range 5 {
		s.Add(1, 0, 0)
	}
	if s.Outcome != Open || s.Read != 10 {
		t.Errorf("%s after %d, with 6 of 10 unknown", s.Outcome, s.Read)
	}
}

// Shares of the suite that are read if nothing changed: 40, 17, 75, 42 and 12 % are expected.
func TestSequentialShares(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 8))
	for _, c := range []struct {
		n            int
		margin, most float64
	}{{345, .02, .42}, {1000, .02, .22}, {345, .01, .78}, {1000, .01, .45}, {5000, .01, .14}} {
		d := int(math.Round(.004 * float64(c.n))) // an old rate of 99 %, of which 0.4 % differ each way
		reads := make([]int, 0, 199)
		for range cap(reads) {
			p := SequentialPlan{Margin: c.margin, Level: .95, Discord: .008, Population: c.n, Step: 1, Together: 1}
			s := sequential(t, p)
			if outcome, read := runSequential(s, values(r, c.n, d, d)); outcome == Accepted {
				reads = append(reads, read)
			} else {
				reads = append(reads, c.n)
			}
		}
		if share := float64(medianOf(reads)) / float64(c.n); share > c.most {
			t.Errorf("n %d, margin %v: median share %.2f, want at most %v", c.n, c.margin, share, c.most)
		} else {
			t.Logf("n %d, margin %v: median share %.2f", c.n, c.margin, share)
		}
	}
}

func TestSequentialPlanErrors(t *testing.T) {
	t.Parallel()
	good := SequentialPlan{Margin: .01, Level: .95, Discord: .01, Together: 1}
	for name, change := range map[string]func(*SequentialPlan){
		"no margin": func(p *SequentialPlan) { p.Margin = 0 }, "margin 1": func(p *SequentialPlan) { p.Margin = 1 },
		"level 1": func(p *SequentialPlan) { p.Level = 1 }, "level NaN": func(p *SequentialPlan) { p.Level = math.NaN() },
	} {
		p := good
		if change(&p); name == "" {
			continue
		}
		if _, err := NewSequential(p); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for _, d := range []float64{0, .002, 1} { // none is at least one in 500
		good.Discord = d
		s := sequential(t, good)
		s.Add(100, 1, 1)
		if least := sequential(t, SequentialPlan{Margin: .01, Level: .95, Discord: .002, Together: 1}); d < 1 {
			if least.Add(100, 1, 1); s.Evidence != least.Evidence {
				t.Errorf("%v: %v, want %v", d, s.Evidence, least.Evidence)
			}
		}
	}
}

func medianOf(list []int) int {
	slices.Sort(list)
	return list[len(list)/2]
}
