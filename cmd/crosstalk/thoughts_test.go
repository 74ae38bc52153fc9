package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/internal/testing/testserver"
	"crosstalk/run"
	"crosstalk/suite"
)

// asReceived is the text of a response, with the thoughts that the server left
// in it, and those that it put in a field of their own.
func asReceived(t *testing.T, raw []byte) (text, reasoning string) {
	t.Helper()
	var body struct {
		Choices []struct {
			Message struct {
				Content   any
				Reasoning string `json:"reasoning_content"`
			}
		}
		Content []struct{ Type, Text, Thinking string }
	}
	if err := json.Unmarshal(raw, &body); err != nil {
		t.Fatal(err)
	}
	for _, block := range body.Content {
		text, reasoning = text+block.Text, reasoning+block.Thinking
	}
	if len(body.Choices) == 0 {
		return text, reasoning
	}
	switch content := body.Choices[0].Message.Content.(type) {
	case string:
		text = content
	case []any: // parts
		for _, part := range content {
			if s, ok := part.(map[string]any)["text"].(string); ok {
				text += s
			}
		}
	}
	return text, body.Choices[0].Message.Reasoning
}

// scoredTexts are the answers that observations rest on, and how many are not
// scored.
func scoredTexts(t *testing.T, out string) (texts []string, unscored int) {
	t.Helper()
	for o, err := range run.ReadObservations(out) {
		if err != nil {
			t.Fatal(err)
		}
		if o.NotScored != "" {
			unscored++
		}
		for _, text := range o.Texts {
			if text.Role == crosstalk.Side {
				texts = append(texts, text.Text)
			}
		}
	}
	return texts, unscored
}

// withThoughts counts texts in which something of a thought is.
func withThoughts(texts []string) (n int) {
	for _, text := range texts {
		for _, sign := range []string{"The user", "I should", "think", "THINK", "<|", "analysis"} {
			if strings.Contains(text, sign) {
				n++
				break
			}
		}
	}
	return n
}

// Wherever a server leaves a model's thoughts, no answer of the embedded suite is
// scored with one in it: when it comes, from a recorded file, and from the journal
// of a version that left thoughts in the text.
func TestNoThoughtIsScored(t *testing.T) {
	if testing.Short() {
		t.Skip("makes many runs")
	}
	whole, err := suite.LoadFor("leakage", "leakage-en")
	if err != nil {
		t.Fatal(err)
	}
	n := 15
	if *full {
		n = 250
	}
	items := whole.Part(n)
	prompts := map[string]bool{}
	for _, item := range items.Items.All() {
		prompts[item.Pair.Test], prompts[item.Pair.Control] = true, true
	}
	for _, c := range []struct {
		form, profile, model string
		inText               bool
		more                 []string
	}{
		{"reasoning_content", "glm", "compatible:m", false, nil},
		{"reasoning", "gpt-oss", "compatible:m", false, nil},
		{"reasoning_details", "openrouter", "compatible:m", false, nil},
		{"parts", "magistral", "compatible:m", false, nil},
		{"thinking blocks", "claude-4.5", "anthropic:claude-sonnet-4-5", false, []string{"--reasoning", "low"}},
		{"<think> pairs", "no parser", "compatible:m", true, nil},
		// A thought that is cut before its only marker looks like an answer: the
		// table knows that this model needs room.
		{"a lone </think>", "no parser, tag in the template", "compatible:qwq-32b", true, nil},
		{"harmony channels", "gpt-oss without a parser", "compatible:m", true, nil},
	} {
		t.Run(c.form, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, testserver.Options{Profile: c.profile})
			out := filepath.Join(t.TempDir(), "run")
			args := append([]string{"run", "leakage", "--model", c.model, "--base-url", s.URL + "/v1", "--out", out, "--items", strconv.Itoa(n), "--format", "json"}, c.more...)
			p := start(t, []string{"ANTHROPIC_API_KEY=" + apiKey}, args...).expect(0, " after thinking")
			live := estimatesOf(t, p)
			texts, unscored := scoredTexts(t, out)
			if n := withThoughts(texts); n != 0 || len(texts) != 2*items.Items.Len() || unscored != 0 {
				t.Errorf("%d of %d texts with a thought; %d items not scored", n, len(texts), unscored)
			}

			// The same answers as a file.
			answered, reasoned := map[string]string{}, map[string]string{}
			kept := 0
			for _, r := range journalled(t, out) {
				if r.Answer.Status != crosstalk.Text {
					continue
				}
				if r.Answer.Reasoning != "" && r.Answer.Reason != crosstalk.Thinking {
					kept++
				}
				prompt := strings.TrimPrefix(r.Request.Text(), "Complete the sentence: ")
				answered[prompt], reasoned[prompt] = asReceived(t, r.Answer.Raw)
			}
			if len(answered) != len(prompts) || kept != len(prompts) {
				t.Errorf("%d answers, %d with their reasoning; want %d", len(answered), kept, len(prompts))
			}
			if n := withThoughts(slices.Collect(maps.Values(answered))); (n == len(prompts)) != c.inText || n != 0 && !c.inText {
				t.Fatalf("the server left thoughts in %d of %d answers", n, len(answered))
			}
			file, err := os.Create(filepath.Join(t.TempDir(), "answers.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			for _, item := range items.Items.All() {
				row := map[string]string{"id": item.ID, "concept": item.Pair.Concept, "prompt": item.Pair.Test, "control_prompt": item.Pair.Control,
					"test": answered[item.Pair.Test], "control": answered[item.Pair.Control], "language": "en", "reasoning_content": reasoned[item.Pair.Test]}
				if len(item.Pair.Remove) > 0 {
					row["remove"] = item.Pair.Remove[0]
				}
				if err := json.NewEncoder(file).Encode(row); err != nil {
					t.Fatal(err)
				}
			}
			says := ""
			if c.inText {
				says = fmt.Sprintf("%d answers had the model's thoughts in them", 2*items.Items.Len())
			}
			again := filepath.Join(t.TempDir(), "scored")
			p = start(t, nil, "score", "leakage", file.Name(), "--out", again, "--format", "json").expect(0, says)
			texts, unscored = scoredTexts(t, again)
			if n := withThoughts(texts); n != 0 || len(texts) != 2*items.Items.Len() || unscored != 0 {
				t.Errorf("recorded: %d of %d texts with a thought; %d items not scored", n, len(texts), unscored)
			}
			if e := estimatesOf(t, p)[0]; e.Value != live[0].Value || e.N != live[0].N {
				t.Errorf("recorded: %v of %d; want %v of %d", e.Value, e.N, live[0].Value, live[0].N)
			}

		})
	}
}
