package view

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"crosstalk"
)

func observation(item string, sample int, condition, labels map[string]string) crosstalk.Observation {
	return crosstalk.Observation{Measure: "m", Item: item, Sample: sample, Condition: condition, Labels: labels}
}

// read reads observations and says what became of them: item, sample, cluster,
// columns.
func read(t *testing.T, v View, observations ...crosstalk.Observation) (list []string, err error) {
	t.Helper()
	if err := v.Check(); err != nil {
		return nil, err
	}
	r := v.Reader(SampleColumn)
	for _, o := range observations {
		before := fmt.Sprint(o)
		if seen, in := r.Read(o); in {
			all := r.Members()
			if len(v.Groups) == 0 {
				all = []crosstalk.Observation{seen}
			}
			for _, one := range all {
				list = append(list, fmt.Sprintf("%s %d %q %v %v", one.Item, one.Sample, one.Cluster, one.Condition, one.Labels))
			}
		}
		if fmt.Sprint(o) != before {
			t.Errorf("%s became %v", before, o)
		}
	}
	return list, r.Check([]string{"language", "model", "temperature"})
}

func TestRead(t *testing.T) {
	c := func(model, temperature string) map[string]string {
		return map[string]string{"model": model, "temperature": temperature}
	}
	l := func(language string) map[string]string { return map[string]string{"language": language} }
	data := []crosstalk.Observation{observation("a", 0, c("m", "0"), l("de")), observation("a", 1, c("m", "0"), l("de")),
		observation("a", 0, c("m", "1"), l("de")), observation("b", 0, c("n", "1"), l("ja"))}
	data[3].Cluster = "k"
	for _, c := range []struct {
		name, want string // what is read, or the error
		view       View
	}{
		{"samples", `a 0 "" map[model:m temperature:0] map[language:de sample:1]`, View{Only: []Choice{{"temperature", []string{"0"}}, {"sample", []string{"1"}}}}},
		// Pooled observations of an item are different samples of one cluster.
		{"pool", `a 0 "a" map[model:m temperature:all] map[language:de sample:1]
a 1 "a" map[model:m temperature:all] map[language:de sample:2]
a 2 "a" map[model:m temperature:all] map[language:de sample:1]
b 2 "k" map[model:n temperature:all] map[language:ja sample:1]`, View{Pool: []string{"temperature"}}},
		// Groups are of recorded values, of pooled columns too.
		{"groups of pooled columns", `a 0 "a" map[model:m temperature:all] map[group:cold language:all sample:1]
a 1 "a" map[model:m temperature:all] map[group:cold language:all sample:2]
b 3 "k" map[model:n temperature:all] map[group:Japanese language:all sample:1]`, View{Pool: []string{"language", "temperature"},
			Groups: []Group{{"cold", Choice{"temperature", []string{"0"}}}, {"Japanese", Choice{"language", []string{"ja"}}}}}},
		{"overlapping groups", `a 0 "" map[model:m temperature:1] map[group:any language:de sample:1]
a 0 "" map[model:m temperature:1] map[group:European language:de sample:1]
b 0 "k" map[model:n temperature:1] map[group:any language:ja sample:1]`, View{Only: []Choice{{"temperature", []string{"1"}}},
			Groups: []Group{{"any", Choice{"language", []string{"ja", "de"}}}, {"European", Choice{"language", []string{"de"}}}}}},
		{"in the second group only", `b 0 "k" map[model:n temperature:1] map[group:second language:ja sample:1]`,
			View{Only: []Choice{{"model", []string{"n"}}}, Groups: []Group{{"first", Choice{"language", []string{"de"}}}, {"second", Choice{"language", []string{"ja"}}}}}},
		{"groups of a condition", `b 0 "k" map[model:n temperature:1] map[group:large language:ja sample:1]`,
			View{Groups: []Group{{"large", Choice{"model", []string{"n"}}}}}},
		{"unknown column", `unknown column "temp"; choose one of: language, model, temperature`, View{Pool: []string{"temp"}}},
		{"unknown value", `no language is "fr"; choose from: de, ja`, View{Only: []Choice{{"language", []string{"de", "fr"}}}}},
		{"unknown value of a group", `no language is "fr"; choose from: de, ja`, View{Groups: []Group{{"x", Choice{"language", []string{"fr"}}}}}},
		{"twice", `duplicate group "x"`, View{Groups: []Group{{"x", Choice{"language", []string{"de"}}}, {"x", Choice{"model", []string{"m"}}}}}},
		{"chosen twice", `values of "model" are chosen twice; name them all at once`, View{Only: []Choice{{"model", []string{"m"}}, {"model", []string{"n"}}}}},
	} {
		got, err := read(t, c.view, data...)
		text := strings.Join(got, "\n")
		if err != nil {
			text = err.Error()
		}
		if text != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, text, c.want)
		}
	}
}

func TestEmpty(t *testing.T) {
	one := Choice{"language", []string{"de"}}
	for i, v := range []View{{}, {Pool: []string{"model"}}, {Only: []Choice{one}}, {Groups: []Group{{"x", one}}},
		{Pool: []string{"model"}, Only: []Choice{one}}, {Only: []Choice{one}, Groups: []Group{{"x", one}}}} {
		if v.Empty() != (i == 0) {
			t.Errorf("%+v: %v", v, v.Empty())
		}
	}
}

func TestChosen(t *testing.T) {
	for text, want := range map[string]string{
		"": "{[] [] []}, <nil>", "language=de": "{[] [language=de] []}, <nil>", "language=de;model=m,n": "{[] [language=de model=m,n] []}, <nil>",
		"language": `{[] [] []}, only has "language"; expected COLUMN=VALUE,... such as task=crosslingual`,
	} {
		v, err := Chosen(slices.DeleteFunc(strings.Split(text, ";"), func(s string) bool { return s == "" }))
		if got := strings.ReplaceAll(fmt.Sprintf("%v, %v", v, err), "--", ""); got != want {
			t.Errorf("%q: %s; want %s", text, got, want)
		}
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"language=de, fr,de": "language=de,fr", "model=a=b": "model=a=b",
		"language": "", "=de": "", "language=": "", "language=,": "",
	} {
		if got, err := ParseChoice(text); err == nil && fmt.Sprint(got) != want || (err == nil) != (want != "") {
			t.Errorf("%q: %v, %v; want %s", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"language:Latin script=de,fr": "Latin script language=de,fr", "model:x=a:b": "x model=a:b",
		"language=de": "", "language:=de": "", "language:x": "", "language:all=de": "", ":x=de": "",
	} {
		if got, err := ParseGroup(text); err == nil && got.Name+" "+got.Choice.String() != want || (err == nil) != (want != "") {
			t.Errorf("%q: %v, %v; want %s", text, got, err, want)
		}
	}
}

// Of several columns, figures are those of single values of all of them.
func TestSpreadOfColumns(t *testing.T) {
	figure := func(value float64, by ...string) crosstalk.Estimate {
		e := crosstalk.Estimate{Measure: "a", Value: crosstalk.Value(value), By: map[string]string{"task": "t"}}
		for i, column := range []string{"temperature", "top_p"} {
			if i < len(by) && by[i] != "" {
				e.By[column] = by[i]
			}
		}
		return e
	}
	list := []crosstalk.Estimate{figure(0.99), figure(0.1, "0", "0.75"), figure(0.2, "0.3", "0.75"), figure(0.6, "0.3", "0.1"),
		figure(0.9, "0.3", "all"), figure(0.95, "0.7"), figure(0.97, "all", "0.1")}
	got := Spread(list, "temperature", "top_p")
	if len(got) != 3 {
		t.Fatalf("%d figures: %v", len(got), got)
	}
	for i, want := range []string{"map[task:t temperature:min] 0.1", "map[task:t temperature:mean] 0.3", "map[task:t temperature:max] 0.6"} {
		if text := fmt.Sprintf("%v %.1f", got[i].By, float64(got[i].Value)); text != want {
			t.Errorf("%s, want %s", text, want)
		}
	}
	if got := Spread(list[:1], "temperature", "top_p"); len(got) != 1 || got[0].Value != 0.99 {
		t.Errorf("a figure without the columns is %v", got)
	}
	if list[1].By["top_p"] != "0.75" {
		t.Error("the figures themselves have changed")
	}
}

// The three figures have the largest n, all observations and counts, and each warning once.
func TestSpreadSums(t *testing.T) {
	figure := func(sample string, n int, warnings ...string) crosstalk.Estimate {
		return crosstalk.Estimate{Measure: "a", Value: 0.5, N: n, Clusters: n - 1, Observations: 2 * n,
			Counts: map[string]int{"empty": n, sample: 1},
			By:     map[string]string{"sample": sample}, Warnings: warnings}
	}
	got := Spread([]crosstalk.Estimate{figure("1", 3, "few"), figure("2", 5, "few", "odd")}, "sample")
	for _, e := range got {
		if e.N != 5 || e.Clusters != 4 || e.Observations != 16 || fmt.Sprint(e.Counts) != "map[1:1 2:1 empty:8]" || fmt.Sprint(e.Warnings) != "[few odd]" {
			t.Errorf("%+v", e)
		}
	}
	if len(got) != 3 {
		t.Errorf("%d figures, want 3", len(got))
	}
}

// What is read is read again from what it is written as.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"language:Latin=de, fr", "model=a=b", "a:b:c=d,e,,", "=", ":=", " x : y = z "} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := ParseChoice(text); err == nil {
			again, err := ParseChoice(c.String())
			if err != nil || again.String() != c.String() {
				t.Errorf("%q is %q, then %q, %v", text, c, again, err)
			}
		}
		if g, err := ParseGroup(text); err == nil {
			if again, err := ParseGroup(g.Column + ":" + g.Name + "=" + strings.Join(g.Values, ",")); err != nil ||
				again.Name != g.Name || again.String() != g.String() {
				t.Errorf("%q is %q %q, then %q %q, %v", text, g.Name, g, again.Name, again, err)
			}
		}
	})
}
