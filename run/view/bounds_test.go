package view

import (
	"fmt"
	"slices"
	"testing"

	"crosstalk"
)

// The signature of a figure names what is pooled, chosen and grouped.
func TestFields(t *testing.T) {
	v := View{Pool: []string{"model", "temperature"}, Only: []Choice{{"task", []string{"a", "b"}}, {"language", []string{"de"}}}}
	if got, want := v.Fields(), []string{"pool:model,temperature", "only:task=a,b", "only:language=de"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := (View{Only: v.Only[1:]}).Fields(); !slices.Equal(got, []string{"only:language=de"}) {
		t.Errorf("without pooled columns: %q", got)
	}
	if got := (View{Pool: v.Pool[:1]}).Fields(); !slices.Equal(got, []string{"pool:model"}) {
		t.Errorf("of one pooled column: %q", got)
	}
	if got := (View{}).Fields(); len(got) > 0 {
		t.Errorf("of all as it is: %q", got)
	}
	if got := (Group{"x", v.Only[0]}).Field(); got != "group:task=a,b" {
		t.Errorf("of a group: %q", got)
	}
}

// Samples are labels only where somebody asked for them, and pooling changes only its columns.
func TestReadUnchanged(t *testing.T) {
	o := observation("a", 1, map[string]string{"model": "m"}, map[string]string{"language": "de"})
	for _, c := range []struct {
		view    View
		columns []string
		want    string
	}{
		{View{}, nil, "map[model:m] map[language:de] 1"},
		{View{}, []string{"model"}, "map[model:m] map[language:de] 1"},
		{View{}, []string{SampleColumn}, "map[model:m] map[language:de sample:2] 1"},
		{View{Only: []Choice{{SampleColumn, []string{"2"}}}}, nil, "map[model:m] map[language:de sample:2] 1"},
		{View{Pool: []string{"language"}}, nil, "map[model:m] map[language:all] 0"},
		{View{Pool: []string{"task"}}, nil, "map[model:m] map[language:de] 0"},
	} {
		got, in := c.view.Reader(c.columns...).Read(o)
		if !in || fmt.Sprint(got.Condition, got.Labels, got.Sample) != c.want {
			t.Errorf("%v by %q: %v, %v; want %s", c.view, c.columns, got, in, c.want)
		}
	}
}

// A figure over all values of a column is kept where it does not name the column, and not spread.
func TestSpreadOfAll(t *testing.T) {
	for of, want := range map[string]int{"": 1, crosstalk.All: 0} {
		e := crosstalk.Estimate{Measure: "a", By: map[string]string{}}
		if of != "" {
			e.By["sample"] = of
		}
		if got := Spread([]crosstalk.Estimate{e}, "sample"); len(got) != want {
			t.Errorf("%q: %v", of, got)
		}
	}
}

// Members are the same however often they are asked for, and those of the observation
// that was read last.
func TestMembersAgain(t *testing.T) {
	r := View{Groups: []Group{{"x", Choice{"language", []string{"de"}}}}}.Reader()
	for i, want := range []int{1, 0, 1} {
		language := []string{"de", "fr", "de"}[i]
		r.Read(observation(fmt.Sprint(i), 0, nil, map[string]string{"language": language}))
		for range 2 {
			if got := r.Members(); len(got) != want || want > 0 && got[0].Item != fmt.Sprint(i) {
				t.Errorf("observation %d: %v, want %d", i, got, want)
			}
		}
	}
}

// A figure over all values of a column, however it says so, is not among those that
// are spread, and is of the same group as one that does not name the column.
func TestSpreadWithoutAll(t *testing.T) {
	figure := func(value float64, by map[string]string) crosstalk.Estimate {
		return crosstalk.Estimate{Measure: "a", Value: crosstalk.Value(value), N: 3, By: by}
	}
	got := Spread([]crosstalk.Estimate{
		figure(0.9, map[string]string{"sample": crosstalk.All}),
		figure(0.1, map[string]string{"sample": "1"}),
		figure(0.3, map[string]string{"sample": "2", "model": crosstalk.All}),
	}, "sample")
	var list []string
	for _, e := range got {
		list = append(list, fmt.Sprintf("%s %.2f", e.By["sample"], e.Value))
	}
	if want := []string{"min 0.10", "mean 0.20", "max 0.30"}; !slices.Equal(list, want) {
		t.Errorf("%q, want %q", list, want)
	}
}

// The three figures are of what those that they replace are of.
func TestSpreadKeeps(t *testing.T) {
	for _, better := range []crosstalk.Direction{crosstalk.Lower, crosstalk.Higher} {
		got := Spread([]crosstalk.Estimate{{Measure: "a", Unit: "bits", Better: better, Signature: "s", Value: 1,
			By: map[string]string{"model": "m", "sample": "1"}}}, "sample")
		for _, e := range got {
			if e.Measure != "a" || e.Unit != "bits" || e.Better != better || e.Signature != "s" || e.By["model"] != "m" {
				t.Errorf("%+v", e)
			}
		}
	}
}
