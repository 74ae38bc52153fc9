package plot

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
)

// headlines are the measures that a run is about, those of one instrument
// beside each other.
var headlines = [][]string{{"leak_rate"}, {"lpr", "wpr", "lcpr"}}

const intervals = "Thin lines are 95 % intervals."

// baseline is what a measure is compared with.
func baseline(measure string) (crosstalk.Value, string) {
	if measure == "leak_rate" {
		return 0.5, "no leakage"
	}
	return 0, ""
}

// overviews are bars of the headlines by model.
func (b *Book) overviews() (figures []Figure) {
	for _, measures := range headlines {
		column := "measure"
		if len(measures) == 1 {
			column = "similarity"
		}
		for _, p := range b.parts(measures, "model", column) {
			rows, series := p.rows(column, "model")
			if len(p.estimates) < 2 {
				continue
			}
			bars := Bars{Series: series, Rows: rows}
			bars.Reference, bars.Meaning = baseline(measures[0])
			title := words(measures[0]) + " by model"
			if column == "measure" {
				title = strings.Join(series, ", ") + " by model"
			} else if len(series) > 1 {
				title += " and similarity"
			}
			figures = append(figures, titled(bars.Draw(), title, p, intervals))
		}
	}
	return figures
}

// parameters is a number of parameters in a model's name: 0.5B, 70b, 8x7B,
// 350M.
var parameters = regexp.MustCompile(`(?i)(?:^|[^a-z0-9.])(?:(\d+)x)?(\d+(?:\.\d+)?)([bmt])(?:$|[^a-z0-9])`)

// sizeOf is a model's size in billions of parameters, by its column "size" or
// its name.
func sizeOf(e *crosstalk.Estimate) (float64, bool) {
	if x, err := strconv.ParseFloat(e.By["size"], 64); err == nil && x > 0 {
		return x, true
	}
	for _, text := range []string{e.By["size"], e.By["model"]} {
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

// sizes are the Leak-Rates of models over their size.
func (b *Book) sizes() (figures []Figure) {
	for _, p := range b.parts([]string{"leak_rate"}, "model", "similarity") {
		l := Lines{Axis: "billions of parameters", Log: true, Apart: true, Series: p.values("similarity")}
		l.Reference, l.Meaning = baseline("leak_rate")
		var sizes []float64
		for _, similarity := range l.Series {
			var dots []Dot
			for _, e := range p.estimates {
				if size, ok := sizeOf(e); ok && e.By["similarity"] == similarity {
					sizes = append(sizes, size)
					dots = append(dots, Dot{X: size, Label: e.By["model"], Estimate: e})
				}
			}
			l.Dots = append(l.Dots, dots)
		}
		if len(distinct(sizes)) > 1 {
			figures = append(figures, titled(l.Draw(), "leak rate and the size of the model", p, intervals))
		}
	}
	return figures
}

// grouped are the measures that are drawn by what figures are grouped by.
var grouped = []string{"leak_rate", "lpr", "wpr", "latin_wpr"}

// groups are figures by each column that estimates are grouped by: maps of the
// longer ones by model, bars of the others.
func (b *Book) groups() (figures []Figure) {
	const few = 5
	for _, measure := range grouped {
		for _, column := range b.groupColumns(measure) {
			for _, p := range b.parts([]string{measure}, "model", column) {
				rows, models := p.rows("model", column)
				if len(rows) < 2 {
					continue
				}
				title := words(measure) + " by " + words(column)
				if len(models) > 1 && (len(rows) > few || len(models) > 3) {
					heat := Heat{Columns: models, Rows: rows}
					figures = append(figures, titled(heat.Draw(), title+" and model", p, "The intervals are in the tables."))
					continue
				}
				bars := Bars{Series: models, Rows: rows}
				bars.Reference, bars.Meaning = baseline(measure)
				figures = append(figures, titled(bars.Draw(), title, p, intervals))
			}
		}
	}
	return figures
}

// groupColumns are the columns of which a measure has figures over all their
// values and of each.
func (b *Book) groupColumns(measure string) (columns []string) {
	all, one := map[string]bool{}, map[string]bool{}
	for _, e := range b.estimates {
		if e.Measure == measure {
			for c, v := range e.By {
				all[c], one[c] = all[c] || v == crosstalk.All, one[c] || v != crosstalk.All
			}
		}
	}
	for _, c := range sortedKeys(all) {
		if all[c] && one[c] {
			columns = append(columns, c)
		}
	}
	return columns
}

// doubt is how unsure a model was where confusions begin and elsewhere.
func (b *Book) doubt() (figures []Figure) {
	for _, measure := range []string{"entropy", "nucleus_size"} {
		for _, p := range b.parts([]string{measure}, "model", "at") {
			rows, models := p.rows("model", "at")
			figures = append(figures, titled(Bars{Series: models, Rows: rows}.Draw(), words(measure)+" at and away from confusion points", p, intervals))
		}
	}
	return figures
}

// senses are the consistencies and accuracies of pairs of senses.
func (b *Book) senses() (figures []Figure) {
	for _, measure := range []string{"consistency", "accuracy", "invalid"} {
		for _, p := range b.parts([]string{measure}, "pair", "part") {
			rows, parts := p.rows("part", "pair")
			figures = append(figures, titled(Bars{Series: parts, Rows: rows}.Draw(), words(measure)+" by pair and part", p, intervals))
		}
	}
	for _, p := range b.parts([]string{"consistency_correct", "consistency_incorrect"}, "pair", "part") {
		rows, measures := p.rows("measure", "pair", "part")
		figures = append(figures, titled(Bars{Series: measures, Rows: rows}.Draw(), "consistency where the source is right and wrong", p, intervals))
	}
	return figures
}

// classes are the shares of classes and their transitions.
func (b *Book) classes() (figures []Figure) {
	for _, p := range b.parts([]string{"label_share"}, "pair", "part", "class") {
		s := Shares{Parts: p.values("class"), Middle: -1}
		for _, e := range p.estimates {
			name := e.By["pair"] + " " + e.By["part"]
			i := slices.IndexFunc(s.Rows, func(r ShareRow) bool { return r.Label == name })
			if i < 0 {
				i = len(s.Rows)
				s.Rows = append(s.Rows, ShareRow{Label: name, Counts: make([]float64, len(s.Parts)), Estimates: make([]*crosstalk.Estimate, len(s.Parts))})
			}
			at := slices.Index(s.Parts, e.By["class"])
			s.Rows[i].Estimates[at] = e
			if e.Value.Defined() {
				s.Rows[i].Counts[at] = float64(e.Value)
			}
		}
		figures = append(figures, titled(s.Draw(), "classes of the answers", p, ""))
	}
	for _, p := range b.parts([]string{"transition"}, "from", "to") {
		rows, to := p.rows("to", "from")
		figures = append(figures, titled(Heat{Columns: to, Rows: rows}.Draw(), "transitions between classes", p, "Rows are the classes in the source, columns those in the other sense; the numbers are shares of a row."))
	}
	return figures
}

// quality is the quality of rewritten texts beside the consistency.
func (b *Book) quality() (figures []Figure) {
	for _, p := range b.parts([]string{"consistency"}, "pair", "part") {
		l := Lines{Axis: "BLEU of the rewritten inputs", Apart: true}
		for _, name := range p.values("part") {
			var dots []Dot
			for _, e := range p.estimates {
				if e.By["part"] != name {
					continue
				}
				if bleu := b.beside(e, "bleu"); bleu != nil && bleu.Value.Defined() {
					dots = append(dots, Dot{X: float64(bleu.Value), Label: e.By["pair"], Estimate: e, Across: bleu})
				}
			}
			if len(dots) > 1 {
				l.Series, l.Dots = append(l.Series, name), append(l.Dots, dots)
			}
		}
		if l.Dots != nil {
			figures = append(figures, titled(l.Draw(), "consistency and translation quality", p, intervals))
		}
	}
	return figures
}

// beside is the estimate of another measure in the same columns, as far as it
// has them.
func (b *Book) beside(e *crosstalk.Estimate, measure string) *crosstalk.Estimate {
	for i, other := range b.estimates {
		same := other.Measure == measure
		for c, v := range other.By {
			same = same && (e.By[c] == v || c == "part")
		}
		if same {
			return &b.estimates[i]
		}
	}
	return nil
}
