package plot

import "crosstalk/internal/visible"

// legend adds the names of the series, each after its symbol, in lines across the
// plot from a height on, and returns the height below them.
func (f *Plot) legend(names []string, y float64, sign func(x, y float64, i int) []Shape) float64 {
	x := 0.0
	for i, name := range names {
		name = cut(visible.Line(name), size, f.Width-24)
		w := 20 + textWidth(name, size, false)
		if x > 0 && x+w > f.Width {
			x, y = 0, y+leading
		}
		f.add(append(sign(x, y+leading/2, i), Text{X: x + 18, Y: y + leading - 3.5, Text: name, Size: size, Fill: ink})...)
		x += w + 12
	}
	return y + leading + gap
}

// swatch is the symbol of a series of areas.
func swatch(x, y float64, i int) []Shape { return filled(x, y-4.5, 13, 9, i) }

// stroke is the symbol of a series of lines.
func stroke(x, y float64, i int) []Shape {
	line := segment(x, y, x+14, y, seriesInk(i), 1.6)
	line.Dash = dashes[i%len(dashes)]
	return []Shape{line, marker(x+7, y, i)}
}

// dot is the symbol of a series of points.
func dot(x, y float64, i int) []Shape { return []Shape{marker(x+6, y, i)} }
