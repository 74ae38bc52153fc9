package main

import (
	"bytes"
	"path/filepath"
	"testing"

	"crosstalk/internal/browser"
	"crosstalk/internal/shared"

	"github.com/chromedp/chromedp"
)

// recordedRun scores recorded answers into a run and returns its page.
func recordedRun(t *testing.T, args ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "run")
	for _, args := range [][]string{append(args, "--out", out, "--quiet"), {"report", out, "--quiet"}} {
		var stdout, stderr bytes.Buffer
		if code := execute(args, &stdout, &stderr); code != 0 {
			t.Fatalf("%v: exit code %d\n%s", args, code, &stderr)
		}
	}
	page, err := filepath.Abs(filepath.Join(out, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	return "file://" + filepath.ToSlash(page)
}

// Pages of real recorded answers can be read, and used by keyboard and screen
// reader, on wide and narrow, light and dark screens.
func TestReportInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	for name, args := range map[string][]string{
		"leakage":   {"score", "leakage", shared.File(t, "leakage/smilga_generations.jsonl")},
		"confusion": {"score", "confusion", shared.File(t, "lcb/outputs/command-r-base.csv.gz"), "--lid", shared.File(t, "lid/lid.176.ftz")},
	} {
		url := recordedRun(t, args...)
		for _, look := range browser.Looks {
			t.Run(name+" "+look.String(), func(t *testing.T) {
				p := browser.Open(t, url, look)
				p.Check()
				p.CheckKeyboard()
				// The first group of answers opens with the keyboard.
				p.Do(chromedp.Focus("section[aria-labelledby=answers] summary"), chromedp.KeyEvent("\r"))
				if !browser.Eval[bool](p, `document.querySelector("section[aria-labelledby=answers] details").open`) {
					t.Error("Enter does not open a group of answers")
				}
				p.Check()
				p.Do(chromedp.Focus("#show-faults"), chromedp.KeyEvent(" "))
				if n := browser.Eval[int](p, `[...document.querySelectorAll("details[open] .card:not(.fault)")].filter(e => e.checkVisibility()).length`); n > 0 {
					t.Errorf("%d answers without a finding are shown", n)
				}
			})
		}
	}
}
