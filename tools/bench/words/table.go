package main

import (
	"fmt"
	"path/filepath"

	"crosstalk/measure/stats"
)

// wordTables prints what each system finds of the words' data.
func wordTables(o options) error {
	data, err := readSet(filepath.Join(o.data, "words"))
	if err != nil {
		return err
	}
	lid, err := lidPerWord(o.data)
	if err != nil {
		return err
	}
	systems := []*system{
		{name: "check, all spans", find: spansOf(false), fixed: true},
		{name: "check, verdict", find: spansOf(true), fixed: true},
		{name: "package words", find: detector},
		{name: "lid.176 per word", find: lid},
		{name: "lingua-go, pair known", find: linguaPair()},
	}
	for _, s := range systems {
		s.run(data)
	}
	for _, half := range o.halves {
		part := data.of(half)
		results := make([]result, len(systems))
		for i, s := range systems {
			results[i] = s.measure(part)
		}
		overview(half, part, systems, results)
		recallTable(systems, results)
	}
	return nil
}

// percent is a mean in percent with its 95 % interval over clusters.
func percent(c *stats.Clusters) string {
	if c == nil || c.N() == 0 {
		return "-"
	}
	e := stats.Mean(c, stats.Proportion, 0.95)
	return fmt.Sprintf("%.1f (%.0f-%.0f)", 100*e.Value, 100*e.Interval.Low, 100*e.Interval.High)
}

func overview(half string, data set, systems []*system, results []result) {
	fmt.Printf("\nHalf %s: %d clean answers, %.0f words; %d with foreign words put in\n\n",
		half, len(data.clean), results[0].words["all"], len(data.inserted))
	fmt.Printf("%-22s %10s %18s %16s %14s %16s %10s %10s\n", "", "threshold",
		"false runs/1,000", "most in", "real found", "clean flagged, %", "letters, %", "words/CPU s")
	for i, s := range systems {
		m := results[i]
		worst, rate := m.worst()
		threshold := "its own"
		if !s.fixed {
			threshold = fmt.Sprintf("%.2f", s.at)
		}
		fmt.Printf("%-22s %10s %18.2f %16s %14s %16s %10.1f %10.0f\n", s.name,
			threshold, 1000*m.falseRuns["all"]/m.words["all"],
			fmt.Sprintf("%s %.1f", worst, rate), fmt.Sprintf("%d of %d", m.marked, m.real), percent(&m.flagged),
			100*float64(m.rightLetters)/float64(m.letters), s.speed)
	}
	fmt.Printf("\nfalse runs per 1,000 words\n%-22s", "")
	for _, l := range languages {
		fmt.Printf("%5s", l)
	}
	fmt.Println()
	for i, s := range systems {
		fmt.Printf("%-22s", s.name)
		for _, l := range languages {
			fmt.Printf("%5.1f", 1000*results[i].falseRuns[l]/results[i].words[l])
		}
		fmt.Println()
	}
}

func recallTable(systems []*system, results []result) {
	fmt.Printf("\n%-46s", "found, % (95 % interval over answers)")
	for _, k := range kinds {
		fmt.Printf("%17s", k)
	}
	fmt.Printf("%8s %17s\n", "n each", "named")
	for _, class := range classNames {
		for i, s := range systems {
			name := ""
			if i == 0 {
				name = class
			}
			fmt.Printf("%-23s%-23s", name, s.name)
			for _, k := range kinds {
				fmt.Printf("%17s", percent(results[i].recall[[2]string{class, k}]))
			}
			fmt.Printf("%8d %17s\n", at(results[i].recall, [2]string{class, kinds[0]}).N(), percent(results[i].named[class]))
		}
	}
}
