package sbert

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"crosstalk/internal/testing/randmodel"
	"crosstalk/measure/similarity"
)

// write makes a directory of a random model and the given other files.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "tiny")
	transformer := filepath.Join(dir, files["transformer"])
	if err := os.MkdirAll(transformer, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := randmodel.New(randmodel.Shape{Layers: 1, Hidden: 16, Heads: 2, Inner: 20, Vocab: 40, Positions: 12},
		3).Write(transformer); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if name != "transformer" {
			if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

const modules = `[{"path":"","type":"sentence_transformers.models.Transformer"},{"path":"1_Pooling","type":"sentence_transformers.models.Pooling"}]`

// vectors returns the sentence vectors of texts.
func vectors(t *testing.T, dir string, texts ...string) [][]float32 {
	t.Helper()
	s, err := Load(dir, Options{Revision: "r"})
	if err != nil {
		t.Fatal(err)
	}
	if s.Name() != "sbert:tiny@r" && !strings.HasPrefix(s.Name(), "sbert:0_") {
		t.Error(s.Name())
	}
	out, err := s.Embed(context.Background(), texts)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestPooling(t *testing.T) {
	one := func(mode string, more string) []float32 {
		return vectors(t, write(t, map[string]string{"modules.json": modules, "1_Pooling/config.json": `{"pooling_mode_` + mode + `":true` + more + `}`}), "w5 w6 w7")[0]
	}
	mean := vectors(t, write(t, nil), "w5 w6 w7")[0]
	if fmt.Sprint(one("mean_tokens", "")) != fmt.Sprint(mean) {
		t.Error("without modules.json it is not the mean")
	}
	cls, top, sqrt := one("cls_token", ""), one("max_tokens", ""), one("mean_sqrt_len_tokens", "")
	for i := range mean {
		if top[i] < mean[i] || top[i] < cls[i] || top[i] == mean[i] ||
			math.Abs(float64(sqrt[i])-math.Sqrt(5)*float64(mean[i])) > 1e-6 {
			t.Errorf("value %d: cls %v max %v mean %v sqrt %v", i, cls[i], top[i], mean[i], sqrt[i])
		}
	}
	if both := one("mean_tokens", `,"pooling_mode_cls_token":true`); fmt.Sprint(both) != fmt.Sprint(append(cls, mean...)) {
		t.Error("two modes do not stand side by side, cls first")
	}
}

func TestLayout(t *testing.T) {
	plain := write(t, nil)
	normalized := write(t, map[string]string{"modules.json": `[{"type":"a.Normalize","path":"2_Normalize"}]`})
	var length float64
	for _, x := range vectors(t, normalized, "w5 w6")[0] {
		length += float64(x) * float64(x)
	}
	if math.Abs(length-1) > 1e-6 {
		t.Errorf("squared length %v", length)
	}
	// A limit of four ids leaves two words; the tokenizer's own limit, of three, loses.
	short := write(t, map[string]string{"sentence_bert_config.json": `{"max_seq_length":4}`, "tokenizer_config.json": `{"model_max_length":3}`})
	if fmt.Sprint(vectors(t, short, "w5 w6 w7 w8")) != fmt.Sprint(vectors(t, plain, "w5 w6")) {
		t.Error("max_seq_length is not kept")
	}
	own := write(t, map[string]string{"tokenizer_config.json": `{"model_max_length":3}`})
	if fmt.Sprint(vectors(t, own, "w5 w6 w7 w8")) != fmt.Sprint(vectors(t, plain, "w5")) {
		t.Error("model_max_length is not kept")
	}
	long := write(t, map[string]string{"sentence_bert_config.json": `{"max_seq_length":4000}`})
	if fmt.Sprint(vectors(t, long, strings.Repeat("w5 ", 50))) != fmt.Sprint(vectors(t, plain, strings.Repeat("w5 ", 10))) {
		t.Error("the model's positions are no limit")
	}
	prompted := write(t, map[string]string{"config_sentence_transformers.json": `{"prompts":{"q":"w5 "},"default_prompt_name":"q"}`})
	if fmt.Sprint(vectors(t, prompted, "w6")) != fmt.Sprint(vectors(t, plain, "w5 w6")) {
		t.Error("the default prompt is not put in front")
	}
	apart := write(t, map[string]string{"transformer": "0_Transformer", "modules.json": strings.Replace(strings.Replace(modules, `""`, `"0_Transformer"`, 1), "1_Pooling", "p", 1),
		"p/config.json": `{"pooling_mode_mean_tokens":true}`, "0_Transformer/sentence_distilbert_config.json": `{"max_seq_length":4,"do_lower_case":true}`,
		"0_Transformer/tokenizer_config.json": `{"do_lower_case":false}`})
	if fmt.Sprint(vectors(t, apart, "W5 W6 w7")) != fmt.Sprint(vectors(t, plain, "w5 w6")) {
		t.Error("the transformer's folder is not read")
	}
}

func TestLayoutErrors(t *testing.T) {
	for want, files := range map[string]map[string]string{
		"modules.json:":                   {"modules.json": `{`},
		"points outside the directory":    {"modules.json": `[{"path":"../x","type":"Pooling"}]`},
		`module "m.Dense"`:                {"modules.json": `[{"path":"","type":"m.Dense"}]`},
		"config.json: missing":            {"modules.json": modules},
		"no pooling mode is enabled":      {"modules.json": modules, "1_Pooling/config.json": `{}`},
		"pooling_mode_lasttoken is not":   {"modules.json": modules, "1_Pooling/config.json": `{"pooling_mode_lasttoken":true}`},
		"max_seq_length 1 leaves no room": {"sentence_bert_config.json": `{"max_seq_length":1}`},
		"sentence_roberta_config.json: ":  {"sentence_roberta_config.json": `[`},
		"1_Pooling/config.json: ":         {"modules.json": modules, "1_Pooling/config.json": `[`},
		"_transformers.json: ":            {"config_sentence_transformers.json": `[`},
		"vocab.txt":                       {"vocab.txt": ""},
		"no model.safetensors":            {"modules.json": `[{"path":"x","type":"Transformer"}]`, "x/vocab.txt": ""},
		"modules.json: read":              {"modules.json/x": ""},
	} {
		if _, err := Load(write(t, files), Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// What configuration files have besides, and what they lack, is left as it is.
func TestLenient(t *testing.T) {
	plain := fmt.Sprint(vectors(t, write(t, nil), "w5 w6"))
	for _, files := range []map[string]string{
		{"modules.json": modules, "1_Pooling/config.json": `{"pooling_mode_mean_tokens":true,"include_prompt":true,"pooling_mode_lasttoken":false}`},
		{"sentence_bert_config.json": `{}`},
		{"sentence_bert_config.json": `{"max_seq_length":2000}`, "sentence_roberta_config.json": `{"max_seq_length":3}`},
		{"config_sentence_transformers.json": `{"prompts":{"q":"w7 "}}`},
		{"modules.json": `[]`},
	} {
		if got := fmt.Sprint(vectors(t, write(t, files), "w5 w6")); got != plain {
			t.Errorf("%v: %s, want %s", files, got, plain)
		}
	}
	two := vectors(t, write(t, map[string]string{"sentence_xlm-roberta_config.json": `{"max_seq_length":2}`}), "w5 w6", "")
	if fmt.Sprint(two[0]) != fmt.Sprint(two[1]) {
		t.Error("there is room for words besides the special tokens")
	}
	s, err := Load(write(t, map[string]string{"modules.json": `[{"type":"a.Normalize"}]`}), Options{})
	if err != nil || fmt.Sprint(s.Pooling()) != "[mean_tokens normalized]" || s.MaxTokens() != 12 || s.Config().Layers != 1 {
		t.Errorf("%v, %d, %v", s.Pooling(), s.MaxTokens(), err)
	}
	if s, err := Load(write(t, nil), Options{}); err != nil || fmt.Sprint(s.Pooling()) != "[mean_tokens]" {
		t.Errorf("%v, %v", s.Pooling(), err)
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Embed(stopped, []string{"w5"}); err != context.Canceled {
		t.Error(err)
	}
	if v := largest([]float32{0, -2, -1, 3, -5, 4}, 2); fmt.Sprint(v) != "[0 4]" {
		t.Error(v)
	}
}

func TestScores(t *testing.T) {
	s, err := Load(write(t, nil), Options{})
	if err != nil {
		t.Fatal(err)
	}
	pairs := []similarity.Pair{{A: "w5", B: "w5"}, {A: "w5", B: "w6"}, {A: "w6", B: "w5"}, {A: "w5", B: ""}}
	scores, err := s.Scores(context.Background(), pairs)
	if err != nil || math.Abs(scores[0]-1) > 1e-12 || scores[1] != scores[2] || scores[1] >= 1 || !math.IsNaN(scores[3]) {
		t.Error(scores, err)
	}
}
