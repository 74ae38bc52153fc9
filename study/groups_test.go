package study

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"crosstalk/suite"
)

// The order in which items are seen does not matter.
func TestGroupsOfItemsInAnyOrder(t *testing.T) {
	type item struct {
		labels map[string]string
		prompt string
	}
	var items []item
	for i := range 300 {
		language := []string{"fr", "zh-TW", "xx", ""}[i%4]
		items = append(items, item{map[string]string{"task": "monolingual", "language": language, "source": strconv.Itoa(i % 3)}, strings.Repeat("mot ", i%23)})
	}
	var want []map[string]string
	for seed := range uint64(5) {
		order := rand.New(rand.NewPCG(seed, 1)).Perm(len(items))
		if seed == 0 {
			slices.Sort(order)
		}
		var g groups
		for _, i := range order {
			g.see(items[i].labels, items[i].prompt)
		}
		if got := g.label(items[0].labels, items[0].prompt); !maps.Equal(got, items[0].labels) {
			t.Errorf("groups %v before all is seen", got)
		}
		g.done()
		var got []map[string]string
		for _, i := range items {
			got = append(got, g.label(i.labels, i.prompt))
		}
		if want == nil {
			want = got
		}
		if !slices.EqualFunc(got, want, maps.Equal) {
			t.Errorf("seed %d: other groups", seed)
		}
	}
	for i, columns := range map[int]map[string]string{
		0: {familyColumn: "Indo-European", scriptColumn: "Latn", indoEuropeanColumn: "yes", latinColumn: "yes", tertileColumn: ""}, // no words
		1: {familyColumn: "Sino-Tibetan", scriptColumn: "Hant", indoEuropeanColumn: "no", latinColumn: "no", tertileColumn: Short},
		2: {familyColumn: "undetermined", scriptColumn: "undetermined", indoEuropeanColumn: "undetermined", latinColumn: "undetermined", tertileColumn: Short},
		3: {familyColumn: "", scriptColumn: "", indoEuropeanColumn: "", latinColumn: "", tertileColumn: Short},
	} {
		for column, value := range columns {
			if got := want[i][column]; got != value {
				t.Errorf("item %d: %s is %q, want %q", i, column, got, value)
			}
		}
	}
	if len(items[0].labels) != 3 {
		t.Errorf("the item's own labels have become %v", items[0].labels)
	}
}

// Prompts are long or short among those of the same task, source and language.
func TestThirdsOfEachCell(t *testing.T) {
	var g groups
	type prompt struct {
		task, source, language string
		words                  int
	}
	want := map[prompt]string{}
	for _, of := range [...]struct {
		prompt
		third string
	}{
		{prompt{"monolingual", "a", "fr", 1}, Short}, {prompt{"monolingual", "a", "fr", 2}, Medium}, {prompt{"monolingual", "a", "fr", 3}, Long},
		{prompt{"monolingual", "b", "fr", 3}, Short}, {prompt{"monolingual", "b", "fr", 9}, Long},
		{prompt{"crosslingual", "b", "fr", 9}, Short}, {prompt{"crosslingual", "b", "fr", 20}, Long},
		{prompt{"crosslingual", "b", "de", 20}, Short}, {prompt{"crosslingual", "b", "de", 21}, Long},
	} {
		want[of.prompt] = of.third
	}
	labels := func(p prompt) (map[string]string, string) {
		return map[string]string{"task": p.task, "source": p.source, "language": p.language}, strings.Repeat("w ", p.words)
	}
	for p := range want {
		g.see(labels(p))
	}
	g.done()
	for p, third := range want {
		if got := g.label(labels(p))[tertileColumn]; got != third {
			t.Errorf("%+v: %q, want %q", p, got, third)
		}
	}
}

// A column of the data keeps its values, and items without one get none.
func TestOwnColumnsKeepTheirValues(t *testing.T) {
	var g groups
	with := map[string]string{"language": "fr", "family": "my models", "length_tertile": "3"}
	without := map[string]string{"language": "de"}
	g.see(without, "ein Wort")
	g.see(with, "un mot")
	g.done()
	for _, labels := range []map[string]string{with, without} {
		got := g.label(labels, "un mot")
		if got["family"] != labels["family"] || got["length_tertile"] != labels["length_tertile"] || got["script"] != "Latn" {
			t.Errorf("%v has become %v", labels, got)
		}
	}
	if known := g.columns(); known["family"] || known["length_tertile"] || !known["script"] || !known["indo_european"] || !known["latin"] {
		t.Errorf("added columns %v", known)
	}
}

// Signatures name the suite's id, so groups must not change it, nor the suite that
// others have loaded.
func TestGroupsLeaveTheSuiteAsItIs(t *testing.T) {
	for _, name := range []string{"confusion", "leakage-de", "consistency"} {
		s, err := suite.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		of, err := grouped(s, unchanged)
		if err != nil {
			t.Fatal(err)
		}
		if of.ID() != s.ID() {
			t.Errorf("%s has become %s", s.ID(), of.ID())
		}
		if s.Items.At(0).Labels["family"] != "" || of.Items.At(0).Labels["family"] != "Indo-European" && name != "confusion" {
			t.Errorf("%s: labels %v, grouped %v", name, s.Items.At(0).Labels, of.Items.At(0).Labels)
		}
	}
}
