package model

import (
	"path"
	"strings"
	"testing"

	"crosstalk"
)

// full is a request with every parameter.
func full() crosstalk.PromptConfig {
	temperature, topP, seed := 0.0, 0.75, int64(1)
	return crosstalk.PromptConfig{API: crosstalk.Chat, System: "Be brief.", Logprobs: 5,
		Decoding: crosstalk.Decoding{Temperature: &temperature, TopP: &topP, Seed: &seed, MaxTokens: 100, Stop: []string{"\n"}}}
}

func said(changes []Change) string {
	var all []string
	for _, c := range changes {
		all = append(all, c.String())
	}
	return strings.Join(all, "\n")
}

func TestAdaptDetails(t *testing.T) {
	p, _ := Adapt("gemini:gemma-3-4b-it", full(), nil)
	if p.System != "" || p.Prefix != "Be brief.\n\n" {
		t.Errorf("the system message went to %q", p.Prefix)
	}
	before := full()
	before.Decoding.Reasoning = "off"
	if p, _ = Adapt("gemini:gemini-2.5-pro", before, nil); p.Decoding.Reasoning != "" ||
		p.Decoding.ReasoningTokens != 4000 || p.Decoding.Limit() != 4100 {
		t.Errorf("%+v", p.Decoding)
	}
	if before.Decoding.Reasoning != "off" || *before.Decoding.Temperature != 0 {
		t.Error("Adapt changed its argument")
	}
	// Parameters that the user sets as they are say whether the model thinks.
	raw := full()
	raw.Decoding.Extra = map[string]any{"reasoning_effort": "none"}
	if _, changes := Adapt("openai:gpt-5.6-sol", raw, nil); len(changes) != 1 {
		t.Errorf("with reasoning_effort none: %s", said(changes))
	}
	// The user's room is kept, and no limit needs none.
	own := full()
	own.Decoding.ReasoningTokens = 77
	if p, changes := Adapt("openai:gpt-5", own, nil); p.Decoding.ReasoningTokens != 77 || strings.Contains(said(changes), "max_tokens") {
		t.Errorf("%+v: %s", p.Decoding, said(changes))
	}
	own.Decoding.MaxTokens, own.Decoding.ReasoningTokens = 0, 0
	if p, _ := Adapt("openai:gpt-5", own, nil); p.Decoding.ReasoningTokens != 0 {
		t.Errorf("%+v", p.Decoding)
	}
	api := full()
	api.API = crosstalk.Responses
	if p, changes := Adapt("openai:gpt-4o", api, nil); p.Decoding.Seed != nil || len(changes) != 2 || !changes[0].Keeps ||
		changes[1].Keeps {
		t.Errorf("responses: %s", said(changes))
	}
	// The user's entries come last.
	yes := true
	families := []Family{{Name: "mine", Models: []string{"gpt-5-mini*"},
		Takes: Takes{Temperature: "0.5-1", Logprobs: &yes}, Reasoning: Reasoning{Default: "off"}}}
	if p, changes := Adapt("openai:gpt-5-mini", full(), families); *p.Decoding.Temperature != 0.5 || p.Logprobs != 5 ||
		p.Decoding.ReasoningTokens != 0 {
		t.Errorf("%+v: %s", p, said(changes))
	}
}

// The table is well formed, has sources, and each pattern says something.
func TestFamilies(t *testing.T) {
	families, date := Families()
	if len(date) != len("2026-11-22") || len(families) < 40 {
		t.Errorf("%d families of %s", len(families), date)
	}
	seen := map[string]bool{}
	for _, f := range families {
		if err := f.validate(); err != nil {
			t.Error(err)
		}
		if len(f.Sources) == 0 || seen[f.Name] {
			t.Errorf("%s has no source, or is there twice", f.Name)
		}
		seen[f.Name] = true
		for _, m := range f.Models {
			if m != strings.ToLower(m) {
				t.Errorf("%s: pattern %s", f.Name, m)
			}
			if ok, err := path.Match(m, strings.NewReplacer("*", "", "?", ".").Replace(m)); !ok || err != nil {
				t.Errorf("%s: pattern %s: %v", f.Name, m, err)
			}
		}
	}
}
