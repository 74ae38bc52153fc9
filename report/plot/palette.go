package plot

import (
	"fmt"
	"image/color"

	"crosstalk/internal/ordered"
)

// Ink is a colour: one of the names below, which pages make lighter on a dark background, or #rrggbb.
type Ink string

const (
	ink   Ink = "ink"   // text and intervals
	soft  Ink = "soft"  // secondary text
	rule  Ink = "rule"  // grids
	paper Ink = "paper" // the background
	none  Ink = ""
)

// Series are the colours of series. Any two differ in lightness, so that they differ in black and white, and by a
// CIEDE2000 of at least 15, also with protan, deutan or tritan colour blindness. All have a contrast of 3 to the
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

// hatches are the directions of the strokes over the i-th series' areas, as
// steps to the right and down: a second cue besides the colour.
var hatches = [][]Point{nil, {{1, -1}}, {{1, 1}}, {{1, 0}}, {{1, 1}, {1, -1}}, {{0, 1}}}

// markers are the i-th series' points, as polygons of radius 1.
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

// dashes are the i-th series' lines.
var dashes = [][]float64{nil, {6, 3}, {2, 2}, {8, 2, 2, 2}, {4, 2}, {1, 3}}

// filled is an area of the i-th series with its hatching.
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

const dark = 0.52917 // the depth from which on white text has more contrast than black

// shade is the colour at depth 0 (light) to 1, and the ink of text on it.
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
