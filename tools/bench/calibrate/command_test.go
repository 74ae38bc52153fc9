package main

import (
	"strings"
	"testing"
)

// The command measures the instruments that it names and refuses what it does not know.
func TestCommand(t *testing.T) {
	for args, want := range map[string]string{
		"-seeds 2 -rates 0.5,0.1 consistency": "reference:inconsistent?flip=0.5",
		"-seeds 0":                            "-seeds is 0; expected a number above 0",
		"-rates 2 leakage":                    "reference:leaky: rate is 2; expected a probability, 0 to 1",
		"now":                                 `unknown instrument "now"; choose one of: leakage, confusion, consistency`,
	} {
		var out strings.Builder
		err := command(t.Context(), &out, strings.Fields(args))
		if err != nil {
			out.WriteString(err.Error())
		}
		if !strings.Contains(out.String(), want) || strings.Contains(out.String(), "leaky?") {
			t.Errorf("%s: %s", args, &out)
		}
	}
}
