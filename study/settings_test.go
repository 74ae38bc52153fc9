package study

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/instrument/confusion"
	"crosstalk/instrument/consistency"
	"crosstalk/instrument/leakage"
	"crosstalk/run"
)

// forget rewrites a run's manifest as versions did that kept no settings.
func forget(t *testing.T, path string) {
	t.Helper()
	file := filepath.Join(path, "manifest.json")
	text, err := os.ReadFile(file)
	var fields map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(text, &fields)
	}
	delete(fields, "settings")
	if err == nil {
		text, err = json.Marshal(fields)
	}
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Opened again, the settings of a run are of the same requests and rules, so resuming asks nothing.
func TestFromRun(t *testing.T) {
	t.Parallel()
	seed := int64(0)
	confused := []string{"reference:confused?seed=1", "reference:confused?seed=2"}
	for name, of := range map[string]Settings{
		"defaults": &Leakage{Sweep: Sweep{Items: 9}},
		"leakage": &Leakage{Sweep: Sweep{Items: 9, Samples: 2, Prefixes: []string{"none of us: ", "", "none"}, Seed: &seed,
			Temperatures: []string{"default", "0.50", "1"}, Zip: [][]string{{"temperature", "prefix"}}},
			Options: leakage.Options{Protocols: []string{"gonen-2024"}}},
		"confusion": &Confusion{Languages: []string{"ko", "de"}, Logprobs: 5, Positions: []string{"start"}, Shots: []int{0, 2}, Shown: InExpected,
			Templates: []string{"qa"}, Beams: []int{1}, Options: confusion.Options{Protocols: []string{"crosstalk-1", "lcb-paper"}},
			Sweep: Sweep{Models: confused, Items: 10, Systems: []string{"none", "", "@me, \"you\"\n"}, Temperatures: []string{"0", "1"},
				TopPs: []string{"default"}, Params: []string{"top_k=5", "word=a b", "list=[1]", "word=c", "list=[2]"}, MaxTokens: 7}},
		"consistency": &Consistency{Sweep: Sweep{Items: 6, Reasoning: []string{"off", "default"}, ReasoningTokens: 9}, To: []string{"fr", "ja"},
			Mixed: []string{"de"}, Parts: []string{"X"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "run")
			planned, err := of.Open()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := planned.Run(t.Context(), dir, ask.Options{}); err != nil {
				t.Fatal(err)
			}
			for _, version := range []string{"new", "older"} {
				if version == "older" {
					forget(t, dir)
				}
				again, err := FromRun(dir)
				if err != nil {
					t.Fatal(err)
				}
				s, err := again.Open()
				if err != nil {
					t.Fatalf("%s: %v", version, err)
				}
				if field := planned.Plan().Difference(s.Plan()); field != "" {
					t.Errorf("%s: %s", version, field)
				}
				m, err := run.ReadManifest(dir)
				if err != nil {
					t.Fatal(err)
				}
				for i, p := range s.Protocols {
					was := m.Scoring[i]
					was.Rules, was.By = crosstalk.Canonical(was.Rules), p.Scoring.By
					if field := was.Difference(p.Scoring); field != "" {
						t.Errorf("%s: %s", version, field)
					}
				}
				if c, is := again.(*Consistency); is && name == "consistency" &&
					(!slices.Equal(c.To, []string{"fr", "ja"}) || !slices.Equal(c.Mixed, []string{"de"}) || !slices.Equal(c.Parts, []string{"X"})) {
					t.Errorf("%s: to %q, mixed %q, parts %q", version, c.To, c.Mixed, c.Parts)
				}
			}
		})
	}
}

// Settings keep no secrets, and each says what it is of.
func TestKept(t *testing.T) {
	c := &Consistency{Sweep: Sweep{BaseURLs: []string{"http://me:secret@host/v1?key=secret"}, Headers: []string{"X-Key=secret"},
		KeyVar: "secret"}, ExecEnv: []string{"secret"}, Options: consistency.Options{Protocols: []string{"crosstalk-1"}}}
	if text := string(kept(c)); strings.Contains(text, "secret") || !strings.Contains(text, "http://host/v1") {
		t.Error(text)
	}
	if c.BaseURLs[0] != "http://me:secret@host/v1?key=secret" {
		t.Error("the address has changed")
	}
	a, b := run.Manifest{Settings: kept(c)}, run.Manifest{}
	c.To, c.Texts = []string{"fr"}, []string{"elsewhere.yaml"}
	for _, of := range []struct {
		other json.RawMessage
		want  string
	}{{nil, ""}, {a.Settings, ""}, {kept(c), `to is null, not ["fr"]`}, {json.RawMessage("x"), "settings are invalid"}} {
		b.Settings = of.other
		if got := run.OtherSettings(a, b); got != of.want {
			t.Errorf("%q, want %q", got, of.want)
		}
	}
}

// Another model is asked with what was sent, at its own address.
func TestAskAlike(t *testing.T) {
	cold := 0.0
	planned := run.Condition{Model: crosstalk.Identity{Provider: "openai", Endpoint: "https://a/v1", Name: "old"},
		Prompting: crosstalk.PromptConfig{API: crosstalk.Responses, System: "none", Decoding: crosstalk.Decoding{Temperature: &cold,
			MaxTokens: 7, ReasoningTokens: 99, Extra: map[string]any{"use_beam_search": true, "n": 4.0}}}}
	m := run.Manifest{Plan: run.Plan{Conditions: []run.Condition{planned}}, Adapted: []run.Adapted{{Without: []string{"temperature"}}}}
	of := &Confusion{Sweep: Sweep{Samples: 3, Items: 5, BaseURLs: []string{"https://a/v1"}}}
	if err := AskAlike(of, m, "openai:new"); err != nil {
		t.Fatal(err)
	}
	got, want := string(crosstalk.Canonical(of)), `{"models":["openai:new"],"apis":["chat"],"temperatures":["default"],"top_ps":["default"],`+
		`"max_tokens":7,"systems":["none"],"prefixes":[""],"params":["n=4","use_beam_search=true"],"reasoning":["default"],"items":5}`
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
	m.Plan.Conditions[0].Model.Provider = "vllm"
	of = &Confusion{Beams: []int{4}}
	if err := AskAlike(of, m, "vllm:new"); err != nil || of.Params != nil || !slices.Equal(of.Beams, []int{4}) {
		t.Errorf("%v: %q, beams %d", err, of.Params, of.Beams)
	}
	m.Plan.Conditions = append(m.Plan.Conditions, planned)
	if err := AskAlike(of, m, "vllm:new"); err == nil {
		t.Error("a sweep has no one setting")
	}
}
