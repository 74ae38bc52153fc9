package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// One more wrong answer never lets a run pass that did not pass without it: paired or
// not, of answers that are right or wrong, of means over samples, and for every measure.
func TestGateOneMoreWrong(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name                      string
		n, offset, samples, wrong int
		margin, level             string
		exits                     []int // with no wrong answer, one, two, ...
	}{
		{"345 pairs", 345, 0, 1, 0, "1%", "0.95", []int{4, 4, 4}},
		{"381 pairs", 381, 0, 1, 0, "1%", "0.95", []int{0, 4, 4}},
		{"563 pairs", 563, 0, 1, 0, "1%", "0.95", []int{0, 0, 4}},
		{"298 pairs at the one-sided level of 5 %", 298, 0, 1, 0, "1%", "0.9", []int{4, 4}},
		{"299 pairs at the one-sided level of 5 %", 299, 0, 1, 0, "1%", "0.9", []int{0, 4}},
		{"three samples", 120, 0, 3, 0, "3%", "0.95", []int{4, 4, 4, 4}},
		{"300 and 300 others", 300, 1000, 1, 0, "2%", "0.95", []int{0, 0, 4}},
		{"80 and 80 others", 80, 1000, 1, 0, "2%", "0.95", []int{4, 4, 4}},
	} {
		t.Run(c.name, func(t *testing.T) {
			base := scoredRun(t, dir, c.n, 0, c.samples, 0)
			before := []string{"lpr", "wpr", "lcpr", "line_accuracy"} // passed with one wrong answer less
			for wrong, want := range c.exits {
				run := scoredRun(t, dir, c.n, c.offset, c.samples, wrong)
				var stdout, stderr bytes.Buffer
				args := []string{"gate", run, "--no-worse-than", base, "--margin", c.margin, "--level", c.level, "--across", "suite"}
				if got := execute(args, &stdout, &stderr); got != want {
					t.Errorf("%d wrong: exit code %d, want %d\n%s", wrong, got, want, &stdout)
				}
				var passed []string
				for _, line := range strings.Split(stdout.String(), "\n") {
					if words := strings.Fields(line); len(words) > 1 && words[0] == "passed" {
						passed = append(passed, words[1])
					}
				}
				for _, measure := range passed {
					if !slices.Contains(before, measure) {
						t.Errorf("%d wrong: %s passes, and did not with one less\n%s", wrong, measure, &stdout)
					}
				}
				before = passed
			}
		})
	}
}

// scoredRun makes a run of n Russian answers with several samples each, some of them wrong.
func scoredRun(t *testing.T, dir string, n, offset, samples, wrong int) string {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("id,sample,language,completion\n")
	for i := range n {
		for s := range samples {
			text := "Наша бабушка каждый вечер рассказывает длинные сказки о далёких странах."
			if wrong > 0 {
				text = "My grandmother tells long stories about faraway countries every evening."
				wrong--
			}
			fmt.Fprintf(&b, "%d,%d,ru,%s\n", i+offset, s, text)
		}
	}
	name := fmt.Sprintf("%d-%d-%d-%d", n, offset, samples, strings.Count(b.String(), "My"))
	file, run := filepath.Join(dir, name+".csv"), filepath.Join(dir, name)
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	if code := execute([]string{"score", "confusion", file, "-m", "x", "--out", run, "-q"}, &stdout, &stderr); code != 0 &&
		!strings.Contains(stderr.String(), "exists") {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	return run
}
