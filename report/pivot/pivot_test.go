package pivot

import (
	"math"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/internal/testing/golden"
	"crosstalk/report"
)

// figure makes one with columns as COLUMN=VALUE pairs.
func figure(measure string, value float64, by ...string) crosstalk.Estimate {
	e := crosstalk.Estimate{Measure: measure, Value: crosstalk.Value(value), N: 20, Clusters: 10, Better: crosstalk.Higher,
		By:       map[string]string{},
		Interval: &crosstalk.Interval{Low: value - 0.05, High: value + 0.1, Level: 0.95}, Test: &crosstalk.Test{P: 1e-120},
		Signature: measure + "|suite:s|v1"}
	if math.IsNaN(value) {
		e.Interval = nil
	}
	for _, pair := range by {
		column, v, _ := strings.Cut(pair, "=")
		e.By[column] = v
	}
	return e
}

// Two models in two languages and over both; one cell is missing, one undefined.
func models() []crosstalk.Estimate {
	few := figure("wpr", 0.5, "model=m_1@sha256-82cf", "task=t", "language=de")
	few.Warnings = []string{"only 3 clusters (need at least 5)"}
	return []crosstalk.Estimate{
		figure("lpr", 0.75, "model=m_1@sha256-82cf", "task=t", "language=all"), figure("lpr", 0.9, "model=n", "task=t", "language=all"),
		figure("lpr", 0.7, "model=m_1@sha256-82cf", "task=t", "language=ja"), figure("lpr", math.NaN(), "model=n", "task=t", "language=ja"),
		figure("lpr", 0.8, "model=m_1@sha256-82cf", "task=t", "language=de"), figure("lpr", 0.8, "model=n", "task=t", "language=de"),
		few, figure("wpr", 0.25, "model=n", "task=t", "language=de"),
	}
}

func TestTables(t *testing.T) {
	sweep := []crosstalk.Estimate{
		figure("leak_rate", 0.9, "model=m", "temperature=0", "similarity=a"), figure("leak_rate", 0.7, "model=m", "temperature=1", "similarity=a"),
		figure("leak_rate", 0.6, "model=n", "temperature=0", "similarity=a"), figure("leak_rate", 0.8, "model=n", "temperature=1", "similarity=a"),
		figure("leak_rate", 0.5, "model=n", "temperature=1", "similarity=b"),
	}
	for i := range sweep {
		sweep[i].Better = crosstalk.Lower
	}
	for _, c := range []struct {
		name    string
		figures []crosstalk.Estimate
		options Options
	}{
		{"models", models(), Options{Rows: []string{"model"}, Columns: []string{"language"}, Compete: []string{"model"}}},
		{"ordered", models(), Options{Rows: []string{"language"}, Columns: []string{"model"}, Compete: []string{"model"}, Order: map[string][]string{"language": {"de", "ja"}},
			Names: map[string]string{"n": "100 % & more", "lpr": "lines", "language": "tongue"}}},
		{"beside", models()[:6], Options{Rows: []string{"language"}, Columns: []string{"model"}, Beside: []string{"interval", "n", "p"}}},
		{"sweep", sweep, Options{Rows: []string{"model", "temperature"}, Compete: []string{"model", "temperature"}}},
		{"crossed", sweep[:4], Options{Columns: []string{"model", "temperature"}, Rows: []string{"similarity"}, Compete: []string{"temperature"}}},
	} {
		var b strings.Builder
		tables, err := Tables(c.figures, c.options)
		if err != nil {
			t.Fatal(err)
		}
		for _, format := range []string{"table", "markdown", "latex"} {
			if err := report.WriteTables(&b, format, tables); err != nil {
				t.Fatal(err)
			}
			b.WriteString("----\n")
		}
		golden.Check(t, "testdata/"+c.name+".txt", b.String())
	}
}

// Figures that nothing tells apart are an error, not one of them.
func TestTwoFigures(t *testing.T) {
	_, err := Tables(append(models(), models()...), Options{Rows: []string{"model"}, Columns: []string{"language"}})
	if err == nil || !strings.HasPrefix(err.Error(), "2 figures have the same row and column (m_1@sha256-82cf, lpr, all)") {
		t.Error(err)
	}
}

func TestCheck(t *testing.T) {
	for want, o := range map[string]Options{
		"model is named twice among rows and columns":                                                     {Rows: []string{"model"}, Columns: []string{"model"}},
		`unknown "ci" beside a figure; choose one of: interval, n, clusters, p, holm, bh, effect, change`: {Beside: []string{"ci"}},
	} {
		if err := o.Check(); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// p-values are adjusted over all figures of the table; an effect is shown as it is.
func TestAdjusted(t *testing.T) {
	var figures []crosstalk.Estimate
	for i, p := range []float64{.01, .04, math.NaN(), .03, .005} {
		e := figure("leak_rate", .6, "model="+string(rune('a'+i)))
		e.Test, e.Effect = &crosstalk.Test{P: crosstalk.Value(p)}, &crosstalk.Effect{Value: crosstalk.Value(i) / 8}
		figures = append(figures, e)
	}
	figures[4].Effect = nil
	tables, err := Tables(figures, Options{Rows: []string{"model"}, Beside: []string{"p", "holm", "bh", "effect"}})
	if err != nil || len(tables) != 1 {
		t.Fatal(tables, err)
	}
	// R: p.adjust(c(.01, .04, NA, .03, .005), "holm"), and "BH"
	want := [][]string{{"0.010", "0.030", "0.020", "0.000"}, {"0.040", "0.060", "0.040", "0.125"}, {"-", "-", "-", "0.250"},
		{"0.030", "0.060", "0.040", "0.375"}, {"0.005", "0.020", "0.020", "-"}}
	for i, row := range tables[0].Rows {
		if got := strings.Join(row[2:], " "); got != strings.Join(want[i], " ") {
			t.Errorf("row %d: %q, want %q", i, got, want[i])
		}
	}
	if figures[0].Test.P != .01 {
		t.Error("the figures were changed")
	}
}
