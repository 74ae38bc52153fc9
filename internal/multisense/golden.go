package multisense

import (
	"crosstalk/internal/shared"
	"strings"
	"testing"
)

// Figure is a cell of the authors' tables, as crosstalk names it.
type Figure struct {
	Table, Cell                string // for messages
	Measure, Pair, Part, Class string
	Want                       float64 // a fraction
	Observations               int     // 0 if the table has none
	Stored                     float64 // of ROUGE in the authors' data, a bootstrap's median; else 0
	Share                      bool    // Want is the number of the figure's observations, as a fraction of all items
}

// Figures are all cells with PAWS-X figures.
func Figures(t testing.TB) (figures []Figure) {
	t.Helper()
	file := shared.JSON[struct {
		Cells []struct {
			Table      string
			Cell       []string
			Recomputed *float64
			Stored     float64
			N          int
		}
	}](t, "multisense/golden_tables.paws-x.json")
	for _, c := range file.Cells {
		f := name(c.Table, c.Cell)
		f.Table, f.Cell, f.Observations = c.Table, strings.Join(c.Cell, " "), c.N
		f.Want = c.Stored // COMET's was not computed again
		if c.Recomputed != nil {
			f.Want = *c.Recomputed
		}
		if f.Measure == "bleu" || f.Share {
			f.Want /= 100
		}
		if strings.HasPrefix(f.Measure, "rouge") {
			f.Stored = c.Stored
		}
		figures = append(figures, f)
	}
	return figures
}

// name names the figure of a table's cell.
func name(table string, cell []string) (f Figure) {
	pair, what := cell[1], cell[len(cell)-1]
	source, _, _ := strings.Cut(pair, ">")
	f.Pair = pair
	switch table {
	case "1":
		f.Measure, f.Part = "consistency", what
	case "2", "10":
		f.Measure = strings.NewReplacer("BLEU", "bleu", "COMET-22", "quality").Replace(what)
	case "3":
		f.Measure, f.Part = "bleu_consistency_pearson", "X"
	case "3b(not in paper; notebook)":
		f.Measure, f.Part = "bleu_accuracy_pearson", "X"
	case "4", "13":
		f.Measure, f.Part = "accuracy", what
		switch what {
		case "T_src":
			f.Pair, f.Part = source, "source"
		case "T_src>tgt":
			f.Part = "T"
		}
	case "5":
		f.Measure, f.Part = strings.TrimSuffix("consistency_"+what, "_all"), "T"
		if language, again := strings.CutSuffix(pair, " run2"); again {
			f.Pair, f.Part = language, "repeat"
		}
	case "7":
		f.Measure, f.Part, f.Class = "label_share", "T", map[string]string{"true": "1", "false": "0"}[what]
		switch {
		case pair == "gold":
			f.Pair, f.Part = "en", "gold"
		case pair == source:
			f.Part = "source"
		}
	case "11":
		f.Measure, f.Part, f.Share = "consistency_bleu50", "X", what == "% included"
		if what == "orig" {
			f.Measure = "consistency"
		}
	case "12":
		f.Measure, f.Pair, f.Part = "accuracy", strings.TrimPrefix(pair, "X/I="), "mixed"
	}
	return f
}
