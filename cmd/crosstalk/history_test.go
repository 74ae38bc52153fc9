package main

import (
	"bytes"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"crosstalk/web"
)

// Runs that differ by their date are a history: a table and a chart by date, and since when the answers are worse.
func TestHistory(t *testing.T) {
	dir := t.TempDir()
	var nights []string
	for i, wrong := range []int{3, 4, 2, 3, 4, 3, 24, 25, 23, 26, 24, 25} {
		run := scoredRun(t, filepath.Join(dir), 150, 0, 1, wrong)
		night := filepath.Join(dir, "night-2026-11-"+string(rune('0'+(i+8)/10))+string(rune('0'+(i+8)%10)))
		if err := os.CopyFS(night, os.DirFS(run)); err != nil {
			t.Fatal(err)
		}
		nights = append([]string{night}, nights...) // the latest first: the dates decide
	}
	report := func(want int, args ...string) (string, string) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		if code := execute(append([]string{"report"}, args...), &stdout, &stderr); code != want {
			t.Fatalf("%v: exit code %d, want %d\n%s%s", args, code, want, &stdout, &stderr)
		}
		return stdout.String(), stderr.String()
	}
	figures := filepath.Join(dir, "figures")
	out, _ := report(0, append(nights, "--figures", figures, "--html", filepath.Join(dir, "history.html"))...)
	for _, want := range []string{"Language confusion of recorded answers, 12 runs", "Last: 25 of 150 answers",
		"Worse since 2026-11-14, by more than 1 point: ", "2026-11-08   3 of 150"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	marked := ""
	for line := range strings.Lines(out) {
		if strings.Contains(line, "worse since here") {
			marked += line
		}
	}
	if !strings.HasPrefix(strings.TrimSpace(marked), "2026-11-14  24 of 150") || strings.Count(marked, "\n") != 1 {
		t.Errorf("marked: %q", marked)
	}
	for _, name := range []string{"history.html", "figures/history-faults.svg", "figures/tables.csv"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.Contains(string(text), "2026-11-") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// In the browser they are one entry with a chart, unless they are searched.
	server, err := web.New(dir, web.Options{Cache: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	get := func(path string) string {
		w, r := httptest.NewRecorder(), httptest.NewRequest("GET", path, nil)
		r.Host = "localhost"
		server.ServeHTTP(w, r)
		return w.Body.String()
	}
	if page := get("/"); !strings.Contains(page, " runs by date: Language confusion of x</h2>") || !strings.Contains(page, "<svg") ||
		strings.Count(page, "<li>") < 12 || !strings.Contains(page, "night-2026-11-19") {
		t.Errorf("%.5000s", page)
	}
	if page := get("/?q=night"); strings.Contains(page, "runs by date") || strings.Count(page, "<h2>") != 12 {
		t.Errorf("%.5000s", page)
	}
	// Without a change.
	out, _ = report(0, nights[6:]...)
	if !strings.Contains(out, "No night shows that it is worse than 2026-11-08 by more than ") || strings.Contains(out, "since here") {
		t.Errorf("%s", out)
	}
	out, _ = report(0, nights[10], nights[11], "--format", "csv")
	if !strings.Contains(out, "2026-11-08T00:00:00Z") || strings.Count(out, "\n") < 5 {
		t.Errorf("%s", out)
	}
	// Runs that differ by more than their date are none.
	other := filepath.Join(dir, "other.csv")
	if err := os.WriteFile(other, []byte("id,language,completion\n1,de,Das ist ein kurzer Satz.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	if code := execute([]string{"score", "confusion", other, "-m", "y", "--out", filepath.Join(dir, "other"), "-q"}, &stdout,
		&stderr); code != 0 {
		t.Fatalf("%d: %s", code, &stderr)
	}
	_, message := report(2, nights[0], filepath.Join(dir, "other"))
	if !strings.Contains(message, `differ by model, "x" and "y": runs of one suite, model and settings are a history`) {
		t.Errorf("%s", message)
	}
	if _, message = report(2, nights[0], nights[1], "--by", "language"); !strings.Contains(message, "--by is of one run") {
		t.Errorf("%s", message)
	}
}

// A comparison is one page: what changed side by side, without links, scripts or anything from elsewhere.
func TestComparisonPage(t *testing.T) {
	dir := t.TempDir()
	before, after := scoredRun(t, dir, 40, 0, 1, 0), scoredRun(t, dir, 40, 0, 1, 7)
	file := filepath.Join(dir, "compare.html")
	var stdout, stderr bytes.Buffer
	if code := execute([]string{"compare", before, after, "--across", "suite", "--html", file}, &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d: %s", code, &stderr)
	}
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(stderr.String(), "Page: "+file) {
		t.Fatalf("%v: %s", err, &stderr)
	}
	page := string(text)
	for _, want := range []string{"broken <b>7</b>", "still right <b>33</b>", "1–7 of 7 items", "My grandmother tells",
		"Наша бабушка", "default-src &#39;none&#39;", ">worse<"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in the page", want)
		}
	}
	for _, not := range []string{"<script", "<form", "href=\"/", "src=", dir} {
		if strings.Contains(page, not) {
			t.Errorf("%q in the page", not)
		}
	}
	for want, args := range map[string][]string{"--html is a page of two runs, found 3": {before, after, after},
		"is not a run directory": {before, dir}} {
		var stdout, stderr bytes.Buffer
		if code := execute(append([]string{"compare", "--html", file}, args...), &stdout, &stderr); code != 2 ||
			!strings.Contains(stderr.String(), want) {
			t.Errorf("%v: exit code %d, %s", args, code, &stderr)
		}
	}
}

// The summary of a job shows three of the answers that broke, side by side.
func TestBrokenAnswers(t *testing.T) {
	dir := t.TempDir()
	before, after := scoredRun(t, dir, 60, 0, 1, 2), scoredRun(t, dir, 60, 0, 1, 25)
	summary := func(want int, run, reference string) string {
		t.Helper()
		file := filepath.Join(t.TempDir(), "summary.md")
		t.Setenv("GITHUB_STEP_SUMMARY", file)
		var stdout, stderr bytes.Buffer
		if code := execute([]string{"gate", run, "--no-worse-than", reference, "--margin", "1%", "--measure", "lpr",
			"--across", "suite"}, &stdout, &stderr); code != want {
			t.Fatalf("exit code %d, want %d: %s%s", code, want, &stdout, &stderr)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	text := summary(1, after, before)
	_, shown, found := strings.Cut(text, "#### Answers that have a fault now, and had none before")
	if n := strings.Count(shown, "My grandmother tells"); !found || n != 3 || strings.Count(shown, "Наша бабушка") != 3 ||
		strings.Index(shown, "Наша") > strings.Index(shown, "My") || !strings.Contains(shown, "ru/2 ") || strings.Contains(shown, "ru/1 ") {
		t.Errorf("%d answers in\n%s", n, text)
	}
	if text := summary(0, before, after); strings.Contains(text, "####") {
		t.Errorf("of a run that passes\n%s", text)
	}
}
