// Package plot draws estimates and observations: dots, lines, heat maps, shares and token strips, with their
// intervals. The charts of an instrument are listed in its Kind.
//
// A plot is laid out once, as marks made of paths and texts, and written as SVG, PDF or PNG. In the SVG, each mark
// describes itself: its title is a sentence, its data-* attributes are the numbers. Plots are narrow enough for a
// phone and a column of a paper. They do not include their title, which a page or a paper prints beside them.
package plot

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"crosstalk"
	"crosstalk/internal/visible"
)

// Plot is a drawing, Width x Height points, x to the right and y downwards.
type Plot struct {
	Name          string // for a file: lower-case letters, digits and hyphens
	Title         string // for a caption
	Note          string // how to read it
	Width, Height float64
	Marks         []Mark
}

// Mark is a part of a drawing. One without a title is decoration.
type Mark struct {
	Title  string  // its description in words
	Data   []Datum // its values
	Shapes []Shape
}

// Datum is a named value of a mark: data-name="value" in the SVG.
type Datum struct{ Name, Value string }

// Shape is a Path or a Text.
type Shape any

// Point is a place in a drawing.
type Point struct{ X, Y float64 }

// Path is some lines, each from point to point. Fill and Stroke are optional.
type Path struct {
	Lines  [][]Point
	Closed bool
	Fill   Ink
	Stroke Ink
	Width  float64 // of the stroke
	Dash   []float64
}

// Text is a line of text. X and Y are its anchor on the baseline.
type Text struct {
	X, Y   float64
	Text   string
	Size   float64
	Anchor Anchor
	Bold   bool
	Turn   float64 // degrees, anticlockwise around the anchor
	Fill   Ink
}

// Anchor is the part of a text that is at its position.
type Anchor int

const (
	Start Anchor = iota
	Middle
	End
)

// draw draws the shapes of a mark on a target: an SVG document, or a page of PDF or PNG.
func (m Mark) draw(path func(Path), text func(Text)) {
	for _, shape := range m.Shapes {
		switch shape := shape.(type) {
		case Path:
			path(shape)
		case Text:
			text(shape)
		}
	}
}

// Sizes, in points.
const (
	width   = 360 // of a plot, unless it needs more
	size    = 10.5
	small   = 9
	leading = 14
	gap     = 8
)

func (f *Plot) add(shapes ...Shape) { f.Marks = append(f.Marks, Mark{Shapes: shapes}) }

func rectangle(x, y, w, h float64, fill Ink) Path {
	return Path{Lines: [][]Point{{{x, y}, {x + w, y}, {x + w, y + h}, {x, y + h}}}, Closed: true, Fill: fill}
}

func segment(x1, y1, x2, y2 float64, stroke Ink, width float64) Path {
	return Path{Lines: [][]Point{{{x1, y1}, {x2, y2}}}, Stroke: stroke, Width: width}
}

// interval is an interval of the i-th series from a to b, across or upright, with end strokes.
func interval(a, b, at float64, across bool, i int) Path {
	const end = 2.5
	lines := [][]Point{{{a, at}, {b, at}}, {{a, at - end}, {a, at + end}}, {{b, at - end}, {b, at + end}}}
	if !across {
		for _, l := range lines {
			for i, p := range l {
				l[i] = Point{p.Y, p.X}
			}
		}
	}
	return Path{Lines: lines, Stroke: seriesInk(i), Width: 1.3}
}

// label is text cut to a width, unless the width is 0.
func label(x, y float64, text string, anchor Anchor, fill Ink, most float64) Text {
	return Text{X: x, Y: y, Text: cut(visible.Line(text), size, most), Size: size, Anchor: anchor, Fill: fill}
}

// of describes an estimate by its condition and its numbers.
func of(name string, e *crosstalk.Estimate) Mark {
	q := quantityOf(e)
	title := fmt.Sprintf("%s: %s %s", name, labelOf(e.Measure), q.amount(e.Value))
	data := []Datum{{"measure", e.Measure}, {"value", number(e.Value)}}
	if i := e.Interval; i != nil {
		title += fmt.Sprintf(" (%s to %s)", q.bare(crosstalk.Value(i.Low)), q.bare(crosstalk.Value(i.High)))
		data = append(data, Datum{"low", number(crosstalk.Value(i.Low))}, Datum{"high", number(crosstalk.Value(i.High))})
	}
	data = append(data, Datum{"n", strconv.Itoa(e.N)})
	for _, c := range slices.Sorted(maps.Keys(e.By)) {
		if e.By[c] != crosstalk.All {
			data = append(data, Datum{"by-" + c, e.By[c]})
		}
	}
	return Mark{Title: fmt.Sprintf("%s, n %d", title, e.N), Data: data}
}
