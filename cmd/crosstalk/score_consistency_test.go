package main

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"crosstalk"
	"crosstalk/internal/testing/multisense"
)

// TestScoreConsistencyTables scores the authors' answers as recorded ones and
// compares every cell of their tables, but COMET's.
func TestScoreConsistencyTables(t *testing.T) {
	long(t)
	t.Parallel()
	data := multisense.Read(t)
	task, answers, texts := data.Write(t, t.TempDir())
	var stdout, stderr bytes.Buffer
	args := []string{"score", "consistency", answers, "--task", task, "--texts", texts, "--protocol", "ohmer-2023", "--by", "class", "--format", "json"}
	if code := execute(args, &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	var document crosstalk.Document
	if err := json.Unmarshal(stdout.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	estimates := map[[4]string]crosstalk.Estimate{}
	for _, e := range document.Estimates {
		estimates[[4]string{e.Measure, e.By["pair"], e.By["part"], e.By["class"]}] = e
	}
	compared := 0
	for _, f := range multisense.Figures(t) {
		if f.Measure == "quality" {
			continue
		}
		e, ok := estimates[[4]string{f.Measure, f.Pair, f.Part, f.Class}]
		got := float64(e.Value)
		if f.Share {
			got = float64(e.Observations) / float64(len(data.Items))
		}
		if !ok || !(math.Abs(got-f.Want) <= 1e-11) || f.Observations > 0 && e.Observations != f.Observations {
			t.Errorf("table %s, %s: %.14g of %d, want %.14g of %d", f.Table, f.Cell, got, e.Observations, f.Want, f.Observations)
		}
		compared++
	}
	if compared != 115 {
		t.Errorf("%d cells compared, want 115", compared)
	}
}
