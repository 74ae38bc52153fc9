package plot

import (
	"fmt"
	"strings"
	"testing"

	"crosstalk"
)

// grid has a figure for each row and series.
func grid(axis string, rows, series []string, measures ...string) Grid {
	g := Grid{Title: "LPR", Axis: axis, Over: "setting", Series: series}
	for i, label := range rows {
		row := Row{Label: label}
		for j, name := range series {
			measure := "lpr"
			if measures != nil {
				measure = measures[j]
			}
			e := estimate(measure, 0.5+0.01*float64(i)+0.002*float64(j), "row", label, "series", name)
			row.Cells = append(row.Cells, &e)
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

func many(n int) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprintf("v%d", i))
	}
	return names
}

// A table is drawn in the form that fits it, with each of its figures once, without those
// over all values.
func TestGrid(t *testing.T) {
	lines, dots, heat := "over", "dots", "heat"
	for _, c := range []struct {
		name  string
		g     Grid
		want  []string
		marks int
	}{
		{"models", grid("model", []string{"a", "b"}, []string{"x", "y"}), []string{dots}, 4},
		{"numbers as rows", grid("temperature", []string{"1", "0.5"}, []string{"x", "y"}), []string{lines}, 4},
		{"numbers as series", grid("model", []string{"a", "b"}, []string{"1", "0"}), []string{lines}, 4},
		{"one number", grid("temperature", []string{"0.5"}, []string{"x"}), []string{dots}, 1},
		{"seven series", grid("model", []string{"a", "b"}, many(7)), []string{heat}, 14},
		{"six series", grid("model", []string{"a", "b"}, many(6)), []string{dots}, 12},
		{"60 figures", grid("item", many(60), []string{"x"}), []string{dots}, 60},
		{"61 figures", grid("item", many(61), []string{"x"}), []string{heat}, 61},
		{"two measures", grid("item", many(40), []string{"x", "y"}, "lpr", "wpr"), []string{dots}, 80},
		{"sizes", grid("model", []string{"a-7b", "a-1b", "b"}, []string{"x"}), []string{dots, lines}, 3},
		{"sizes of others", grid("item", []string{"a-7b", "a-1b"}, []string{"x"}), []string{dots}, 2},
		{"one size", grid("model", []string{"a-7b", "b-7b"}, []string{"x"}), []string{dots}, 2},
		{"all", grid("language", []string{"all", "de"}, []string{"all", "x"}), []string{dots}, 1},
		{"all numbers", grid("shots", []string{"all", "0", "1"}, []string{"x"}), []string{lines}, 2},
		{"only all", grid("language", []string{"all"}, []string{"all"}), []string{dots}, 1},
		{"nothing", Grid{Series: []string{"x"}, Rows: []Row{{"a", []*crosstalk.Estimate{nil}}}}, nil, 0},
	} {
		var got []string
		plots := c.g.Draw()
		for i, f := range plots {
			marks := read(t, f)
			form := dots
			switch {
			case strings.Contains(f.Note, "The tables have"):
				form = heat
			case len(marks) > 0 && marks[0].data["x"] != "":
				form = lines
			}
			if got = append(got, form); i == 0 && len(marks) != c.marks {
				t.Errorf("%s: %d marks; want %d", c.name, len(marks), c.marks)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: %v; want %v", c.name, got, c.want)
		}
	}
	sizes := grid("model", []string{"a-7b", "a-1b", "b"}, []string{"x"}).Draw()[1]
	if x := value(t, read(t, sizes), map[string]string{"by-row": "a-7b", "x": "7"}); x != 0.5 || sizes.Title != "LPR by model size" {
		t.Errorf("%v, %q", x, sizes.Title)
	}
	turned := read(t, grid("model", []string{"a", "b"}, []string{"1", "0"}).Draw()[0])
	if v := value(t, turned, map[string]string{"by-row": "b", "by-series": "0", "x": "0"}); v != 0.512 {
		t.Errorf("%v", v)
	}
	if turned[0].data["x"] != "0" {
		t.Errorf("the first point is at %s: points are in order", turned[0].data["x"])
	}
}
