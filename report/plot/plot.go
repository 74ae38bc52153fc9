// Package plot draws estimates and observations: dots, lines, heat maps, shares and token strips, with their
// intervals. An instrument's Kind lists its charts.
//
// A plot is laid out once, as marks made of paths and texts, and written as SVG or PDF. In the SVG, each mark
// describes itself: its title is a sentence, and its data-* attributes are the numbers. Plots are narrow enough for a
// phone and a column of a paper. They do not contain their title: a page or a paper prints it beside them.
package plot

import (
	"fmt"
	"image/color"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"crosstalk"
	"crosstalk/internal/ordered"
	"crosstalk/internal/visible"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/text/unicode/bidi"
)

// Plot is a drawing, Width x Height points, x to the right and y downwards.
type Plot struct {
	Name          string // file name: lower-case letters, digits and hyphens
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

// Path is a set of lines, each from point to point. Fill and Stroke are optional.
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

// Anchor is the part of a text at its position.
type Anchor int

const (
	Start Anchor = iota
	Middle
	End
)

// draw draws the shapes of a mark on a target: an SVG document, or a page of PDF.
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

// interval draws an interval of the i-th series from a to b, horizontal or vertical, with end strokes.
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

// label returns a text truncated to a width, unless that is 0.
func label(x, y float64, text string, anchor Anchor, fill Ink, most float64) Text {
	return Text{X: x, Y: y, Text: cut(visible.Line(text), size, most), Size: size, Anchor: anchor, Fill: fill}
}

// of returns a mark that describes an estimate by its condition and its numbers.
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

// Ink is a colour: #rrggbb, or one of the names below, which pages make lighter on a dark background.
type Ink string

const (
	ink   Ink = "ink"   // text and intervals
	soft  Ink = "soft"  // secondary text
	rule  Ink = "rule"  // grids
	paper Ink = "paper" // the background
	none  Ink = ""
)

// series are the colours of series. Any two differ in lightness, and so in black and white, and by a CIEDE2000 of at
// least 15, also with protan, deutan or tritan colour blindness. All have a contrast of 3 to the
// background (palette_test.go).
var series = []Ink{"s0", "s1", "s2", "s3", "s4", "s5"}

// Light and Dark are the colours on a white and on a black background.
var (
	Light = map[Ink]string{"ink": "#16181d", "soft": "#5a6070", "rule": "#d9dce3", "paper": "#ffffff",
		"s0": "#2456c9", "s1": "#ce6800", "s2": "#125502", "s3": "#541f34", "s4": "#93607d", "s5": "#7392d9"}
	Dark = map[Ink]string{"ink": "#eceef2", "soft": "#a3aab8", "rule": "#363b46", "paper": "#14171c",
		"s0": "#6f9bff", "s1": "#f5b04a", "s2": "#1a842d", "s3": "#f73592", "s4": "#e5cdef", "s5": "#cbf4cb"}
)

func seriesInk(i int) Ink { return series[i%len(series)] }

// hatches are the strokes over the areas of the i-th series, as steps right and down: a cue besides the colour.
var hatches = [][]Point{nil, {{1, -1}}, {{1, 1}}, {{1, 0}}, {{1, 1}, {1, -1}}, {{0, 1}}}

// markers are the points of the i-th series, as polygons of radius 1.
var markers = [][]Point{
	{{1, 0}, {.87, .5}, {.5, .87}, {0, 1}, {-.5, .87}, {-.87, .5},
		{-1, 0}, {-.87, -.5}, {-.5, -.87}, {0, -1}, {.5, -.87}, {.87, -.5}},
	{{.85, .85}, {-.85, .85}, {-.85, -.85}, {.85, -.85}},
	{{0, -1.15}, {1.05, .75}, {-1.05, .75}},
	{{0, -1.2}, {1.2, 0}, {0, 1.2}, {-1.2, 0}},
	{{0, 1.15}, {1.05, -.75}, {-1.05, -.75}},
	{{-1.1, -.4}, {-.4, -.4}, {-.4, -1.1}, {.4, -1.1}, {.4, -.4}, {1.1, -.4},
		{1.1, .4}, {.4, .4}, {.4, 1.1}, {-.4, 1.1}, {-.4, .4}, {-1.1, .4}},
}

// dashes are the line patterns of the i-th series.
var dashes = [][]float64{nil, {6, 3}, {2, 2}, {8, 2, 2, 2}, {4, 2}, {1, 3}}

// filled returns an area of the i-th series with its hatching.
func filled(x, y, w, h float64, i int) []Shape {
	shapes := []Shape{rectangle(x, y, w, h, seriesInk(i))}
	if lines := hatch(x, y, w, h, hatches[i%len(hatches)]); lines != nil {
		shapes = append(shapes, Path{Lines: lines, Stroke: paper, Width: .6})
	}
	return shapes
}

// hatch returns strokes over a rectangle, 4 points apart.
func hatch(x, y, w, h float64, directions []Point) (lines [][]Point) {
	const step = 4
	for _, d := range directions {
		switch {
		case d.Y == 0:
			for at := y + step; at < y+h; at += step {
				lines = append(lines, []Point{{x, at}, {x + w, at}})
			}
		case d.X == 0:
			for at := x + step; at < x+w; at += step {
				lines = append(lines, []Point{{at, y}, {at, y + h}})
			}
		default: // diagonal, from the left or the lower edge to the right or the upper
			for at := 1.4 * step; at < w+h; at += 1.4 * step {
				from, to := Point{max(0, at-h), min(h, at)}, Point{min(w, at), max(0, at-w)}
				if d.Y > 0 {
					from.Y, to.Y = h-from.Y, h-to.Y
				}
				lines = append(lines, []Point{{x + from.X, y + from.Y}, {x + to.X, y + to.Y}})
			}
		}
	}
	return lines
}

func marker(x, y float64, i int) Path {
	points := ordered.Map(markers[i%len(markers)], func(p Point) Point { return Point{x + 3.2*p.X, y + 3.2*p.Y} })
	return Path{Lines: [][]Point{points}, Closed: true, Fill: seriesInk(i), Stroke: paper, Width: .6}
}

// shades is the scale of heat maps, from light to dark.
var shades = []Ink{"#f4f1e8", "#f3c98b", "#dd8455", "#a83c5b", "#5b165e", "#200b33"}

const dark = 0.52917 // from this depth on, white text has more contrast than black

// shade returns the colour at depth 0 (light) to 1, and the ink of text on it.
func shade(depth float64) (ground, text Ink) {
	if text = "#000000"; depth >= dark {
		text = "#ffffff"
	}
	depth = min(max(depth, 0), 1) * float64(len(shades)-1)
	i := min(int(depth), len(shades)-2)
	between := func(a, b uint8) uint8 {
		return uint8(float64(a) + (float64(b)-float64(a))*(depth-float64(i)) + .5)
	}
	a, b := shades[i].onLight(), shades[i+1].onLight()
	return hex(color.RGBA{between(a.R, b.R), between(a.G, b.G), between(a.B, b.B), 255}), text
}

func hex(c color.RGBA) Ink { return Ink(fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B)) }

func (i Ink) onLight() color.RGBA {
	name := string(i)
	if known, ok := Light[i]; ok {
		name = known
	}
	c := color.RGBA{A: 255}
	fmt.Sscanf(name, "#%02x%02x%02x", &c.R, &c.G, &c.B)
	return c
}

// face measures texts and, except in browsers, draws them: Latin, Greek, Cyrillic and Hebrew letters.
type face struct {
	*sfnt.Font
	buffer sfnt.Buffer
	units  float64
}

// lettering guards the faces, which share buffers.
var lettering sync.Mutex

var faces = sync.OnceValue(func() map[bool]*face { // by whether they are bold
	all := map[bool]*face{}
	for bold, ttf := range map[bool][]byte{false: liberationsansregular.TTF, true: liberationsansbold.TTF} {
		parsed, err := sfnt.Parse(ttf)
		if err != nil {
			panic("plot: an embedded font: " + err.Error())
		}
		all[bold] = &face{Font: parsed, units: float64(parsed.UnitsPerEm())}
	}
	return all
})

// glyph returns the index of a rune's glyph in the font, 0 if there is none.
func (f *face) glyph(r rune) sfnt.GlyphIndex {
	g, _ := f.GlyphIndex(&f.buffer, r)
	return g
}

// advance returns the width of a glyph, in ems. A letter that the font lacks is one em wide: browsers use another
// font, and images show a box.
func (f *face) advance(g sfnt.GlyphIndex) float64 {
	if g == 0 {
		return 1
	}
	a, err := f.GlyphAdvance(&f.buffer, g, fixed.Int26_6(f.UnitsPerEm()), font.HintingNone)
	if err != nil {
		return 1
	}
	return float64(a) / f.units
}

func (f *face) width(s string) (w float64) {
	for _, r := range s {
		w += f.advance(f.glyph(r))
	}
	return w
}

func textWidth(s string, size float64, bold bool) float64 {
	lettering.Lock()
	defer lettering.Unlock()
	return faces()[bold].width(s) * size
}

// cut truncates a text to a width, with an ellipsis. A width of 0 means no limit.
func cut(s string, size, most float64) string {
	if most <= 0 || textWidth(s, size, false) <= most {
		return s
	}
	runes := []rune(s)
	if len(runes) > 200 {
		runes = runes[:200]
	}
	for n := len(runes) - 1; n > 0; n-- {
		if t := strings.TrimSpace(string(runes[:n])) + "…"; textWidth(t, size, false) <= most {
			return t
		}
	}
	return "…"
}

// visual puts letters in visual order, from left to right.
func visual(s string) string {
	var p bidi.Paragraph
	p.SetString(s)
	order, err := p.Order()
	if err != nil {
		return s
	}
	var b strings.Builder
	for i := range order.NumRuns() {
		run := order.Run(i)
		if run.Direction() == bidi.RightToLeft {
			b.WriteString(bidi.ReverseString(run.String()))
		} else {
			b.WriteString(run.String())
		}
	}
	return b.String()
}
