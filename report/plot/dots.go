package plot

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/internal/numbers"
	"crosstalk/internal/ordered"
	"crosstalk/internal/visible"
	"crosstalk/report"
)

// quantity is the quantity on an axis: a measure and its unit, "" for a share, shown in percent.
type quantity struct{ measure, unit string }

func quantityOf(e *crosstalk.Estimate) quantity { return quantity{e.Measure, e.Unit} }

func (q quantity) isShare() bool { return q.unit == "" }

func (q quantity) name() string {
	return strings.TrimPrefix(labelOf(q.measure)+", "+cmp.Or(q.unit, "%"), ", ")
}

func (q quantity) tick(v float64) string { return tick(v, q.isShare()) }

// bare formats a value for people, without its unit.
func (q quantity) bare(f crosstalk.Value) string { return numbers.Value(f, q.unit) }

func (q quantity) amount(f crosstalk.Value) string {
	if !f.Defined() {
		return "-"
	}
	return q.bare(f) + " " + cmp.Or(q.unit, "%")
}

// percent formats a share for people, without the sign.
func percent(share float64) string { return numbers.Percent(crosstalk.Value(share)) }

// number formats a value for programs: a decimal fraction, or "-".
func number(f crosstalk.Value) string { return cmp.Or(report.Number(f), "-") }

// spoken maps columns to readable names, if these are not just their words.
var spoken = map[string]string{"top_p": "top-p"}

func words(column string) string { return cmp.Or(spoken[column], crosstalk.Words(column)) }

func labelOf(measure string) string { return instrument.Measure(measure).Label }

// scale is an axis: a range of values, and the range of their positions.
type scale struct {
	low, high float64
	from, to  float64 // positions
	log       bool
}

func (s scale) at(v float64) float64 {
	low, high := s.low, s.high
	if s.log {
		v, low, high = math.Log(v), math.Log(low), math.Log(high)
	}
	return s.from + (s.to-s.from)*(min(max(v, low), high)-low)/(high-low)
}

// around returns the scale with round ends that includes all values.
func around(values []float64, from, to float64) scale {
	low, high := ends(values)
	if low > high {
		low, high = 0, 1
	}
	if low == high {
		margin := max(math.Abs(low)*0.1, 0.01)
		low, high = low-margin, high+margin
	}
	step := stepOf(high - low)
	return scale{low: math.Floor(low/step+1e-9) * step, high: math.Ceil(high/step-1e-9) * step, from: from, to: to}
}

// stepOf divides a range into about five steps of 1, 2, 2.5 or 5 times a power of 10.
func stepOf(span float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(span/5)))
	for _, m := range []float64{1, 2, 2.5, 5, 10} {
		if span/(m*power) <= 5.5 {
			return m * power
		}
	}
	return 10 * power
}

func (s scale) ticks() (values []float64) {
	step := stepOf(s.high - s.low)
	for i := math.Ceil(s.low/step - 1e-9); i*step <= s.high+step*1e-9; i++ {
		values = append(values, i*step)
	}
	return values
}

// tick formats a value of a measure as a label; shares are percentages.
func tick(v float64, percent bool) string {
	if percent {
		v *= 100
	}
	return strconv.FormatFloat(math.Round(v*1e6)/1e6+0, 'g', 6, 64) // + 0: no -0
}

// ends returns the minimum and maximum of the finite values; low is above high if there are none.
func ends(values []float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			low, high = min(low, v), max(high, v)
		}
	}
	return low, high
}

// legend adds the names of the series, each after its symbol, and the meaning of the dashed line, if any, in lines
// across the plot, from height y down. It returns the height below them, or y without entries.
func (f *Plot) legend(names []string, meaning string, y float64, sign func(x, y float64, i int) []Shape) float64 {
	const inset = 3      // symbols do not touch the edge
	if len(names) == 1 { // there is nothing to distinguish
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

// Row is a row of a chart: an estimate for each series, nil if there is none.
type Row struct {
	Label string
	Cells []*crosstalk.Estimate
}

// figuresOf returns the figures of rows, and their quantity: without a measure if they have several.
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

// DotPlot draws a dot with its interval for each estimate, grouped by rows.
type DotPlot struct {
	Series             []string // names; a single series has no legend
	Rows               []Row
	crosstalk.Baseline // the line to compare with
}

const mostLabel = 0.36 * width // width of the longest label beside a chart
const mostLetters = 24         // approximate number of letters of such a label

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
	axisSpace = 30 // below a plot: labels and the name of the axis
)

// Draw lays out the chart. Its axis fits the intervals and the reference; it need not start at 0.
func (d DotPlot) Draw() Plot {
	const hollow = "Hollow: nothing was measured, and a rule of the protocol gives the figure."
	f := Plot{Width: width}
	labels, beside := labelWidth(d.Rows...), 0.0
	var values []float64
	all, q := figuresOf(d.Rows)
	for _, e := range all {
		values = append(values, reach(e)...)
		beside = max(beside, textWidth(dotNumber(quantityOf(e), e), size, false))
	}
	if d.Meaning != "" {
		values = append(values, d.Value)
	}
	y := f.legend(d.Series, d.Meaning, 0, dot)
	x := q.axis(values, labels+gap+4, width-beside-gap-4)
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

// dotNumber formats the number beside a dot, in brackets if nothing was measured.
func dotNumber(q quantity, e *crosstalk.Estimate) string {
	if unmeasured(e) {
		return "(" + q.bare(e.Value) + ")"
	}
	return q.bare(e.Value)
}

// axis returns a horizontal axis that fits values of the quantity. Shares stay within 0 and 1.
func (q quantity) axis(values []float64, from, to float64) scale {
	const leastSpan = 0.05 // the least range of an axis of shares, so that small differences do not look large
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

// reach returns the values that an axis must include for an estimate.
func reach(e *crosstalk.Estimate) []float64 {
	values := []float64{float64(e.Value)}
	if e.Interval != nil {
		values = append(values, e.Interval.Low, e.Interval.High)
	}
	return values
}

// across completes a plot with a horizontal axis at the bottom, and a grid behind the existing marks.
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

const (
	cellHeight = 17
	cellWidth  = 44
	cellMost   = 86
)

// heat lays out a heat map of estimates. Darker is worse. Its scale includes all values and has round ends.
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
