package similarities

import (
	"slices"
	"strings"
	"testing"
)

func TestParseModel(t *testing.T) {
	for name, want := range map[string]string{
		"bertscore":                    "bertscore distilbert/distilbert-base-uncased",
		"bertscore:roberta-large/L17":  "bertscore FacebookAI/roberta-large",
		"sbert":                        "sbert " + DefaultSBERT,
		"sbert:all-MiniLM-L6-v2":       "sbert sentence-transformers/all-MiniLM-L6-v2",
		"efederici/sentence-bert-base": " efederici/sentence-bert-base",
		"./a:folder":                   " ./a:folder",
	} {
		m, err := ParseModel(name)
		if got := m.Kind + " " + m.Name; err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
	if _, err := ParseModel("gpt:x"); err == nil || !strings.Contains(err.Error(), "expected bertscore:MODEL") {
		t.Error(err)
	}
}

func TestCheckOfGloss(t *testing.T) {
	rows, err := Check(t.Context(), "gloss")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(rows, func(row [2]string) bool {
		return row[0] == "scores" && strings.HasPrefix(row[1], "1.2000 a sentence with itself, 0.")
	}) {
		t.Error(rows)
	}
}

func TestKnownModels(t *testing.T) {
	t.Setenv("HF_HOME", t.TempDir())
	t.Setenv("HF_HUB_CACHE", "")
	for _, k := range KnownModels() {
		want := "no"
		if k.Kind == "gloss" {
			want = "embedded"
		}
		if got, err := k.InCache(); err != nil || got != want {
			t.Errorf("%+v: %q, %v", k, got, err)
		}
	}
}
