package gate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"crosstalk/ask"
	"crosstalk/compare"
	"crosstalk/study"
)

// runOf is a run of recorded answers to leakage prompts: 1 leaks, 0 does not.
func runOf(t *testing.T, dir, name string, leaks ...int) string {
	t.Helper()
	text := "id,category,concept,prompt,control_prompt,test,control\n"
	for i, leak := range leaks {
		prompt := string(rune('A'+i)) + " saw a"
		test, control := "car.", "fish."
		if leak == 1 {
			test, control = control, test
		}
		text += prompt + ",fish,sharks,He likes sharks. " + prompt + "," + prompt + "," + test + "," + control + "\n"
	}
	file := filepath.Join(dir, "answers.csv")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := study.Leakage{}.Recorded([]string{file}, "x")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if _, err := s.Run(t.Context(), path, ask.Options{}); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRules(t *testing.T) {
	dir := t.TempDir()
	before, after := runOf(t, dir, "before", 0, 1, 0, 1), runOf(t, dir, "after", 1, 1, 1, 1)
	across := compare.Options{Level: 0.95, Across: []string{"suite"}}
	for _, c := range []struct {
		rules        Rules
		verdict      string
		requirements string // of the checks
	}{
		{Rules{Require: []string{"leak_rate<=50%", "leak_rate<=90% by category"}, Options: Options{Point: true}}, "passed: 2 checks", "leak_rate<=50%; leak_rate<=90% by category"},
		{Rules{Require: []string{"leak_rate<50%"}, Options: Options{Point: true}}, "failed: 1 of 1 check", "leak_rate<50%"},
		{Rules{Require: []string{"leak_rate<=60%"}}, "inconclusive: 1 of 1 check", "leak_rate<=60%"},
		{Rules{NoWorseThan: before, Margin: 0.95, Compare: across}, "passed: 1 check", "leak_rate no worse than " + before + " by more than 95 points"},
		{Rules{NoWorseThan: after, Margin: 0.1, Compare: across}, "inconclusive: 1 of 1 check", "leak_rate no worse than " + after + " by more than 10 points"},
	} {
		v, err := c.rules.Check(before)
		var requirements []string
		for _, check := range v.Checks {
			requirements = append(requirements, check.Requirement)
		}
		if err != nil || !strings.HasPrefix(v.Headline(), c.verdict) || strings.Join(requirements, "; ") != c.requirements {
			t.Errorf("%+v: %s, %q, %v", c.rules, v.Headline(), requirements, err)
		}
	}
	for point, open := range map[bool]bool{true: false, false: true} {
		r := Rules{NoWorseThan: before, Margin: 0.2, Compare: across, Options: Options{Point: point}}
		if v, err := r.Check(after); err != nil || v.Passed || v.Inconclusive != open {
			t.Errorf("a run that leaks more, point %v: %+v, %v", point, v, err)
		}
	}
	for want, r := range map[string]Rules{
		"nothing is required: expected --require":         {},
		"max-unchecked is -0.1; expected 0 or more":       {Require: []string{"leak_rate<50%"}, Options: Options{MaxUnjudged: -0.1}},
		"margin is -1; expected 0 or more":                {NoWorseThan: before, Margin: -1},
		"require: column 11: expected >=":                 {Require: []string{"leak_rate = 60"}},
		"require leak_rate<=60 by colour: unknown column": {Require: []string{"leak_rate<=70", "leak_rate<=60 by colour"}},
		"nowhere is not a run directory":                  {NoWorseThan: "nowhere", Margin: 0.1},
		`unknown measure "lpr"; choose one of: leak_rate`: {NoWorseThan: before, Margin: 0.1, Compare: compare.Options{Level: 0.95, Measures: []string{"lpr"}}},
	} {
		if _, err := r.Check(before); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	// A run without figures fails every rule, whatever it is compared with.
	if err := os.Remove(filepath.Join(before, "estimates.json")); err != nil {
		t.Fatal(err)
	}
	v, err := Rules{Require: []string{"leak_rate<=70%"}, NoWorseThan: after, Margin: 0.1}.Check(before)
	if err != nil || v.Failed() != 2 || !strings.HasPrefix(v.Checks[0].Reason, "incomplete: the run is not finished") ||
		!strings.HasPrefix(v.Checks[1].Reason, before+": incomplete: ") {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestReports(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "summary.md")
	junit := filepath.Join(dir, "gate.xml")
	for _, name := range []string{"runs/a", "runs/b"} {
		var out strings.Builder
		if err := WriteReports(&out, Reports{Annotations: true, JUnit: junit, Summary: file}, Judge(name, nil)); err != nil ||
			!strings.Contains(out.String(), "::notice title=crosstalk gate "+name) {
			t.Fatalf("%s, %v", out.String(), err)
		}
	}
	if xml, err := os.ReadFile(junit); err != nil || !strings.Contains(string(xml), "crosstalk gate runs/b") {
		t.Errorf("%s, %v", xml, err)
	}
	for want, r := range map[string]Reports{"": {}, "junit: ": {JUnit: dir + "/no/x"}, "summary: ": {Summary: dir}} {
		if err := WriteReports(nil, r, Judge("runs/a", nil)); want == "" && err != nil || want != "" &&
			(err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%+v: %v", r, err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), "runs/a") || !strings.Contains(string(text), "runs/b") {
		t.Errorf("%s, %v", text, err)
	}
}
