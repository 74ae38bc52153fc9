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

// ReadRules reads the rules that a run of the named instrument was scored by,
// as its manifest has them.
func ReadRules(name string, text json.RawMessage) (crosstalk.Rules, error) {
	switch name {
	case "leakage":
		return readRules[leakage.Rules](text)
	case "confusion":
		return readRules[confusion.Rules](text)
	case "consistency":
		return readRules[consistency.Rules](text)
	}
	return nil, fmt.Errorf("unknown instrument %q", name)
}

func readRules[R crosstalk.Rules](text json.RawMessage) (crosstalk.Rules, error) {
	var rules R
	err := json.Unmarshal(text, &rules)
	return rules, err
}
