package plot

import (
	"math"

	"crosstalk"
	"crosstalk/internal/visible"
)

const (
	cellHeight = 17
	cellWidth  = 44
	cellMost   = 86
)

// heat lays out a heat map of estimates. Darker is worse. Its scale has round ends around the values.
func heat(columns []string, rows []Row) Plot {
	labels, values, better := labelWidth(rows...), []float64{}, crosstalk.Direction("")
	all, q := figuresOf(rows)
	for _, e := range all {
		if better = e.Better; e.Value.Defined() {
			values = append(values, float64(e.Value))
		}
	}
	across := min(max((width-labels-gap)/float64(len(columns)), cellWidth), cellMost)
	f := Plot{Width: max(width, labels+gap+across*float64(len(columns)))}
	left := labels + gap
	y := f.columns(columns, left, across)
	depth := around(values, 0, 1)
	if better == crosstalk.Higher {
		depth.from, depth.to = 1, 0
	}
	names := shorter(rows)
	for at, r := range rows {
		f.add(label(labels, y+cellHeight/2+size*0.35, names[at], End, ink, labels))
		for i, e := range r.Cells {
			if e == nil {
				continue
			}
			m, x, ground, on := of(r.Label+", "+columns[i], e), left+across*float64(i), paper, ink
			if e.Value.Defined() {
				ground, on = shade(depth.at(float64(e.Value)))
			}
			m.Shapes = []Shape{rectangle(x+0.5, y+0.5, across-1, cellHeight-1, ground),
				Text{X: x + across/2, Y: y + cellHeight/2 + size*0.35, Text: q.bare(e.Value), Size: size, Anchor: Middle,
					Fill: on}}
			f.Marks = append(f.Marks, m)
		}
		y += cellHeight
	}
	f.ramp(depth, left, y+gap, q, better)
	f.Height = y + gap + 32
	return f
}

// columns adds the names of columns, slanted if they are wider than a column, and returns the height below them.
func (f *Plot) columns(names []string, left, across float64) float64 {
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
	const turn, most = 35, 200.0
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

func (f *Plot) ramp(depth scale, x, y float64, q quantity, better crosstalk.Direction) {
	const steps, across, high = 24, 120.0, 7.0
	for i := range steps {
		at := (float64(i) + 0.5) / steps
		ground, _ := shade(depth.at(depth.low + at*(depth.high-depth.low)))
		f.add(rectangle(x+across*float64(i)/steps, y, across/steps+0.2, high, ground))
	}
	name := q.name()
	if better != "" {
		name += "; darker is worse"
	}
	f.add(
		Text{X: x, Y: y + high + 10, Text: q.tick(depth.low), Size: small, Fill: soft},
		Text{X: x + across, Y: y + high + 10, Text: q.tick(depth.high), Size: small, Anchor: End, Fill: soft},
		Text{X: x + across + gap, Y: y + high, Text: name, Size: small, Fill: soft})
	f.Width = max(f.Width, x+across+gap+textWidth(name, small, false))
}
