package web

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/internal/visible"
	"crosstalk/web/index"
)

// filter is the search in a URL.
type filter struct {
	Text    string
	Where   map[string]string
	Noted   string // noted or notError: only answers that have one; "": all
	Order   index.Order
	columns []index.Column
}

// Values of the parameter of notes.
const (
	noted    = "note"
	notError = "no-error"
)

// field is a column to filter by.
type field struct {
	Name, Parameter string
	Chosen          string
	Values          []index.Value
}

// choice is a value to filter by, with a link to its answers.
type choice struct {
	Name   string
	N      int
	To     string
	Chosen bool
}

// is prefixes the parameters of columns, since columns can have any name.
const is = "is."

// newFilter reads a URL. A column without a value is ignored.
func newFilter(at *url.URL, columns []index.Column) filter {
	f := filter{Where: map[string]string{}, columns: columns}
	query := at.Query()
	if n := query.Get("noted"); n == noted || n == notError {
		f.Noted = n
	}
	if o := index.Order(query.Get("sort")); slices.Contains(index.Orders, o) {
		f.Order = o
	}
	f.Text = strings.TrimSpace(visible.Line(query.Get("q")))
	for name, values := range query {
		column, ok := strings.CutPrefix(name, is)
		if ok && len(values) > 0 && values[0] != "" {
			f.Where[visible.Line(column)] = visible.Line(values[0])
		}
	}
	return f
}

// to is the URL of a page of answers with this filter.
func (f filter) to(path string, more ...string) string {
	query := url.Values{}
	if f.Text != "" {
		query.Set("q", f.Text)
	}
	for c, v := range f.Where {
		query.Set(is+c, v)
	}
	if f.Noted != "" {
		query.Set("noted", f.Noted)
	}
	if f.Order != index.ByNumber {
		query.Set("sort", string(f.Order))
	}
	for i := 0; i+1 < len(more); i += 2 {
		query.Set(more[i], more[i+1])
	}
	return (&url.URL{Path: path, RawQuery: query.Encode()}).String()
}

// findings are the links to the findings, with the rest of the filter unchanged.
func (f filter) findings(path string) (list []choice) {
	i := slices.IndexFunc(f.columns, func(c index.Column) bool { return c.Name == index.Found })
	if i < 0 {
		return nil
	}
	for _, v := range f.columns[i].Values {
		chosen := f.Where[index.Found] == v.Name && f.Noted == ""
		list = append(list, choice{v.Name, v.N, f.with(v.Name, "").to(path), chosen})
	}
	return list
}

// marked are the links to the answers with notes and marks, if there are any.
func (f filter) marked(path string, m marks) (list []choice) {
	for _, c := range []struct {
		name, value string
		n           int
	}{{"with a note or a mark", noted, len(m.Noted)}, {"marked as no error", notError, len(m.NotError)}} {
		if c.n > 0 || f.Noted == c.value {
			list = append(list, choice{c.name, c.n, f.with("", c.value).to(path), f.Noted == c.value})
		}
	}
	return list
}

// with is the filter for a finding, or for notes, or for neither.
func (f filter) with(found, noted string) filter {
	f.Where, f.Noted = maps.Clone(f.Where), noted
	if f.Where[index.Found] = found; found == "" {
		delete(f.Where, index.Found)
	}
	return f
}

// query selects the answers of the filter.
func (f filter) query(m marks) index.Query {
	q := index.Query{Where: f.Where, Text: f.Text, Order: f.Order, Limit: perPage}
	switch f.Noted {
	case noted:
		q.Only = append([]int{}, m.Noted...)
	case notError:
		q.Only = append([]int{}, m.NotError...)
	}
	return q
}

// orders are the orders of answers to choose from.
func (f filter) orders(kind crosstalk.Kind) (list []option) {
	list = []option{{string(index.ByNumber), "order of the run", false}}
	if len(kind.Doubt) > 0 {
		list = append(list, option{string(index.Doubtful), "closest decisions first", false})
	}
	list = append(list, option{string(index.Longest), "longest first", false},
		option{string(index.Shortest), "shortest first", false})
	for i := range list {
		list[i].Chosen = list[i].Value == string(f.Order)
	}
	return list
}

// fields are the other columns to filter by: those with several values, and
// those in the filter.
func (f filter) fields(kind crosstalk.Kind) (list []field) {
	for _, c := range f.columns {
		chosen := f.Where[c.Name]
		if c.Name == index.Found || len(c.Values) < 2 && chosen == "" {
			continue
		}
		values := slices.Clone(c.Values)
		slices.SortFunc(values, func(a, b index.Value) int { return compareCells(a.Name, b.Name, order{}) })
		if chosen != "" && !slices.ContainsFunc(values, func(v index.Value) bool { return v.Name == chosen }) {
			values = append(values, index.Value{Name: chosen})
		}
		list = append(list, field{crosstalk.Words(c.Name), is + c.Name, chosen, values})
	}
	slices.SortStableFunc(list, func(a, b field) int {
		return cmp.Compare(rank(kind, a.Parameter[len(is):]), rank(kind, b.Parameter[len(is):]))
	})
	return list
}

// Kept are the choices that the form passes on unchanged.
func (f filter) Kept() (list []field) {
	if v := f.Where[index.Found]; v != "" {
		list = append(list, field{Parameter: is + index.Found, Chosen: v})
	}
	if f.Noted != "" {
		list = append(list, field{Parameter: "noted", Chosen: f.Noted})
	}
	return list
}

// rank orders the columns, the most useful first.
func rank(kind crosstalk.Kind, column string) int {
	first := append([]string{crosstalk.ModelColumn}, kind.Choices...)
	if i := slices.Index(first, column); i >= 0 {
		return i
	}
	return len(first)
}
