package hub

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crosstalk/internal/testing/hubtest"
)

// write writes files below a folder.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

const commit = "12040accade4e8a0f71eabdb258fecc2e7e948be"

// asPythonDoes lays a repository out as huggingface_hub does.
func asPythonDoes(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	dir := filepath.Join(os.Getenv("HF_HOME"), "hub", folder)
	write(t, dir, map[string]string{"refs/main": commit})
	for name, content := range files {
		etag := hubtest.Etag(name, []byte(content))
		write(t, dir, map[string]string{"blobs/" + etag: content})
		path := filepath.Join(dir, "snapshots", commit, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		up := strings.Repeat("../", strings.Count(name, "/")+2)
		if err := os.Symlink(up+"blobs/"+etag, path); err != nil {
			t.Skip("no links on this machine")
		}
	}
}

var plain = map[string]string{"config.json": "{}", "vocab.txt": "[PAD]", "tokenizer_config.json": "{}", "model.safetensors": "weights"}

func TestFindWhatPythonFetched(t *testing.T) {
	start(t)
	asPythonDoes(t, "models--distilbert-base-uncased", plain)
	want := filepath.Join(os.Getenv("HF_HOME"), "hub", "models--distilbert-base-uncased", "snapshots", commit)
	for _, name := range []string{"distilbert-base-uncased", "distilbert/distilbert-base-uncased"} {
		for _, revision := range []string{"", "main", commit} {
			if dir, c, err := Find(name, revision); dir != want || c != commit || err != nil {
				t.Errorf("%s %s: %s %s %v", name, revision, dir, c, err)
			}
		}
	}
	// The folder of the full name wins once it is whole.
	asPythonDoes(t, "models--distilbert--distilbert-base-uncased", map[string]string{"config.json": "{}"})
	if dir, _, err := Find("distilbert-base-uncased", ""); dir != want || err != nil {
		t.Errorf("%s %v", dir, err)
	}
	rest := map[string]string{"vocab.txt": "[PAD]", "tokenizer_config.json": "{}", "model.safetensors": "weights"}
	asPythonDoes(t, "models--distilbert--distilbert-base-uncased", rest)
	if dir, _, err := Find("distilbert-base-uncased", ""); dir == want || err != nil {
		t.Errorf("%s %v", dir, err)
	}
}

func TestCacheFolder(t *testing.T) {
	start(t)
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	t.Setenv("XDG_CACHE_HOME", "")
	for _, c := range []struct{ variable, value, want string }{
		{"HF_HOME", "", filepath.Join(home, ".cache", "huggingface", "hub")},
		{"XDG_CACHE_HOME", filepath.Join(home, "xdg"), filepath.Join(home, "xdg", "huggingface", "hub")},
		{"HF_HOME", "~/hf", filepath.Join(home, "hf", "hub")},
		{"HF_HUB_CACHE", filepath.Join(home, "direct"), filepath.Join(home, "direct")},
	} {
		t.Setenv(c.variable, c.value)
		if got, err := cacheRoot(); got != c.want || err != nil {
			t.Errorf("%s=%s: %s %v, expected %s", c.variable, c.value, got, err, c.want)
		}
	}
}

func TestFindMissing(t *testing.T) {
	for name, c := range map[string]struct {
		files    map[string]string
		decisive []string
		missing  []string
	}{
		"nothing": {nil, nil, []string{"config.json", "model.safetensors", "tokenizer.json or vocab.txt", "tokenizer_config.json"}},
		"older weights": {map[string]string{"config.json": "{}", "vocab.txt": "", "tokenizer_config.json": "{}", "pytorch_model.bin": ""}, nil,
			[]string{"model.safetensors"}},
		"weights of another kind": {map[string]string{"config.json": "{}", "vocab.txt": "", "tokenizer_config.json": "{}", "tf_model.h5": ""}, nil,
			[]string{"model.safetensors"}},
		"whole":             {plain, nil, nil},
		"perhaps a wrapper": {plain, []string{"modules.json"}, []string{"modules.json"}},
		"perhaps cased":     {map[string]string{"config.json": "{}", "vocab.txt": "", "model.safetensors": ""}, nil, []string{"tokenizer_config.json"}},
		"a module": {map[string]string{"config.json": "{}", "vocab.txt": "", "tokenizer_config.json": "{}", "model.safetensors": "",
			"modules.json": `[{"path": "", "type": "sentence_transformers.models.Transformer"}, {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
			{"path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}]`}, []string{"modules.json"}, []string{"1_Pooling/config.json"}},
		"an encoder below": {map[string]string{"0_Transformer/config.json": "{}", "0_Transformer/vocab.txt": "", "0_Transformer/tokenizer_config.json": "{}",
			"modules.json": `[{"path": "0_Transformer", "type": "sentence_transformers.models.Transformer"}]`}, nil,
			[]string{"0_Transformer/model.safetensors"}},
	} {
		t.Run(name, func(t *testing.T) {
			start(t)
			if c.files != nil {
				asPythonDoes(t, "models--some-lab--tiny", c.files)
			}
			_, _, err := Find(tiny, "", c.decisive...)
			var m *MissingError
			switch {
			case errors.As(err, &m):
				slices.Sort(m.Files)
				if !slices.Equal(m.Files, c.missing) {
					t.Errorf("missing %q, expected %q", m.Files, c.missing)
				}
			case err != nil || c.missing != nil:
				t.Errorf("error %v, expected %q missing", err, c.missing)
			}
		})
	}
}

func TestFindDeletedBlob(t *testing.T) {
	start(t)
	asPythonDoes(t, "models--some-lab--tiny", plain)
	blob := filepath.Join(cached(), "blobs", hubtest.Etag("model.safetensors", []byte("weights")))
	if err := os.Remove(blob); err != nil {
		t.Fatal(err)
	}
	if dir, _, err := Find(tiny, ""); err == nil {
		t.Errorf("%s is taken for whole", dir)
	}
}

func TestFindFolder(t *testing.T) {
	start(t)
	dir := t.TempDir()
	write(t, dir, map[string]string{"config.json": "{}", "tokenizer.json": "{}", "model.safetensors": ""})
	if got, commit, err := Find(dir, ""); got != dir || commit != "" || err != nil {
		t.Errorf("%s %s %v", got, commit, err)
	}
	t.Chdir(filepath.Dir(dir))
	if got, _, err := Find("."+string(filepath.Separator)+filepath.Base(dir), ""); err != nil || !isDir(got) {
		t.Errorf("%s %v", got, err)
	}
	os.Remove(filepath.Join(dir, "tokenizer.json"))
	if _, _, err := Find(dir, ""); err == nil || !strings.Contains(err.Error(), dir+" lacks\n  tokenizer.json or vocab.txt") {
		t.Errorf("error %v", err)
	}
	for _, bad := range []string{filepath.Join(dir, "nothing"), filepath.Join(dir, "config.json")} {
		if _, _, err := Find(bad, ""); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s: error %v", bad, err)
		}
	}
	if _, _, err := Find(dir, "main"); err == nil {
		t.Error("a folder has a revision")
	}
}

func TestCanonical(t *testing.T) {
	for name, want := range map[string]string{
		"distilbert-base-uncased":      "distilbert/distilbert-base-uncased",
		"bert-base-chinese":            "google-bert/bert-base-chinese",
		"xlm-roberta-large":            "FacebookAI/xlm-roberta-large",
		"all-MiniLM-L6-v2":             "sentence-transformers/all-MiniLM-L6-v2",
		"bert-base-nli-mean-tokens":    "sentence-transformers/bert-base-nli-mean-tokens",
		"efederici/sentence-bert-base": "efederici/sentence-bert-base",
		"./bert-base-chinese":          "./bert-base-chinese",
		"/models/x":                    "/models/x",
		"models/of/mine":               "models/of/mine",
		".":                            ".",
		"~":                            "~",
		`a\b`:                          `a\b`,
	} {
		if got := Canonical(name); got != want {
			t.Errorf("%s: %s, expected %s", name, got, want)
		}
	}
}

func TestPullMendsLinks(t *testing.T) {
	start(t)
	path := filepath.Join(pull(t, tiny, ""), "config.json")
	os.Remove(path)
	if err := os.Symlink("../nowhere", path); err != nil {
		t.Skip("no links on this machine")
	}
	pull(t, tiny, "")
	if b, err := os.ReadFile(path); string(b) != string(tinyModel().Files["config.json"]) {
		t.Errorf("%q %v", b, err)
	}
}

// Names from the hub must not lead out of the cache.
func TestHostileNames(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"module": {"modules.json": `[{"path": "../../../../x", "type": "a.Transformer"}]`},
	} {
		s := start(t)
		m := tinyModel()
		delete(m.Files, "model.safetensors")
		delete(m.Files, "pytorch_model.bin")
		for file, content := range files {
			m.Files[file] = []byte(content)
		}
		m.Files["../../../x.safetensors"], m.Files["../../../../x/config.json"], m.Files["x.py"] = weights, weights, weights
		s.Models[tiny] = m
		refuses(t, tiny, "", "leads out of the model's folder")
		filepath.WalkDir(filepath.Dir(os.Getenv("HF_HOME")), func(path string, _ os.DirEntry, _ error) error {
			if strings.HasPrefix(filepath.Base(path), "x") {
				t.Errorf("%s: %s was written", name, path)
			}
			return nil
		})
	}
	for path, ok := range map[string]bool{"a/b.json": true, "../a": false, "/a": false, "a/../../b": false,
		`a\..\b`: false, "c:a": false, "a\x00b": false, "": false, ".": false, "a//b": false} {
		if isLocal(path) != ok {
			t.Errorf("isLocal(%q) is %v", path, !ok)
		}
	}
}

// Weights in another format are not fetched; the error says what to do.
func TestPullOtherWeights(t *testing.T) {
	s := start(t)
	for _, file := range []string{"pytorch_model.bin", "pytorch_model.bin.index.json", "tf_model.h5"} {
		s.Models[tiny] = tinyModel()
		delete(s.Models[tiny].Files, "model.safetensors")
		delete(s.Models[tiny].Files, "pytorch_model.bin")
		s.Models[tiny].Files[file] = weights
		refuses(t, tiny, "", tiny+" has no model.safetensors", "and it has "+file+": name a revision")
	}
	if r := s.Requests(); count(r, "hub", "HEAD") != 0 {
		t.Errorf("sent %v", r)
	}
	s.Models[tiny] = tinyModel()
	delete(s.Models[tiny].Files, "tokenizer.json")
	delete(s.Models[tiny].Files, "vocab.txt")
	refuses(t, tiny, "", "has no tokenizer.json or vocab.txt")
}

func TestPullModules(t *testing.T) {
	s := start(t)
	m := tinyModel()
	m.Files["a-1.safetensors"] = weights
	m.Files["modules.json"] = []byte(`[{"path": "", "type": "sentence_transformers.models.Transformer"}, {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}]`)
	m.Files["1_Pooling/config.json"] = []byte(`{"pooling_mode_mean_tokens": true}`)
	m.Files["sentence_bert_config.json"] = []byte(`{"max_seq_length": 256}`)
	m.Files["config_sentence_transformers.json"] = []byte(`{}`)
	s.Models[tiny] = m
	dir := pull(t, tiny, "")
	var got []string
	filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if !d.IsDir() {
			name, _ := filepath.Rel(dir, path)
			got = append(got, filepath.ToSlash(name))
			if b, err := os.ReadFile(path); err != nil || string(b) != string(m.Files[filepath.ToSlash(name)]) {
				t.Errorf("%s has another content (%v)", name, err)
			}
		}
		return nil
	})
	slices.Sort(got)
	want := []string{"1_Pooling/config.json", "config.json", "config_sentence_transformers.json", "model.safetensors", "modules.json",
		"sentence_bert_config.json", "tokenizer.json", "tokenizer_config.json"}
	if !slices.Equal(got, want) {
		t.Errorf("fetched %q, expected %q", got, want)
	}
	if to, _ := os.Readlink(filepath.Join(dir, "1_Pooling", "config.json")); !strings.HasPrefix(filepath.ToSlash(to), "../../../blobs/") {
		t.Errorf("the link leads to %s", to)
	}
}

func TestPullMoved(t *testing.T) {
	s := start(t)
	s.Models["distilbert/distilbert-base-uncased"] = tinyModel()
	s.Moved["old/name"] = tiny
	if dir := pull(t, "distilbert-base-uncased", ""); !strings.Contains(dir, "models--distilbert--distilbert-base-uncased") {
		t.Errorf("pulled into %s", dir)
	}
	pull(t, "old/name", "")

	// What another library fetched under the old name is completed there.
	s.Models["distilbert/distilroberta-base"] = tinyModel()
	asPythonDoes(t, "models--distilroberta-base", nil)
	if dir := pull(t, "distilroberta-base", ""); !strings.Contains(dir, "models--distilroberta-base") {
		t.Errorf("pulled into %s", dir)
	}
}
