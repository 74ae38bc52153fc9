package export

import (
	"encoding/csv"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crosstalk/labels"
	"crosstalk/run"
)

func TestWriteRun(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := WriteRun(io.Discard, JSONLines, dir, false); err == nil || !strings.Contains(err.Error(), "is not a run directory") {
		t.Errorf("no run: %v", err)
	}
	write("manifest.json", `{"schema":"crosstalk/run/v1","plan":{"instrument":"leakage"}}`)
	for _, format := range Formats {
		if err := WriteRun(io.Discard, format, dir, false); !errors.Is(err, run.ErrUnfinished) {
			t.Errorf("%s of an unfinished run: %v", format, err)
		}
	}
	line := `{"measure":"leak_rate","item":"a","sample":0,"value":1,"condition":{}}` + "\n"
	write("observations.jsonl", line)
	var out strings.Builder
	if err := WriteRun(&out, JSONLines, dir, false); err != nil || !strings.HasPrefix(out.String(), `{"measure":"leak_rate","item":"a",`) {
		t.Errorf("%q, %v", out.String(), err)
	}
	out.Reset()
	if err := WriteRun(&out, CSV, dir, false); err != nil || !strings.HasPrefix(out.String(), "measure,item,sample,value,run\nleak_rate,a,0,1,") {
		t.Errorf("without figures: %q, %v", out.String(), err)
	}
	if err := WriteRun(io.Discard, LMEval, dir, true); err == nil || !strings.HasPrefix(err.Error(), "format lm-eval and --answers cannot be combined") {
		t.Errorf("%v", err)
	}
	if err := WriteRun(io.Discard, "xml", dir, false); err == nil || err.Error() != `unknown format "xml"; choose one of: jsonl, csv, lm-eval` {
		t.Errorf("%v", err)
	}
}

// Rows say where they come from and what people say of the answer, whoever judged it; a
// line's label names the line.
func TestOrigin(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("manifest.json", `{"schema":"crosstalk/run/v1","crosstalk":"9.9","plan":{"instrument":"leakage"}}`)
	write("observations.jsonl", `{"measure":"leak_rate","item":"a","sample":0,"value":1,"condition":{"model":"m","similarity":"s"}}
{"measure":"leak_rate","item":"a","sample":0,"value":0,"condition":{"model":"m","similarity":"u"}}
{"measure":"leak_rate","item":"a","sample":1,"value":0,"condition":{"model":"m","similarity":"s"}}
{"measure":"copied","item":"a","sample":0,"value":0,"condition":{"model":"m","similarity":"s"}}
`)
	write("estimates.json", `{"schema":"crosstalk/estimates/v1","estimates":[
{"measure":"leak_rate","value":1,"by":{"model":"other","similarity":"s"},"signature":"no"},
{"measure":"leak_rate","value":1,"by":{"model":"m","similarity":"s","category":"all"},"signature":"of s"},
{"measure":"leak_rate","value":1,"by":{"model":"m","similarity":"u","category":"all"},"signature":"of u"}]}`)
	place := labels.Place{Item: "a", Condition: map[string]string{"model": "m"}}
	line := place
	line.Line = 2
	err := labels.Append(dir, labels.Label{Question: "leakage", Place: place, Annotator: "ann", Label: "test"},
		labels.Label{Question: "leakage", Place: line, Annotator: "bob", Label: "control"})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := WriteRun(&out, CSV, dir, false); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(out.String())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"of s 9.9 test line 2: control", "of u 9.9 test line 2: control", "of s 9.9  ", " 9.9  "} {
		var got []string
		for _, column := range []string{"signature", "version", "people.leakage.ann", "people.leakage.bob"} {
			got = append(got, rows[i+1][slices.Index(rows[0], column)])
		}
		if strings.Join(got, " ") != want || rows[i+1][slices.Index(rows[0], "run")] != dir {
			t.Errorf("row %d: %q; want %q", i, got, want)
		}
	}
}
