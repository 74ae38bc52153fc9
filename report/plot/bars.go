package plot

import (
	"crosstalk"
	"crosstalk/internal/visible"
)

// Row is a line of a chart: an estimate for each series, nil if there is none.
type Row struct {
	Label string
	Cells []*crosstalk.Estimate
}

// Bars is a bar chart of estimates with their intervals, grouped by rows.
type Bars struct {
	Series    []string // names; a single series has no legend
	Rows      []Row
	Reference crosstalk.Value // a line to compare with
	Meaning   string          // of the line; empty: no line
}

const (
	barHeight = 13
	axisSpace = 30 // below a plot: labels and the axis' name
)

// Draw lays out the chart. Bars start at 0.
func (b Bars) Draw() Plot {
	f := Plot{Width: width}
	y := 0.0
	if len(b.Series) > 1 {
		y = f.legend(b.Series, y, swatch)
	}
	labels, numbers, values := 0.0, 0.0, []float64{0}
	var q quantity
	one, several := "", false
	for _, r := range b.Rows {
		labels = max(labels, textWidth(visible.Line(r.Label), size, false))
		for _, e := range r.Cells {
			if e == nil {
				continue
			}
			if q = quantityOf(e); one != "" && one != e.Measure {
				several = true
			}
			one = e.Measure
			values = append(values, ends(e)...)
			numbers = max(numbers, textWidth(q.bare(e.Value), size, false))
		}
	}
	if several {
		q.measure = ""
	}
	labels = min(labels, 0.36*width)
	x := around(values, labels+gap, width-numbers-gap-4)
	if q.isShare() {
		x.low, x.high = 0, 1
	}
	top := y
	for _, r := range b.Rows {
		cells := 0
		for _, e := range r.Cells {
			if e != nil {
				cells++
			}
		}
		y += gap / 2
		middle := y + barHeight*float64(max(cells, 1))/2
		f.add(label(labels, middle+size*0.35, r.Label, End, ink, labels))
		for i, e := range r.Cells {
			if e == nil {
				continue
			}
			name := r.Label
			if len(b.Series) > 1 {
				name += ", " + b.Series[i]
			}
			m := of(name, e)
			if e.Value.Defined() {
				m.Shapes = b.bar(x, y, i, e)
			}
			m.Shapes = append(m.Shapes, Text{X: width, Y: y + barHeight/2 + size*0.35, Text: q.bare(e.Value), Size: size, Anchor: End, Fill: ink})
			f.Marks = append(f.Marks, m)
			y += barHeight
		}
		y += gap / 2
	}
	f.across(x, top, y, q, b.Reference, b.Meaning)
	f.Height = y + axisSpace
	return f
}

func (b Bars) bar(x scale, y float64, i int, e *crosstalk.Estimate) []Shape {
	zero, end := x.at(0), x.at(float64(e.Value))
	shapes := filled(min(zero, end), y+1, max(zero, end)-min(zero, end), barHeight-2, i)
	if v := e.Interval; v != nil {
		// A paper-coloured line below the interval keeps it visible on the bar.
		under := whisker(x.at(v.Low), x.at(v.High), y+barHeight/2, 3, true)
		under.Stroke, under.Width = paper, 3
		shapes = append(shapes, under, whisker(x.at(v.Low), x.at(v.High), y+barHeight/2, 3, true))
	}
	return shapes
}

// ends are the values that an estimate needs on an axis.
func ends(e *crosstalk.Estimate) []float64 {
	values := []float64{float64(e.Value)}
	if e.Interval != nil {
		values = append(values, e.Interval.Low, e.Interval.High)
	}
	return values
}

// across adds a horizontal axis below a plot that extends from top to bottom,
// with its grid behind the existing marks.
func (f *Plot) across(x scale, top, bottom float64, q quantity, reference crosstalk.Value, meaning string) {
	var grid Path
	grid.Stroke, grid.Width = rule, 0.7
	var labels []Shape
	for _, v := range x.ticks() {
		grid.Lines = append(grid.Lines, []Point{{x.at(v), top}, {x.at(v), bottom}})
		labels = append(labels, Text{X: x.at(v), Y: bottom + 12, Text: q.tick(v), Size: small, Anchor: Middle, Fill: soft})
	}
	name := q.name()
	f.Marks = append([]Mark{{Shapes: []Shape{grid}}}, f.Marks...)
	f.add(labels...)
	if meaning != "" && float64(reference) >= x.low && float64(reference) <= x.high {
		at := x.at(float64(reference))
		line := segment(at, top, at, bottom, ink, 1)
		line.Dash = []float64{3, 2}
		f.add(line)
		name += " (dashed: " + meaning + ")"
	}
	f.add(Text{X: (x.from + x.to) / 2, Y: bottom + 25, Text: name, Size: small, Anchor: Middle, Fill: soft})
}
