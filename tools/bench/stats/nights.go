package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"crosstalk/measure/stats"
)

// nights prints how often a gate of every night raises a false alarm in a history in which nothing changes, and after
// how many nights it finds a loss: gate --nightly, the figure alone, and an interval of one night that lies beyond the
// margin. A line of gate --nightly misses with more than half a point above the level of 2.5 %. The last table is of
// requirements by language.
func nights(out io.Writer, sets int) bool {
	ok := true
	fmt.Fprintf(out, "\nGate --no-worse-than one reference run every night, %d histories: false alarms in %%, and the "+
		"median night\nof the first alarm after a loss from night 1, or from night 11 (without an alarm before)\n", sets)
	fmt.Fprintf(out, "%-36s%-12s%10s%10s%8s%8s%8s%12s\n", "", "alarm", "30 nights", "365", "1 point", "2", "3",
		"3 from 11")
	for _, s := range []history{
		{"345 prompts, 97 %, margin 1 %", 345, 0.97, 0.77, 0.01, 1},
		{"345 prompts, 97 %, 0.5 %, 5 answers", 345, 0.97, 0.77, 0.005, 5},
		{"345 prompts, 97 %, margin 2 %", 345, 0.97, 0.77, 0.02, 1},
		{"345 prompts, 90 %, margin 2 %", 345, 0.90, 0.77, 0.02, 1},
		{"345 prompts, 90 %, 1 %, 5 answers", 345, 0.90, 0.77, 0.01, 5},
		{"345 prompts, 97 %, drawn anew, 1 %", 345, 0.97, 0, 0.01, 1},
		{"1,000 prompts, 99 %, margin 1 %", 1000, 0.99, 0.77, 0.01, 1},
	} {
		ok = s.print(out, sets) && ok
	}
	fmt.Fprintf(out, "\nGate --require 'lpr>=B by language', 15 languages, all at 97 %%, %d histories: a failure in %%\n",
		sets)
	fmt.Fprintf(out, "%-36s%16s%16s%16s%16s\n", "", "figure alone", "30 nights", "evidence", "30 nights")
	for _, n := range []int{10, 23, 50, 150} {
		for _, bound := range []float64{0.9, 0.95, 0.97} {
			ok = requirements(out, n, bound, sets) && ok
		}
	}
	return ok
}

// history is nights of n items whose rates of faults have this mean and this correlation
// of two answers to an item, against one run of the same.
type history struct {
	name           string
	n              int
	rate, constant float64
	margin         float64
	answers        int // of the reference, to each item
}

// rules are alarms: which night, from 1, is the first; 0: none.
var rules = []string{"figure", "interval", "--nightly"}

// first draws a history with a loss from a night on.
func (h history) first(rng *rand.Rand, length int, loss float64, from int) (alarm [3]int) {
	rates, base := make([]float64, h.n), make([]float64, h.n)
	for i := range rates {
		rates[i] = h.rate
		if h.constant > 0 {
			rates[i] = around(rng, h.rate, h.constant)
		}
		for range h.answers {
			base[i] += indicator(rng.Float64() < rates[i]) / float64(h.answers)
		}
	}
	var list []stats.Night
	n := float64(h.n)
	faults := 0.0
	for night := 1; night <= length && slices.Contains(alarm[:], 0); night++ {
		d := stats.Discordance{}
		keep := 1.0
		if night >= from {
			keep = 1 - loss/h.rate
		}
		for i, old := range base {
			right := indicator(rng.Float64() < rates[i]*keep)
			d.Losses += max(0, old-right) / n
			d.Wins += max(0, right-old) / n
			if night == 1 {
				faults += (1 - old) / n
			}
		}
		list = append(list, stats.Night{Discordance: d, N: n})
		margin := max(h.margin, 2*stats.Luck(list, float64(h.answers)))
		found := [3]bool{d.Losses-d.Wins > h.margin+1e-12,
			d.Interval(stats.Counts{N: n, DF: math.Inf(1)}, level).High < -h.margin, false}
		if alarm[2] == 0 && (night <= 30 || night%15 == 0 || night == length) { // later ones take long
			evidence, _ := stats.NightlyEvidence(list, margin, faults)
			found[2] = evidence >= 40
		}
		for k := range alarm {
			if alarm[k] == 0 && found[k] {
				alarm[k] = night
			}
		}
	}
	return alarm
}

// several draws histories, and returns their first alarms by rule.
func (h history) several(sets, length int, loss float64, from int) (alarms [3][]int) {
	var mu sync.Mutex
	parallel(sets, func(seed int) {
		a := h.first(rand.New(rand.NewPCG(uint64(seed), uint64(h.n))), length, loss, from)
		mu.Lock()
		defer mu.Unlock()
		for k := range a {
			alarms[k] = append(alarms[k], a[k])
		}
	})
	return alarms
}

func (h history) print(out io.Writer, sets int) bool {
	ok := true
	short, long := h.several(sets, 30, 0, 1), h.several(max(1, sets/20), 365, 0, 1)
	var found [3][4]string
	for c, of := range [][2]float64{{0.01, 1}, {0.02, 1}, {0.03, 1}, {0.03, 11}} {
		for k, list := range h.several(max(1, sets/10), 60, of[0], int(of[1])) {
			found[k][c] = median(list, int(of[1]))
		}
	}
	for k, rule := range rules {
		name, mark := "", " "
		if k == 0 {
			name = h.name
		}
		alarm := share(short[k])
		if rule == "--nightly" && alarm > 0.03 {
			mark, ok = "!", false
		}
		fmt.Fprintf(out, "%-36s%-12s%9.1f%s%10.1f%8s%8s%8s%12s\n", name, rule, 100*alarm, mark, 100*share(long[k]),
			found[k][0], found[k][1], found[k][2], found[k][3])
	}
	return ok
}

// share is the share of histories with an alarm.
func share(alarms []int) (share float64) {
	for _, a := range alarms {
		share += indicator(a > 0) / float64(len(alarms))
	}
	return share
}

// median is the median night of the alarms, counted from a night on, without those before; "-" if most have none.
func median(alarms []int, from int) string {
	after := slices.DeleteFunc(slices.Clone(alarms), func(a int) bool { return a > 0 && a < from })
	for i, a := range after {
		if after[i] = a - from + 1; a == 0 {
			after[i] = math.MaxInt
		}
	}
	slices.Sort(after)
	if len(after) == 0 || after[len(after)/2] == math.MaxInt {
		return "-"
	}
	return fmt.Sprint(after[len(after)/2])
}

// requirements prints the failures of 15 languages of n prompts on one night and over 30.
func requirements(out io.Writer, n int, bound float64, sets int) bool {
	const languages, rate, length = 15, 0.97, 30
	var mu sync.Mutex
	var failed [4]float64 // figure and evidence, of one night and of all
	parallel(sets, func(seed int) {
		rng := rand.New(rand.NewPCG(uint64(seed), uint64(n)))
		var any [4]bool
		for night := 1; night <= length; night++ {
			looks := float64(night * (night + 1))
			for range languages {
				right := 0.0
				for range n {
					right += indicator(rng.Float64() < rate)
				}
				misses := func(tests float64) bool {
					return stats.ClopperPearson(right, float64(n), 1-(1-level)/tests).High < bound-1e-12
				}
				bare := right/float64(n) < bound-1e-12
				any[0] = any[0] || night == 1 && bare
				any[1] = any[1] || bare
				any[2] = any[2] || night == 1 && bare && misses(languages)
				any[3] = any[3] || bare && misses(languages*looks)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		for k := range any {
			failed[k] += indicator(any[k]) / float64(sets)
		}
	})
	mark, ok := " ", failed[2] <= 0.03 && failed[3] <= 0.03
	if !ok {
		mark = "!"
	}
	fmt.Fprintf(out, "%-36s%16.1f%16.1f%15.1f%s%15.1f%s\n", fmt.Sprintf("%d prompts in each, bound %g %%", n, 100*bound),
		100*failed[0], 100*failed[1], 100*failed[2], mark, 100*failed[3], mark)
	return ok
}
