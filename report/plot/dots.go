package plot

import (
	"slices"

	"crosstalk"
	"crosstalk/internal/ordered"
	"crosstalk/internal/visible"
	"crosstalk/report"
)

// Row is a line of a chart: an estimate for each series, nil if there is none.
type Row struct {
	Label string
	Cells []*crosstalk.Estimate
}

// figuresOf are the figures of rows, and their quantity: without a measure if they are of several.
func figuresOf(rows []Row) (all []*crosstalk.Estimate, q quantity) {
	for _, r := range rows {
		all = append(all, slices.DeleteFunc(slices.Clone(r.Cells), func(e *crosstalk.Estimate) bool { return e == nil })...)
	}
	if len(all) > 0 {
		q = quantityOf(all[len(all)-1])
	}
	if slices.ContainsFunc(all, func(e *crosstalk.Estimate) bool { return e.Measure != q.measure }) {
		q.measure = ""
	}
	return all, q
}

// DotPlot has a dot with its interval for each estimate, grouped by rows.
type DotPlot struct {
	Series             []string // names; a single series has no legend
	Rows               []Row
	crosstalk.Baseline // a line to compare with
}

const mostLabel = 0.36 * width // the width of the longest label beside a chart
const mostLetters = 24         // how many letters such a label has, about

func labelWidth(rows ...Row) (w float64) {
	for _, r := range rows {
		w = max(w, textWidth(visible.Line(r.Label), size, false))
	}
	return min(w, mostLabel)
}

// shorter returns the labels of rows; long ones lose the words that all of them share.
func shorter(rows []Row) []string {
	labels, long := make([]map[string]string, len(rows)), false
	for i, r := range rows {
		labels[i] = map[string]string{"": r.Label}
		long = long || textWidth(visible.Line(r.Label), size, false) > mostLabel
	}
	if long {
		labels = report.Shorten(labels, mostLetters)
	}
	return ordered.Map(labels, func(label map[string]string) string { return label[""] })
}

const (
	dotHeight = 14
	axisSpace = 30 // below a plot: labels and the axis' name
)

const leastSpan = 0.05 // the least extent of an axis of shares: smaller differences do not look large
const hollow = "Hollow: nothing was measured, and a rule of the protocol gives the figure."

// Draw lays out the chart. Its axis fits the intervals and the reference; it need not begin at 0.
func (d DotPlot) Draw() Plot {
	f := Plot{Width: width}
	labels, numbers := labelWidth(d.Rows...), 0.0
	var values []float64
	all, q := figuresOf(d.Rows)
	for _, e := range all {
		values = append(values, reach(e)...)
		numbers = max(numbers, textWidth(dotNumber(quantityOf(e), e), size, false))
	}
	if d.Meaning != "" {
		values = append(values, d.Value)
	}
	y := f.legend(d.Series, d.Meaning, 0, dot)
	x := q.axis(values, labels+gap+4, width-numbers-gap-4)
	top := y
	names := shorter(d.Rows)
	for at, r := range d.Rows {
		cells, _ := figuresOf([]Row{r})
		y += gap / 4
		middle := y + dotHeight*float64(max(len(cells), 1))/2
		f.add(label(labels, middle+size*0.35, names[at], End, ink, labels))
		for i, e := range r.Cells {
			if e == nil {
				continue
			}
			name := r.Label
			if len(d.Series) > 1 {
				name += ", " + d.Series[i]
			}
			m := of(name, e)
			if e.Value.Defined() {
				if v := e.Interval; v != nil {
					m.Shapes = append(m.Shapes, interval(x.at(v.Low), x.at(v.High), y+dotHeight/2, true, i))
				}
				point := marker(x.at(float64(e.Value)), y+dotHeight/2, i)
				if unmeasured(e) {
					point.Fill, point.Stroke, point.Width, f.Note = paper, seriesInk(i), 1.2, hollow
				}
				m.Shapes = append(m.Shapes, point)
			}
			m.Shapes = append(m.Shapes,
				Text{X: width, Y: y + dotHeight/2 + size*0.35, Text: dotNumber(q, e), Size: size, Anchor: End, Fill: ink})
			f.Marks = append(f.Marks, m)
			y += dotHeight
		}
		y += gap / 4
	}
	f.across(x, top, y, q.tick, q.name(), d.Baseline)
	return f
}

// unmeasured reports whether a figure has a value, but not from observations.
func unmeasured(e *crosstalk.Estimate) bool { return e.N == 0 && e.Value.Defined() }

// dotNumber is the number beside a dot, in brackets where nothing was measured.
func dotNumber(q quantity, e *crosstalk.Estimate) string {
	if unmeasured(e) {
		return "(" + q.bare(e.Value) + ")"
	}
	return q.bare(e.Value)
}

// axis is a horizontal axis that fits values of the quantity. Shares stay within 0 and 1.
func (q quantity) axis(values []float64, from, to float64) scale {
	if !q.isShare() {
		return around(values, from, to)
	}
	if low, high := ends(values); low <= high && high-low < leastSpan {
		middle := (high + low) / 2
		middle = min(max(middle, leastSpan/2), 1-leastSpan/2)
		values = []float64{middle - leastSpan/2, middle + leastSpan/2}
	}
	x := around(values, from, to)
	x.low, x.high = max(x.low, 0), min(x.high, 1)
	return x
}

// reach are the values that an estimate needs on an axis.
func reach(e *crosstalk.Estimate) []float64 {
	values := []float64{float64(e.Value)}
	if e.Interval != nil {
		values = append(values, e.Interval.Low, e.Interval.High)
	}
	return values
}

// across ends a plot that extends from top to bottom with a horizontal axis below it,
// whose grid is behind the existing marks.
func (f *Plot) across(x scale, top, bottom float64, label func(float64) string, name string, b crosstalk.Baseline) {
	grid := Path{Stroke: rule, Width: 0.7}
	var labels []Shape
	for _, v := range x.ticks() {
		grid.Lines = append(grid.Lines, []Point{{x.at(v), top}, {x.at(v), bottom}})
		labels = append(labels, Text{X: x.at(v), Y: bottom + 12, Text: label(v), Size: small, Anchor: Middle, Fill: soft})
	}
	behind := []Shape{grid}
	if b.Meaning != "" && b.Value >= x.low && b.Value <= x.high {
		at := x.at(b.Value)
		behind = append(behind, dashed(segment(at, top, at, bottom, ink, 1)))
	}
	f.Marks = append([]Mark{{Shapes: behind}}, f.Marks...)
	f.add(labels...)
	f.add(Text{X: (x.from + x.to) / 2, Y: bottom + 25, Text: name, Size: small, Anchor: Middle, Fill: soft})
	f.Height = bottom + axisSpace
}
