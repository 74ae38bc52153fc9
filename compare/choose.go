package compare

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/internal/ordered"
)

// pair is two comparable figures of the same measure and group.
type pair struct {
	of, against figure
	across      []string // signature fields in which they differ
}

// Describe formats a condition in one line. Given another condition, it lists only columns with different values.
func Describe(condition, other map[string]string) string {
	var parts []string
	for _, column := range sorted(condition) {
		if value, ok := other[column]; !ok || value != condition[column] {
			parts = append(parts, column+" "+condition[column])
		}
	}
	return strings.Join(parts, ", ")
}

func (o Options) check(t *table) error {
	if len(t.figures) == 0 {
		return fmt.Errorf("there are no figures to compare")
	}
	measures, fields := map[string]bool{}, map[string]bool{acrossAll: true}
	for _, f := range t.figures {
		measures[f.Measure] = true
		for name := range fieldsOf(f.Signature) {
			fields[name] = true
		}
	}
	for _, m := range o.Measures {
		if !measures[m] {
			return crosstalk.UnknownName("measure", m, sorted(measures))
		}
	}
	for _, name := range o.Across {
		if !fields[name] {
			return crosstalk.UnknownName("signature field", name, sorted(fields))
		}
	}
	for _, column := range sorted(o.Reference) {
		switch values := valuesOf(t.sides, column); {
		case len(values) == 0:
			return crosstalk.UnknownName("column", column, columnsOf(t.sides))
		case !slices.Contains(values, o.Reference[column]):
			return fmt.Errorf("no condition has %s %s; choose one of: %s", column, o.Reference[column],
				strings.Join(values, ", "))
		}
	}
	matches := 0
	for _, s := range t.sides {
		if crosstalk.HasAll(s.condition, o.Reference) {
			matches++
		}
	}
	switch {
	case len(o.Reference) > 0 && matches == 0:
		return fmt.Errorf("no condition matches the reference %s", Describe(o.Reference, nil))
	case len(o.Reference) > 0 && matches == len(t.sides):
		return fmt.Errorf("every condition matches the reference %s: nothing is left to compare it with",
			Describe(o.Reference, nil))
	}
	return nil
}

func columnsOf(sides []*side) []string {
	columns := map[string]string{}
	for _, s := range sides {
		maps.Copy(columns, s.condition)
	}
	return sorted(columns)
}

func valuesOf(sides []*side, column string) []string {
	values := map[string]bool{}
	for _, s := range sides {
		if value, has := s.condition[column]; has {
			values[value] = true
		}
	}
	return sorted(values)
}

func (o Options) choose(t *table) ([]pair, []Refusal) {
	c := choice{Options: o, table: t, refused: []Refusal{}, alike: map[[2]string]bool{}}
	for _, figures := range o.families(t) {
		figures = slices.DeleteFunc(figures, func(f figure) bool {
			lacks := func(measure string) bool { return f.side.values[measure] == nil }
			unknown := slices.ContainsFunc(t.averageOf(f).measures, lacks)
			if unknown {
				c.refused = append(c.refused, f.refusal(NoAverage))
			}
			return unknown
		})
		switch {
		case o.AllPairs:
			for i, against := range figures {
				for _, of := range figures[i+1:] {
					c.add(of, against)
				}
			}
		default:
			c.withReference(figures)
		}
	}
	return c.pairs, c.refused
}

// families groups comparable figures: by measure in the order of their first appearance, then by group.
func (o Options) families(t *table) [][]figure {
	outer := outermost(t.figures)
	var chosen []figure
	for i, f := range t.figures {
		if o.wants(f.Measure) && (o.Groups || outer[i]) {
			chosen = append(chosen, f)
		}
	}
	families := ordered.Groups(chosen, func(f figure) string { return f.key })
	return slices.Concat(ordered.Groups(families, func(family []figure) string { return family[0].Measure })...)
}

// outermost marks the totals: figures that are part of no other figure of their measure and side.
func outermost(figures []figure) []bool {
	type place struct {
		*side
		measure string
	}
	of := map[place][]int{}
	for i, f := range figures {
		at := place{f.side, f.Measure}
		of[at] = append(of[at], i)
	}
	outer := make([]bool, len(figures))
	for i, f := range figures {
		outer[i] = !slices.ContainsFunc(of[place{f.side, f.Measure}],
			func(j int) bool { return within(f.group, figures[j].group) })
	}
	return outer
}

// within reports whether a group is a proper part of another.
func within(part, whole map[string]string) bool {
	return crosstalk.HasAll(part, whole) && len(part) > len(whole)
}

type choice struct {
	Options
	table   *table
	pairs   []pair
	refused []Refusal
	alike   map[[2]string]bool // pairs of signatures: whether figures are comparable
}

// add pairs two figures, or refuses them if they are not comparable.
func (c *choice) add(of, against figure) {
	fields, ok := c.comparable(against, of)
	if ok {
		c.pairs = append(c.pairs, pair{of, against, sorted(fields)})
		return
	}
	r := of.refusal(Incomparable)
	r.Reference, r.Fields = against.side.condition, fields
	c.refused = append(c.refused, r)
}

// withReference pairs every figure with the nearest comparable one of the reference: the one with the fewest differing
// columns of the condition, or the first of several. If no reference is stated, it is the first run. Within one run, it
// is the first condition, and for conditions that are not comparable with it, the first of those.
func (c *choice) withReference(figures []figure) {
	var references, others []figure
	for i, f := range figures {
		isReference := i == 0
		if len(c.Reference) > 0 {
			isReference = crosstalk.HasAll(f.side.condition, c.Reference)
		} else if c.table.several {
			isReference = f.side.run == 0
		}
		if isReference {
			references = append(references, f)
		} else {
			others = append(others, f)
		}
	}
	free := len(c.Reference) == 0 && !c.table.several
	for _, f := range others {
		i, alike := c.nearest(f, references)
		if i < 0 {
			c.refused = append(c.refused, f.refusal(NoCounterpart))
		} else {
			c.add(f, references[i])
		}
		if alike {
			continue
		}
		if free {
			references = append(references, f)
		}
	}
}

// nearest returns the place of the reference to compare a figure with, and whether the two are comparable; -1 if there
// is none.
func (c *choice) nearest(f figure, references []figure) (best int, alike bool) {
	best, least := -1, 0
	for i, r := range references {
		signatures := [2]string{r.Signature, f.Signature}
		comparable, known := c.alike[signatures]
		if !known { // there may be a million pairs of figures, but they have few signatures
			_, comparable = c.comparable(r, f)
			c.alike[signatures] = comparable
		}
		if n := distance(f, r); best < 0 || comparable && !alike || comparable == alike && n < least {
			best, alike, least = i, comparable, n
		}
	}
	return best, alike
}

func distance(a, b figure) (n int) {
	for column, value := range a.side.condition {
		if b.side.condition[column] != value {
			n++
		}
	}
	return n
}

// Refusal is a figure that could not be compared.
type Refusal struct {
	Subject                      // with the nearest reference; empty if none has such a figure
	Reason  string               `json:"reason"`
	Fields  map[string][2]string `json:"fields,omitempty"` // signature fields that differ: reference, condition
}

// Reasons of refusals.
const (
	Incomparable  = "signatures differ"
	NoCounterpart = "the reference has no such figure"
	NoAverage     = "the figure is not an average of observations"
)

// String returns the reason, and both values of the fields that differ.
func (r Refusal) String() string {
	what := crosstalk.Words(r.Measure)
	if by := Describe(r.By, nil); by != "" {
		what += " (" + by + ")"
	}
	if r.Reason != Incomparable {
		return fmt.Sprintf("%s under %s: %s", what, Describe(r.Condition, nil), r.Reason)
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
		Describe(r.Reference, r.Condition), Describe(r.Condition, r.Reference), strings.Join(fields, "; "),
		strings.Join(sorted(r.Fields), ","), anyway)
}

func (f figure) refusal(reason string) Refusal {
	return Refusal{Subject: Subject{f.Measure, f.group, f.side.condition, map[string]string{}}, Reason: reason}
}

// acrossAll selects all fields of signatures.
const acrossAll = "all"

// suiteField is the field of signatures that names the suite: leakage-en@5a0c6f1e.
const suiteField = "suite"

// sameItems reports whether two suite names have the same fingerprint of items. A suite of recorded answers is named
// after its file: answers of before.csv and after.csv to the same items can be compared.
func sameItems(a, b string) bool {
	_, of, _ := strings.Cut(a, "@")
	_, other, _ := strings.Cut(b, "@")
	return of == other && of != "" && !strings.Contains(of, "@") // names of several suites have several @
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
