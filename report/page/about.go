package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/run"
)

// About describes what a run measured, and the models.
type About struct {
	Title    string   // of the instrument
	Sentence string   // what it measures
	Models   []string // of the figures or, as long as there are none, of the plan
	manifest run.Manifest
}

// NewAbout describes a run by its manifest and its figures, if there are any yet.
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

// with adds a value to the list unless it is there already.
func with(list []string, value string) []string {
	if value == "" || slices.Contains(list, value) {
		return list
	}
	return append(list, value)
}

// Heading is the title of the run's page.
func (a About) Heading() string {
	switch n := len(a.Models); {
	case n > 2:
		return fmt.Sprintf("%s of %d models", a.Title, n)
	case n > 0:
		return a.Title + " of " + strings.Join(a.Models, " and ")
	}
	return a.Title
}

// Summary are the most important settings of the run.
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

// Signatures are the signatures of figures, each once, as a setting.
func Signatures(estimates []crosstalk.Estimate) Setting {
	var list []string
	for _, e := range estimates {
		list = with(list, e.Signature)
	}
	return Setting{Name: "signatures", Value: strings.Join(list, "\n")}
}
