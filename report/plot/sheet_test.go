package plot

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/internal/testing/golden"
	"crosstalk/labels"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/recorder"
)

// cells are figures of a row: NaN is one that is undefined, -1 none.
func cells(measure, label string, values ...float64) Row {
	r := Row{Label: label}
	for i, v := range values {
		if v < 0 {
			r.Cells = append(r.Cells, nil)
			continue
		}
		e := estimate(measure, v, "row", label, "series", fmt.Sprint(i))
		if math.IsNaN(v) {
			e.Interval = nil
		}
		r.Cells = append(r.Cells, &e)
	}
	return r
}

func unmeasuredRow(r Row) Row {
	for _, e := range r.Cells {
		e.N, e.Interval = 0, nil
	}
	return r
}

func in(unit string, better crosstalk.Direction, rows ...Row) []Row {
	for _, r := range rows {
		for _, e := range r.Cells {
			if e != nil {
				e.Unit, e.Better = unit, better
			}
		}
	}
	return rows
}

// Every form of plot, with its edges, to the point.
func TestSheetOfForms(t *testing.T) {
	nan := math.NaN()
	chance := crosstalk.Baseline{Value: 0.5, Meaning: "chance"}
	long := "reference:leaky?rate=0.3&seed=%d and more words than fit here"
	dots := func(values ...float64) (list []Dot) {
		for i, v := range values {
			e := cells("lpr", "x", v).Cells[0]
			list = append(list, Dot{X: float64(i * i), Estimate: e})
		}
		return list
	}
	named := func(x float64, name string, v float64) Dot {
		d := dots(v)[0]
		d.X, d.Label = x, name
		return d
	}
	across := named(0.42, "en", 0.8)
	across.Across = cells("wpr", "x", 0.42).Cells[0]
	undefined := named(nan, "fr", 0.6)
	undefined.Across = cells("wpr", "x", nan).Cells[0]
	many := Lines{Series: []string{"a"}, Dots: [][]Dot{dots(.1, .2, .3, .2, .5, .6, .7, .8, .9)}, Axis: "shots"}
	tokens := []crosstalk.Token{
		{Text: "Der", Logprob: math.Log(0.9), Entropy: 0.4, Nucleus: 1, Mass: 0.99},
		{Text: " \x1b Fluss " + strings.Repeat("lang", 20), Logprob: math.Log(0.8), Entropy: 0.9, Nucleus: 1, Mass: 0.98},
		{Text: strings.Repeat("weit", 40), Logprob: math.Log(0.8), Entropy: 0, Nucleus: 1, Mass: 0.98},
		{Text: " الترجمة", Logprob: math.Log(0.25), Entropy: 2.75, Nucleus: 4, Censored: true, Mass: 0.7, Fault: true,
			Candidates: []crosstalk.CandidateLogprob{{Token: " ist", Logprob: math.Log(0.5)},
				{Token: " الترجمة", Logprob: math.Log(0.25)}, {Token: strings.Repeat("m", 40), Logprob: -9}}},
		{Text: "b", Logprob: -1, Entropy: crosstalk.Undefined, Fault: true},
	}
	sided := func(label, below string, counts ...float64) ShareRow {
		return ShareRow{Row{Label: label}, below, counts}
	}
	plots := []Plot{
		DotPlot{[]string{"x", "y"}, []Row{cells("lpr", "de", .9, .95), cells("lpr", "ko", -1, nan),
			unmeasuredRow(cells("lpr", "none", 1)), cells("lpr", "empty", -1, -1)}, chance}.Draw(),
		DotPlot{[]string{"x"}, []Row{cells("lpr", fmt.Sprintf(long, 1), .99), cells("lpr", fmt.Sprintf(long, 2), .98),
			cells("wpr", "b", 1)}, crosstalk.Baseline{}}.Draw(),
		DotPlot{[]string{"x"}, in("bits", "", cells("entropy", "a", 2.5), cells("entropy", "b", 11)),
			crosstalk.Baseline{Value: 99, Meaning: "too far"}}.Draw(),
		DotPlot{Series: []string{"x"}, Rows: []Row{cells("lpr", "a", .97)}, Baseline: chance}.Draw(),
		heat([]string{"a", "b", "c"}, in("", crosstalk.Higher, cells("lpr", "de", .1, nan, 1), cells("lpr", "fr", -1, .5, .52))),
		heat([]string{"a long name of a column", strings.Repeat("much longer ", 9), "c", "d", "e", "f", "g", "h", "i"},
			in("bits", "", cells("entropy", fmt.Sprintf(long, 3), 1, 2, 3, 4, 5, 6, 7, 8, 9))),
		heat([]string{"fits"}, in("", crosstalk.Lower, cells("leak_rate", "a", .3))),
		Shares{[]string{"left", "neither", "right", "other"}, []ShareRow{sided("a", "judge", 20, 30, 50, 0),
			sided(fmt.Sprintf(long, 4), "", 1, 0, 0, 2.26), sided("nothing", strings.Repeat("below ", 30), 0, 0, 0, 0)}, 1}.Draw(),
		Shares{[]string{"p", "q", "r", "s", "t", "u", "v", "parts with long names", "that need another line of the legend", "w"},
			[]ShareRow{sharesOf(cells("share", "a", .2, .3, nan, -1, .05, .05, .1, .1, .05, .15))}, -1}.Draw(),
		Lines{Series: []string{"x", "y"}, Dots: [][]Dot{dots(.9, nan, .8), dots(.7, .75)}, Axis: "top_p", Baseline: chance}.Draw(),
		many.Draw(),
		Lines{Series: []string{"x"}, Dots: [][]Dot{{across, undefined, named(0.4, "no interval", nan)}}, Axis: "WPR", Apart: true}.Draw(),
		Lines{Series: []string{"x", "y"}, Dots: [][]Dot{
			{named(0.5, "a-0.5b", .5), named(7, "a-7b", .52), named(7.2, "b-7.2b with a very long name of a model", .52),
				named(7.4, "c-7.4b", .53), named(70, "d-70b", .99)}, {named(7, "a-7b", .6), named(70, "d-70b", .7)}},
			Axis: "billions of parameters", Log: true, Apart: true, Baseline: chance}.Draw(),
		Lines{Series: strings.Split("abcdefg", ""), Dots: slices.Repeat([][]Dot{dots(.2, .4)}, 7), Axis: "seed"}.Draw(),
		Shares{[]string{"first", "second"}, []ShareRow{sided("a", "", 1, 3)}, 0}.Draw(),
		Lines{Series: []string{""}, Dots: [][]Dot{{named(1, "", .5)}}, Axis: "n"}.Draw(),
		Strip(tokens), Strip(tokens[:1]), Strip(append(tokens[:3:3], tokens[4])),
		{Width: 50, Height: 20, Title: `<"a" & 'b'>`, Note: "note\n", Marks: []Mark{{Title: "t", Data: []Datum{{"By É_7z", "<v>"}}},
			{Data: []Datum{{"n", "1"}}, Shapes: []Shape{rectangle(-0.001, 2, 3.456, 4, "#123456"), nil}}}},
	}
	var b strings.Builder
	for i, p := range plots {
		fmt.Fprintf(&b, "\n%d: %s | %s\n", i, p.Title, p.Note)
		if err := p.WriteSVG(&b); err != nil {
			t.Fatal(err)
		}
	}
	golden.Check(t, "testdata/forms.svg.txt", strings.NewReplacer("<path", "\n<path", "<text", "\n<text").Replace(b.String()))
}

// Pages of PDF, stroke by stroke.
func TestSheetOfStrokes(t *testing.T) {
	line := segment(1, 2, 3, 4, "s1", 1.5)
	line.Dash = []float64{3, 2}
	f := Plot{Width: 40, Height: 30, Marks: []Mark{{Shapes: []Shape{line, rectangle(5, 6, 7, 8, soft),
		Text{X: 10, Y: 20, Text: "i", Size: 10, Fill: ink},
		Text{X: 30, Y: 20, Text: "lשו, ", Size: 9, Anchor: Middle, Bold: true, Turn: 30},
		Text{X: 30, Y: 20, Text: "o\u4e00.", Size: 9, Anchor: End}}}}}
	var c recorder.Canvas
	f.paint(&c)
	var b strings.Builder
	path := func(p vg.Path) {
		for _, at := range p {
			fmt.Fprintf(&b, " %d", at.Type)
			for _, p := range append(at.Control, at.Pos) {
				fmt.Fprintf(&b, " %.3f,%.3f", float64(p.X), float64(p.Y))
			}
		}
		b.WriteString("\n")
	}
	for _, a := range c.Actions {
		switch a := a.(type) {
		case *recorder.Fill:
			b.WriteString("fill")
			path(a.Path)
		case *recorder.Stroke:
			b.WriteString("stroke")
			path(a.Path)
		default:
			b.WriteString(a.Call() + "\n")
		}
	}
	golden.Check(t, "testdata/strokes.txt", b.String())
}

// What collections of figures, observations and labels are drawn: every plot with its marks.
func TestSheetOfPlots(t *testing.T) {
	var list []crosstalk.Estimate
	add := func(measure string, v float64, by ...string) { list = append(list, estimate(measure, v, by...)) }
	for i, model := range []string{"a-7b", "b-13b", "c"} {
		for j, temperature := range []string{"0", "0.7", "1"} {
			for _, language := range []string{"all", "de", "fr", "hi", "ja", "ko", "zh"}[:7-3*min(i, 1)] {
				add("lpr", .5+.1*float64(i)+.05*float64(j)+.003*float64(len(list)%7), "model", model, "temperature", temperature,
					"language", language, "source", "all", "position", []string{"start", "end"}[j%2], "task", "crosslingual")
			}
		}
		add("leak_rate", .3+.1*float64(i), "model", model, "similarity", "gloss", "category", "all")
		add("leak_rate", .35+.1*float64(i), "model", model, "similarity", "gloss", "category", "food")
		add("leak_rate", math.NaN(), "model", model, "similarity", "sbert", "category", "food")
		add("consistency", .6+.1*float64(i), "model", model, "pair", "en>de", "part", "T")
		add("bleu", .2, "model", model, "pair", "en>de")
		add("consistency", .7+.1*float64(i), "model", model, "pair", "de>en", "part", "T")
		add("bleu", []float64{.3, math.NaN(), .4}[i], "model", model, "pair", "de>en")
		add("consistency", .5, "model", model, "pair", "de>fr", "part", "X\x1b")
	}
	for _, to := range []string{"yes", "no"} {
		add("transition", .25, "model", "a-7b", "pair", "en>de", "part", "T", "from", "yes", "to", to)
	}
	c := NewCollector(nil)
	seen := func(measure, item string, value float64, judge string, labels map[string]string) crosstalk.Observation {
		return crosstalk.Observation{Measure: measure, Item: item, Value: crosstalk.Value(value), Labels: labels,
			Condition: map[string]string{"model": item, "similarity": judge, "temperature": "0"}, Numbers: map[string]float64{"test": value}}
	}
	for i := range 7 {
		c.Add(seen("leak_rate", "m", []float64{0, .5, 1, 1, .25, 1, 0}[i], "gloss", map[string]string{"language": []string{"en", "he"}[i%2]}))
		c.Add(seen("leak_rate", fmt.Sprint("n", i%2), 1, "sbert", map[string]string{"category": "food"}))
		c.Add(crosstalk.Observation{Measure: "lpr", Item: fmt.Sprint("i", i), Condition: map[string]string{"model": "m"},
			Tokens: []crosstalk.Token{{Text: "a"}, {Text: "b", Fault: i > 0}}})
		c.Add(seen("wpr", "m", 1, "gloss", nil))
	}
	unscored := seen("leak_rate", "m", 1, "gloss", nil)
	unscored.NotScored = "empty"
	c.Add(unscored)
	unscored.NotScored, unscored.Numbers = "", nil
	c.Add(unscored)
	var shares []crosstalk.Estimate
	for k := range 32 {
		for i, judge := range []string{"people", "gloss", "sbert"} {
			for j, label := range []string{"test", "control", "neither"} {
				if v := float64(i+j) / 10; k < 2 || i+j > 0 {
					shares = append(shares, estimate("share", v, "model", "m", "language", fmt.Sprintf("l%02d", k), "judge", judge, "label", label))
				}
			}
		}
	}
	shares[4].Value, shares[4].Interval = crosstalk.Undefined, nil
	one := shares[:9:9]
	for _, o := range []labels.Opinion{
		{Question: crosstalk.Question{Measure: "leak_rate", Title: "Which is nearer?", Fault: "test"}, Shares: shares},
		{Question: crosstalk.Question{Measure: "lpr", Title: "Is it right?"}, Shares: one},
		{Question: crosstalk.Question{Measure: "leak_rate", Title: "Alone", Fault: "control"}, Shares: one,
			Said: []labels.Said{{Weight: 2.5, Observation: seen("leak_rate", "m", 0, "people", map[string]string{"language": "en"})},
				{Weight: 1, Observation: crosstalk.Observation{Measure: "leak_rate", Value: 1, Condition: map[string]string{"model": "m", "temperature": "0"}}}}},
		{Question: crosstalk.Question{Measure: "lpr", Title: "Nothing"}},
	} {
		c.AddOpinion(o)
	}
	var b strings.Builder
	for _, p := range append(c.PlotsOf(list), c.PlotsOf(nil)[:1]...) {
		fmt.Fprintf(&b, "\n%s: %s | %s\n%.2f x %.2f, %d marks\n", p.Name, p.Title, p.Note, p.Width, p.Height, len(p.Marks))
		marks := read(t, p)
		for i, m := range marks {
			if i < 15 || i > len(marks)-3 {
				fmt.Fprintf(&b, "  %s %s\n", m.title, strings.TrimPrefix(fmt.Sprint(m.data), "map"))
			}
		}
	}
	golden.Check(t, "testdata/plots.txt", b.String())
}
