// Package instrument lists the instruments. Reports, web pages and exports use only their Kinds.
package instrument

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"crosstalk"
	"crosstalk/instrument/confusion"
	"crosstalk/instrument/consistency"
	"crosstalk/instrument/leakage"
	"crosstalk/internal/ordered"
)

// instruments lists all instruments: how each is shown, and how its rules are read from a run's manifest.
var instruments = []struct {
	kind  func() crosstalk.Kind
	rules func(json.RawMessage) (crosstalk.Rules, error)
}{
	{leakage.Kind, rules[leakage.Rules]},
	{confusion.Kind, rules[confusion.Rules]},
	{consistency.Kind, rules[consistency.Rules]},
}

func rules[R crosstalk.Rules](text json.RawMessage) (crosstalk.Rules, error) {
	var r R
	err := json.Unmarshal(text, &r)
	return r, err
}

// ReadRules reads the rules that a run of the named instrument was scored by, from its manifest.
func ReadRules(name string, text json.RawMessage) (crosstalk.Rules, error) {
	for _, in := range instruments {
		if in.kind().Name == name {
			return in.rules(text)
		}
	}
	return nil, fmt.Errorf("unknown instrument %q", name)
}

// Kinds returns the kinds of all instruments. No two share a measure.
var Kinds = sync.OnceValue(func() (kinds []crosstalk.Kind) {
	for _, in := range instruments {
		kinds = append(kinds, in.kind())
	}
	return kinds
})

// Named returns the kind of an instrument. For an unknown instrument, it has only the name.
func Named(name string) crosstalk.Kind {
	if i := slices.IndexFunc(Kinds(), func(k crosstalk.Kind) bool { return k.Name == name }); i >= 0 {
		return Kinds()[i]
	}
	return crosstalk.Kind{Name: name, Title: name}
}

// Of returns the kind of the instrument that has the measure, or an empty kind.
func Of(measure string) crosstalk.Kind {
	if i, ok := byMeasure()[measure]; ok {
		return Kinds()[i]
	}
	return crosstalk.Kind{}
}

// IsFault reports whether a measure is an instrument's measure of any fault.
func IsFault(measure string) bool { return measure != "" && Of(measure).Faults.Measure == measure }

// Chosen reports whether a user's list of measures contains a measure. crosstalk.AnyFault stands for every
// instrument's.
func Chosen(named []string, measure string) bool {
	return slices.Contains(named, measure) || slices.Contains(named, crosstalk.AnyFault) && IsFault(measure)
}

// Measure returns a measure of any instrument, as Kind.Measure does.
func Measure(key string) crosstalk.Measure { return Of(key).Measure(key) }

var byMeasure = sync.OnceValue(func() map[string]int {
	kinds := map[string]int{}
	for i, k := range Kinds() {
		for _, m := range k.Measures {
			kinds[m.Key] = i
		}
	}
	return kinds
})

// Apart returns the columns whose values never share a table, in the order in which tables name them.
var Apart = sync.OnceValue(func() []string {
	apart := []string{crosstalk.ModelColumn, crosstalk.SentColumn}
	for _, k := range Kinds() {
		var columns []string
		for _, c := range k.Columns {
			if c.Apart {
				columns = append(columns, c.Key)
			}
		}
		apart = ordered.Merge(apart, columns, func(key string) string { return key })
	}
	return apart
})
