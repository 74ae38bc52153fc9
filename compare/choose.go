package compare

import (
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
	across      []string // fields in which their signatures differ
}

// describe formats a condition in one line. If another condition is given, only
// columns with different values appear.
func describe(condition, other map[string]string) string {
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
	for _, text := range o.Pairs {
		if _, err := t.swapOf(text); err != nil {
			return err
		}
	}
	return o.checkReference(t.sides)
}

func columnsOf(sides []*side) []string {
	columns := map[string]bool{}
	for _, s := range sides {
		for column := range s.condition {
			columns[column] = true
		}
	}
	return sorted(columns)
}

func valuesOf(sides []*side, columns ...string) []string {
	values := map[string]bool{}
	for _, s := range sides {
		for column, value := range s.condition {
			if slices.Contains(columns, column) {
				values[value] = true
			}
		}
	}
	return sorted(values)
}

// swap is two values of a column: the conditions with the first are compared with those with the second.
type swap struct{ column, of, against string }

// swapOf reads "NEW=OLD". Values may contain equals signs.
func (t *table) swapOf(text string) (swap, error) {
	columns := columnsOf(t.sides)
	for i, c := range text {
		if c != '=' {
			continue
		}
		of, against := text[:i], text[i+1:]
		for _, column := range columns {
			if values := valuesOf(t.sides, column); slices.Contains(values, of) && slices.Contains(values, against) {
				return swap{column, of, against}, nil
			}
		}
	}
	return swap{}, fmt.Errorf("cannot read the pair %q; expected NEW=OLD, two values of a column; the values are %s",
		text, strings.Join(valuesOf(t.sides, columns...), ", "))
}

// namedPairs pairs the figures of the conditions of Options.Pairs that are else alike.
func (c *choice) namedPairs(figures []figure) {
	for _, text := range c.Pairs {
		s, _ := c.table.swapOf(text) // checked before
		for _, of := range figures {
			if of.side.condition[s.column] != s.of {
				continue
			}
			wanted := maps.Clone(of.side.condition)
			wanted[s.column] = s.against
			for _, against := range figures {
				if maps.Equal(against.side.condition, wanted) {
					c.add(of, against)
				}
			}
		}
	}
}

func (o Options) checkReference(sides []*side) error {
	for _, column := range sorted(o.Reference) {
		switch values := valuesOf(sides, column); {
		case len(values) == 0:
			return crosstalk.UnknownName("column", column, columnsOf(sides))
		case !slices.Contains(values, o.Reference[column]):
			return fmt.Errorf("no condition has %s %s; choose one of: %s", column, o.Reference[column],
				strings.Join(values, ", "))
		}
	}
	matches := 0
	for _, s := range sides {
		if crosstalk.HasAll(s.condition, o.Reference) {
			matches++
		}
	}
	switch {
	case len(o.Reference) > 0 && matches == 0:
		return fmt.Errorf("no condition matches the reference %s", describe(o.Reference, nil))
	case len(o.Reference) > 0 && matches == len(sides):
		return fmt.Errorf("every condition matches the reference %s: nothing is left to compare it with",
			describe(o.Reference, nil))
	}
	return nil
}

func (o Options) choose(t *table) ([]pair, []Refusal) {
	c := choice{o, t, nil, []Refusal{}}
	for _, figures := range o.families(t) {
		figures = slices.DeleteFunc(figures, func(f figure) bool {
			if t.averages(f) {
				return false
			}
			c.refused = append(c.refused, f.refusal(NoAverage))
			return true
		})
		switch {
		case o.AllPairs:
			for i, against := range figures {
				for _, of := range figures[i+1:] {
					c.add(of, against)
				}
			}
		case len(o.Pairs) > 0:
			c.namedPairs(figures)
		default:
			c.withReference(figures)
		}
	}
	return c.pairs, c.refused
}

// averages reports whether a figure is an average of available observations.
func (t *table) averages(f figure) bool {
	return !slices.ContainsFunc(t.averageOf(f).measures, func(name string) bool { return f.side.values[name] == nil })
}

// families are the groups of comparable figures: by measure in the order of their first appearance, then by group.
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

// outermost marks the figures that are part of no other figure of their measure and side: the totals.
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

// withReference pairs every figure with the nearest comparable one of the reference: the one with the fewest
// differing columns of the condition, the first among equals. Without a stated reference it is the first run.
// Within one run it is the first condition, and the first of those that are not comparable with it.
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
		nearer := func(a, b figure) int { return distance(f, a) - distance(f, b) }
		alike := slices.DeleteFunc(slices.Clone(references), func(r figure) bool {
			_, ok := c.comparable(r, f)
			return !ok
		})
		switch {
		case len(alike) > 0:
			c.add(f, slices.MinFunc(alike, nearer))
			continue
		case len(references) > 0:
			c.add(f, slices.MinFunc(references, nearer))
		default:
			c.refused = append(c.refused, f.refusal(NoCounterpart))
		}
		if free {
			references = append(references, f)
		}
	}
}

func distance(a, b figure) (n int) {
	for column, value := range a.side.condition {
		if b.side.condition[column] != value {
			n++
		}
	}
	return n
}
