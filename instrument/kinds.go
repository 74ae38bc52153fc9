// Package instrument lists the instruments. Reports, the web pages and exports
// know of them what their Kinds say, and nothing else.
package instrument

import (
	"slices"

	"crosstalk"
	"crosstalk/instrument/confusion"
	"crosstalk/instrument/consistency"
	"crosstalk/instrument/leakage"
	"crosstalk/internal/ordered"
)

// Kinds are the kinds of all instruments. No two have a measure in common.
var Kinds = []crosstalk.Kind{leakage.Kind, confusion.Kind, consistency.Kind}

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
