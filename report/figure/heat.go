package figure

import (
	"math"
	"strconv"

	"crosstalk"
	"crosstalk/internal/visible"
)

// Heat is a map of estimates: the darker, the worse.
type Heat struct {
	Columns     []string
	Rows        []Row
	RowsName    string // what the rows are
	ColumnsName string
}

const (
	cellHeight = 17
	cellWidth  = 44
	cellMost   = 86
)

// Draw lays the map out. Its scale runs between round numbers around the
// values.
func (h Heat) Draw() Figure {
	labels, values, lower := 0.0, []float64{}, false
	measure := ""
	for _, r := range h.Rows {
		labels = max(labels, textWidth(visible.Line(r.Label), size, false))
		for _, e := range r.Cells {
			if e != nil && e.Value.Defined() {
				values = append(values, float64(e.Value))
			}
			if e != nil {
				measure, lower = e.Measure, e.Better == crosstalk.Lower || e.Better == "" && e.Measure == "leak_rate"
			}
		}
	}
	labels = min(labels, 0.36*width)
	across := min(max((width-labels-gap)/float64(len(h.Columns)), cellWidth), cellMost)
	f := Figure{Width: max(width, labels+gap+across*float64(len(h.Columns)))}
	left := labels + gap
	y := f.columns(h.Columns, left, across)
	depth := around(values, 0, 1)
	if !lower {
		depth.from, depth.to = 1, 0
	}
	for _, r := range h.Rows {
		f.add(label(labels, y+cellHeight/2+size*0.35, r.Label, End, ink, labels))
		for i, e := range r.Cells {
			if e == nil {
				continue
			}
			m := of(r.Label+", "+h.Columns[i], e)
			m.Shapes = cell(left+across*float64(i), y, across, bare(measure, e.Value), depth.at(float64(e.Value)))
			f.Marks = append(f.Marks, m)
		}
		y += cellHeight
	}
	f.ramp(depth, left, y+gap, measure, lower)
	f.Height = y + gap + 32
	return f
}

// cell is a field of a map: its number on its shade, or a mark that there is
// none.
func cell(x, y, across float64, text string, depth float64) []Shape {
	ground, on := paper, ink
	if !math.IsNaN(depth) {
		ground, on = shade(depth)
	}
	return []Shape{rectangle(x+0.5, y+0.5, across-1, cellHeight-1, ground),
		Text{X: x + across/2, Y: y + cellHeight/2 + size*0.35, Text: text, Size: size, Anchor: Middle, Fill: on}}
}

// columns adds the names of columns, aslant where they are wider than a
// column, and returns the height below.
func (f *Figure) columns(names []string, left, across float64) float64 {
	widest := 0.0
	for _, name := range names {
		widest = max(widest, textWidth(visible.Line(name), size, false))
	}
	if widest <= across-4 {
		for i, name := range names {
			f.add(label(left+across*(float64(i)+0.5), size+1, name, Middle, ink, across))
		}
		return leading + 2
	}
	const turn = 35
	most := 150.0
	widest = min(widest, most)
	sin, cos := math.Sincos(turn * math.Pi / 180)
	height := widest*sin + size
	for i, name := range names {
		x := left + across*(float64(i)+0.4)
		t := label(x, height-2, name, Start, ink, most)
		t.Turn = turn
		f.add(t)
		f.Width = max(f.Width, x+textWidth(t.Text, size, false)*cos+size)
	}
	return height + 2
}

// ramp explains the shades.
func (f *Figure) ramp(depth scale, x, y float64, measure string, lower bool) {
	const steps, across, high = 24, 120.0, 7.0
	for i := range steps {
		at := (float64(i) + 0.5) / steps
		ground, _ := shade(depth.at(depth.low + at*(depth.high-depth.low)))
		f.add(rectangle(x+across*float64(i)/steps, y, across/steps+0.2, high, ground))
	}
	f.add(
		Text{X: x, Y: y + high + 10, Text: tick(depth.low, isShare(measure)), Size: small, Fill: soft},
		Text{X: x + across, Y: y + high + 10, Text: tick(depth.high, isShare(measure)), Size: small, Anchor: End, Fill: soft},
		Text{X: x + across + gap, Y: y + high, Text: axisName(measure) + "; darker is worse", Size: small, Fill: soft})
	f.Width = max(f.Width, x+across+gap+textWidth(axisName(measure)+"; darker is worse", small, false))
}

// Matrix is a map of counts: how often a row's class became a column's.
type Matrix struct {
	Rows, Columns         []string
	Counts                [][]int
	RowsName, ColumnsName string
}

// Draw lays the matrix out. Shades are shares of the rows.
func (t Matrix) Draw() Figure {
	labels := 0.0
	for _, r := range t.Rows {
		labels = max(labels, textWidth(visible.Line(r), size, false))
	}
	labels = min(labels, 0.36*width)
	left := labels + gap
	across := min(max((width-left)/float64(len(t.Columns)), cellWidth), cellMost)
	f := Figure{Width: max(width, left+across*float64(len(t.Columns)))}
	y := f.columns(t.Columns, left, across)
	for i, r := range t.Rows {
		total := 0
		for _, n := range t.Counts[i] {
			total += n
		}
		f.add(label(labels, y+cellHeight/2+size*0.35, r, End, ink, labels))
		for j, n := range t.Counts[i] {
			share, text := crosstalk.Undefined, "0"
			if total > 0 {
				share, text = crosstalk.Figure(n)/crosstalk.Figure(total), strconv.Itoa(n)
			}
			f.Marks = append(f.Marks, Mark{
				Title:  r + " to " + t.Columns[j] + ": " + text + " of " + strconv.Itoa(total) + " (" + amount("", share) + ")",
				Data:   []Datum{{"from", r}, {"to", t.Columns[j]}, {"count", text}, {"value", number(share)}},
				Shapes: cell(left+across*float64(j), y, across, text, float64(share)),
			})
		}
		y += cellHeight
	}
	f.add(Text{X: left, Y: y + 14, Text: t.RowsName + " in rows, " + t.ColumnsName + " in columns; shades are shares of a row", Size: small, Fill: soft})
	f.Height = y + 22
	return f
}
