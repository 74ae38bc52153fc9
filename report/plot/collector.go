package plot

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/internal/ordered"
	"crosstalk/internal/visible"
	"crosstalk/labels"
)

// Collector collects the data of a run's plots: its estimates at once, its observations one by one.
type Collector struct {
	estimates []crosstalk.Estimate
	columns   []string              // of the estimates
	sides     map[string][]*sideRow // by measure
	strips    map[string][]strip    // by instrument
	opinions  []labels.Opinion
}

// NewCollector returns a collector for plots of these estimates.
func NewCollector(estimates []crosstalk.Estimate) *Collector {
	return &Collector{estimates: estimates, columns: instrument.ByColumns(estimates), sides: map[string][]*sideRow{},
		strips: map[string][]strip{}}
}

// Add adds an observation. It keeps a limited number of comparisons, and the tokens of a few answers.
func (c *Collector) Add(o crosstalk.Observation) {
	kind := instrument.Of(o.Measure)
	c.addSides(kind, o, o.Condition[kind.Judge], 1)
	c.addStrip(kind, o)
}

// PlotsOf returns the plots of these estimates, in place of those in NewCollector.
func (c *Collector) PlotsOf(estimates []crosstalk.Estimate) []Plot {
	c.estimates, c.columns = estimates, instrument.ByColumns(estimates)
	return c.Plots()
}

// Plots returns the plots. Their names are unique.
func (c *Collector) Plots() (plots []Plot) {
	for _, kind := range instrument.Kinds() {
		for _, chart := range kind.Charts {
			plots = append(plots, c.draw(kind, chart)...)
		}
	}
	for _, o := range c.opinions {
		plots = append(plots, drawOpinion(o)...)
	}
	return Named(plots)
}

// Named gives each plot a distinct file name, from its name or title.
func Named(plots []Plot) []Plot {
	const longest = 72 // the most characters of a plot's name without its number
	taken := map[string]bool{}
	for i, p := range plots {
		words := strings.FieldsFunc(strings.ToLower(cmp.Or(p.Name, p.Title)), func(r rune) bool {
			return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r)
		})
		name := strings.Join(words, "-")
		base := cmp.Or(strings.Trim(name[:min(len(name), longest)], "-"), "plot")
		name = base
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s-%d", base, n)
		}
		plots[i].Name, taken[name] = name, true
	}
	return plots
}

// panel has the estimates of one plot, all of one condition except for the columns that the plot shows.
type panel struct {
	of        string // describes the condition
	estimates []*crosstalk.Estimate
}

const mostPanels = 6 // the most conditions with a plot; the tables show all

// panelsOf splits the estimates of some measures by the condition columns that a plot does not show. Of group
// columns, it uses the totals if the plot does not show them, and otherwise the groups.
func (c *Collector) panelsOf(measures []string, shown ...string) []panel {
	var estimates []*crosstalk.Estimate
	for i := range c.estimates {
		if slices.Contains(measures, c.estimates[i].Measure) {
			estimates = append(estimates, &c.estimates[i])
		}
	}
	some := func(column string, is func(v string) bool) bool {
		return slices.ContainsFunc(estimates, func(e *crosstalk.Estimate) bool { return is(e.By[column]) })
	}
	grouped, varies := map[string]bool{}, map[string]bool{}
	for _, column := range c.columns {
		grouped[column] = some(column, func(v string) bool { return v == crosstalk.All })
		varies[column] = some(column, func(v string) bool { return v != estimates[0].By[column] })
	}
	of := map[*crosstalk.Estimate]string{}
	estimates = slices.DeleteFunc(estimates, func(e *crosstalk.Estimate) bool {
		var condition []string
		fits := true
		for _, column := range c.columns {
			v, has := e.By[column]
			switch {
			case slices.Contains(shown, column):
				fits = fits && has && v != crosstalk.All
			case grouped[column]:
				fits = fits && (v == crosstalk.All || !has)
			case varies[column] && has:
				condition = append(condition, words(column)+" "+visible.Line(v))
			}
		}
		of[e] = strings.Join(condition, " · ")
		return !fits
	})
	var panels []panel
	for _, group := range ordered.Groups(estimates, func(e *crosstalk.Estimate) string { return of[e] }) {
		panels = append(panels, panel{of[group[0]], group})
	}
	return panels[:min(len(panels), mostPanels)]
}

// rows arranges estimates: a row for each combination of values of the chart's rows, and a series for each value of
// its series or, without one, for each measure.
func (p panel) rows(chart crosstalk.Chart) (rows []Row, series []string) {
	seriesOf := func(e *crosstalk.Estimate) string {
		if chart.Series == "" {
			return labelOf(e.Measure)
		}
		return e.By[chart.Series]
	}
	series = ordered.Distinct(p.estimates, seriesOf)
	named := func(e *crosstalk.Estimate) string { return rowName(e, chart.Rows) }
	for _, group := range ordered.Groups(p.estimates, named) {
		row := Row{named(group[0]), make([]*crosstalk.Estimate, len(series))}
		for _, e := range group {
			row.Cells[slices.Index(series, seriesOf(e))] = e
		}
		rows = append(rows, row)
	}
	return rows, series
}

func rowName(e *crosstalk.Estimate, columns []string) string {
	return strings.Join(ordered.Map(columns, func(column string) string { return e.By[column] }), " ")
}

// sideRow is a bar for the observations of a measure that tells which of two answers is closer to something: the
// first part of a chart (0), the last (1), or neither (0.5).
type sideRow struct {
	sideKey
	counts [3]float64 // of the values 0, 0.5 and 1
}

type sideKey struct{ set, judge, model string }

// addSides adds an observation whose measure has a SideChart.
func (c *Collector) addSides(kind crosstalk.Kind, o crosstalk.Observation, judge string, weight float64) {
	if !slices.ContainsFunc(kind.Charts, func(chart crosstalk.Chart) bool {
		return chart.Form == crosstalk.SideChart && slices.Contains(chart.Measures, o.Measure)
	}) {
		return
	}
	side := slices.Index([]float64{0, 0.5, 1}, float64(o.Value))
	_, scored := o.Numbers[kind.Measure(o.Measure).Numbers[0]]
	if side < 0 || o.NotScored != "" || !scored && judge != labels.People {
		return
	}
	var set []string
	for _, column := range slices.Sorted(maps.Keys(o.Condition)) {
		if column != crosstalk.ModelColumn && column != kind.Judge {
			set = append(set, words(column)+" "+o.Condition[column])
		}
	}
	for _, column := range kind.Columns {
		if v := o.Labels[column.Key]; v != "" && column.Apart {
			set = append(set, words(column.Key)+" "+v)
		}
	}
	key := sideKey{strings.Join(set, " · "), judge, o.Condition[crosstalk.ModelColumn]}
	rows := c.sides[o.Measure]
	i := slices.IndexFunc(rows, func(r *sideRow) bool { return r.sideKey == key })
	if i < 0 {
		i, rows = len(rows), append(rows, &sideRow{sideKey: key})
		c.sides[o.Measure] = rows
	}
	rows[i].counts[side] += weight
}

// sideCharts draws bars of the shares, one plot for each set of conditions.
func (c *Collector) sideCharts(chart crosstalk.Chart) (plots []Plot) {
	all := c.sides[chart.Measures[0]]
	judges := ordered.Distinct(all, func(r *sideRow) string { return r.judge })
	sets := ordered.Groups(all, func(r *sideRow) string { return r.set })
	for _, rows := range sets[:min(len(sets), mostPanels)] {
		shares := Shares{Parts: chart.Parts, Middle: 1}
		slices.SortStableFunc(rows, func(a, b *sideRow) int { return strings.Compare(a.model, b.model) })
		for _, r := range rows {
			row := ShareRow{Row: Row{Label: r.model}, Counts: r.counts[:]}
			switch {
			case len(judges) > 1 && rows[0].model == rows[len(rows)-1].model:
				row.Label = r.judge
			case len(judges) > 1:
				row.Below = r.judge
			}
			shares.Rows = append(shares.Rows, row)
		}
		plots = append(plots, panel{of: rows[0].set}.titled(shares.Draw().about(chart.Title, chart.Note)))
	}
	return plots
}

// AddOpinion adds human judgements of answers. Plots then shows each judgement beside the automatic ones, and the
// shares of labels by setting beside the instrument's findings (Gonen et al. 2024, figures 4 and 5).
func (c *Collector) AddOpinion(o labels.Opinion) {
	for _, said := range o.Said {
		c.addSides(instrument.Of(said.Measure), said.Observation, labels.People, said.Weight)
	}
	if len(o.Shares) > 0 {
		c.opinions = append(c.opinions, o)
	}
}

// drawOpinion draws the shares of labels in each setting, and how often people and the instrument find a fault.
// It omits the instrument's shares if another chart shows them beside people's.
func drawOpinion(o labels.Opinion) (plots []Plot) {
	const mostSettings = 30 // the most settings in a plot
	said, beside := Shares{Middle: -1}, true
	for _, chart := range instrument.Of(o.Question.Measure).Charts {
		if chart.Form == crosstalk.SideChart && slices.Contains(chart.Measures, o.Question.Measure) {
			said.Parts, said.Middle, beside = chart.Parts, 1, false
		}
	}
	shares := ordered.Map(o.Shares, func(e crosstalk.Estimate) *crosstalk.Estimate { return &e })
	column := func(name string) func(*crosstalk.Estimate) string {
		return func(e *crosstalk.Estimate) string { return e.By[name] }
	}
	if beside {
		said.Parts = ordered.Distinct(shares, column(labels.LabelColumn))
	}
	columns := columnsWhere(o.Shares, labels.Share, func(column string, _ []string) bool {
		return column != labels.JudgeColumn && column != labels.LabelColumn
	})
	if columns == nil { // all settings are equal
		columns = []string{crosstalk.ModelColumn}
	}
	settings := ordered.Groups(shares, func(e *crosstalk.Estimate) string { return rowName(e, columns) })
	faults := DotPlot{Series: ordered.Distinct(shares, column(labels.JudgeColumn))}
	for _, of := range settings[:min(len(settings), mostSettings)] {
		setting := rowName(of[0], columns)
		found := Row{setting, make([]*crosstalk.Estimate, len(faults.Series))}
		for k, judge := range faults.Series {
			row := Row{setting, make([]*crosstalk.Estimate, len(said.Parts))}
			if beside {
				row.Label = strings.Trim(setting+", "+judge, ", ")
			}
			for _, e := range of {
				if e.By[labels.JudgeColumn] != judge {
					continue
				}
				label := e.By[labels.LabelColumn]
				if label == o.Question.Fault {
					found.Cells[k] = e
				}
				if at := slices.Index(said.Parts, label); at >= 0 && e.Value.Defined() {
					row.Cells[at] = e
				}
			}
			any := slices.ContainsFunc(row.Cells, func(e *crosstalk.Estimate) bool { return e != nil })
			if any && (beside || judge == labels.People) {
				said.Rows = append(said.Rows, sharesOf(row))
			}
		}
		faults.Rows = append(faults.Rows, found)
	}
	title := " · " + strings.TrimSuffix(o.Question.Title, "?")
	switch {
	case beside:
		plots = append(plots, said.Draw().about("People and instrument, by setting"+title,
			"The shares of labels: people's, and the instrument's in the same terms."))
	case len(settings) > 1:
		plots = append(plots, said.Draw().about("What people say, by setting"+title, "The shares of people's labels."))
	}
	if o.Question.Fault != "" {
		plots = append(plots, faults.Draw().about("Found by people and instrument"+title,
			"Share of answers labelled "+o.Question.Fault+". "+intervals))
	}
	return plots
}
