package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"crosstalk/measure/stats"
)

// sequential simulates acceptances: how often they are wrong where the loss is just above the
// margin and just not, and the share of a suite that they read.
func sequential(out io.Writer, sets int) bool {
	ok := true
	fmt.Fprintf(out, "sequential acceptance, level 95 %%, %d acceptances a cell; wrong, %%; "+
		"read, median / p90, %% of the items\n", sets)
	fmt.Fprintf(out, "%-8s %6s %6s %5s  %13s %13s  %s\n", "target", "n", "margin", "old", "wrong accept", "wrong reject",
		"read at loss 0, m/2, m, 2m")
	for _, target := range []string{"suite", "prompts"} {
		for _, n := range []int{345, 1000, 5000} {
			for _, margin := range []float64{.01, .02, .05} {
				for _, old := range []float64{.95, .99, 1} {
					ok = acceptLine(out, target, n, margin, old, sets) && ok
				}
			}
		}
	}
	return ok
}

// acceptLine simulates one design. Two fifths of the old faults differ each way where nothing changed.
func acceptLine(out io.Writer, target string, n int, margin, old float64, sets int) bool {
	r := rand.New(rand.NewPCG(uint64(n), uint64(1e4*margin+1e6*old)))
	each := .4 * (1 - old)
	plan := stats.SequentialPlan{Margin: margin, Level: .95, Discord: max(.002, 1-old), Together: 1}
	total := int(margin*float64(n) + 1e-9)
	if target == "suite" {
		plan.Population, plan.Step = n, 1
	}
	values := make([]float64, n)
	run := func(loss float64) (stats.Outcome, int) {
		wins, losses := each, each+loss/float64(n)
		w := int(math.Round(float64(n) * wins))
		for i := range values {
			values[i] = 0
			switch u := r.Float64(); {
			case target == "suite" && i < w, target != "suite" && u < wins:
				values[i] = -1
			case target == "suite" && i < 2*w+int(loss), target != "suite" && u < wins+losses:
				values[i] = 1
			}
		}
		if target == "suite" {
			r.Shuffle(n, func(i, j int) { values[i], values[j] = values[j], values[i] })
		}
		test, err := stats.NewSequential(plan)
		if err != nil {
			panic(err)
		}
		for _, x := range values {
			if test.Add(1, x, x); test.Outcome != stats.Open {
				break
			}
		}
		return test.Outcome, test.Read
	}
	wrong := func(loss float64, outcome stats.Outcome) float64 {
		k := 0
		for range sets {
			if got, _ := run(loss); got == outcome {
				k++
			}
		}
		return 100 * float64(k) / float64(sets)
	}
	above, within := margin*float64(n), margin*float64(n)
	if target == "suite" {
		above, within = float64(total+1), float64(total)
	}
	accepts, rejects := wrong(above, stats.Accepted), wrong(within, stats.Rejected)
	fmt.Fprintf(out, "%-8s %6d %6g %5g  %13.1f %13.1f ", target, n, 100*margin, 100*old, accepts, rejects)
	for _, loss := range []float64{0, float64(total) / 2, float64(total), 2 * float64(total)} {
		reads := make([]int, min(sets, 500))
		for i := range reads {
			_, reads[i] = run(math.Round(loss))
		}
		slices.Sort(reads)
		share := func(i int) float64 { return 100 * float64(reads[i]) / float64(n) }
		fmt.Fprintf(out, " %.0f/%.0f", share(len(reads)/2), share(len(reads)*9/10))
	}
	limit := 5 + 1 + 3*100*math.Sqrt(.05*.95/float64(sets))
	if accepts > limit || rejects > limit {
		fmt.Fprint(out, " *")
	}
	fmt.Fprintln(out)
	return accepts <= limit && rejects <= limit
}
