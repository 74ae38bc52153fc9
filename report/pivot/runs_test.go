package pivot

import (
	"slices"
	"strings"
	"testing"

	"crosstalk/report"
	"crosstalk/run/view"
)

// A table adds the rows and columns that it implies, and crosses all of them.
func TestComplete(t *testing.T) {
	table := Table{Rows: []string{"model"}, Columns: []string{Measure}, Pool: []string{"temperature"}, Only: []string{"task=b,a"},
		Group: []string{"language:Romance=es,fr"}, Spread: []string{view.SampleColumn, "top_p"}}
	if err := table.Complete(); err != nil {
		t.Fatal(err)
	}
	if want := []string{"model", view.GroupColumn}; !slices.Equal(table.Rows, want) {
		t.Errorf("rows %q, want %q", table.Rows, want)
	}
	if want := []string{Measure, view.SampleColumn}; !slices.Equal(table.Columns, want) {
		t.Errorf("columns %q, want %q", table.Columns, want)
	}
	if want := []string{view.SampleColumn, "model", view.GroupColumn, "top_p"}; !slices.Equal(table.Cross(), want) {
		t.Errorf("crosses %q, expected %q", table.Cross(), want)
	}
	if v := table.View(); len(v.Only) != 1 || len(v.Groups) != 1 || !slices.Equal(v.Pool, []string{"temperature"}) {
		t.Errorf("%+v", v)
	}
	o := table.Layout(report.Names{"a": "A"}, []string{"model"})
	if !slices.Equal(o.Order["task"], []string{"b", "a"}) || !slices.Equal(o.Order[view.GroupColumn], []string{"Romance"}) ||
		o.Names["a"] != "A" || !slices.Equal(o.Compete, []string{"model"}) {
		t.Errorf("%+v", o)
	}
	rows, columns := slices.Clone(table.Rows), slices.Clone(table.Columns)
	if err := table.Complete(); err != nil || !slices.Equal(table.Rows, rows) || !slices.Equal(table.Columns, columns) ||
		len(table.view.Only) != 1 || len(table.view.Groups) != 1 {
		t.Errorf("a second time: %+v, %v", table, err)
	}
}

func TestCompleteRefuses(t *testing.T) {
	for want, table := range map[string]Table{
		`only has "task"; expected COLUMN=VALUE`:                   {Only: []string{"task"}},
		`group has "a=b"; expected COLUMN:NAME=VALUE`:              {Group: []string{"a=b"}},
		"duplicate group":                                          {Group: []string{"a:n=b", "a:n=c"}},
		"pool model leaves one value of model: it cannot be among": {Rows: []string{"model"}, Pool: []string{"model"}},
		"rows or --columns is missing":                             {Beside: []string{"n"}},
		"model is named twice":                                     {Rows: []string{"model"}, Columns: []string{"model"}},
		"change beside a figure is from the first row":             {Columns: []string{"model"}, Beside: []string{"change"}},
		`unknown "mood" beside a figure`:                           {Rows: []string{"model"}, Beside: []string{"mood"}},
	} {
		if err := table.Complete(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
