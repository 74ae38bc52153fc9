package main

import (
	"net/http/httptest"
	"path/filepath"
	"testing"

	"crosstalk/internal/browser"
	"crosstalk/internal/multisense"
	"crosstalk/internal/shared"
	"crosstalk/web"

	"github.com/chromedp/chromedp"
)

// recordings are real answers of each instrument, and how they are scored.
func recordings(t *testing.T) map[string][]string {
	task, answers, texts := multisense.Read(t).Write(t, t.TempDir())
	return map[string][]string{
		"consistency": {"score", "consistency", answers, "--task", task, "--texts", texts, "--by", "class"},
		"leakage":     {"score", "leakage", shared.File(t, "leakage/smilga_generations.jsonl")},
		"confusion":   {"score", "confusion", shared.File(t, "lcb/outputs/command-r-base.csv.gz"), "--lid", shared.File(t, "lid/lid.176.ftz")},
	}
}

// Runs of real recorded answers, and of answers made to break pages, can be
// browsed and their reports read, by keyboard and screen reader, on wide and
// narrow, light and dark screens.
func TestPagesInABrowser(t *testing.T) {
	t.Parallel()
	b := browser.Start(t)
	dir := t.TempDir()
	list := recordings(t)
	for name, args := range list {
		inProcess(t, append(args, "--out", filepath.Join(dir, name), "--quiet")...)
	}
	hostile := filepath.Join(t.TempDir(), "hostile")
	inProcess(t, "score", "confusion", hostileAnswers(t), "--out", hostile, "--quiet")
	s, err := web.New(dir, web.Options{Cache: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	server := httptest.NewServer(s)
	defer server.Close()
	reports := []string{reportPage(t, hostile)}
	for name := range list {
		reports = append(reports, reportPage(t, filepath.Join(dir, name)))
	}
	for _, look := range browser.Looks {
		t.Run(look.String(), func(t *testing.T) {
			p := b.Open(t, server.URL+"/", look)
			p.Check()
			p.CheckKeyboard()
			for name := range list {
				browse(t, p, server.URL, name, look.String())
			}
			for _, url := range reports {
				lookAt(t, b.Open(t, url, look))
			}
		})
	}
}

// browse goes from the list of runs to a run, its answers and one of them, and
// checks each page.
func browse(t *testing.T, p *browser.Page, url, name, look string) {
	t.Helper()
	p.Do(chromedp.Navigate(url + "/?sort=run"))
	check := func(what string) {
		t.Helper()
		if browser.Eval[bool](p, `document.title.includes("Not Found")`) {
			t.Fatalf("%s: %s", what, browser.Eval[string](p, `location.href`))
		}
		p.Check()
	}
	follow := func(selector string) {
		t.Helper()
		p.Do(chromedp.Navigate(browser.Eval[string](p, "document.querySelector(`"+selector+"`).href")))
	}
	run := browser.Eval[string](p, "[...document.querySelectorAll(`tbody th a`)].find(a => a.textContent == `"+name+"`).href")
	p.Do(chromedp.Navigate(run))
	p.Wait("!document.body.dataset.live") // the index is built: until then the page loads itself again
	check("run")
	p.CheckKeyboard()
	follow("thead th:nth-child(2) a") // orders a table
	if n := browser.Eval[int](p, "document.querySelectorAll(`[aria-sort]`).length"); n != 1 {
		t.Errorf("%s: %d columns say that their table is ordered by them", name, n)
	}
	p.Do(chromedp.Navigate(run))
	follow("a[href$='/answers']")
	check("answers")
	// A filter and a search, by keyboard.
	p.Do(chromedp.Focus("#q"), chromedp.KeyEvent("a\r"))
	p.Wait("location.search == `?q=a`")
	check("search")
	p.CheckKeyboard()
	follow(".chips li:nth-child(2) a")
	check("found")
	follow(".more")
	check("answer")
	p.CheckKeyboard()
}
