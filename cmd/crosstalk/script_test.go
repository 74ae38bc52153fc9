package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

	"crosstalk/internal/testing/hubtest"
	"crosstalk/internal/testing/randmodel"
	"crosstalk/internal/testing/shared"
	"crosstalk/internal/testing/testserver"

	"github.com/goccy/go-yaml"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(fewerCollections)
	// Tests that wait for servers, kills and pauses leave the processors to others.
	flag.Set("test.parallel", strconv.Itoa(3*runtime.GOMAXPROCS(0)))
	testscript.Main(m, map[string]func(){"crosstalk": main})
}

// fewerCollections is GOGC for tests and the commands that they start: these are short,
// and would spend a tenth of their time on collecting a few megabytes.
const fewerCollections = 400

// TestScripts runs testdata/script/*.txtar. Each script has
//
//   - a hub ($HF_ENDPOINT) that serves the random models
//     distilbert/distilbert-base-uncased, sentence-transformers/all-MiniLM-L6-v2
//     and some-lab/gated, which the token $TOKEN opens, and an empty cache
//     ($HF_HOME);
//   - the same models as folders in $MODELS, named without their owners,
//     sentence-bert-base in the layout of efederici/sentence-bert-base, and
//     tiny-bert, a BERT of known weights;
//   - a server ($CROSSTALK_MIRROR) of the files in the folder mirror, by host and
//     path, an empty cache ($CROSSTALK_CACHE), and mirror stop, which takes the
//     server away;
//   - exits CODE COMMAND..., which wants an exit code;
//   - replace FILE OLD NEW, which replaces a text in a file;
//   - hub serve NAME FOLDER, which adds a model; hub stop, which takes the hub
//     away; hub asked N, which wants N requests since the last hub command;
//     hub break CODE, which makes all requests fail;
//   - server OPTIONS, which starts a test server (testserver.Options, in YAML) with
//     its address in $URL; server answered N, which wants N answers since then, and
//     server batched N, answers in batches; server heal, which ends the fault of
//     results of batches; server stop, which takes it away;
//   - the condition [shared] and $SHARED for reference data of others, see
//     package shared.
func TestScripts(t *testing.T) {
	models := t.TempDir()
	writeModels(t, models)
	served, environment := hubModels(t, models)
	testscript.Run(t, testscript.Params{
		Dir:                "testdata/script",
		RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			s := hubtest.New()
			e.Defer(s.Close)
			e.Values["hub"] = s
			s.Token = "hf_of_the_test_and_secret"
			for name, m := range served {
				s.Put(name, m)
			}
			e.Vars = append(e.Vars, environment...)
			mirror := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(e.WorkDir, "mirror"))))
			e.Defer(mirror.Close)
			e.Values["mirror"] = mirror
			e.Values["server"] = new(*testserver.Server)
			e.Setenv("CROSSTALK_MIRROR", mirror.URL)
			e.Setenv("CROSSTALK_CACHE", filepath.Join(e.WorkDir, "cache"))
			e.Setenv("HF_ENDPOINT", s.URL)
			e.Setenv("HF_HOME", filepath.Join(e.WorkDir, "hf"))
			e.Setenv("MODELS", models)
			e.Setenv("TOKEN", s.Token)
			e.Setenv("SHARED", shared.Root())
			e.Setenv("GOGC", strconv.Itoa(fewerCollections))
			return nil
		},
		Condition: func(condition string) (bool, error) {
			if condition != "shared" {
				return false, fmt.Errorf("unknown condition %q", condition)
			}
			if shared.Root() == "" && *full {
				return false, errors.New(shared.Absent + "CROSSTALK_SHARED names its folder")
			}
			return shared.Root() != "", nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"exits": exits, "hub": hubCommand,
			"mirror": mirrorCommand, "server": serverCommand, "replace": replace},
	})
}

// hubModels are the models that every script's hub serves, and variables with their
// commits.
func hubModels(t *testing.T, models string) (served map[string]*hubtest.Model, environment []string) {
	served = map[string]*hubtest.Model{}
	for owner, name := range map[string]string{"distilbert": "distilbert-base-uncased", "sentence-transformers": "all-MiniLM-L6-v2", "some-lab": "gated"} {
		folder := name
		if name == "gated" {
			folder = "all-MiniLM-L6-v2"
		}
		m, err := hubtest.Read(filepath.Join(models, folder))
		if err != nil {
			t.Fatal(err)
		}
		m.Gated = name == "gated"
		served[owner+"/"+name] = m
		environment = append(environment, strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(name))+"_COMMIT="+m.Commit())
	}
	return served, environment
}

// exits runs a command and wants an exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		code = exit.ExitCode()
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, expected %s", code, args[0])
	}
}

// replace replaces a text in a file, which must have it.
func replace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: replace FILE OLD NEW")
	}
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s has no %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Replace(text, args[1], args[2], 1)), 0o600))
}

func serverCommand(ts *testscript.TestScript, neg bool, args []string) {
	s := ts.Value("server").(**testserver.Server)
	switch {
	case neg || len(args) == 0:
		ts.Fatalf("usage: server OPTIONS|answered N|batched N|heal|stop")
	case args[0] == "stop":
		(*s).Close()
	case args[0] == "heal":
		(*s).Heal()
	case args[0] == "batched" && len(args) == 2:
		n := 0
		for _, times := range (*s).Stats().Paid {
			n += times
		}
		if strconv.Itoa(n) != args[1] {
			ts.Fatalf("the server answered %d requests in batches, expected %s", n, args[1])
		}
	case args[0] == "answered" && len(args) == 2:
		if n := strconv.Itoa((*s).Stats().Answered); n != args[1] {
			ts.Fatalf("the server answered %s requests, expected %s", n, args[1])
		}
	default:
		var o struct {
			testserver.Options `yaml:",inline"`

			Text string // of every answer
		}
		ts.Check(yaml.UnmarshalWithOptions([]byte(args[0]), &o, yaml.DisallowUnknownField()))
		if o.Text != "" {
			o.Answer = func(testserver.Request) testserver.Reply { return testserver.Reply{Text: o.Text} }
		}
		*s = testserver.New(o.Options)
		ts.Defer((*s).Close)
		ts.Setenv("URL", (*s).URL+"/v1")
	}
}

func mirrorCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 || args[0] != "stop" {
		ts.Fatalf("usage: mirror stop")
	}
	ts.Value("mirror").(*httptest.Server).Close()
}

func hubCommand(ts *testscript.TestScript, neg bool, args []string) {
	s := ts.Value("hub").(*hubtest.Server)
	requests := s.Requests()
	switch {
	case neg || len(args) == 0:
		ts.Fatalf("usage: hub serve NAME FOLDER|stop|asked N|break CODE")
	case args[0] == "serve" && len(args) == 3:
		m, err := hubtest.Read(ts.MkAbs(args[2]))
		ts.Check(err)
		s.Put(args[1], m)
	case args[0] == "stop":
		s.Close()
	case args[0] == "asked" && len(args) == 2:
		if args[1] != strconv.Itoa(len(requests)) {
			ts.Fatalf("the hub was asked %v, expected %s requests", requests, args[1])
		}
	case args[0] == "break" && len(args) == 2:
		code, err := strconv.Atoi(args[1])
		ts.Check(err)
		s.Break(func(w http.ResponseWriter, _ *http.Request) bool {
			hubtest.Refuse(w, code, "")
			return true
		})
	}
}

// writeModels makes a plain encoder of six layers and one for sentence vectors.
// Their vocabulary is the letters.
func writeModels(t *testing.T, dir string) {
	t.Helper()
	vocab := "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n"
	for letter := 'a'; letter <= 'z'; letter++ {
		vocab += fmt.Sprintf("%c\n##%c\n", letter, letter)
	}
	model := randmodel.New(randmodel.Shape{Layers: 6, Hidden: 32, Heads: 2, Inner: 64, Vocab: 5 + 2*26, Positions: 128}, 1)
	for name, files := range map[string]map[string]any{
		"distilbert-base-uncased": {},
		"all-MiniLM-L6-v2": {
			"sentence_bert_config.json": map[string]int{"max_seq_length": 64},
			"1_Pooling/config.json":     map[string]bool{"pooling_mode_mean_tokens": true},
			"modules.json": []map[string]string{
				{"path": "", "type": "sentence_transformers.models.Transformer"},
				{"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
				{"path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
			},
		},
		"sentence-bert-base": { // as efederici lays it out: mean pooling, no normalization
			"sentence_bert_config.json": map[string]any{"max_seq_length": 512, "do_lower_case": false},
			"1_Pooling/config.json": map[string]any{"word_embedding_dimension": 32, "pooling_mode_cls_token": false,
				"pooling_mode_mean_tokens": true, "pooling_mode_max_tokens": false, "pooling_mode_mean_sqrt_len_tokens": false},
			"modules.json": []map[string]any{
				{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
				{"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
			},
		},
	} {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Join(at, "1_Pooling"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := model.Write(at); err != nil {
			t.Fatal(err)
		}
		files["tokenizer_config.json"] = map[string]any{"do_lower_case": true}
		for file, content := range files {
			b, err := json.Marshal(content)
			if err == nil {
				err = os.WriteFile(filepath.Join(at, filepath.FromSlash(file)), b, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(at, "vocab.txt"), []byte(vocab), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	writeTinyBERT(t, dir)
}

// writeTinyBERT writes a BERT of known weights as tiny-bert.
func writeTinyBERT(t *testing.T, dir string) {
	t.Helper()
	at := filepath.Join(dir, "tiny-bert")
	if err := os.CopyFS(at, os.DirFS("../../measure/encoder/testdata")); err != nil {
		t.Fatal(err)
	}
	vocab := []byte("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ntrain\nwas\nlate\nbread\n.\n")
	if err := os.WriteFile(filepath.Join(at, "vocab.txt"), vocab, 0o644); err != nil {
		t.Fatal(err)
	}
}
