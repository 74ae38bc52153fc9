package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"crosstalk"
)

// Refusal is a figure that could not be compared.
type Refusal struct {
	Measure   string               `json:"measure"`
	By        map[string]string    `json:"by"`
	Condition map[string]string    `json:"condition"`
	Reference map[string]string    `json:"reference"` // the nearest; empty if none has such a figure
	Reason    string               `json:"reason"`
	Fields    map[string][2]string `json:"fields,omitempty"` // that differ in signatures: reference, condition
}

// Reasons of refusals.
const (
	Incomparable  = "signatures differ"
	NoCounterpart = "the reference has no such figure"
	NoAverage     = "the figure is not an average of observations"
)

// String gives the reason, and the fields that differ with both values.
func (r Refusal) String() string {
	what := crosstalk.Words(r.Measure)
	if by := describe(r.By, nil); by != "" {
		what += " (" + by + ")"
	}
	if r.Reason != Incomparable {
		return fmt.Sprintf("%s under %s: %s", what, describe(r.Condition, nil), r.Reason)
	}
	var fields []string
	for _, name := range sorted(r.Fields) {
		of := r.Fields[name]
		fields = append(fields, fmt.Sprintf("%s is %s and %s", name, cmp.Or(of[0], "-"), cmp.Or(of[1], "-")))
	}
	anyway := "to compare anyway"
	if _, suite := r.Fields[suiteField]; suite && len(r.Fields) == 1 {
		anyway = "to compare the items whose ids both have"
	}
	return fmt.Sprintf("%s was measured differently under %s and under %s: %s (use --across %s %s)", what,
		describe(r.Reference, r.Condition), describe(r.Condition, r.Reference), strings.Join(fields, "; "),
		strings.Join(sorted(r.Fields), ","), anyway)
}

func (f figure) refusal(reason string) Refusal {
	return Refusal{Measure: f.Measure, By: f.group, Condition: f.side.condition, Reference: map[string]string{},
		Reason: reason}
}

// acrossAll selects all fields of signatures.
const acrossAll = "all"

// suiteField is the field of signatures that names the suite: leakage-en@5a0c6f1e.
const suiteField = "suite"

// sameItems reports whether two names of suites have the same fingerprint of items. The suite of recorded answers
// is called as their file: answers of before.csv and after.csv to the same items can be compared.
func sameItems(a, b string) bool {
	_, of, _ := strings.Cut(a, "@")
	_, other, _ := strings.Cut(b, "@")
	return of == other && of != "" && !strings.Contains(of, "@") // names of several suites have several
}

// comparable returns the fields in which two figures' signatures differ, and
// whether these differences are allowed. Suites with the same items do not differ.
func (o Options) comparable(against, of figure) (map[string][2]string, bool) {
	fields, ok := map[string][2]string{}, true
	a, b := fieldsOf(against.Signature), fieldsOf(of.Signature)
	for _, side := range []map[string]string{a, b} {
		for name := range side {
			if a[name] != b[name] && !(name == suiteField && sameItems(a[name], b[name])) {
				fields[name] = [2]string{a[name], b[name]}
				ok = ok && (slices.Contains(o.Across, name) || slices.Contains(o.Across, acrossAll))
			}
		}
	}
	return fields, ok
}

// fieldsOf splits a signature: measure|field:value|flag|v0.1.0.
func fieldsOf(signature string) map[string]string {
	fields := map[string]string{}
	for i, part := range strings.Split(signature, "|") {
		name, value, stated := strings.Cut(part, ":")
		switch {
		case i == 0:
		case stated:
			fields[name] = value
		case strings.HasPrefix(part, "v") && strings.ContainsAny(part, "0123456789"):
			fields["version"] = part[1:]
		default:
			fields[part] = "yes"
		}
	}
	return fields
}
