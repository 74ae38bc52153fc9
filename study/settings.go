package study

import (
	"cmp"
	"encoding/json"
	"strings"

	"crosstalk"
	"crosstalk/run"
)

// Settings returns the settings that were sent under a condition of a run's observations, by name: temperature "0",
// or "default" where none was sent. nil if the run does not know them, since its answers were recorded elsewhere.
// They do not include the model, and the room that it has for its thoughts.
func Settings(m run.Manifest) func(condition map[string]string) map[string]string {
	without := map[int][]string{}
	for _, a := range m.Adapted {
		without[a.Condition] = a.Without
	}
	return func(condition map[string]string) map[string]string {
		for i, planned := range m.Plan.Conditions {
			if planned.Prompting.API != "" && crosstalk.HasAll(condition, planned.Name) {
				c := Condition{Condition: planned, name: planned.Model.String()}
				return c.without(without[i]).settings()
			}
		}
		return nil
	}
}

func (c Condition) settings() map[string]string {
	sent := map[string]json.RawMessage{}
	d := c.Prompting.Decoding
	d.ReasoningTokens = 0
	extra := d.Extra
	d.Extra = nil
	json.Unmarshal(crosstalk.Canonical(d), &sent)
	settings := map[string]string{
		crosstalk.ParamTemperature: "default", crosstalk.ParamTopP: "default", crosstalk.ParamReasoning: "default",
		crosstalk.ParamMaxTokens: "none", crosstalk.ParamSeed: "none", crosstalk.ParamStop: "none",
		crosstalk.ParamSystem: cmp.Or(c.Prompting.System, "none"), "prefix": cmp.Or(c.Prompting.Prefix, "none"),
		"api": string(c.Prompting.API),
	}
	for name, value := range sent {
		settings[name] = strings.Trim(string(value), `"`)
	}
	for name, value := range extra {
		settings[name] = string(crosstalk.Canonical(value))
	}
	for name, value := range c.Format {
		settings[name] = value
	}
	return settings
}
