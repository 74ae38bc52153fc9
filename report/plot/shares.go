package plot

import (
	"fmt"
	"math"
	"strconv"

	"crosstalk"
	"crosstalk/internal/visible"
)

// Shares is a chart of counts as parts of a bar, one bar per row.
type Shares struct {
	Parts  []string // names, at least two
	Rows   []ShareRow
	Middle int // the part on which the bars are centred; -1: all bars begin at the left
}

// ShareRow is a bar. Its cells are the counts' figures, if any.
type ShareRow struct {
	Row
	Below  string    // a second, smaller label
	Counts []float64 // by part
}

const barHeight = 13

func sharesOf(r Row) ShareRow {
	s := ShareRow{Row: r, Counts: make([]float64, len(r.Cells))}
	for i, e := range r.Cells {
		if e != nil && e.Value.Defined() {
			s.Counts[i] = float64(e.Value)
		}
	}
	return s
}

// Draw lays out the chart.
func (s Shares) Draw() Plot {
	f := Plot{Width: width}
	y := f.legend(s.Parts, "", 0, func(x, y float64, i int) []Shape { return s.area(x, y-4.5, 13, 9, i) })
	labels := 0.0
	for _, r := range s.Rows {
		labels = max(labels, labelWidth(r.Row), min(textWidth(visible.Line(r.Below), small, false), mostLabel))
	}
	x := scale{low: 0, high: 1, from: labels + gap, to: width - 10}
	if s.Middle >= 0 {
		x.low, x.high = s.reach()
	}
	top := y
	for _, r := range s.Rows {
		y += gap / 2
		middle := y + barHeight/2 + size*0.35
		if r.Below != "" {
			below := label(labels, middle+small*0.7, r.Below, End, soft, labels)
			below.Size, middle = small, middle-small*0.5
			f.add(below)
		}
		f.add(label(labels, middle, r.Label, End, ink, labels))
		f.bar(s, r, x, y)
		y += barHeight + 2 + gap/2
	}
	f.across(x, top, y, func(v float64) string { return tick(max(v, -v), true) }, "share, %", crosstalk.Baseline{})
	return f
}

// area is the symbol of a part; the middle one is pale.
func (s Shares) area(x, y, w, h float64, i int) []Shape {
	if i == s.Middle {
		p := rectangle(x, y, w, h, rule)
		p.Stroke, p.Width = soft, 0.7
		return []Shape{p}
	}
	if s.Middle >= 0 && i > s.Middle {
		i--
	}
	return filled(x, y, w, h, i)
}

func (s Shares) reach() (low, high float64) {
	for _, r := range s.Rows {
		from, to := r.extent(s.Middle)
		low, high = min(low, from), max(high, to)
	}
	around := around([]float64{low, high}, 0, 1)
	return around.low, around.high
}

// extent is the range of a bar whose middle part is centred on 0.
func (r ShareRow) extent(middle int) (low, high float64) {
	total := r.total()
	for i, n := range r.Counts {
		switch share := n / total; {
		case i < middle:
			low -= share
		case i > middle:
			high += share
		default:
			low, high = low-share/2, high+share/2
		}
	}
	return low, high
}

func (r ShareRow) total() (total float64) {
	for _, n := range r.Counts {
		total += n
	}
	return max(total, 1e-300)
}

func (f *Plot) bar(s Shares, r ShareRow, x scale, y float64) {
	at, total := 0.0, r.total()
	if s.Middle >= 0 {
		at, _ = r.extent(s.Middle)
	}
	for i, n := range r.Counts {
		share := n / total
		from, to := x.at(at), x.at(at+share)
		at += share
		m := Mark{
			Title: fmt.Sprintf("%s, %s: %s %% (%s of %s)", r.Label, s.Parts[i], percent(share), count(n), count(total)),
			Data: []Datum{{"row", r.Label}, {"part", s.Parts[i]},
				{"value", number(crosstalk.Value(share))}, {"count", count(n)}},
		}
		if i < len(r.Cells) && r.Cells[i] != nil {
			m = of(r.Label+", "+s.Parts[i], r.Cells[i])
		}
		if n > 0 {
			m.Shapes = s.area(from, y, to-from, barHeight+2, i)
		}
		if text := percent(share); to-from > textWidth(text, small, true)+8 {
			middle := (from + to) / 2
			pill := textWidth(text, small, true) + 4
			m.Shapes = append(m.Shapes, rectangle(middle-pill/2, y+2, pill, barHeight-2, paper),
				Text{X: middle, Y: y + (barHeight+2)/2 + small*0.36, Text: text, Size: small, Bold: true,
					Anchor: Middle, Fill: ink})
		}
		f.Marks = append(f.Marks, m)
	}
}

func count(n float64) string { return strconv.FormatFloat(math.Round(10*n)/10, 'f', -1, 64) }
