package page

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/internal/rescue"
	"crosstalk/labels"
	"crosstalk/report"
	"crosstalk/report/plot"
)

// A plot that cannot be drawn is an error that names its file; the other plots
// and the tables are written.
func TestBrokenPlot(t *testing.T) {
	dir := t.TempDir()
	broken := plot.Plot{Name: "broken", Width: 10, Height: 10, Marks: []plot.Mark{{Shapes: []plot.Shape{
		plot.Path{Lines: [][]plot.Point{{}}}}}}} // a line without points cannot be drawn
	plots := []plot.Plot{broken, {Name: "good", Width: 10, Height: 10}}
	err := SaveFigures(io.Discard, dir, plots, func(w io.Writer, format string) error {
		return report.Write(w, format, nil)
	})
	var p *rescue.PanicError
	if !errors.As(err, &p) || p.What != filepath.Join(dir, "broken.pdf") || !strings.Contains(err.Error(), "defect in crosstalk") {
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
	if got := strings.Join(names, " "); got != "broken.svg good.pdf good.svg plots.md plots.tex tables.csv tables.md tables.tex" {
		t.Errorf("%s", got)
	}
}

// Notes and marks are shown with the answers they are about, and counted.
func TestNotes(t *testing.T) {
	dir := t.TempDir()
	var text []byte
	for i, model := range []string{"secret/a", "secret/b"} {
		for item := range 3 {
			o := crosstalk.Observation{Measure: "lpr", Item: fmt.Sprint("item-", item), Value: 1,
				Condition: map[string]string{"model": model}, Labels: map[string]string{"language": "ar"}}
			o.AddText(crosstalk.Side, "answer", "text")
			line, err := json.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			text = append(append(text, line...), '\n')
			n := labels.NoteOn(o)
			switch {
			case i == 0 && item == 1:
				n.Text, n.NotError = "<b>name</b>\nof a ship", true
			case i == 1 && item == 2:
				n.NotError = true
			default:
				continue
			}
			if err := labels.AddNote(dir, n); err != nil {
				t.Fatal(err)
			}
		}
	}
	estimates := []crosstalk.Estimate{{Measure: "lpr", Value: 1, N: 3, By: map[string]string{"model": "secret/a"}},
		{Measure: "lpr", Value: 1, N: 3, By: map[string]string{"model": "secret/b"}}}
	for file, content := range map[string]string{
		"manifest.json": `{"schema":"crosstalk/run/v1","plan":{"instrument":"confusion"}}`, "observations.jsonl": string(text),
		"estimates.json": string(crosstalk.Canonical(crosstalk.NewDocument(estimates)))} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	names, err := report.ParseNames([]string{"secret/a=a", "secret/b=b"})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Read(dir, nil, names, nil)
	if err != nil {
		t.Fatal(err)
	}
	page := written(t, r)
	for want, n := range map[string]int{
		"2 answers have a note or a mark; 2 are marked as no error. Figures do not change with a mark.": 1,
		`<span class="badge fixed">not an error</span>`:                                                 2,
		`<p class="t" dir="auto">&lt;b&gt;name&lt;/b&gt;` + "\n" + `of a ship</p>`:                      1,
		`<article class="card noteworthy">`:                                                             2,
		"show-noted\"":                                                                                  1,
	} {
		if got := strings.Count(page, want); got != n {
			t.Errorf("%d times %s, not %d", got, want, n)
		}
	}
	if i := strings.Index(page, "name&lt;"); !strings.Contains(page[:i], "item-1") || strings.Contains(page[:i], "item-2") {
		t.Error("the note is not with its answer")
	}
}
