package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// The parts of GitHub's files that ours have; reading another field fails. See
// https://docs.github.com/en/actions/reference/workflows-and-actions/metadata-syntax and workflow-syntax.
type (
	action struct {
		Name, Description string
		Branding          struct{ Icon, Color string }
		Inputs            map[string]struct {
			Description string
			Default     string
		}
		Outputs map[string]struct{ Description, Value string }
		Runs    struct {
			Using string
			Steps []actionStep
		}
	}
	workflow struct {
		Name        string
		On          map[string]struct{ Paths []string }
		Permissions map[string]string
		Env         map[string]string
		Jobs        map[string]struct {
			RunsOn  string `yaml:"runs-on"`
			Timeout int    `yaml:"timeout-minutes"`
			Steps   []actionStep
		}
	}
	actionStep struct {
		ID, If, Uses, Shell, Run string
		Env, With                map[string]string
	}
)

func readStrictly[T any](t *testing.T, path string) (file T) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalWithOptions(text, &file, yaml.Strict()); err != nil {
		t.Fatalf("%s: %s", path, yaml.FormatError(err, false, true))
	}
	return file
}

// runner runs the steps of actions and workflows as GitHub's does, as far as ours need it. Steps that use actions of
// others do nothing.
type runner struct {
	t         *testing.T
	tree      string // the source of our action, with programs of its own, or without
	workspace string
	path      string            // PATH
	values    map[string]string // what expressions name
	log       bytes.Buffer
	used      []string // actions of others
}

func newRunner(t *testing.T, temporary, tree string, values map[string]string) *runner {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash")
	}
	path := tree + string(os.PathListSeparator) + os.Getenv("PATH")
	r := &runner{t: t, tree: tree, workspace: t.TempDir(), path: path, values: map[string]string{
		"runner.temp": temporary, "runner.os": "Linux", "runner.arch": "X64", "github.event.pull_request.base.sha": "1a2b3c",
		"github.action_path": "", "secrets.OPENAI_API_KEY": "sk-secret"}}
	maps.Copy(r.values, values)
	return r
}

var expression = regexp.MustCompile(`\$\{\{ *(.*?) *\}\}`)

func (r *runner) expand(text string) string {
	return expression.ReplaceAllStringFunc(text,
		func(e string) string { return r.value(expression.FindStringSubmatch(e)[1]) })
}

// value evaluates an expression: || of && of comparisons of names and strings.
func (r *runner) value(e string) string {
	for _, operator := range []string{" || ", " && ", " == ", " != "} {
		left, right, found := strings.Cut(e, operator)
		if !found {
			continue
		}
		a, b := r.value(left), r.value(right)
		switch operator {
		case " || ":
			if a != "" && a != "false" {
				return a
			}
			return b
		case " && ":
			if a != "" && a != "false" {
				return b
			}
			return a
		}
		return fmt.Sprint((a == b) == (operator == " == "))
	}
	switch {
	case strings.HasPrefix(e, "'"):
		return strings.Trim(e, "'")
	case e == "always()":
		return "true"
	case strings.HasPrefix(e, "hashFiles("):
		return "a-hash"
	}
	v, known := r.values[e]
	if !known {
		r.t.Errorf("nothing is named %s", e)
	}
	return v
}

// steps runs steps and returns the exit code of the first that fails.
func (r *runner) steps(steps []actionStep, action string) (code int) {
	for _, s := range steps {
		if s.ID != "" { // its outputs exist from now on, empty until they are written
			for _, m := range regexp.MustCompile(`echo "([a-z]+)=[^"]*" >> "\$GITHUB_OUTPUT"`).FindAllStringSubmatch(s.Run, -1) {
				r.values["steps."+s.ID+".outputs."+m[1]] = ""
			}
		}
		if s.If != "" && (r.value(s.If) == "" || r.value(s.If) == "false") || code != 0 && !strings.Contains(s.If, "always()") {
			continue
		}
		if s.Uses != "" {
			for _, v := range s.With {
				r.expand(v)
			}
			if strings.HasPrefix(s.Uses, "OWNER/crosstalk@v") {
				code = r.crosstalk(s)
			} else if regexp.MustCompile(`^actions/[a-z/-]+@v\d+$`).MatchString(s.Uses) {
				r.used = append(r.used, s.Uses)
				if strings.HasPrefix(s.Uses, "actions/upload-artifact@") {
					r.values["steps."+s.ID+".outputs.artifact-url"] = "https://github.example/artifact"
				}
			} else {
				r.t.Errorf("uses %s", s.Uses)
			}
			continue
		}
		if expression.MatchString(s.Run) || s.Shell != "bash" {
			r.t.Errorf("a script must get values from env, never in its text, and name its shell:\n%s", s.Run)
		}
		if c := r.script(s, action); c != 0 && code == 0 {
			code = c
		}
	}
	return code
}

func (r *runner) script(s actionStep, action string) int {
	t, dir := r.t, r.t.TempDir()
	script, output, path := filepath.Join(dir, "script.sh"), filepath.Join(dir, "output"), filepath.Join(dir, "path")
	if err := os.WriteFile(script, []byte(s.Run), 0o666); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", script)
	c.Dir, c.Stdout, c.Stderr = r.workspace, &r.log, &r.log
	c.Env = append(os.Environ(), "PATH="+r.path, "GITHUB_ACTIONS=true", "GITHUB_ACTION_PATH="+action, "GITHUB_OUTPUT="+output, "GITHUB_PATH="+path,
		"GITHUB_STEP_SUMMARY="+filepath.Join(r.workspace, "summary.md"))
	for name, value := range s.Env {
		c.Env = append(c.Env, name+"="+r.expand(value))
	}
	c.Run()
	written, _ := os.ReadFile(output)
	for line := range strings.Lines(string(written)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if _, expected := r.values["steps."+s.ID+".outputs."+name]; !expected {
			t.Errorf("an unexpected output %s", line)
		}
		r.values["steps."+s.ID+".outputs."+name] = value
	}
	added, _ := os.ReadFile(path)
	for line := range strings.Lines(string(added)) {
		r.path = strings.TrimSpace(line) + string(os.PathListSeparator) + r.path
	}
	return c.ProcessState.ExitCode()
}

// crosstalk runs our action as a step.
func (r *runner) crosstalk(s actionStep) int {
	t := r.t
	a := readStrictly[action](t, "../../action.yml")
	if a.Name == "" || a.Description == "" || a.Runs.Using != "composite" {
		t.Errorf("action.yml: %+v", a)
	}
	inner := newRunner(t, r.values["runner.temp"], r.tree, nil)
	inner.workspace, inner.path, inner.values["github.action_path"] = r.workspace, r.path, r.tree
	for name, input := range a.Inputs {
		inner.values["inputs."+name] = input.Default
		if input.Description == "" {
			t.Errorf("the input %s has no description", name)
		}
	}
	for name, value := range s.With {
		if _, known := a.Inputs[name]; !known {
			t.Errorf("the action has no input %s", name)
		}
		inner.values["inputs."+name] = strings.TrimSpace(r.expand(value))
	}
	code := inner.steps(a.Runs.Steps, r.tree)
	for name, output := range a.Outputs {
		r.values["steps."+s.ID+".outputs."+name] = inner.expand(output.Value)
	}
	r.log.Write(inner.log.Bytes())
	r.used, r.path = append(r.used, inner.used...), inner.path
	return code
}

// sourceTree is the source of an action whose go makes no program, but links the one that tests run. The hash of the
// project's own files would change while other tests write some.
func sourceTree(t *testing.T) string {
	t.Helper()
	program, err := exec.LookPath("crosstalk")
	if err != nil {
		t.Fatal(err)
	}
	tree := t.TempDir()
	script := "#!/bin/sh\n[ \"$1 $3 $4 $6\" = '-C build -o ./cmd/crosstalk' ] && ln -s '" + program + "' \"$5\"\n"
	if err := os.WriteFile(filepath.Join(tree, "go"), []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	return tree
}

// The action, with one runner's folder for all of its uses: the program is built once, with -full by Go.
func TestAction(t *testing.T) {
	t.Parallel()
	const right, wrong = "confusion --quiet --language de,ko --model reference:confused?line=0&word=0",
		"confusion --quiet --language de,ko --model reference:confused?line=0.5&word=0"
	temporary, tree := t.TempDir(), sourceTree(t)
	step := func(t *testing.T, tree string, with map[string]string) (*runner, int) {
		r := newRunner(t, temporary, tree, nil)
		code := r.crosstalk(actionStep{ID: "c", With: with})
		return r, code
	}
	trees := []string{tree}
	if *full {
		own, err := filepath.Abs("../..")
		if err != nil {
			t.Fatal(err)
		}
		trees = append(trees, own)
	}
	for _, tree := range trees {
		r, code := step(t, tree, nil)
		program, err := exec.Command("bash", "-c", "PATH='"+r.path+"'; command -v crosstalk").Output()
		if code != 0 || err != nil || !strings.HasPrefix(string(program), temporary) {
			t.Fatalf("exit code %d, and crosstalk is %q (%v)\n%s", code, program, err, &r.log)
		}
		if fmt.Sprint(r.used) != "[actions/cache@v4 actions/setup-go@v6]" {
			t.Errorf("used %s", r.used)
		}
	}
	for _, test := range []struct {
		name    string
		with    map[string]string
		code    int
		verdict string
		logged  string
	}{
		{"passed", map[string]string{"run": right, "require": "lpr >= 90%\nwpr >= 80% by language\n"}, 0, "passed", ""},
		{"failed", map[string]string{"run": wrong, "require": "lpr >= 95%"}, 1, "failed", "::error"},
		{"worse", map[string]string{"run": wrong, "baseline": right, "margin": "3%"}, 1, "failed", "::group::Baseline"},
		{"inconclusive", map[string]string{"run": right + " --items 8", "baseline": right + " --items 8", "margin": "1%"}, 4, "inconclusive", "more items"},
		{"inconclusive passes", map[string]string{"run": right + " --items 8", "baseline": right + " --items 8", "margin": "1%", "inconclusive": "pass"},
			0, "inconclusive", "more items"},
		{"point", map[string]string{"run": right + " --items 8", "baseline": right + " --items 8", "margin": "1%", "point": "true"},
			0, "passed", ""},
		{"no margin", map[string]string{"run": right, "baseline": right}, 2, "", "--no-worse-than needs --margin"},
		{"nothing required", map[string]string{"run": right}, 0, "", ""},
		{"only text", map[string]string{"run": right + ` --system "$(touch spoilt)" --prefix '; touch spoilt #'`, "require": "`touch spoilt`"}, 2, "", "touch spoilt"},
		{"wrong flag", map[string]string{"run": right + " --modle x"}, 123, "", "unknown flag: --modle"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, code := step(t, tree, test.with)
			if verdict := r.values["steps.c.outputs.verdict"]; code != test.code || verdict != test.verdict ||
				!strings.Contains(r.log.String(), test.logged) {
				t.Errorf("exit code %d, verdict %q; expected %d, %q, and %q in\n%s", code, verdict, test.code, test.verdict, test.logged, &r.log)
			}
			if len(r.used) != 1 {
				t.Errorf("the program was there, and yet it used %s", r.used)
			}
			if _, err := os.Stat(filepath.Join(r.workspace, "spoilt")); err == nil {
				t.Error("a value was run as a command")
			}
			if report := r.values["steps.c.outputs.report"]; test.code < 2 && r.read(report) == "" {
				t.Errorf("no report in %q", report)
			}
			if summary := r.read("summary.md"); (summary != "") != (test.verdict != "") {
				t.Errorf("the summary is %q", summary)
			}
		})
	}
	t.Run("example", func(t *testing.T) { exampleWorkflow(t, temporary, tree) })
}

func (r *runner) read(name string) string {
	text, _ := os.ReadFile(filepath.Join(r.workspace, name))
	return string(text)
}

// exampleWorkflow runs the workflow in docs/examples with reference models, where the files are that it wants.
func exampleWorkflow(t *testing.T, temporary, tree string) {
	w := readStrictly[workflow](t, "../../docs/examples/prompt-gate.yml")
	job, found := w.Jobs["gate"]
	if !found || job.RunsOn == "" || job.Timeout == 0 || len(w.On["pull_request"].Paths) == 0 || w.Permissions["contents"] != "read" {
		t.Fatalf("%+v", w)
	}
	files := map[string]string{"prompts/system.txt": "Answer briefly.\n", "before/prompts/system.txt": "Answer.\n", "prompts/questions.csv": questions()}
	for model, want := range map[string]string{"reference:confused?line=0&word=0": "passed", "reference:confused?line=0.9&word=0": "failed"} {
		r := newRunner(t, temporary, tree, map[string]string{"env.MODEL": model})
		for name, text := range files {
			path := filepath.Join(r.workspace, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		code := r.steps(job.Steps, "")
		if verdict := r.values["steps.crosstalk.outputs.verdict"]; verdict != want || (code == 0) != (want == "passed") {
			t.Errorf("exit code %d, verdict %q, expected %s\n%s", code, verdict, want, &r.log)
		}
		if !strings.Contains(strings.Join(r.used, " "), "upload-artifact") {
			t.Error("the report was not kept")
		}
		summary := r.read("summary.md")
		// The baseline's answers have the same faults, so none has broken.
		if !strings.Contains(summary, "](https://github.example/artifact)") || strings.Contains(summary, "have a fault now") {
			t.Errorf("%s: the summary is\n%s", want, summary)
		}
		if page := r.read(r.values["steps.crosstalk.outputs.comparison"]); !strings.Contains(page, "<h2 id=\"items\">") {
			t.Errorf("%s: the comparison is %d bytes", want, len(page))
		}
		for run, system := range map[string]string{"run": "Answer briefly.", "baseline": "Answer."} {
			if text := r.read("crosstalk/" + run + "/manifest.json"); !strings.Contains(text, system) {
				t.Errorf("%s was not measured with the system prompt %q:\n%s", run, system, text)
			}
		}
	}
}

// questions is a table of prompts, as the example wants it.
func questions() string {
	var b strings.Builder
	b.WriteString("language,prompt\n")
	for i := range 100 {
		fmt.Fprintf(&b, "de,Was ist bei Bestellung %d zu tun?\nko,주문 %[1]d번은 어떻게 처리해야 하나요?\n", i)
	}
	return b.String()
}
