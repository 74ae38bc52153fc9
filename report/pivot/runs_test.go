package pivot

import (
	"slices"
	"strings"
	"testing"

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
	f := table.Figures(nil, []string{"lpr"})
	if want := []string{view.SampleColumn, "model", view.GroupColumn, "top_p"}; !slices.Equal(f.Cross, want) ||
		len(f.View.Only) != 1 || len(f.View.Groups) != 1 {
		t.Errorf("%+v; expected to cross %q", f, want)
	}
	o, err := table.Layout(nil)
	if err != nil || !slices.Equal(o.Order["task"], []string{"b", "a"}) || !slices.Equal(o.Order[view.GroupColumn], []string{"Romance"}) {
		t.Errorf("%v, %v", o.Order, err)
	}
	if !slices.Equal(f.View.Pool, []string{"temperature"}) {
		t.Errorf("pooled are %q", f.View.Pool)
	}
	rows, columns := slices.Clone(table.Rows), slices.Clone(table.Columns)
	if err := table.Complete(); err != nil || !slices.Equal(table.Rows, rows) || !slices.Equal(table.Columns, columns) ||
		len(table.view.Only) != 1 || len(table.view.Groups) != 1 {
		t.Errorf("a second time: %+v, %v", table, err)
	}
	list := Table{Only: []string{"task=a"}}
	if err := list.Complete(); err != nil || list.LaidOut() || list.Figures([]string{"task"}, nil).Cross != nil {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestCompleteRefuses(t *testing.T) {
	for want, table := range map[string]Table{
		`only has "task"; expected COLUMN=VALUE`:                   {Only: []string{"task"}},
		`group has "a=b"; expected COLUMN:NAME=VALUE`:              {Group: []string{"a=b"}},
		"duplicate group":                                          {Group: []string{"a:n=b", "a:n=c"}},
		"pool model leaves one value of model: it cannot be among": {Rows: []string{"model"}, Pool: []string{"model"}},
		"with belongs to a table":                                  {Beside: []string{"n"}},
		"model is named twice":                                     {Rows: []string{"model"}, Columns: []string{"model"}},
		"change beside a figure is from the first row":             {Columns: []string{"model"}, Beside: []string{"change"}},
		`unknown "mood" beside a figure`:                           {Rows: []string{"model"}, Beside: []string{"mood"}},
	} {
		if err := table.Complete(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	several := Table{}
	if _, err := several.Of([]string{"a", "b"}, nil, nil); err == nil || !strings.HasPrefix(err.Error(), "several runs need a table: ") {
		t.Errorf("%v", err)
	}
	twice := Table{Rows: []string{"model"}}
	if _, err := twice.Of([]string{"a"}, []string{"task"}, nil); err != ErrTwoGroupings {
		t.Errorf("%v", err)
	}
}
