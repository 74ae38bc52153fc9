package export

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/labels"
	"crosstalk/run"
)

// origin adds to the rows of observations their origin and people's labels.
type origin struct {
	run, version string
	estimates    []crosstalk.Estimate
	signatures   map[string]string              // by measure and condition
	people       map[string]map[string][]string // by place and measure: the labels in each column
}

func newOrigin(path string, manifest run.Manifest) (o *origin, err error) {
	o = &origin{run: path, version: manifest.Crosstalk, signatures: map[string]string{},
		people: map[string]map[string][]string{}}
	if o.estimates, err = run.ReadEstimates(path); err != nil && !errors.Is(err, run.ErrUnfinished) {
		return nil, err
	}
	list, err := labels.Read(path)
	if err != nil {
		return nil, err
	}
	measures := map[string]string{}
	for _, q := range instrument.Named(manifest.Plan.Instrument).Questions {
		measures[q.Name] = q.Measure
	}
	for _, l := range list {
		at := placeOf(measures[l.Question], l.Item, l.Sample, l.Variant, l.Condition)
		if o.people[at] == nil {
			o.people[at] = map[string][]string{}
		}
		column, text := "people."+l.Question+"."+l.Annotator, l.Label
		if l.Line > 0 {
			text = fmt.Sprintf("line %d: %s", l.Line, l.Label)
		}
		o.people[at][column] = append(o.people[at][column], text)
	}
	return o, nil
}

func placeOf(measure, item string, sample int, variant string, condition map[string]string) string {
	return string(crosstalk.Canonical([]any{measure, item, sample, variant, condition}))
}

func (o *origin) row(of crosstalk.Observation) Row {
	r := observationRow(of)
	r.text("run", o.run)
	r.text("version", o.version)
	r.text("signature", o.signature(of))
	if len(o.people) == 0 {
		return r
	}
	condition := map[string]string{}
	maps.Copy(condition, of.Condition)
	delete(condition, instrument.Of(of.Measure).Judge)
	for column, said := range o.people[placeOf(of.Measure, of.Item, of.Sample, of.Variant, condition)] {
		r.text(column, strings.Join(said, "; "))
	}
	return r
}

// signature returns the signature of the figure with the most observations of the measure and condition.
func (o *origin) signature(of crosstalk.Observation) string {
	var apart []string
	for _, column := range instrument.Apart() {
		if v, ok := of.Labels[column]; ok {
			apart = append(apart, column, v)
		}
	}
	key := string(crosstalk.Canonical([]any{of.Measure, of.Condition, apart}))
	if _, known := o.signatures[key]; !known {
		o.signatures[key] = ""
		if i := slices.IndexFunc(o.estimates, func(e crosstalk.Estimate) bool {
			fits := e.Measure == of.Measure
			for column, v := range e.By {
				fits = fits && (v == crosstalk.All || v == of.Column(column))
			}
			return fits
		}); i >= 0 {
			o.signatures[key] = o.estimates[i].Signature
		}
	}
	return o.signatures[key]
}
