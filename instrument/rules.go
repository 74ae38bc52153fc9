// Package instrument is the table of instruments: what other packages need to
// know of them without knowing one.
package instrument

import (
	"encoding/json"
	"fmt"

	"crosstalk"
	"crosstalk/instrument/confusion"
	"crosstalk/instrument/consistency"
	"crosstalk/instrument/leakage"
)

// scored is what a run keeps of an instrument's scoring.
type scored struct {
	read func(json.RawMessage) (crosstalk.Rules, error)
	// columns can be grouped by though no observation has them.
	columns []string
}

var scoredBy = map[string]scored{
	"leakage":     {read: read[leakage.Rules]},
	"confusion":   {read: read[confusion.Rules]},
	"consistency": {read: read[consistency.Rules], columns: []string{consistency.ByClass}},
}

func read[R crosstalk.Rules](text json.RawMessage) (crosstalk.Rules, error) {
	var rules R
	err := json.Unmarshal(text, &rules)
	return rules, err
}

// ReadRules reads the rules that a run of the named instrument was scored by,
// as its manifest has them.
func ReadRules(name string, text json.RawMessage) (crosstalk.Rules, error) {
	of, known := scoredBy[name]
	if !known {
		return nil, fmt.Errorf("unknown instrument %q", name)
	}
	return of.read(text)
}

// ExtraColumns are columns that figures of the named instrument can be grouped
// by though no observation has them.
func ExtraColumns(name string) []string { return scoredBy[name].columns }
