package stats

import (
	"fmt"
	"math"
	"sort"
)

// Sequential is a test of whether a mean is at most a margin that may be looked at after every value and stopped at any
// time. Two e-processes run beside each other: one is evidence that the mean is at most the margin, the other that it
// is more. Each is a mixture of bets with a fixed part of the stake, 1 + c(m-x)/(1-m), so under its null hypothesis it
// reaches 1/(1-Level) with a probability of at most 1-Level, however often one looks (Ville; Waudby-Smith and Ramdas
// 2024, section 4). For a finite population that is drawn without replacement, m is the mean that the values left would
// need (section 5), and the last value decides.
//
// Values are in [-1, 1] and come in random order. It is for one goroutine.
type Sequential struct {
	SequentialPlan
	Outcome  Outcome    // for the values so far
	Read     int        // units
	Evidence [2]float64 // the largest so far, for accepting and rejecting; 1/(1-Level) is enough, +Inf is certainty

	bets      []bet
	units     []unit
	processes [2]*process // for the margin
}

// SequentialPlan must be fixed before the first value is seen.
type SequentialPlan struct {
	Margin  float64 `json:"margin"`  // in (0, 1)
	Level   float64 `json:"level"`   // each of the two errors has a probability of at most 1-Level
	Discord float64 `json:"discord"` // the expected share of values that are not 0: it only steers the bets

	// Population is the number of values that the mean is about; 0: all values that could come.
	Population int `json:"population,omitempty"`
	// Step is the distance between possible values, such as 1; 0: it is not known.
	Step float64 `json:"step,omitempty"`
	// Together is the most values that come in a unit, which are dependent; 1: all are independent. Of a finite
	// population it is 1.
	Together int `json:"together"`
}

// unit is the number and the sum of values that came together, as each process has it.
type unit struct {
	n    int
	sums [2]float64
}

// The processes.
const (
	accepting = iota
	rejecting
)

// process is the evidence against a hypothesis: for accepting that the sum of a finite population is at least total,
// for rejecting that it is at most total. Of an infinite population, total is the mean.
type process struct {
	of    *Sequential
	which int
	total float64

	n    int     // units read
	sum  float64 // of their values
	logs []float64
	most float64 // the largest evidence so far; +Inf if no values to come can change its mind
}

// Outcome is the result of a sequential test.
type Outcome string

// The outcomes.
const (
	Open     Outcome = ""
	Accepted Outcome = "accepted" // the mean is at most the margin
	Rejected Outcome = "rejected" // it is more
)

// NewSequential returns the test of a plan. An error says what is wrong with it.
func NewSequential(p SequentialPlan) (*Sequential, error) {
	for name, v := range map[string]float64{"margin": p.Margin, "level": p.Level} {
		if !(v > 0 && v < 1) {
			return nil, fmt.Errorf("the %s is %v; expected a number between 0 and 1", name, v)
		}
	}
	s := &Sequential{SequentialPlan: p, bets: mixture(p.Discord, p.Margin), Evidence: [2]float64{1, 1}}
	total := p.Margin // the largest sum of a finite population whose mean is at most the margin
	if p.Population > 0 {
		total *= float64(p.Population)
	} else {
		s.Step = 0
	}
	if s.Step > 0 {
		total = p.Step * math.Floor(total/p.Step+1e-9)
	}
	s.processes = [2]*process{s.process(accepting, total+s.Step), s.process(rejecting, total)}
	return s, nil
}

// Add adds n values that came together, by their sum: accept as the process sees them that is evidence for accepting,
// reject as the other one does. They differ where a value is unknown: then accept has the largest that it may be, and
// reject the smallest. What comes after the outcome is not read.
func (s *Sequential) Add(n int, accept, reject float64) {
	if s.Outcome != Open || s.Population > 0 && s.Read == s.Population {
		return
	}
	u := unit{n, [2]float64{accept, reject}}
	s.units = append(s.units, u)
	s.Read++
	for which, outcome := range []Outcome{Accepted, Rejected} {
		if s.Outcome != Open {
			return
		}
		if s.Evidence[which] = s.processes[which].read(u); s.Evidence[which] >= 1/(1-s.Level) {
			s.Outcome = outcome
		}
	}
}

func (s *Sequential) process(which int, total float64) *process {
	return &process{of: s, which: which, total: total, logs: make([]float64, len(s.bets)), most: 1}
}

// read takes another unit and returns the largest evidence so far.
func (p *process) read(u unit) float64 {
	const rounding = 1e-9
	s, x, m := p.of, u.sums[p.which], p.total
	if s.Population > 0 {
		m = (p.total - p.sum) / float64(s.Population-p.n)
	}
	if m > -1 && m < 1 {
		over := x - float64(u.n)*m // how far the values are above the mean
		gain, e := over/(1+m), 0.0
		if p.which == accepting {
			gain = -over / (1 - m)
		}
		for i, b := range s.bets {
			p.logs[i] += math.Log1p(b.part * gain / float64(s.Together))
			e += b.weight * math.Exp(p.logs[i])
		}
		p.most = max(p.most, e)
	}
	p.sum += x
	p.n++
	if s.Population == 0 {
		return p.most
	}
	left := float64(s.Population - p.n)
	switch over := p.sum - p.total; {
	case p.which == rejecting && over-left > rounding,
		p.which == accepting && over+left < -rounding,
		p.which == accepting && s.Step == 0 && over+left < rounding:
		p.most = math.Inf(1)
	}
	return p.most
}

// Bounds is the confidence sequence: means that the values so far do not exclude. It is valid whenever it is looked at,
// unlike an interval of a fixed number of values; each side has the level.
func (s *Sequential) Bounds() (low, high float64) {
	scale, step := 1.0, 1e-5 // of a hypothesis; between those that are tried
	if s.Population > 0 {
		scale = float64(s.Population)
	}
	if s.Step > 0 {
		step = s.Step / scale
	}
	excludes := func(which, k int) bool {
		p := s.process(which, float64(k)*step*scale)
		for _, u := range s.units {
			p.read(u)
		}
		return p.most >= 1/(1-s.Level)
	}
	all := int(math.Round(1 / step))
	most := sort.Search(2*all, func(k int) bool { return excludes(accepting, k-all) }) - all // the first too high
	if s.Step > 0 && most < all {
		most--
	}
	least := sort.Search(2*all, func(k int) bool { return !excludes(rejecting, k-all) }) - all
	return float64(min(least, most)) * step, float64(most) * step
}
