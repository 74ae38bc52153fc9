package main

import (
	"bytes"
	"crosstalk"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"crosstalk/internal/testing/shared"
)

// The Leak-Rates of gloss on the answers of Smilga (2025), in percent. n is the number of tests that gloss can
// score, out of 109, 330, 330 and 49.
var smilga = []struct {
	model, dataset, category string
	rate                     float64
	n                        int
}{
	{"0.5B-Instruct", "initial", "all", 71.23, 106},
	{"0.5B-Instruct", "color", "1", 71.32, 330},
	{"0.5B-Instruct", "color", "2", 55.155, 330},
	{"0.5B-Instruct", "color", "3", 62.71, 48},
	{"3B-Instruct", "initial", "all", 74.77, 107},
	{"3B-Instruct", "color", "1", 79.72, 329},
	{"3B-Instruct", "color", "2", 89.03, 330},
	{"3B-Instruct", "color", "3", 78.33, 48},
}

func TestSmilga(t *testing.T) {
	t.Parallel()
	scored := scoreSmilga(t, "leakage/smilga_generations.jsonl")
	for _, c := range smilga {
		key := [3]string{"Qwen2.5-" + c.model, c.dataset, c.category}
		if got := scored[key]; got.n != c.n || math.Abs(got.rate-c.rate) > 0.005 {
			t.Errorf("%v: %.2f of %d, want %.2f of %d", key, got.rate, got.n, c.rate, c.n)
		}
	}
}

// What docs/validation/papers.md quotes is in tables 2 and 3 of the paper's text, with the figures of gloss beside it.
func TestSmilgaQuoted(t *testing.T) {
	paper, err := os.ReadFile(filepath.Join(filepath.Dir(shared.File(t, "")), "papers/smilga-2025.txt"))
	if err != nil {
		shared.Missing(t, err)
	}
	page, err := os.ReadFile(papersPage)
	if err != nil {
		t.Fatal(err)
	}
	// The rows of a model: Initial, Colours, and the three categories.
	printed := func(model string) [][]string {
		return regexp.MustCompile(`\t`+regexp.QuoteMeta(model)+`\t([\d.]+)\t([\d.]+)\n`).FindAllStringSubmatch(string(paper), -1)
	}
	small, large := printed("0.5B-Instruct"), printed("3B-Instruct")
	if len(small) != 5 || len(large) != 5 {
		t.Fatalf("%d and %d rows of tables 2 and 3, want 5 each", len(small), len(large))
	}
	gloss := func(model int) []float64 { // colours are the mean of categories 1 and 2
		of := smilga[4*model:]
		return []float64{of[0].rate, (of[1].rate + of[2].rate) / 2, of[1].rate, of[2].rate, of[3].rate}
	}
	for i, name := range []string{"Table 2, Initial", "Table 2, Colours", "Table 3, category 1", "Table 3, category 2", "Table 3, category 3"} {
		row := "| " + name
		for model, of := range [][]string{small[i], large[i]} {
			row += fmt.Sprintf(" | %s | %s | %.1f", of[1], of[2], gloss(model)[i])
		}
		if !strings.Contains(string(page), row+" |\n") {
			t.Errorf("%s has no row %q", papersPage, row)
		}
	}
}

// The workbooks as published give the figures of the cleaned JSON Lines.
func TestSmilgaWorkbooks(t *testing.T) {
	if testing.Short() {
		t.Skip("checks figures")
	}
	t.Parallel()
	clean := scoreSmilga(t, "leakage/smilga_generations.jsonl")
	for file, of := range map[string][2]string{
		"color_prompts_qwen_05_instr":   {"Qwen2.5-0.5B-Instruct", "color"},
		"color_prompts_qwen_3_instr":    {"Qwen2.5-3B-Instruct", "color"},
		"initial_prompts_qwen_05_instr": {"Qwen2.5-0.5B-Instruct", "initial"},
		"initial_prompts_qwen_3_instr":  {"Qwen2.5-3B-Instruct", "initial"},
	} {
		groups := scoreSmilga(t, "leakage/"+file+".xlsx")
		for key, got := range groups {
			want := clean[[3]string{of[0], of[1], key[2]}]
			if got.n != want.n || math.Abs(got.rate-want.rate) > 0.05 {
				t.Errorf("%s, category %s: %.2f of %d, from the JSON Lines %.2f of %d", file, key[2], got.rate, got.n, want.rate, want.n)
			}
		}
		if of[1] == "color" && len(groups) != 4 {
			t.Errorf("%s: %d groups, want all and 3 categories", file, len(groups))
		}
	}
}

type scored struct {
	rate float64 // percent
	n    int
}

// scoreSmilga scores a file and returns figures by model, data set, category.
func scoreSmilga(t *testing.T, name string) map[[3]string]scored {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := execute([]string{"score", "leakage", shared.File(t, name), "--protocol", "smilga-2025", "--similarity", "gloss", "--format", "json"}, &stdout, &stderr)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	var document crosstalk.Document
	if err := json.Unmarshal(stdout.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	groups := map[[3]string]scored{}
	for _, e := range document.Estimates {
		if e.Measure != "leak_rate" {
			continue
		}
		groups[[3]string{e.By["model"], e.By["dataset"], e.By["category"]}] = scored{100 * float64(e.Value), e.N}
	}
	return groups
}
