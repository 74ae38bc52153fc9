package compare

import (
	"bytes"
	"fmt"
	"math"
	"testing"

	"crosstalk"
	"crosstalk/internal/testing/golden"
)

// All fields of comparisons, for many kinds of data, and plans of stated studies. -update writes testdata/figures.txt
// anew: look at what differs.
func TestFigures(t *testing.T) {
	if testing.Short() {
		t.Skip("many comparisons, one after another")
	}
	var sheet bytes.Buffer
	// value is the value of an item of a shape under a condition; NaN: there is none.
	type shape struct {
		name    string
		items   int
		cluster func(i int) string
		value   func(i, side int) float64
	}
	alone := func(int) string { return "" }
	fours := func(i int) string { return fmt.Sprint(i / 4) }
	differs := func(of, against float64, every ...int) func(i, side int) float64 {
		return func(i, side int) float64 {
			if i%every[side] == 0 {
				return against
			}
			return of
		}
	}
	// halves has the first items under one condition, and the last under the other.
	halves := func(low, high int) func(i, side int) float64 {
		return func(i, side int) float64 {
			if side == 0 && i >= high || side == 1 && i < low {
				return math.NaN()
			}
			return float64((i + side) % 3 / 2)
		}
	}
	for k, s := range []shape{
		{"rates", 60, alone, differs(1, 0, 7, 5)}, {"rates in clusters", 60, fours, differs(1, 0, 7, 5)},
		{"equal rates", 40, alone, differs(1, 0, 4, 4)}, {"equal rates in clusters", 40, fours, differs(1, 0, 4, 4)},
		{"rates that rise", 40, alone, differs(1, 0, 2, 50)}, {"rates that fall", 40, alone, differs(1, 0, 50, 3)},
		{"shares", 60, alone, differs(.75, .5, 7, 5)}, {"shares in clusters", 60, fours, differs(.75, .5, 7, 5)},
		{"equal shares", 40, fours, differs(.75, .5, 4, 4)}, {"one share", 40, alone, differs(1, .5, 50, 40)},
		{"numbers", 60, alone, differs(7, -2, 7, 5)}, {"numbers from 0 to 2", 60, fours, differs(2, 0, 3, 5)},
		{"few in common", 60, alone, halves(25, 35)}, {"few in common, in clusters", 60, fours, halves(22, 38)},
		{"half in common", 60, alone, halves(20, 40)}, {"nothing in common", 60, alone, halves(30, 30)},
		{"one item", 1, alone, differs(1, 0, 2, 1)}, {"two clusters", 8, fours, differs(1, 0, 3, 8)},
	} {
		for _, better := range []crosstalk.Direction{crosstalk.Higher, crosstalk.Lower}[:1+k%9/8] {
			r := &recorded{average: map[string]*crosstalk.Average{"weighed": {Over: []string{"language"}}}}
			for side, condition := range []columns{first, second} {
				for i := range s.items {
					for _, measure := range []string{"plain", "weighed"} {
						labels := columns{"language": []string{"de", "ko", "ko"}[i%3]}
						if v := s.value(i, side); math.IsNaN(v) {
							if i%2 == 0 {
								r.miss(measure, fmt.Sprint(i), "empty", condition, labels)
							}
						} else {
							r.add(measure, fmt.Sprint(i), s.cluster(i), v, condition, labels)
						}
					}
				}
			}
			run := r.run(t)
			for i := range run.Estimates {
				run.Estimates[i].Better = better
			}
			for _, o := range []Options{{}, {Unpaired: true, Level: .9, Apart: 3}} {
				result, err := Runs([]Run{run}, o)
				fmt.Fprintf(&sheet, "\n== %s, %s is better, unpaired %v: %v\n", s.name, better, o.Unpaired, err)
				for _, c := range result.Comparisons {
					i := crosstalk.Interval{}
					if c.Interval != nil {
						i = *c.Interval
					}
					fmt.Fprintf(&sheet, "%s %.7g - %.7g = %.7g [%.7g %.7g %s] %s p %.7g %.7g %v, finds %.7g, %d in %d, paired %v, "+
						"without %v; together [%.7g %.7g %.7g], same %v, night %.7g %.7g of %.7g; %q\n", c.Measure, float64(c.Value),
						float64(c.ReferenceValue), float64(c.Difference), i.Low, i.High, i.Method, c.Method, float64(c.P),
						float64(c.Adjusted), c.Shown, float64(c.Detectable), c.N, c.Clusters, c.Paired, c.LeftOut, c.Together.Low,
						c.Together.High, c.Together.Level, c.Same, c.Night.Wins, c.Night.Losses, c.Night.N, c.Warnings)
				}
			}
		}
	}
	for _, rate := range []float64{.6, .4, .9, 1, .95, .5} {
		s, err := Stated(rate)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range []Goal{
			{Samples: []int{1}, Differences: []float64{.05}}, {Samples: []int{3}, Differences: []float64{-.01, .2}},
			{Samples: []int{1}, Items: []int{4, 300}}, {Samples: []int{1, 2}, Items: []int{50}},
			{Samples: []int{1, 2}, Items: []int{50}, Margins: []float64{.2}},
			{Samples: []int{1}, Margins: []float64{.15}, Level: .8},
		} {
			if g.Level == 0 {
				g.Level = .95
			}
			p, err := g.Plan([]Study{s})
			fmt.Fprintf(&sheet, "\n== stated %v, goal %+v: %v\n", rate, g, err)
			if err != nil {
				continue
			}
			for _, format := range []string{"table", "csv"} {
				if err := WritePower(&sheet, format, p); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	golden.Check(t, "testdata/figures.txt", golden.Rounded(sheet.String()))
}

// The full text of every error about options.
func TestRefusedOptions(t *testing.T) {
	s, err := Stated(.6)
	if err != nil {
		t.Fatal(err)
	}
	stated := func(rate float64) error { _, err := Stated(rate); return err }
	plan := func(g Goal) error {
		if g.Level == 0 {
			g.Level = .95
		}
		if g.Samples == nil {
			g.Samples = []int{1}
		}
		_, err := g.Plan([]Study{s})
		return err
	}
	reference := func(text string) error { _, err := ParseReference(text); return err }
	one := pairsWith(1, 2, 30).run(t)
	compared := func(o Options) error { _, err := Runs([]Run{one}, o); return err }
	for _, c := range []struct {
		err  error
		want string
	}{
		{stated(1.2), "the rate is 1.2; expected 0 to 1"},
		{plan(Goal{Level: 95, Items: []int{1}}), "the level is 95; expected a number between 0 and 1, such as 0.95"},
		{plan(Goal{Level: 1, Items: []int{1}}), "the level is 1; expected a number between 0 and 1, such as 0.95"},
		{plan(Goal{}), "expected a difference to find, a margin or a number of items"},
		{plan(Goal{Samples: []int{0}, Items: []int{1}}), "the number of samples is 0; expected 1 or more"},
		{plan(Goal{Samples: []int{1, 5}, Items: []int{1}}), "samples is 5; expected a pilot run, which tells how much answers to the same prompt differ"},
		{plan(Goal{Differences: []float64{0}}), "the difference is 0; expected more than 0 and less than 1"},
		{plan(Goal{Differences: []float64{1}}), "the difference is 1; expected more than 0 and less than 1"},
		{plan(Goal{Margins: []float64{1}}), "the margin is 1; expected more than 0 and less than 1"},
		{plan(Goal{Margins: []float64{0}}), "the margin is 0; expected more than 0 and less than 1"},
		{plan(Goal{Items: []int{0}}), "the number of items is 0; expected 1 or more"},
		{plan(Goal{Items: []int{1}}), ""},
		{reference(""), ""}, {reference("a=b, c = d=e "), ""},
		{reference("a"), `reference has "a"; expected COLUMN=VALUE, such as temperature=0`},
		{reference("a=b, =c"), `reference has " =c"; expected COLUMN=VALUE, such as temperature=0`},
		{Options{Level: 1}.Check(), "level is 1; expected a number between 0 and 1, such as 0.95"},
		{Options{Level: .5, Adjust: "x"}.Check(), `adjust: unknown adjustment "x"; choose one of: holm, bh`},
		{Options{Level: .5, AllPairs: true, Reference: first}.Check(), "reference is all, which compares every two conditions; expected no others"},
		{Options{Level: .5, Adjust: BH}.Check(), ""},
		{compared(Options{Measures: []string{"x"}}), `unknown measure "x"; did you mean m? choose one of: m`},
		{compared(Options{Across: []string{"x"}}), `unknown signature field "x"; choose one of: all, suite, version`},
		{compared(Options{Across: []string{"all"}}), ""},
		{compared(Options{Reference: columns{"x": "a"}}), `unknown column "x"; choose one of: model`},
		{compared(Options{Reference: columns{"model": "c"}}), "no condition has model c; choose one of: a, b"},
	} {
		if c.err == nil && c.want == "" {
			continue
		}
		if c.err == nil || c.err.Error() != c.want {
			t.Errorf("%v, want %s", c.err, c.want)
		}
	}
}
