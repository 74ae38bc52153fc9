package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A sample by finding in which people find nothing that the instrument missed: half of
// the labels stand for 945 answers, so that it may have missed many. The interval says
// so, and the output is a screen.
func TestAgreementByFinding(t *testing.T) {
	dir := t.TempDir()
	run := scoredRun(t, dir, 1000, 0, 1, 55)
	sheet := filepath.Join(dir, "ann.csv")
	crosstalk := func(args ...string) string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if code := execute(args, &stdout, &stderr); code != 0 {
			t.Fatalf("%q: exit code %d: %s", args, code, &stderr)
		}
		return stdout.String()
	}
	crosstalk("annotate", run, "--annotator", "ann", "--export", sheet, "--sample", "100", "--by", "finding")
	text, err := os.ReadFile(sheet)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	label, alarms := slices.Index(rows[0], "label"), 5
	for _, r := range rows[1:] {
		r[label] = "right"
		if strings.Contains(strings.Join(r, " "), "My grandmother") {
			if alarms--; alarms < 0 {
				r[label] = "wrong"
			}
		}
	}
	var filled bytes.Buffer
	if err := csv.NewWriter(&filled).WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(sheet, filled.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	crosstalk("annotate", run, "--import", sheet, "--annotator", "ann")

	var agreement struct {
		Figures []struct {
			Measure  string
			By       map[string]string
			Value    float64
			Interval struct{ Low, High float64 }
			N        int
		}
	}
	if err := json.Unmarshal([]byte(crosstalk("agreement", run, "--format", "json")), &agreement); err != nil {
		t.Fatal(err)
	}
	want := map[string][4]float64{ // value, low, high, n
		"sensitivity": {1, 0.5162, 1, 45},
		"specificity": {0.99421, 0.98816, 0.99772, 55},
	}
	for _, f := range agreement.Figures {
		w, is := want[f.Measure]
		if !is || len(f.By) > 0 {
			continue
		}
		delete(want, f.Measure)
		for i, x := range []float64{f.Value, f.Interval.Low, f.Interval.High, float64(f.N)} {
			if d := x - w[i]; d > 5e-4 || d < -5e-4 {
				t.Errorf("%+v; expected %v", f, w)
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("no %v", want)
	}
	table := crosstalk("agreement", run)
	if lines := strings.Count(table, "\n"); lines > 30 || !strings.HasPrefix(strings.Split(table, "\n")[3], "  sensitivity ") {
		t.Errorf("%d lines:\n%s", lines, table)
	}
	if crosstalk("agreement", run, "--format", "csv") != crosstalk("agreement", run, "--format", "csv", "--all") {
		t.Error("--all changes csv")
	}
}
