package plot

import "crosstalk/internal/visible"

// legend adds the names of the series, each after its symbol, and the meaning of the dashed line, if any, in lines
// across the plot from a height on. It returns the height below them: y if there are none.
func (f *Plot) legend(names []string, meaning string, y float64, sign func(x, y float64, i int) []Shape) float64 {
	const inset = 3      // symbols do not touch the edge
	if len(names) == 1 { // there is nothing to tell apart
		names = nil
	}
	x := float64(inset)
	add := func(name string, symbol func(x, y float64) []Shape) {
		name = cut(visible.Line(name), size, f.Width-28)
		w := 20 + textWidth(name, size, false)
		if x > inset && x+w > f.Width {
			x, y = inset, y+leading
		}
		f.add(append(symbol(x, y+leading/2), Text{X: x + 18, Y: y + leading - 3.5, Text: name, Size: size, Fill: ink})...)
		x += w + 12
	}
	for i, name := range names {
		add(name, func(x, y float64) []Shape { return sign(x, y, i) })
	}
	if meaning != "" {
		add(meaning, func(x, y float64) []Shape { return []Shape{dashed(segment(x, y, x+14, y, ink, 1))} })
	}
	if x == inset {
		return y
	}
	return y + leading + gap
}

func dashed(line Path) Path {
	line.Dash = []float64{3, 2}
	return line
}

func stroke(x, y float64, i int) []Shape {
	line := segment(x, y, x+14, y, seriesInk(i), 1.6)
	line.Dash = dashes[i%len(dashes)]
	return []Shape{line, marker(x+7, y, i)}
}

func dot(x, y float64, i int) []Shape { return []Shape{marker(x+7, y, i)} }
