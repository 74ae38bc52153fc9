package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"crosstalk/measure/langid/fasttext"
	"crosstalk/tools/internal/corpus"
)

// example is a held-out sentence as a protocol would check it.
type example struct{ language, origin, line string }

const examplesEach = 400

// examples returns the first held-out sentences of each origin with five words or more, whole and, as a second origin,
// cut to five words.
func examples(language string, all []sentence) []example {
	n := map[string]int{}
	var held []example
	for _, x := range all {
		line := normalise(x.text)
		words, separator := units(line, language)
		if !corpus.HeldOut[x.origin] || len(words) < 5 || n[x.origin] == examplesEach {
			continue
		}
		n[x.origin]++
		short := strings.Join(words[:5], separator)
		held = append(held, example{language, x.origin, line}, example{language, x.origin + " short", short})
	}
	return held
}

// evaluate prints the share of held-out lines that are in their language with a probability above 0.3, per origin.
func evaluate(path string, held []example) error {
	m, err := fasttext.Load(path)
	if err != nil {
		return err
	}
	origins := []string{"gnome", "handbook", "novels", "gnome short", "handbook short", "novels short"}
	type cell struct{ right, n int }
	table := map[string]map[string]*cell{}
	wrong := map[string]int{}
	var rows []string
	for _, x := range held {
		group := x.language
		if !core[group] && group != "en" {
			group = "others"
		}
		if table[group] == nil {
			table[group] = map[string]*cell{}
			rows = append(rows, group)
		}
		c := table[group][x.origin]
		if c == nil {
			c = &cell{}
			table[group][x.origin] = c
		}
		c.n++
		if g := m.Identify(x.line); g.Language == x.language && g.Probability > 0.3 {
			c.right++
		} else if group != "others" {
			wrong[x.language+" as "+g.Language]++
		}
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\t"+strings.Join(origins, "\t")+"\t")
	sums, counts := make([]float64, len(origins)), make([]int, len(origins))
	for _, group := range rows {
		fmt.Fprint(w, group, "\t")
		for i, origin := range origins {
			if c := table[group][origin]; c != nil {
				share := 100 * float64(c.right) / float64(c.n)
				fmt.Fprintf(w, "%.1f (%d)\t", share, c.n)
				if group != "others" {
					sums[i] += share
					counts[i]++
				}
			} else {
				fmt.Fprint(w, "-\t")
			}
		}
		fmt.Fprintln(w)
	}
	fmt.Fprint(w, "mean of 15\t")
	for i := range origins {
		fmt.Fprintf(w, "%.2f\t", sums[i]/float64(counts[i]))
	}
	fmt.Fprintln(w)
	if err := w.Flush(); err != nil {
		return err
	}
	for _, pair := range slices.Sorted(maps.Keys(wrong)) {
		if wrong[pair] >= 8 {
			fmt.Println(pair, wrong[pair])
		}
	}
	return nil
}
