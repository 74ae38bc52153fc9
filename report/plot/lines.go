package plot

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
)

// Dot is an estimate at a position on the horizontal axis.
type Dot struct {
	X        float64
	Label    string // text beside it, if any
	Estimate *crosstalk.Estimate
	Across   *crosstalk.Estimate // if set, X is its value, with its interval
}

// Lines is a line chart of estimates over a number, with a line and a marker for each series.
type Lines struct {
	Series []string
	Dots   [][]Dot // by series, in order of X
	Axis   string  // the name of the horizontal axis
	Log    bool    // logarithmic horizontal axis
	Apart  bool    // points without lines
	crosstalk.Baseline
}

// linesOf returns the dots of each series: those that dot returns for figures. A series needs at least least dots.
func linesOf(rows []Row, series []string, least int,
	dot func(label string, e *crosstalk.Estimate) (Dot, bool)) (l Lines) {
	for i, name := range series {
		var dots []Dot
		for _, row := range rows {
			if e := row.Cells[i]; e != nil {
				if d, ok := dot(row.Label, e); ok {
					d.Estimate = e
					dots = append(dots, d)
				}
			}
		}
		if len(dots) >= least {
			l.Series, l.Dots = append(l.Series, name), append(l.Dots, dots)
		}
	}
	return l
}

func (l Lines) sort() {
	for _, dots := range l.Dots {
		slices.SortStableFunc(dots, func(a, b Dot) int { return cmp.Compare(a.X, b.X) })
	}
}

// overNumbers returns lines for the figures of rows whose labels are numbers.
func overNumbers(rows []Row, series []string, axis string, compared crosstalk.Baseline) Lines {
	l := linesOf(rows, series, 0, func(label string, _ *crosstalk.Estimate) (Dot, bool) {
		x, err := strconv.ParseFloat(label, 64)
		return Dot{X: x}, err == nil
	})
	l.sort()
	l.Axis, l.Baseline = axis, compared
	return l
}

// Draw lays out the chart.
func (l Lines) Draw() Plot {
	const plotHeight = 200
	f := Plot{Width: width}
	sign := stroke
	if l.Apart {
		sign = dot
	}
	y := f.legend(l.Series, l.Meaning, 0, sign)
	percent := false
	var q quantity
	var xs, ys []float64
	for _, dots := range l.Dots {
		for _, d := range dots {
			q = quantityOf(d.Estimate)
			xs, ys = append(xs, d.X), append(ys, reach(d.Estimate)...)
			if d.Across != nil {
				xs, percent = append(xs, reach(d.Across)...), quantityOf(d.Across).isShare()
			}
		}
	}
	if l.Meaning != "" {
		ys = append(ys, l.Value)
	}
	up := around(ys, y+plotHeight, y+6)
	if q.isShare() {
		up.low, up.high = max(up.low, 0), min(up.high, 1)
	}
	left := 0.0
	for _, v := range up.ticks() {
		left = max(left, textWidth(q.tick(v), small, false))
	}
	left += 22
	x := around(xs, left+10, width-14)
	if l.Log {
		low, high := ends(xs)
		x = scale{low: low / 1.3, high: high * 1.3, from: left + 10, to: width - 14, log: true}
	}
	f.upright(up, left, q)
	f.below(x, xs, up.from, l.Axis, percent)
	if l.Meaning != "" {
		f.add(dashed(segment(left, up.at(l.Value), width, up.at(l.Value), ink, 1)))
	}
	var names []placed
	free := space{left: left + 2, right: width, top: up.to, bottom: up.from}
	for i, dots := range l.Dots {
		var line []Point
		for _, d := range dots {
			if d.Estimate.Value.Defined() {
				line = append(line, Point{x.at(d.X), up.at(float64(d.Estimate.Value))})
			}
		}
		if len(line) > 1 && !l.Apart {
			f.add(Path{Lines: [][]Point{line}, Stroke: seriesInk(i), Width: 1.6, Dash: dashes[i%len(dashes)]})
		}
		for _, d := range dots {
			m := d.mark(l.Axis, l.Series[i], x, up, i, l.aside(d, i))
			free.take(m.Shapes)
			f.Marks = append(f.Marks, m)
			if d.Label != "" && i == 0 && m.Shapes != nil { // other series have the same X
				at := Point{x.at(d.X) + l.aside(d, i), up.at(float64(d.Estimate.Value))}
				names = append(names, placed{len(f.Marks) - 1, at, d.Label})
			}
		}
	}
	for _, n := range names {
		f.Marks[n.mark].Shapes = append(f.Marks[n.mark].Shapes, free.place(n.label, n.at))
	}
	f.Height = up.from + axisSpace
	return f
}

// aside shifts the points of a series, so that intervals at the same X do not hide each other.
func (l Lines) aside(d Dot, i int) float64 {
	from := float64(i) - float64(len(l.Dots)-1)/2
	switch {
	case d.Across != nil:
		return 0
	case l.Apart:
		return 7 * from
	}
	return 3 * from
}

func (d Dot) mark(axis, name string, x, up scale, i int, aside float64) Mark {
	where := cmp.Or(d.Label, axis+" "+tick(d.X, false))
	m := of(strings.TrimPrefix(name+", "+where, ", "), d.Estimate)
	m.Data = append(m.Data, Datum{"x", number(crosstalk.Value(d.X))})
	if !d.Estimate.Value.Defined() || math.IsNaN(d.X) {
		return m
	}
	at := Point{x.at(d.X) + aside, up.at(float64(d.Estimate.Value))}
	if v := d.Estimate.Interval; v != nil {
		m.Shapes = append(m.Shapes, interval(up.at(v.Low), up.at(v.High), at.X, false, i))
	}
	if d.Across != nil && d.Across.Interval != nil {
		v := d.Across.Interval
		m.Shapes = append(m.Shapes, interval(x.at(v.Low), x.at(v.High), at.Y, true, i))
		m.Data = append(m.Data, Datum{"x-low", number(crosstalk.Value(v.Low))},
			Datum{"x-high", number(crosstalk.Value(v.High))})
	}
	m.Shapes = append(m.Shapes, marker(at.X, at.Y, i))
	return m
}

func (f *Plot) upright(up scale, left float64, q quantity) {
	grid := Path{Stroke: rule, Width: 0.7}
	for _, v := range up.ticks() {
		grid.Lines = append(grid.Lines, []Point{{left, up.at(v)}, {width, up.at(v)}})
		f.add(Text{X: left - 5, Y: up.at(v) + 3, Text: q.tick(v), Size: small, Anchor: End, Fill: soft})
	}
	f.add(grid, Text{X: 9, Y: (up.from + up.to) / 2, Text: q.name(), Size: small, Anchor: Middle, Turn: 90, Fill: soft})
}

// below adds a horizontal axis. Few values become its labels.
func (f *Plot) below(x scale, occur []float64, y float64, name string, percent bool) {
	labels := slices.DeleteFunc(slices.Clone(occur), math.IsNaN)
	slices.Sort(labels)
	if labels = slices.Compact(labels); len(labels) > 7 || percent {
		if labels = x.ticks(); x.log {
			labels = nil
			for v := math.Pow(10, math.Floor(math.Log10(x.low))); v <= x.high; v *= 10 {
				labels = append(labels, v)
			}
		}
	}
	after := math.Inf(-1) // where the last label ends
	for _, v := range labels {
		if v < x.low || v > x.high {
			continue
		}
		text := tick(v, percent)
		f.add(segment(x.at(v), y, x.at(v), y+3, soft, 0.7))
		if half := textWidth(text, small, false) / 2; x.at(v)-half > after {
			f.add(Text{X: x.at(v), Y: y + 12, Text: text, Size: small, Anchor: Middle, Fill: soft})
			after = x.at(v) + half + 3
		}
	}
	f.add(Text{X: (x.from + x.to) / 2, Y: y + 25, Text: words(name), Size: small, Anchor: Middle, Fill: soft})
}

// space is the part of a plot in which labels are placed, with the things in it.
type space struct {
	left, right, top, bottom float64
	taken                    []box
}

type box struct{ left, right, top, bottom float64 }

type placed struct {
	mark  int
	at    Point
	label string
}

func (s *space) take(shapes []Shape) {
	for _, shape := range shapes {
		path, ok := shape.(Path)
		if !ok {
			continue
		}
		for _, line := range path.Lines {
			b := box{line[0].X, line[0].X, line[0].Y, line[0].Y}
			for _, p := range line {
				b.left, b.right = min(b.left, p.X), max(b.right, p.X)
				b.top, b.bottom = min(b.top, p.Y), max(b.bottom, p.Y)
			}
			s.taken = append(s.taken, b)
		}
	}
}

// place puts a label beside a point: where it hides least, and never outside of the space.
func (s *space) place(text string, at Point) Text {
	t := label(0, 0, text, Start, ink, 130)
	t.Size = small
	w := textWidth(t.Text, small, false)
	var best box
	least := -1.0
	for _, up := range []float64{-3, small + 3, -small - 4, 2*small + 4, -2*small - 6, 3*small + 6} {
		for _, left := range []float64{at.X + 6, at.X - 6 - w} {
			left = max(min(left, s.right-w), s.left)
			b := box{left, left + w, at.Y + up - small, at.Y + up + 2}
			if hidden := s.hidden(b); least < 0 || hidden < least {
				best, least = b, hidden
			}
		}
	}
	s.taken = append(s.taken, best)
	t.X, t.Y = best.left, best.bottom-2
	return t
}

// hidden returns the area of a box that covers other things or is outside of the space.
func (s *space) hidden(b box) (area float64) {
	const line = 1 // lines have a width
	for _, o := range s.taken {
		across := min(b.right, o.right+line) - max(b.left, o.left-line)
		area += max(0, across) * max(0, min(b.bottom, o.bottom+line)-max(b.top, o.top-line))
	}
	return area + (b.right-b.left)*(max(0, s.top-b.top)+max(0, b.bottom-s.bottom))
}
