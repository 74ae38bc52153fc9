package plot

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"crosstalk"
)

// texts are the texts of a plot.
func texts(f Plot) (list []Text) {
	for _, m := range f.Marks {
		for _, s := range m.Shapes {
			if t, ok := s.(Text); ok {
				list = append(list, t)
			}
		}
	}
	return list
}

// Axes fit the figures, their intervals and the reference, and never magnify less
// than five points to the whole width.
func TestAxis(t *testing.T) {
	for _, c := range []struct {
		values    []float64
		low, high float64
	}{
		{[]float64{0.9, 0.97, 0.93}, 0.9, 0.98}, {[]float64{0.998, 1, 1}, 0.95, 1}, {[]float64{0, 0.001}, 0, 0.05},
		{[]float64{0.5}, 0.475, 0.525},
		{[]float64{0.02, 1}, 0, 1}, {[]float64{math.NaN()}, 0, 1}, {nil, 0, 1},
	} {
		x := quantity{measure: "lpr"}.axis(c.values, 0, 100)
		if x.low > c.low+1e-9 || x.high < c.high-1e-9 || x.high-x.low > 1.25*(c.high-c.low) || x.low < 0 || x.high > 1 {
			t.Errorf("%v: %g to %g; want about %g to %g", c.values, x.low, x.high, c.low, c.high)
		}
	}
	if x := (quantity{measure: "entropy", unit: "bits"}).axis([]float64{0.5, 3}, 0, 100); x.high < 3 {
		t.Errorf("%+v", x)
	}
}

// Dots are at their values, and a figure over nothing is hollow and says so.
func TestDots(t *testing.T) {
	high, none := estimate("lpr", 0.95, "language", "de"), estimate("lpr", 1, "language", "ko")
	none.N, none.Interval = 0, nil
	d := DotPlot{Rows: []Row{{"de", []*crosstalk.Estimate{&high}}, {"ko", []*crosstalk.Estimate{&none}}}}
	f := d.Draw()
	var dots []Path
	for _, m := range f.Marks {
		if m.Title != "" {
			dots = append(dots, m.Shapes[len(m.Shapes)-2].(Path))
		}
	}
	if len(dots) != 2 || dots[0].Fill != seriesInk(0) || dots[1].Fill != paper || dots[1].Stroke != seriesInk(0) ||
		dots[0].Lines[0][3].X >= dots[1].Lines[0][3].X {
		t.Errorf("%+v", dots)
	}
	if !strings.Contains(f.Note, "nothing was measured") {
		t.Errorf("note %q", f.Note)
	}
	numbers := map[string]bool{}
	for _, s := range texts(f) {
		numbers[s.Text] = true
	}
	if !numbers["95.0"] || !numbers["(100.0)"] || numbers["0"] {
		t.Errorf("texts %v; want 95.0, (100.0) and an axis that does not begin at 0", numbers)
	}
}

// The names of models of nearly one size do not hide each other, nor the intervals.
func TestLabelsApart(t *testing.T) {
	var list []crosstalk.Estimate
	for _, similarity := range []string{"bertscore", "sbert"} {
		for i, model := range []string{"Qwen2.5-1.5B-Instruct", "Llama-1.4B-Instruct", "Qwen2.5-7B-Instruct", "Llama-8B-Instruct"} {
			list = append(list, estimate("leak_rate", 0.7+0.01*float64(i), "model", model, "similarity", similarity, "category", "all"))
		}
	}
	f := only(t, NewCollector(list).Plots(), "Leak rate and model size")
	var boxes []box
	for _, s := range texts(f) {
		if w := textWidth(s.Text, s.Size, false); strings.Contains(s.Text, "Instruct") {
			boxes = append(boxes, box{s.X, s.X + w, s.Y - s.Size, s.Y})
			if s.X < 0 || s.X+w > f.Width {
				t.Errorf("%s leaves the plot: %g to %g of %g", s.Text, s.X, s.X+w, f.Width)
			}
		}
	}
	if len(boxes) != 4 {
		t.Fatalf("%d names", len(boxes))
	}
	for i, b := range boxes {
		for _, other := range boxes[:i] {
			if b.left < other.right && other.left < b.right && b.top < other.bottom && other.top < b.bottom {
				t.Errorf("%+v hides %+v", b, other)
			}
		}
	}
	// The intervals of two similarities are beside each other.
	at := map[float64]int{}
	for _, m := range f.Marks {
		if m.Title != "" {
			at[m.Shapes[0].(Path).Lines[0][0].X]++
		}
	}
	if len(at) != 8 {
		t.Errorf("8 intervals at %d places", len(at))
	}
}

// Labels that do not fit keep what tells them apart; others stay as they are.
func TestShorter(t *testing.T) {
	rows := func(labels ...string) (rows []Row) {
		for _, l := range labels {
			rows = append(rows, Row{Label: l})
		}
		return rows
	}
	long := rows("reference:leaky?rate=0.3&seed=1 0", "reference:leaky?rate=0.3&seed=1 0.5", "reference:leaky?rate=0.7&seed=1 0")
	if got := shorter(long); fmt.Sprint(got) != "[…rate=0.3&seed=1 0 …rate=0.3&seed=1 0.5 …rate=0.7&seed=1 0]" {
		t.Errorf("long labels are %q", got)
	}
	for _, name := range shorter(long) {
		if w := textWidth(name, size, false); w > mostLabel {
			t.Errorf("%q is %v wide, at most %v fit", name, w, mostLabel)
		}
	}
	if got := shorter(rows("openai:a 0", "openai:a 1")); fmt.Sprint(got) != "[openai:a 0 openai:a 1]" {
		t.Errorf("short labels are %q", got)
	}
}
