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

	Population int     `json:"population,omitempty"` // values that the mean is about; 0: all that could come
	Step       float64 `json:"step,omitempty"`       // between possible values, such as 1; 0: it is not known
	Together   int     `json:"together"`             // the most values of a unit; 1: all are independent
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

// NewSequential returns the test of a plan, or an error if the plan is invalid.
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

// read adds another unit and returns the largest evidence so far.
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

// bet is a part of the stake and its weight in the mixture.
type bet struct{ part, weight float64 }

// leastDiscord is the least expected share of values that differ: who had no fault may have one.
const leastDiscord = 0.002

// mixture is the six bets on a mean, most of them near the expected share of values that differ.
func mixture(discord, margin float64) []bet {
	discord = math.Max(discord, leastDiscord)
	return []bet{{best(discord/3, margin), .20}, {best(discord, margin), .30}, {best(3*discord, margin), .20},
		{.995, .15}, {.05, .075}, {.3, .075}}
}

// best is the part of the stake whose capital grows fastest if the mean is 0 and a share differs, half each way.
func best(share, m float64) float64 {
	share = min(share, 1)
	low, high := 0.0, 1-1e-6
	for range 60 {
		c := (low + high) / 2
		l := c / (1 - m)
		if (1-share)*m/(1+l*m)+share/2*(1+m)/(1+l*(1+m)) > share/2*(1-m)/(1-c) {
			low = c
		} else {
			high = c
		}
	}
	return low
}

// Night describes how the items of a run differ from a fixed reference, such as last night's from the first night's. N
// is the number of independent items that they count as.
type Night struct {
	Discordance
	N float64
}

// NightlyEvidence is the largest evidence, after each of the nights so far, that the loss (Losses - Wins) is more
// than a margin in (0, 1): it reaches 1/alpha with a probability of at most alpha if it is not, however many
// nights. since is the night, from 1, of the largest evidence. faults, the expected share, only steers the bets.
//
// It is a mixture of bets with fixed parts of the stake (Waudby-Smith and Ramdas 2024, section 4): half from the first
// night on, half from each later night with a weight of 1/(s(s+1)), so a loss that begins late is found, too. Items
// that differ by less than 1 count as fewer that differ by 1, which is never more evidence. The reference's luck is the
// same every night: take a margin of at least two of its standard deviations (Luck).
func NightlyEvidence(nights []Night, margin, faults float64) (most float64, since int) {
	bets := mixture(faults, margin)
	logs := make([][]float64, len(nights)) // by first night and bet
	for t, night := range nights {
		total := .5 / float64(t+2) // starts that are to come
		logs[t] = make([]float64, len(bets))
		for s, start := range logs[:t+1] {
			var e float64
			for b, bet := range bets {
				c := bet.part
				start[b] += night.N * (night.Losses*math.Log1p(c*(1-margin)/(1+margin)) + night.Wins*math.Log1p(-c) +
					(1-night.Losses-night.Wins)*math.Log1p(-c*margin/(1+margin)))
				e += bet.weight * math.Exp(start[b])
			}
			if s == 0 {
				total += .5 * e
			}
			total += .5 * e / float64((s+1)*(s+2))
		}
		if total > most {
			most, since = total, t+1
		}
	}
	return most, since
}

// Luck is the standard deviation of the reference's figure that comes from asking each item so many times. What it
// had by bad luck, the nights win: if nothing has changed, a share q(1-q) of items is won, q being an item's rate.
func Luck(nights []Night, samples float64) float64 {
	var wins, n float64
	for _, night := range nights {
		wins += night.Wins * night.N
		n += night.N
	}
	share := math.Min(1, (wins+.5)/n) // half a win, for none is not never
	return math.Sqrt(2 * share / (1 + samples) / (n / float64(len(nights))))
}
