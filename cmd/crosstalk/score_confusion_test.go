package main

import (
	"bytes"
	"crosstalk"
	"encoding/json"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"crosstalk/internal/testing/shared"
)

// A cellName is the place of a figure in the tables that the authors' script prints.
type cellName struct{ measure, task, source, language string }

// TestScoreConfusionTables compares every cell and average with those that the
// authors' script prints, in hundredths of a per cent.
func TestScoreConfusionTables(t *testing.T) {
	if testing.Short() {
		t.Skip("checks figures")
	}
	t.Parallel()
	const tolerance = 0.005 + 1e-9
	for _, model := range inTurn(2, []string{"command-r-base", "command-r-plus", "gpt-3.5-turbo", "llama-3-instruct"}) {
		t.Run(model, func(t *testing.T) {
			got, want := scoredFigures(t, model), printedFigures(t, model)
			for at, printed := range want {
				if value, known := got[at]; !known || !(math.Abs(value-printed) <= tolerance) {
					t.Errorf("%v: got %.4f, want %.2f", at, value, printed)
				}
				// The paper's LCPR by data set (Table A9) is the harmonic mean of that table's LPR and WPR.
				if at.measure == "wpr" && at.source != "all" && at.language == "all" {
					lpr, lcpr := want[cellName{"lpr", at.task, at.source, "all"}], got[cellName{"lcpr", at.task, at.source, "all"}]
					if !(math.Abs(lcpr*(lpr+printed)-2*lpr*printed) <= 4*tolerance*(lpr+printed)) {
						t.Errorf("%v: LCPR %.4f of LPR %.2f and WPR %.2f", at, lcpr, lpr, printed)
					}
				}
			}
			for at := range got {
				if _, ok := want[at]; !ok && (at.measure == "lpr" || at.measure == "wpr") {
					t.Errorf("%v: the script prints none", at)
				}
			}
			if len(want) < 100 {
				t.Errorf("only %d figures compared", len(want))
			}
		})
	}
}

// scoredFigures scores a model's recorded answers; in per cent.
func scoredFigures(t *testing.T, model string) map[cellName]float64 {
	var stdout, stderr bytes.Buffer
	code := execute([]string{"score", "confusion", shared.File(t, "lcb/outputs/"+model+".csv.gz"), "--protocol", "lcb-script",
		"--lid", shared.File(t, "lid/lid.176.ftz"), "--words", shared.File(t, "lcb/words"), "--format", "json"}, &stdout, &stderr)
	if code != 0 || stderr.Len() > 0 {
		t.Fatalf("exit code %d, stderr: %s", code, stderr.String())
	}
	var document crosstalk.Document
	if err := json.Unmarshal(stdout.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	figures := map[cellName]float64{}
	for _, e := range document.Estimates {
		if e.By["model"] != model {
			t.Fatalf("a figure of model %q", e.By["model"])
		}
		figures[cellName{e.Measure, e.By["task"], e.By["source"], e.By["language"]}] = 100 * float64(e.Value)
	}
	return figures
}

// printedFigures reads the script's table: task, model, source, language, LPR
// and WPR, in per cent.
func printedFigures(t *testing.T, model string) map[cellName]float64 {
	table, err := os.ReadFile(shared.File(t, "lcb/tables/"+model+".tsv"))
	if err != nil {
		t.Fatal(err)
	}
	figures := map[cellName]float64{}
	for _, row := range strings.Split(strings.TrimSpace(string(table)), "\n")[1:] {
		field := strings.Split(row, "\t")
		for i, measure := range []string{"lpr", "wpr"} {
			if field[4+i] == "N/A" {
				continue
			}
			value, err := strconv.ParseFloat(strings.TrimSuffix(field[4+i], "%"), 64)
			if err != nil {
				t.Fatalf("%s: %v", row, err)
			}
			figures[cellName{measure, field[0], field[2], field[3]}] = value
		}
	}
	return figures
}
