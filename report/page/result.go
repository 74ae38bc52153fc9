package page

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/internal/numbers"
	"crosstalk/internal/ordered"
	"crosstalk/report"
	"crosstalk/run"
)

// Result holds the overall figures of a run, by condition.
type Result struct {
	Plain    []string  // number of answers with a fault, in a sentence for each condition
	Whom     []string  // groups with the most of them, the worst first
	Measures []Meaning // the most important first
	Parts    []Part
	Level    string // of the intervals: "95 %"
	More     int    // overall figures that only the tables show
}

// Part holds the figures of a condition.
type Part struct {
	Name    string // its difference from the others; empty: there are no others
	Figures []*Headline
	by      map[string]string
}

// Headline is an overall figure. A part has one for each of the result's measures, nil if the figure is missing.
type Headline struct {
	Meaning
	Value, Unit string
	Interval    string // "81.7 to 85.0"
	Counts      string // numbers of answers scored and left out
	Doubt       string // why the figure is unreliable
}

// Meaning explains a measure.
type Meaning struct{ Label, Name, Sentence string }

// Limits of a result. Up to mostCards parts are shown as cards, more as a table.
const (
	mostMeasures = 6
	mostParts    = 24
	mostCards    = 3
)

// NewResult summarises estimates.
func NewResult(estimates []crosstalk.Estimate) (r Result) {
	r.Plain, r.Whom = report.PlainTotals(estimates), report.Whom(estimates)
	r.Plain = r.Plain[:min(len(r.Plain), mostParts)]
	groups := instrument.GroupColumns(estimates)
	list := slices.DeleteFunc(slices.Clone(estimates), func(e crosstalk.Estimate) bool { // except overall ones
		m := instrument.Measure(e.Measure)
		return m.ByClass || m.OfTokens || instrument.IsFault(e.Measure) || !instrument.IsTotal(e, groups)
	})
	r.Level = report.Level(list)
	keys := ordered.Distinct(list, func(e crosstalk.Estimate) string { return e.Measure })
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(drawn(a), drawn(b)) })
	keys = keys[:min(len(keys), mostMeasures)]
	r.Measures = ordered.Map(keys, MeaningOf)
	for _, e := range list {
		at := slices.Index(keys, e.Measure)
		if at < 0 {
			r.More++
			continue
		}
		by := e.Of()
		i := slices.IndexFunc(r.Parts, func(p Part) bool { return maps.Equal(p.by, by) })
		if i < 0 {
			i = len(r.Parts)
			r.Parts = append(r.Parts, Part{Figures: make([]*Headline, len(keys)), by: by})
		}
		r.Parts[i].Figures[at] = headline(e)
	}
	r.name()
	for _, p := range r.Parts[min(len(r.Parts), mostParts):] {
		r.More += len(slices.DeleteFunc(p.Figures, func(f *Headline) bool { return f == nil }))
	}
	r.Parts = r.Parts[:min(len(r.Parts), mostParts)]
	return r
}

// Cards reports whether the result is shown as cards rather than a table.
func (r Result) Cards() bool { return len(r.Parts) <= mostCards }

// name names the parts by the columns in which they differ.
func (r Result) name() {
	conditions := ordered.Map(r.Parts, func(p Part) map[string]string { return p.by })
	for _, column := range instrument.Columns(conditions) {
		if !slices.ContainsFunc(conditions, func(by map[string]string) bool { return by[column] != conditions[0][column] }) {
			continue
		}
		for i := range r.Parts {
			if v := r.Parts[i].by[column]; v != "" {
				r.Parts[i].Name = strings.TrimPrefix(r.Parts[i].Name+" · "+Named(column, v), " · ")
			}
		}
	}
}

// Named returns the value of a column after the column's name, which a model does not need.
func Named(column, value string) string {
	if column == crosstalk.ModelColumn {
		return value
	}
	return crosstalk.Words(column) + " " + value
}

// drawn returns the rank of a measure's first chart: an instrument draws the most important one first.
func drawn(measure string) int {
	for i, chart := range instrument.Of(measure).Charts {
		if slices.Contains(chart.Measures, measure) {
			return 10*i + slices.Index(chart.Measures, measure)
		}
	}
	return 1000
}

// MeaningOf explains a measure.
func MeaningOf(measure string) Meaning {
	m := instrument.Measure(measure)
	return Meaning{m.Label, cmp.Or(m.Name, m.Label), m.Sentence}
}

func headline(e crosstalk.Estimate) *Headline {
	const mostUnjudged = 0.1 // above this share of unjudged answers, a figure is in doubt
	kind := instrument.Of(e.Measure)
	h := &Headline{Meaning: MeaningOf(e.Measure), Value: numbers.Value(e.Value, e.Unit), Unit: cmp.Or(e.Unit, "%")}
	if !e.Value.Defined() {
		h.Unit = ""
	}
	if i := e.Interval; i != nil {
		h.Interval = numbers.Interval(i, e.Unit)
	}
	counts := []string{fmt.Sprintf("%d %s", e.N, plural(e.N, "item", "items"))}
	if e.Observations > e.N {
		counts = append(counts, fmt.Sprintf("%d scored", e.Observations))
	}
	for _, c := range slices.Sorted(maps.Keys(e.Counts)) {
		name := crosstalk.Words(c)
		for _, f := range kind.Findings { // the count of a finding has its name
			if crosstalk.Words(f.Key) == crosstalk.Words(c) && len(f.Titles) > 0 {
				name = f.Titles[len(f.Titles)-1]
			}
		}
		if n := e.Counts[c]; n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, name))
		}
	}
	h.Counts = strings.Join(counts, " · ")
	unjudged, of := kind.UnjudgedOf(e)
	switch {
	case e.N == 0 && e.Value.Defined():
		h.Doubt = "Nothing was measured; a rule of the protocol gives this figure."
	case float64(unjudged) > mostUnjudged*float64(of):
		h.Doubt = fmt.Sprintf("%d of %d answers could not be judged.", unjudged, of)
	}
	return h
}

// About describes what a run measured, and its models.
type About struct {
	Title    string   // name of the instrument
	Sentence string   // what it measures
	Models   []string // of the figures or, without any, of the plan
	manifest run.Manifest
}

// NewAbout describes a run from its manifest and its figures, if any.
func NewAbout(m run.Manifest, estimates []crosstalk.Estimate) About {
	kind := instrument.Named(m.Plan.Instrument)
	a := About{Title: kind.Title, Sentence: kind.Sentence, manifest: m}
	for _, e := range estimates {
		a.Models = with(a.Models, e.By[crosstalk.ModelColumn])
	}
	if a.Models == nil {
		for _, c := range m.Plan.Conditions {
			a.Models = with(a.Models, cmp.Or(c.Name[crosstalk.ModelColumn], c.Model.Name))
		}
	}
	return a
}

func with(list []string, value string) []string {
	if value == "" || slices.Contains(list, value) {
		return list
	}
	return append(list, value)
}

// Heading returns the title of the run's page.
func (a About) Heading() string {
	switch n := len(a.Models); {
	case n > 2:
		return fmt.Sprintf("%s of %d models", a.Title, n)
	case n > 0:
		return a.Title + " of " + strings.Join(a.Models, " and ")
	}
	return a.Title
}

// Summary returns the most important settings of the run.
func (a About) Summary() (summary []Setting) {
	add := func(name string, values ...string) {
		if text := strings.Join(values, "\n"); text != "" {
			summary = append(summary, Setting{Name: name, Value: text})
		}
	}
	var protocols, similarities, by []string
	for _, s := range a.manifest.Scoring {
		protocols, by = with(protocols, s.Protocol), with(by, strings.Join(s.By, ", "))
		for _, similarity := range s.Similarities {
			similarities = with(similarities, similarity)
		}
	}
	add("suite", a.manifest.Plan.Suite)
	add("models", a.Models...)
	add("protocol", protocols...)
	add("similarities", similarities...)
	add("grouped by", by...)
	add("crosstalk", a.manifest.Crosstalk)
	return summary
}

// Signatures returns the distinct signatures of figures as a setting.
func Signatures(estimates []crosstalk.Estimate) Setting {
	var list []string
	for _, e := range estimates {
		list = with(list, e.Signature)
	}
	return Setting{Name: "signatures", Value: strings.Join(list, "\n")}
}
