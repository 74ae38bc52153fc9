package main

import (
	"fmt"
	"path/filepath"
	"slices"

	"crosstalk/guard"
	"crosstalk/measure/stats"
)

// checkTables prints how package guard judges the words' data: what it leaves out as names, terms and quotations
// counts as not found.
func checkTables(dir string, halves []string, list string) error {
	clean, err := readLines[*answer](filepath.Join(dir, "clean.jsonl.gz"))
	if err != nil {
		return err
	}
	inserted, err := readLines[*answer](filepath.Join(dir, "inserted.jsonl.gz"))
	if err != nil {
		return err
	}
	for _, a := range slices.Concat(clean, inserted) {
		a.prepare()
	}
	for _, half := range halves {
		if err := checkTable(half, of(clean, half), of(inserted, half), list); err != nil {
			return err
		}
	}
	return nil
}

func checkTable(half string, clean, inserted []*answer, list string) error {
	row := func(what string, k, n int) {
		ci := stats.Wilson(float64(k), float64(n), 0.95)
		fmt.Printf("  %-44s %5d of %5d  %5.1f %% (%.1f to %.1f)\n", what, k, n, 100*float64(k)/float64(n), 100*ci.Low, 100*ci.High)
	}
	touches := func(s guard.Span, all []known) bool {
		return slices.ContainsFunc(all, func(k known) bool { return s.Start < k.End && k.Start < s.End })
	}
	var free, flagged, confused, missed, spans, found int
	for _, a := range clean {
		j, err := guard.Check(a.Text, a.Language)
		if err != nil {
			return err
		}
		wrong := slices.ContainsFunc(j.Spans, func(s guard.Span) bool { return !touches(s, a.Ignore) })
		switch {
		case len(a.Foreign) > 0:
			confused++
			if !wrong {
				missed++
			}
		default:
			free++
			if wrong {
				flagged++
			}
		}
		for _, k := range a.Foreign {
			spans++
			if slices.ContainsFunc(j.Spans, func(s guard.Span) bool { return touches(s, []known{k}) }) {
				found++
			} else if list == "missed" {
				fmt.Printf("%s %s [%s]", a.Language, k.Language, a.Text[k.Start:k.End])
				for _, m := range j.Masked {
					if m.Start < k.End && k.Start < m.End {
						fmt.Printf(" {%s}", m.Kind)
					}
				}
				fmt.Println()
			}
		}
		for _, s := range j.Spans {
			if list == "false" && !touches(s, a.Ignore) && !touches(s, a.Foreign) {
				fmt.Printf("%s %s %s %.4f [%s]\n", a.Language, s.Language, s.Kind, s.P, a.Text[s.Start:s.End])
			}
		}
	}
	type cell struct{ n, found int }
	cells := map[[2]string]*cell{}
	for _, a := range inserted {
		j, err := guard.Check(a.Text, a.Language)
		if err != nil {
			return err
		}
		kind := a.Kind
		if a.K > 0 {
			kind = fmt.Sprint(a.K)
		}
		ok := slices.ContainsFunc(j.Spans, func(s guard.Span) bool { return touches(s, a.Foreign[:1]) })
		for _, class := range classesOf(a.Language, a.Foreign[0].Language) {
			c := cells[[2]string{class, kind}]
			if c == nil {
				c = &cell{}
				cells[[2]string{class, kind}] = c
			}
			c.n++
			if ok {
				c.found++
			}
		}
		if !ok && list == "missed" && a.K < 3 {
			k := a.Foreign[0]
			fmt.Printf("%s %s %s [%s]", a.Language, k.Language, kind, a.Text[k.Start:k.End])
			for _, m := range j.Masked {
				if m.Start < k.End && k.Start < m.End {
					fmt.Printf(" {%s}", m.Kind)
				}
			}
			fmt.Println()
		}
	}
	if list != "" {
		return nil
	}
	fmt.Printf("\nAnswers as check judges them, half %s\n", half)
	row("without a foreign word, flagged", flagged, free)
	row("with real foreign words, missed", missed, confused)
	row("real foreign spans, found", found, spans)
	fmt.Printf("%-24s", "found of inserted, %")
	for _, k := range kinds {
		fmt.Printf("%10s", k)
	}
	fmt.Println()
	for _, class := range classNames {
		fmt.Printf("%-24s", class)
		for _, k := range kinds {
			if c := cells[[2]string{class, k}]; c != nil {
				fmt.Printf("%10.1f", 100*float64(c.found)/float64(c.n))
			} else {
				fmt.Printf("%10s", "-")
			}
		}
		fmt.Println()
	}
	return nil
}
