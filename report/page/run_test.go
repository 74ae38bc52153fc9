package page

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"crosstalk/internal/rescue"
	"crosstalk/report/plot"
)

// A plot that cannot be drawn is an error that names its file; the other plots
// and the tables are written.
func TestBrokenPlot(t *testing.T) {
	dir := t.TempDir()
	broken := plot.Plot{Name: "broken", Width: 1e15, Height: 1e15} // no picture can be that large
	err := Report{Plots: []plot.Plot{broken, {Name: "good", Width: 10, Height: 10}}}.saveFigures(dir)
	var p *rescue.PanicError
	if !errors.As(err, &p) || p.What != filepath.Join(dir, "broken.png") || !strings.Contains(err.Error(), "defect in crosstalk") {
		t.Errorf("%v", err)
	}
	var names []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); got != "broken.pdf broken.svg good.pdf good.png good.svg plots.md plots.tex tables.csv tables.md tables.tex" {
		t.Errorf("%s", got)
	}
}
