package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"crosstalk/ask"
	"crosstalk/gate/accept"
	"crosstalk/measure/stats"
	"crosstalk/model/reference"
	"crosstalk/run"
	"crosstalk/study"
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
	plan := stats.SequentialPlan{Margin: margin, Level: .95, Discord: 1 - old, Together: 1}
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

// program makes acceptances through the whole program, with reference models whose answers cannot all be checked: how
// often is the verdict wrong? About a suite, two runs have a known loss, and each acceptance reads them in another
// order: with a margin just below the loss, with one that it just keeps to, and with one of 5 points more. About all
// prompts, a tenth as many are made, of models that are asked anew, whose loss is the margin or 0.
func program(out io.Writer, sets int) (bool, error) {
	dir, err := os.MkdirTemp("", "accept")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	fmt.Fprintf(out, "%-52s%8s%12s%12s%12s%14s\n", "acceptances through the whole program, level 95 %", "n",
		"accepted", "rejected", "cannot tell", "read, median")
	ok := true
	for _, items := range []int{100, 345} {
		good, err := ofSuite(out, filepath.Join(dir, fmt.Sprint(items)), items, sets)
		if err != nil {
			return false, err
		}
		ok = good && ok
	}
	for _, equal := range []bool{false, true} {
		good, err := ofPrompts(out, dir, equal, max(1, sets/10))
		if err != nil {
			return false, err
		}
		ok = good && ok
	}
	return ok, nil
}

// confused is a study of some items of the suite.
func confused(items int, models ...string) (*study.Study, error) {
	return study.Confusion{Sweep: study.Sweep{Models: models, Items: items}}.Open()
}

// model has a fault in a share of lines. One answer in twenty is short, and may be too short to be checked.
func model(line float64, seed int) string {
	return fmt.Sprintf("reference:confused?line=%g&word=0&short=0.05&seed=%d", line, seed)
}

// verdicts counts outcomes and the share of items that were read.
type verdicts struct {
	n     map[stats.Outcome]int
	reads []float64
}

func (v *verdicts) add(r accept.Result) {
	if v.n == nil {
		v.n = map[stats.Outcome]int{}
	}
	v.n[r.Outcome]++
	v.reads = append(v.reads, float64(r.Read)/float64(r.Settings.Items))
}

// print prints a line, and reports whether an outcome that is wrong came in at most 5 %, but for chance.
func (v *verdicts) print(out io.Writer, name string, wrong stats.Outcome) bool {
	slices.Sort(v.reads)
	n := float64(len(v.reads))
	share := func(o stats.Outcome) float64 { return 100 * float64(v.n[o]) / n }
	mark, ok := " ", share(wrong) <= 6+300*math.Sqrt(.05*.95/n)
	if !ok {
		mark = "!"
	}
	fmt.Fprintf(out, "%-52s%8.0f%11.1f %11.1f %11.1f%s%13.0f%%\n", "*"+name, n, share(stats.Accepted),
		share(stats.Rejected), share(accept.CannotTell), mark, 100*v.reads[len(v.reads)/2])
	return ok
}

// ofSuite reads two runs in many orders.
func ofSuite(out io.Writer, dir string, items, sets int) (bool, error) {
	ctx, before, after := context.Background(), filepath.Join(dir, "old"), filepath.Join(dir, "new")
	for path, name := range map[string]string{before: model(.01, 1), after: model(.04, 2)} {
		one, err := confused(items, name)
		if err != nil {
			return false, err
		}
		if _, err := one.Run(ctx, path, ask.Options{}); err != nil {
			return false, err
		}
	}
	s, err := confused(items, model(.04, 2))
	if err != nil {
		return false, err
	}
	least, most, err := losses(before, after)
	if err != nil {
		return false, err
	}
	m, err := s.Begin(ctx, after, ask.Options{})
	if err != nil {
		return false, err
	}
	defer m.Close()
	n, ok := float64(s.Suite.Items.Len()), true
	for _, c := range []struct {
		name   string
		margin float64
		wrong  stats.Outcome
	}{
		{"a fault more than the margin", (most - 1) / n, stats.Accepted},
		{"as many as the margin", least / n, stats.Rejected},
		{"5 points less than the margin", most/n + .05, stats.Rejected},
	} {
		var all verdicts
		for seed := range sets {
			a := accept.Acceptance{Measure: "lpr", Baseline: before, Margin: c.margin + 1e-9, Level: level, Seed: uint64(seed)}
			if err := os.Remove(filepath.Join(after, "accept.json")); err != nil && !os.IsNotExist(err) {
				return false, err
			}
			result, err := a.Run(ctx, s, m)
			if err != nil {
				return false, err
			}
			all.add(result)
		}
		ok = all.print(out, fmt.Sprintf("suite, %.0f prompts, %s", n, c.name), c.wrong) && ok
	}
	return ok, nil
}

// losses are how many right answers of a run are wrong in another at least and at most, less those the other way:
// what could not be checked may be either.
func losses(before, after string) (least, most float64, err error) {
	rights := [2]map[string]float64{{}, {}}
	for side, path := range []string{before, after} {
		for o, err := range run.ReadValues(path) {
			if err != nil {
				return 0, 0, err
			}
			if o.Measure == "lpr" {
				rights[side][o.Item] = float64(o.Value)
			}
		}
	}
	bound := func(x, unknown float64) float64 {
		if math.IsNaN(x) {
			return unknown
		}
		return x
	}
	for item, old := range rights[0] {
		now := rights[1][item]
		least += bound(old, 0) - bound(now, 1)
		most += bound(old, 1) - bound(now, 0)
	}
	return least, most, nil
}

// ofPrompts asks two models each time, whose loss is the margin, or none.
func ofPrompts(out io.Writer, dir string, equal bool, sets int) (bool, error) {
	lpr := func(line float64) float64 { q := 1 - line; return (q + q*q + q*q*q) / reference.MaxLines }
	const old, worse, items = .01, .05, 345
	margin, now, name, wrong := lpr(old)-lpr(worse), worse, "the margin", stats.Accepted
	if equal {
		now, name, wrong = old, "no loss", stats.Rejected
	}
	var all verdicts
	for seed := range sets {
		s, err := confused(items, model(old, 2*seed+10), model(now, 2*seed+11))
		if err != nil {
			return false, err
		}
		path := filepath.Join(dir, fmt.Sprint("prompts", equal, seed))
		m, err := s.Begin(context.Background(), path, ask.Options{})
		if err != nil {
			return false, err
		}
		result, err := accept.Acceptance{Target: accept.Prompts, Measure: "lpr", Baseline: model(old, 2*seed+10),
			Margin: margin, Level: level, Seed: 1}.Run(context.Background(), s, m)
		if err != nil {
			return false, err
		}
		m.Close()
		os.RemoveAll(path)
		all.add(result)
	}
	return all.print(out, fmt.Sprintf("prompts, %d, margin %.1f, loss: %s", items, 100*margin, name), wrong), nil
}
