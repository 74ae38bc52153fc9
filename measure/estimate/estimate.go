package estimate

import (
	"strings"

	"crosstalk"
	"crosstalk/measure/stats"
)

// Set fills in a figure's value, with its interval and warnings.
func Set(e *crosstalk.Estimate, value float64, interval stats.Interval, warnings []stats.Warning) {
	e.Value, e.Interval = crosstalk.Value(value), interval.Known()
	for _, w := range warnings {
		e.Warnings = append(e.Warnings, w.String())
	}
}

// Signature joins the fields of a signature, and adds the version. Within a
// field | and line breaks, which file names may have, become underscores.
func Signature(fields ...string) string {
	var b strings.Builder
	for _, field := range fields {
		b.WriteString(unsafe.Replace(field))
		b.WriteByte('|')
	}
	return b.String() + "v" + crosstalk.Version
}

var unsafe = strings.NewReplacer("|", "_", "\n", "_", "\r", "_")
