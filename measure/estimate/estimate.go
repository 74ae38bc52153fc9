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

// Signature joins the fields of the signature of a figure with these columns. It adds what was sent instead of the
// settings that were asked for, if a column says so, and the version. Within a field | and line breaks, which file
// names may have, become underscores.
func Signature(by map[string]string, fields ...string) string {
	var b strings.Builder
	if sent := by[crosstalk.SentColumn]; sent != "" {
		fields = append(fields[:len(fields):len(fields)], crosstalk.SentColumn+":"+sent)
	}
	for _, field := range fields {
		b.WriteString(unsafe.Replace(field))
		b.WriteByte('|')
	}
	return b.String() + "v" + crosstalk.Version
}

var unsafe = strings.NewReplacer("|", "_", "\n", "_", "\r", "_")

// Extend adds fields to a signature, before the version.
func Extend(signature string, fields ...string) string {
	at := strings.LastIndexByte(signature, '|') + 1
	for _, field := range fields {
		field = unsafe.Replace(field) + "|"
		signature = signature[:at] + field + signature[at:]
		at += len(field)
	}
	return signature
}
