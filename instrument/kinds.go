// Package instrument lists the instruments. Reports, the web pages and exports
// know of them what their Kinds say, and nothing else.
package instrument

import (
	"encoding/json"
	"fmt"
	"slices"

	"crosstalk"
	"crosstalk/instrument/confusion"
	"crosstalk/instrument/consistency"
	"crosstalk/instrument/leakage"
	"crosstalk/internal/ordered"
)

// instruments are all: how each is shown, and how its rules are read from a
// run's manifest.
var instruments = []struct {
	kind  crosstalk.Kind
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

// ReadRules reads the rules that a run of the named instrument was scored by,
// as its manifest has them.
func ReadRules(name string, text json.RawMessage) (crosstalk.Rules, error) {
	for _, in := range instruments {
		if in.kind.Name == name {
			return in.rules(text)
		}
	}
	return nil, fmt.Errorf("unknown instrument %q", name)
}

// Kinds are the kinds of all instruments. No two have a measure in common.
var Kinds = func() (kinds []crosstalk.Kind) {
	for _, in := range instruments {
		kinds = append(kinds, in.kind)
	}
	return kinds
}()

// Named returns the kind of an instrument. Of an unknown one it has the name
// only.
func Named(name string) crosstalk.Kind {
	if i := slices.IndexFunc(Kinds, func(k crosstalk.Kind) bool { return k.Name == name }); i >= 0 {
		return Kinds[i]
	}
	return crosstalk.Kind{Name: name, Title: name}
}

// Of returns the kind of the instrument that has a measure, an empty one if
// none has.
func Of(measure string) crosstalk.Kind {
	if i, ok := byMeasure[measure]; ok {
		return Kinds[i]
	}
	return crosstalk.Kind{}
}

// Measure returns what is known of a measure, as Kind.Measure does.
func Measure(key string) crosstalk.Measure { return Of(key).Measure(key) }

var byMeasure = func() map[string]int {
	kinds := map[string]int{}
	for i, k := range Kinds {
		for _, m := range k.Measures {
			kinds[m.Key] = i
		}
	}
	return kinds
}()

// Apart are the columns whose values never share a table, in the order in which
// tables name them.
var Apart = func() []string {
	apart := []string{crosstalk.ModelColumn}
	for _, k := range Kinds {
		var columns []string
		for _, c := range k.Columns {
			if c.Apart {
				columns = append(columns, c.Key)
			}
		}
		apart = ordered.Merge(apart, columns, func(key string) string { return key })
	}
	return apart
}()
