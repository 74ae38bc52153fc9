package plot

import (
	"regexp"
	"strconv"
	"strings"

	"crosstalk"
)

// sizes plots the figures of models over their size.
func (c *Collector) sizes(chart crosstalk.Chart) (plots []Plot) {
	measure := chart.Measures[0]
	for _, p := range c.panelsOf(chart.Measures, crosstalk.ModelColumn, chart.Series) {
		l := Lines{Axis: "billions of parameters", Log: true, Apart: true, Series: p.values(chart.Series)}
		l.Reference, l.Meaning = baseline(measure)
		var sizes []float64
		for _, series := range l.Series {
			var dots []Dot
			for _, e := range p.estimates {
				if size, ok := sizeOf(e); ok && e.By[chart.Series] == series {
					sizes = append(sizes, size)
					dots = append(dots, Dot{X: size, Label: e.By[crosstalk.ModelColumn], Estimate: e})
				}
			}
			l.Dots = append(l.Dots, dots)
		}
		if len(distinct(sizes)) > 1 {
			plots = append(plots, titled(l.Draw(), chart.Title, p, intervals))
		}
	}
	return plots
}

// parameters is a number of parameters in a model's name: 0.5B, 70b, 8x7B,
// 350M.
var parameters = regexp.MustCompile(`(?i)(?:^|[^a-z0-9.])(?:(\d+)x)?(\d+(?:\.\d+)?)([bmt])(?:$|[^a-z0-9])`)

// sizeColumn is the column of a model's size, in billions of parameters.
const sizeColumn = "size"

// sizeOf is a model's size in billions of parameters, from its column or its
// name.
func sizeOf(e *crosstalk.Estimate) (float64, bool) {
	if x, err := strconv.ParseFloat(e.By[sizeColumn], 64); err == nil && x > 0 {
		return x, true
	}
	for _, text := range []string{e.By[sizeColumn], e.By[crosstalk.ModelColumn]} {
		if m := parameters.FindStringSubmatch(text); m != nil {
			n, _ := strconv.ParseFloat(m[2], 64)
			if times, err := strconv.ParseFloat(m[1], 64); err == nil {
				n *= times
			}
			n /= map[string]float64{"b": 1, "m": 1000, "t": 0.001}[strings.ToLower(m[3])]
			return n, n > 0
		}
	}
	return 0, false
}
