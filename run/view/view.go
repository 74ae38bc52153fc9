// Package view changes the columns of recorded observations: it pools conditions, selects values, groups values, and
// separates samples. It is independent of the instrument.
package view

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/internal/ordered"
)

// Columns that a view can add to the labels of observations.
const (
	SampleColumn = "sample" // the observation's sample, from 1
	ItemColumn   = "item"   // for View.Only: the observation's item
	GroupColumn  = "group"  // a group of the observation (Reader.Members)
)

// View specifies how to change observations. The zero value changes nothing.
type View struct {
	Pool   []string // columns whose values are pooled into one figure
	Only   []Choice // drop observations with other values
	Groups []Group  // the values of GroupColumn
}

// Choice is a selection of values of a column.
type Choice struct {
	Column string
	Values []string
}

// Group is a name for some values of a column. Groups may overlap, and may belong to different columns.
type Group struct {
	Name string
	Choice
}

// Empty reports whether the view leaves observations unchanged.
func (v View) Empty() bool { return len(v.Pool)+len(v.Only)+len(v.Groups) == 0 }

// Fields returns the fields that the view adds to the signatures of its figures.
func (v View) Fields() (fields []string) {
	if len(v.Pool) > 0 {
		fields = append(fields, "pool:"+strings.Join(v.Pool, ","))
	}
	for _, c := range v.Only {
		fields = append(fields, "only:"+c.String())
	}
	return fields
}

// Field returns the field that a group adds to the signatures of its figures.
func (g Group) Field() string { return "group:" + g.Choice.String() }

// String returns COLUMN=VALUE,...
func (c Choice) String() string { return c.Column + "=" + strings.Join(c.Values, ",") }

// ParseChoice reads COLUMN=VALUE,....
func ParseChoice(text string) (Choice, error) {
	column, values, _ := strings.Cut(text, "=")
	c := Choice{Column: strings.TrimSpace(column)}
	for value := range strings.SplitSeq(values, ",") {
		if value = strings.TrimSpace(value); value != "" && !slices.Contains(c.Values, value) {
			c.Values = append(c.Values, value)
		}
	}
	if c.Column == "" || c.Values == nil {
		return c, fmt.Errorf(" has %q; expected COLUMN=VALUE,... such as task=crosslingual", text)
	}
	return c, nil
}

// Chosen returns the view that keeps only some values, each text being COLUMN=VALUE,... as for the option only.
func Chosen(texts []string) (v View, err error) {
	for _, text := range texts {
		choice, err := ParseChoice(text)
		if err != nil {
			return v, crosstalk.BadOption("only", "%w", err)
		}
		v.Only = append(v.Only, choice)
	}
	return v, v.Check()
}

// ParseGroup reads COLUMN:NAME=VALUE,....
func ParseGroup(text string) (Group, error) {
	column, rest, _ := strings.Cut(text, ":")
	if name, _, _ := strings.Cut(rest, "="); strings.TrimSpace(name) != "" &&
		strings.TrimSpace(name) != crosstalk.All {
		choice, err := ParseChoice(column + rest[len(name):])
		if err == nil {
			return Group{strings.TrimSpace(name), choice}, nil
		}
	}
	return Group{}, fmt.Errorf(" has %q; expected COLUMN:NAME=VALUE,... such as language:Romance=es,fr,it", text)
}

// Check returns an error if the view contradicts itself.
func (v View) Check() error {
	for i, g := range v.Groups {
		if slices.ContainsFunc(v.Groups[:i], func(other Group) bool { return other.Name == g.Name }) {
			return fmt.Errorf("duplicate group %q", g.Name)
		}
	}
	for i, c := range v.Only {
		if slices.ContainsFunc(v.Only[:i], func(other Choice) bool { return other.Column == c.Column }) {
			return fmt.Errorf("values of %q are chosen twice; name them all at once", c.Column)
		}
	}
	return nil
}

// Reader applies a view to the observations of a run, one after the other.
type Reader struct {
	view    View
	sample  bool                       // labels have SampleColumn
	samples map[string]int             // numbers of pooled samples
	seen    map[string]map[string]bool // values found in the columns that the view names

	read    crosstalk.Observation   // the last observation, as recorded
	last    crosstalk.Observation   // the last observation that Read returned
	members []crosstalk.Observation // of last; nil until Members is called
}

// Reader returns a reader for figures by these columns. Labels get SampleColumn if it is among them or in the view.
func (v View) Reader(columns ...string) *Reader {
	r := &Reader{view: v, samples: map[string]int{}, seen: map[string]map[string]bool{}}
	r.sample = slices.Contains(slices.Concat(columns, v.columns()), SampleColumn)
	for _, column := range v.columns() {
		r.seen[column] = map[string]bool{}
	}
	return r
}

func (v View) columns() (columns []string) {
	columns = slices.Clone(v.Pool)
	for _, c := range v.Only {
		columns = append(columns, c.Column)
	}
	for _, g := range v.Groups {
		columns = append(columns, g.Column)
	}
	return columns
}

// Read returns the observation under the view, and false if the view drops it.
//
// In pooled columns, its value is crosstalk.All, and an item's pooled observations become different samples of the
// item. They keep the item's cluster, since all observations of an item, or of a larger cluster, are dependent.
func (r *Reader) Read(o crosstalk.Observation) (crosstalk.Observation, bool) {
	r.read = o
	for column, values := range r.seen {
		if v := r.value(column); v != "" && !values[v] {
			values[strings.Clone(v)] = true
		}
	}
	for _, c := range r.view.Only {
		if !slices.Contains(c.Values, r.value(c.Column)) {
			return o, false
		}
	}
	if r.sample {
		labels := make(map[string]string, len(o.Labels)+2)
		maps.Copy(labels, o.Labels)
		labels[SampleColumn] = strconv.Itoa(o.Sample + 1)
		o.Labels = labels
	}
	if len(r.view.Pool) > 0 {
		o = r.pool(o)
	}
	r.last, r.members = o, nil
	return o, true
}

// value returns the recorded observation's value in a column.
func (r *Reader) value(column string) string {
	switch v := r.read.Column(column); {
	case column == SampleColumn:
		return strconv.Itoa(r.read.Sample + 1)
	case column == ItemColumn && v == "":
		return r.read.Item
	default:
		return v
	}
}

func (r *Reader) pool(o crosstalk.Observation) crosstalk.Observation {
	o.Condition, o.Labels = maps.Clone(o.Condition), maps.Clone(o.Labels)
	key := strconv.Itoa(o.Sample)
	for _, column := range r.view.Pool {
		for _, columns := range []map[string]string{o.Condition, o.Labels} {
			if v, ok := columns[column]; ok {
				key += "\x00" + v
				columns[column] = crosstalk.All
			}
		}
	}
	if _, known := r.samples[key]; !known {
		r.samples[key] = len(r.samples)
	}
	o.Sample = r.samples[key]
	if o.Cluster == "" {
		o.Cluster = o.Item
	}
	return o
}

// Members returns the last observation of Read once for each of its groups, which GroupColumn names.
func (r *Reader) Members() []crosstalk.Observation {
	if r.members != nil {
		return r.members
	}
	r.members = []crosstalk.Observation{}
	for _, g := range r.view.Groups {
		if !slices.Contains(g.Values, r.value(g.Column)) {
			continue
		}
		one := r.last
		one.Labels = maps.Clone(r.last.Labels)
		one.Labels[GroupColumn] = g.Name
		r.members = append(r.members, one)
	}
	return r.members
}

// Check returns an error if the view names a column or value that no observation had. known lists all columns.
func (r *Reader) Check(known []string) error {
	for _, column := range r.view.columns() {
		if len(r.seen[column]) == 0 {
			return fmt.Errorf("unknown column %q; choose one of: %s", column, strings.Join(known, ", "))
		}
	}
	choices := slices.Clone(r.view.Only)
	for _, g := range r.view.Groups {
		choices = append(choices, g.Choice)
	}
	for _, c := range choices {
		for _, v := range c.Values {
			if !r.seen[c.Column][v] {
				return fmt.Errorf("no %s is %q; choose from: %s", c.Column, v,
					strings.Join(slices.Sorted(maps.Keys(r.seen[c.Column])), ", "))
			}
		}
	}
	return nil
}

const (
	Least    = "min"
	Mean     = "mean"
	Greatest = "max"
)

// Spread replaces the figures of the columns' values by three: the minimum, the unweighted mean and the maximum, with
// Least, Mean or Greatest in the first column and nothing in the others. Figures over all values are kept only if
// there are none of single values. Undefined figures are left out. The three have the largest n and no interval.
func Spread(estimates []crosstalk.Estimate, columns ...string) (spread []crosstalk.Estimate) {
	column := columns[0]
	estimates = slices.Clone(estimates)
	for i, e := range estimates {
		estimates[i].By = maps.Clone(e.By)
		for _, other := range columns[1:] {
			if v := e.By[other]; e.By[column] != "" && (v == "" || v == crosstalk.All) {
				estimates[i].By[column] = crosstalk.All
			}
			delete(estimates[i].By, other)
		}
	}
	key := func(e crosstalk.Estimate) string {
		e.By = e.Of()
		delete(e.By, column)
		return e.Key()
	}
	for _, figures := range ordered.Groups(estimates, key) {
		over := figures[0] // over all values together
		figures = slices.DeleteFunc(figures, func(e crosstalk.Estimate) bool {
			v := e.By[column]
			return v == "" || v == crosstalk.All
		})
		if len(figures) > 0 {
			spread = append(spread, spreadOf(figures, column)...)
		} else if over.By[column] == "" {
			spread = append(spread, over)
		}
	}
	return spread
}

func spreadOf(figures []crosstalk.Estimate, column string) (three []crosstalk.Estimate) {
	first := figures[0]
	of := crosstalk.Estimate{Measure: first.Measure, Unit: first.Unit, Better: first.Better,
		Signature: first.Signature, Counts: map[string]int{}}
	var values []float64
	for _, e := range figures {
		of.N, of.Clusters = max(of.N, e.N), max(of.Clusters, e.Clusters)
		of.Observations += e.Observations
		for name, n := range e.Counts {
			of.Counts[name] += n
		}
		for _, w := range e.Warnings {
			if !slices.Contains(of.Warnings, w) {
				of.Warnings = append(of.Warnings, w)
			}
		}
		if e.Value.Defined() {
			values = append(values, float64(e.Value))
		}
	}
	low, mean, high := math.NaN(), math.NaN(), math.NaN()
	if len(values) > 0 {
		low, mean, high = slices.Min(values), 0, slices.Max(values)
		for _, v := range values {
			mean += v / float64(len(values))
		}
	}
	for _, s := range []struct {
		name  string
		value float64
	}{{Least, low}, {Mean, mean}, {Greatest, high}} {
		e := of
		e.By = maps.Clone(first.By)
		e.By[column], e.Value = s.name, crosstalk.Value(s.value)
		three = append(three, e)
	}
	return three
}
