//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"crosstalk/tools/internal/bench"
)

func TestPromptsDiffer(t *testing.T) {
	items, err := makeItems(1000)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, it := range items {
		seen[it.test], seen[it.control] = true, true
		if !strings.HasSuffix(it.test, ". "+it.control) || !strings.Contains(it.test, it.concept) || strings.Contains(it.control, it.concept) {
			t.Errorf("%+v: want the control at the end of the test, and the concept in the test alone", it)
		}
	}
	if len(seen) != 2000 {
		t.Errorf("%d distinct prompts, want 2000", len(seen))
	}
	for _, n := range []int{0, 1001} {
		if _, err := makeItems(n); err == nil {
			t.Errorf("makeItems(%d): no error", n)
		}
	}
}

func TestSuiteAndConfigHoldTheSamePrompts(t *testing.T) {
	items, _ := makeItems(30)
	var c struct {
		Prompts []string
		Tests   []struct{ Vars struct{ Prompt string } }
	}
	if err := json.Unmarshal(promptfooConfig(items, "http://127.0.0.1:1", 4), &c); err != nil {
		t.Fatal(err)
	}
	yaml := string(suite(items))
	if len(c.Tests) != 60 || len(c.Prompts) != 1 || c.Prompts[0] != instruction+"{{prompt}}" {
		t.Fatalf("%d tests, prompts %q", len(c.Tests), c.Prompts)
	}
	for _, test := range c.Tests {
		if !strings.Contains(yaml, fmt.Sprintf(": %q", test.Vars.Prompt)) {
			t.Errorf("%q is not in the suite", test.Vars.Prompt)
		}
	}
	if !strings.Contains(yaml, "\n  - {id: a1, category: x, concept: koalas, test: \"Anna likes koalas. Today Anna's favourite food is\", control: \"Today Anna's favourite food is\"}\n") {
		t.Errorf("suite:\n%s", yaml)
	}
}

// A contender must ask every prompt once; one that asks less is no contender.
func TestMeasureChecksWhatWasAsked(t *testing.T) {
	items, _ := makeItems(2)
	b := &setting{dir: t.TempDir(), items: items, concurrency: 2}
	asks := func(name string, n int) *contender {
		return &contender{name: name, run: func(url, _ string) (usage, error) {
			for i := range n {
				body := fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":"%d"}]}`, i)
				req, _ := http.NewRequest("POST", url+"/v1/chat/completions", strings.NewReader(body))
				req.Header.Set("Authorization", "Bearer test")
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					return usage{}, err
				}
				resp.Body.Close()
			}
			return usage{Cost: bench.Cost{Wall: 1, CPU: float64(n), Peak: 3}}, nil
		}}
	}
	for n, ok := range map[int]bool{3: false, 4: true, 5: false} {
		u, err := b.measure(asks(fmt.Sprint("asks", n), n), 0)
		if (err == nil) != ok || ok && u.inFlight != 1 {
			t.Errorf("%d of 4 prompts: %+v, %v", n, u, err)
		}
	}
	if c, missing := newCrosstalk(b, "true"); missing != "" {
		t.Error(missing)
	} else if _, err := b.measure(c, 0); err == nil {
		t.Error("a command that asks nothing is measured")
	}
}

func TestPrint(t *testing.T) {
	items, _ := makeItems(1)
	b := &setting{items: items, concurrency: 1}
	var out strings.Builder
	b.print(&out, 2, []*contender{
		{name: "crosstalk", runs: []usage{{bench.Cost{Wall: 1, CPU: 2, Peak: 10}, 1}, {bench.Cost{Wall: 3, CPU: 2, Peak: 10}, 1}}},
		{name: "other", runs: []usage{{bench.Cost{Wall: 8, CPU: 9, Peak: 50}, 1}, {bench.Cost{Wall: 8, CPU: 9, Peak: 50}, 1}}},
	})
	for _, want := range []string{"crosstalk           2.00 (1.00-3.00)", "other / crosstalk   4.0                4.5                5.0"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}

func TestMissingContendersAreNamed(t *testing.T) {
	var out, notes strings.Builder
	if err := run(&out, &notes, []string{"-rounds", "1", "-items", "1", "-crosstalk", ""}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"crosstalk is not measured", "promptfoo is not measured", "npm install promptfoo"} {
		if !strings.Contains(notes.String(), want) {
			t.Errorf("no %q in\n%s", want, notes.String())
		}
	}
}
