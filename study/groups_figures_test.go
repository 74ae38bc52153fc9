package study

import (
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/instrument/confusion"
	"crosstalk/run/figures"

	"github.com/rogpeppe/go-internal/txtar"
)

// The figures by groups of languages and by thirds of the prompts by length are those
// that testdata/groups.txtar works out.
func TestFiguresByGroups(t *testing.T) {
	dir := t.TempDir()
	archive, err := txtar.ParseFile("testdata/groups.txtar")
	if err != nil {
		t.Fatal(err)
	}
	if err := txtar.Write(archive, dir); err != nil {
		t.Fatal(err)
	}
	sets := filepath.Join(dir, "sets")
	score := func(files, prompts, by string) ([]crosstalk.Estimate, error) {
		c := Confusion{Prompts: prompts}
		if by != "" {
			c.By = strings.Split(by, ",")
		}
		var paths []string
		for file := range strings.FieldsSeq(files) {
			paths = append(paths, filepath.Join(dir, file))
		}
		s, err := c.Recorded(paths, "m")
		if err != nil {
			return nil, err
		}
		result, err := s.Score(t.Context())
		return result.Estimates, err
	}
	for _, c := range []struct {
		files, prompts, by string
		want               map[string]float64 // LPR by the values of by, "all" where none is left
	}{
		{"answers.csv", "", "length_tertile", map[string]float64{"short": 1, "medium": 1. / 6, "long": 0.5, "all": 1. / 3}},
		{"answers.csv", "", "family", map[string]float64{"Indo-European": 0.5, "Turkic": 0}},
		{"answers.csv", "", "indo_european,latin", map[string]float64{"yes all": 0.5, "no all": 0, "yes yes": 2. / 3}},
		{"answers.csv", "", "script", map[string]float64{"Latn": 1. / 3, "Cyrl": 1. / 3}},
		// Two files give what one gives.
		{"second.csv first.csv", "", "length_tertile", map[string]float64{"short": 1, "medium": 1. / 6, "long": 0.5}},
		// A suite has the prompts of answers without.
		{"bare.csv", sets, "length_tertile", map[string]float64{"short": 1, "medium": 1. / 6, "long": 0.5}},
		{"bare.csv", sets, "length", map[string]float64{"up to 10": 1. / 3}},
		// And the position of the instruction in them, unless the answers say it.
		{"placed.csv", filepath.Join(dir, "placed"), "position", map[string]float64{"start": 1, "integrated": 0, "own": 0,
			"end": math.NaN()}},
		// The data's own columns come first.
		{"own.csv first.csv", "", "family", map[string]float64{"large": 1, "Indo-European": math.NaN()}},
	} {
		estimates, err := score(c.files, c.prompts, c.by)
		if err != nil {
			t.Errorf("%s by %s: %v", c.files, c.by, err)
			continue
		}
		got := map[string]float64{}
		for _, e := range estimates {
			var values []string
			for column := range strings.SplitSeq(c.by, ",") {
				values = append(values, e.By[column])
			}
			if e.Measure == confusion.LPR && (e.By["source"] == crosstalk.All || e.By["source"] == "") && e.By["language"] == crosstalk.All {
				got[strings.Join(values, " ")] = float64(e.Value)
			}
		}
		for group, want := range c.want {
			value, known := got[group]
			if math.IsNaN(want) == known || known && math.Abs(value-want) > 1e-9 {
				t.Errorf("%s by %s: %s is %v, want %v; all: %v", c.files, c.by, group, value, want, got)
			}
		}
	}
	// Answers without prompts have no lengths.
	var unknown *figures.ColumnError
	if _, err := score("bare.csv", "", "length_tertile"); !errors.As(err, &unknown) || unknown.Column != "length_tertile" {
		t.Errorf("%v", err)
	}
	if _, err := score("bare.csv unknown.csv", sets, ""); err == nil || !strings.Contains(err.Error(), `unknown.csv:2: no item of --suite has the id "monolingual/a/fr/3"`) {
		t.Errorf("%v", err)
	}
	// Prompts change no figure and no signature.
	with, err := score("bare.csv", sets, "")
	if err != nil {
		t.Fatal(err)
	}
	if without, err := score("bare.csv", "", ""); err != nil || !equal(with, without) {
		t.Errorf("%v, %v; want %v", without, err, with)
	}
}
