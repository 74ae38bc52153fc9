package main

import (
	"bytes"
	"crosstalk"
	"encoding/json"
	"math"
	"testing"

	"crosstalk/internal/shared"
)

// What Smilga's Table 2 prints for Qwen2.5, Leak-Rate in percent: gloss must come
// within 3 points of it. n is the number of tests that gloss can score, out of 109,
// 330, 330 and 49.
var smilga = []struct {
	model, dataset, category string
	rate                     float64
	n                        int
}{
	{"Qwen2.5-0.5B-Instruct", "initial", "all", 70.2, 106},
	{"Qwen2.5-0.5B-Instruct", "color", "1", 70.1, 330},
	{"Qwen2.5-0.5B-Instruct", "color", "2", 54.9, 330},
	{"Qwen2.5-0.5B-Instruct", "color", "3", 60.2, 48},
	{"Qwen2.5-3B-Instruct", "initial", "all", 73.4, 107},
	{"Qwen2.5-3B-Instruct", "color", "1", 79.6, 329},
	{"Qwen2.5-3B-Instruct", "color", "2", 88.9, 330},
	{"Qwen2.5-3B-Instruct", "color", "3", 77.8, 48},
}

func TestSmilgaTable2(t *testing.T) {
	t.Parallel()
	published := scoreSmilga(t, "leakage/smilga_generations.jsonl")
	for _, c := range smilga {
		key := [3]string{c.model, c.dataset, c.category}
		got := published[key]
		if got.n != c.n {
			t.Errorf("%v: n %d, want %d", key, got.n, c.n)
		}
		if math.Abs(got.rate-c.rate) > 3 {
			t.Errorf("%v: %.1f, published %.1f: more than 3 points apart", key, got.rate, c.rate)
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
		groups[[3]string{e.By["model"], e.By["dataset"], e.By["category"]}] = scored{100 * float64(e.Value), e.N}
	}
	return groups
}
