package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestRealPromptfoo runs promptfoo with webhook assertions, where it is installed: as the command promptfoo, or where
// PROMPTFOO says.
func TestRealPromptfoo(t *testing.T) {
	program := os.Getenv("PROMPTFOO")
	if program == "" {
		program = "promptfoo"
	}
	program, err := exec.LookPath(program)
	if err != nil {
		t.Skip("promptfoo is not installed; PROMPTFOO can name its executable")
	}
	url := serving(t, Options{})
	dir := t.TempDir()
	config := fmt.Sprintf(`
providers: [echo]
prompts: ["{{text}}"]
tests:
  - vars: {text: %q}
    assert: [{type: webhook, value: "%s/promptfoo?language=de"}]
  - vars: {text: %q, language: de}
    assert: [{type: webhook, value: "%[2]s/promptfoo"}]
`, german, url, english)
	if err := os.WriteFile(filepath.Join(dir, "promptfooconfig.yaml"), []byte(config), 0o666); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), program, "eval", "--no-cache", "--no-write", "-o", "out.json")
	c.Dir = dir
	c.Env = append(os.Environ(), "PROMPTFOO_CONFIG_DIR="+filepath.Join(dir, "home"), "PROMPTFOO_DISABLE_TELEMETRY=1", "PROMPTFOO_DISABLE_UPDATE=1")
	var exit *exec.ExitError
	if said, err := c.CombinedOutput(); !errors.As(err, &exit) { // it exits with 100 if an assertion fails
		t.Fatalf("%v\n%s", err, said)
	}
	data, err := os.ReadFile(filepath.Join(dir, "out.json"))
	if err != nil {
		t.Fatal(err)
	}
	var out struct {
		Results struct {
			Results []struct {
				Success       bool
				Score         float64
				Vars          map[string]string
				GradingResult struct{ ComponentResults []struct{ Reason string } }
			}
		}
	}
	if err := json.Unmarshal(data, &out); err != nil || len(out.Results.Results) != 2 {
		t.Fatalf("%v\n%s", err, data)
	}
	for _, r := range out.Results.Results {
		want, reason := r.Vars["text"] == german, "the answer is in de"
		if !want {
			reason = "the answer should be in de; in another language (en): lines 1, runs of words 0"
		}
		if r.Success != want || len(r.GradingResult.ComponentResults) != 1 ||
			r.GradingResult.ComponentResults[0].Reason != reason {
			t.Errorf("%+v", r)
		}
	}
}

// promptfoo sends what a model thought before its answer: it is not judged. Where the end of the thoughts is unknown,
// the answer is not checked.
func TestPromptfooThoughts(t *testing.T) {
	const thinking = `{"output":"Thinking: The user asks when the order will arrive.\n\n`
	url := serving(t, Options{})
	for _, c := range []struct{ body, want string }{
		{thinking + german + `"}`, `{"pass":true,"reason":"the answer is in de","score":1}`},
		{thinking + english + `"}`, `"pass":false`},
		{thinking + `I should say Thursday.\n\n` + german + `"}`, `"reason":"not checked: promptfoo wrote the model's thoughts`},
	} {
		if status, got := post(t, url+promptfooPath+"?language=de", c.body); status != 200 || !strings.Contains(got, c.want) {
			t.Errorf("%s: %d %s", c.body, status, got)
		}
	}
	status, got := post(t, serving(t, Options{Block: true})+promptfooPath+"?language=de", thinking+`So.\n\n`+german+`"}`)
	if status != 400 || !strings.Contains(got, "showThinking: false") {
		t.Errorf("%d %s", status, got)
	}
}
