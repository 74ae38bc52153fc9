package plot

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"crosstalk"
	"crosstalk/internal/visible"
)

// Shares is a chart of counts as parts of bars, one bar per row.
type Shares struct {
	Parts  []string // names, at least two
	Rows   []ShareRow
	Middle int // the part on which the bars are centred; -1: all bars start at the left
}

// ShareRow is a bar. Its cells are the estimates of the counts, if any.
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

// area returns the symbol of a part; the middle one is pale.
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

// extent returns the range of a bar whose middle part is centred on 0.
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

const (
	towerHeight = 26 // height of the bars of entropy
	tokenHeight = 16
	stripLine   = towerHeight + tokenHeight + 26
)

// Strip draws a part of an answer, token by token in logical order: the model's uncertainty at each token, and the
// candidates at the token where the fault begins (Marchisio et al. 2024, figure 2).
func Strip(tokens []crosstalk.Token) Plot {
	f := Plot{Width: width}
	most := 1.0 // bits
	for _, t := range tokens {
		if t.Entropy.Defined() {
			most = max(most, float64(t.Entropy))
		}
	}
	x, y := 0.0, 0.0
	var at *crosstalk.Token
	for i, t := range tokens {
		text := cut(visible.Line(t.Text), size, 120)
		w := max(textWidth(text, size, t.Fault)+8, 24)
		if x > 0 && x+w > f.Width {
			x, y = 0, y+stripLine
		}
		f.Marks = append(f.Marks, column(t, text, x, y, w, most))
		if t.Fault && at == nil {
			at = &tokens[i]
		}
		x += w + 3
	}
	y += stripLine
	note := "bars: entropy, up to " + trim(most) +
		" bits; below: entropy and nucleus size; framed: start of the confusion"
	f.add(Text{X: 0, Y: y + 4, Text: note, Size: 8, Fill: soft})
	y += 18
	if at != nil && len(at.Candidates) > 0 {
		y = f.candidates(*at, y)
	}
	f.Height = y
	return f
}

// column returns a column of the strip: a bar, the token and two numbers.
func column(t crosstalk.Token, text string, x, y, w, most float64) Mark {
	bits, nucleus := "-", "-"
	if t.Entropy.Defined() {
		bits, nucleus = strconv.FormatFloat(float64(t.Entropy), 'f', 1, 64), strconv.Itoa(t.Nucleus)
		if t.Censored {
			nucleus = "≥" + nucleus
		}
	}
	series := 0
	frame := rectangle(x, y+towerHeight+2, w, tokenHeight, none)
	frame.Stroke, frame.Width = rule, 0.8
	if t.Fault {
		series, frame.Stroke, frame.Width = 1, seriesInk(1), 2
	}
	m := Mark{
		Title: fmt.Sprintf("token %q: entropy %s bits, nucleus %s, probability %s %%",
			visible.Line(t.Text), bits, nucleus, percent(math.Exp(t.Logprob))),
		Data: []Datum{{"token", t.Text}, {"value", number(t.Entropy)}, {"nucleus", strconv.Itoa(t.Nucleus)},
			{"censored", strconv.FormatBool(t.Censored)}, {"mass", number(crosstalk.Value(t.Mass))},
			{"probability", number(crosstalk.Value(math.Exp(t.Logprob)))}, {"fault", strconv.FormatBool(t.Fault)}},
	}
	if t.Entropy.Defined() {
		h := max(0.8, towerHeight*float64(t.Entropy)/most)
		m.Shapes = filled(x+w/2-5, y+towerHeight-h, 10, h, series)
	}
	below := y + towerHeight + tokenHeight
	m.Shapes = append(m.Shapes, frame,
		Text{X: x + w/2, Y: below - 2, Text: text, Size: size, Bold: t.Fault, Anchor: Middle, Fill: ink},
		Text{X: x + w/2, Y: below + 10, Text: bits, Size: 7.5, Anchor: Middle, Fill: soft},
		Text{X: x + w/2, Y: below + 18.5, Text: nucleus, Size: 7.5, Anchor: Middle, Fill: soft})
	return m
}

// candidates adds the candidate tokens with their probabilities, and returns the height below them.
func (f *Plot) candidates(t crosstalk.Token, y float64) float64 {
	f.add(Text{X: 0, Y: y + 10, Text: "Candidates at the start of the confusion:", Size: small, Bold: true, Fill: ink})
	y += leading
	labels := 0.0
	for _, c := range t.Candidates {
		labels = max(labels, textWidth(visible.Line(c.Token), size, true))
	}
	labels = min(labels, 120)
	x := scale{low: 0, high: 1, from: labels + gap, to: width - 40}
	for i, c := range t.Candidates {
		p, taken := math.Exp(c.Logprob), c.Token == t.Text
		title := fmt.Sprintf("candidate %q: %s %%", visible.Line(c.Token), percent(p))
		series := 0
		if taken {
			title, series = title+", taken", 1
		}
		m := Mark{Title: title, Data: []Datum{{"candidate", c.Token}, {"rank", strconv.Itoa(i + 1)},
			{"probability", number(crosstalk.Value(p))}, {"taken", strconv.FormatBool(taken)}}}
		name := label(labels, y+barHeight/2+size*0.35, c.Token, End, ink, labels)
		name.Bold = taken
		end := x.at(p)
		m.Shapes = append(filled(x.from, y+1, max(end-x.from, 0.8), barHeight-2, series), name,
			Text{X: end + 5, Y: y + barHeight/2 + small*0.35, Text: percent(p) + " %", Size: small, Fill: soft})
		f.Marks = append(f.Marks, m)
		y += barHeight
	}
	return y + gap
}

type strip struct {
	of     string
	tokens []crosstalk.Token
}

func (c *Collector) addStrip(kind crosstalk.Kind, o crosstalk.Observation) {
	const mostStrips = 4 // the most strips, each of one answer
	begins := slices.ContainsFunc(o.Tokens, func(t crosstalk.Token) bool { return t.Fault })
	if !begins || len(c.strips[kind.Name]) == mostStrips {
		return
	}
	c.strips[kind.Name] = append(c.strips[kind.Name], strip{o.Condition[crosstalk.ModelColumn] + ", " + o.Item, o.Tokens})
}

func (c *Collector) tokenStrips(kind crosstalk.Kind, chart crosstalk.Chart) (plots []Plot) {
	for _, s := range c.strips[kind.Name] {
		plots = append(plots, panel{of: s.of}.titled(Strip(s.tokens).about(chart.Title, chart.Note)))
	}
	return plots
}
