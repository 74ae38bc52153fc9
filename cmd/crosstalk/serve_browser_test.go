package main

import (
	"bytes"
	"io"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"crosstalk/internal/testing/browser"
	"crosstalk/internal/testing/multisense"
	"crosstalk/internal/testing/shared"
	"crosstalk/web"

	"github.com/chromedp/chromedp"
)

// recordings are real answers of each instrument, and how they are scored.
func recordings(t *testing.T) map[string][]string {
	task, answers, texts := multisense.Read(t).Write(t, t.TempDir())
	return map[string][]string{
		"consistency": {"score", "consistency", answers, "--task", task, "--texts", texts, "--by", "class"},
		"leakage":     {"score", "leakage", shared.File(t, "leakage/smilga_generations.jsonl")},
		"confusion":   {"score", "confusion", shared.File(t, "lcb/outputs/command-r-base.csv.gz"), "--lid", shared.File(t, "lid/lid.176.ftz"), "--protocol", "lcb-script"},
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
	inProcess(t, append(list["confusion"], "--lid", "", "--out", filepath.Join(dir, "stricter"), "--quiet")...)
	hostile := filepath.Join(t.TempDir(), "hostile")
	var stderr bytes.Buffer
	if code := execute([]string{"score", "confusion", hostileAnswers(t), "--out", hostile, "--quiet"}, io.Discard, &stderr); code != exitIncomplete {
		t.Fatalf("exit code %d, want %d, for most of these answers cannot be judged\n%s", code, exitIncomplete, &stderr)
	}
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
			compareRuns(t, p, server.URL)
			for _, url := range reports {
				lookAt(t, b.Open(t, url, look))
			}
		})
	}
}

// compareRuns chooses two runs in the list and goes through what changed.
func compareRuns(t *testing.T, p *browser.Page, url string) {
	t.Helper()
	p.Do(chromedp.Navigate(url + "/?q=confusion&sort=run"))
	browser.Eval[bool](p, "([...document.querySelectorAll(`.pick input`)].forEach(e => e.click()), true)")
	p.Do(chromedp.Focus("form[action='/compare'] button"), chromedp.KeyEvent("\r"))
	p.Wait("location.pathname == `/compare`")
	// until the index is built and the figures are computed
	for tries := 0; !browser.Eval[bool](p, "!!document.querySelector(`.result`)") && tries < 100; tries++ {
		time.Sleep(time.Second)
		p.Do(chromedp.Reload())
	}
	p.Check()
	p.CheckKeyboard()
	if rows := browser.Eval[int](p, "document.querySelectorAll(`.result tbody tr`).length"); rows == 0 {
		t.Error("no figures are compared")
	}
	p.Do(chromedp.Navigate(browser.Eval[string](p, "[...document.querySelectorAll(`.chips a`)].find(a => a.textContent.startsWith(`broken`)).href")))
	p.Check()
	if wrong := browser.Eval[int](p, "[...document.querySelectorAll(`.pair`)].filter(e => e.querySelectorAll(`.card`).length != 2 || !e.querySelectorAll(`.card`)[1].matches(`.fault`)).length"); wrong > 0 || !browser.Eval[bool](p, "!!document.querySelector(`.pair`)") {
		t.Errorf("%d pairs are not broken", wrong)
	}
}

// mark marks an answer as no error and writes a note on it, by keyboard, and finds
// it among those with notes.
func mark(t *testing.T, p *browser.Page) {
	t.Helper()
	p.Do(chromedp.Focus("[name=mark][type=checkbox]"), chromedp.KeyEvent(" "), chromedp.Focus("#text"),
		chromedp.KeyEvent("a name"), chromedp.Focus("#text"), chromedp.KeyEvent("\t"), chromedp.KeyEvent("\r"))
	p.Wait("location.hash == `#note` && document.querySelector(`#text`).value.endsWith(`a name`) && document.querySelector(`[name=mark][type=checkbox]`).checked")
	p.Check()
	p.Do(chromedp.Navigate(browser.Eval[string](p, "location.href.replace(/answers.*/, `answers?noted=no-error`)")))
	p.Check()
	// The button beside the answer takes the mark back, and the note stays.
	if n := browser.Eval[int](p, "document.querySelectorAll(`.noted .t`).length"); n != 1 {
		t.Errorf("%d notes", n)
	}
	p.Do(chromedp.Focus(".quiet"), chromedp.KeyEvent("\r"))
	p.Wait("!document.querySelector(`.one`)")
	p.Do(chromedp.Navigate(browser.Eval[string](p, "location.href.replace(/answers.*/, `answers?noted=note`)")))
	if n := browser.Eval[int](p, "document.querySelectorAll(`.noted .t`).length"); n != 1 {
		t.Errorf("%d notes after the mark was taken back", n)
	}
	p.Do(chromedp.Navigate(browser.Eval[string](p, "document.querySelector(`.noted a`).href")), chromedp.Focus("#text"))
	browser.Eval[bool](p, "(document.querySelector(`#text`).select(), true)")
	p.Do(chromedp.KeyEvent("\b"), chromedp.KeyEvent("\t"), chromedp.KeyEvent("\r"))
	p.Wait("document.querySelector(`#text`).value == `` && !document.body.innerText.includes(`Last saved`)")
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
	check("list")
	run := browser.Eval[string](p, "[...document.querySelectorAll(`h2 a`)].find(a => a.textContent == `"+name+"`).href")
	p.Do(chromedp.Navigate(run))
	p.Wait("!document.body.dataset.live") // the index is built: until then the page loads itself again
	check("run")
	p.CheckKeyboard()
	browser.Eval[bool](p, "(document.querySelector(`.tables thead th:nth-child(2) a`).click(), true)") // orders a table
	if n := browser.Eval[int](p, "document.querySelectorAll(`[aria-sort]`).length"); n != 1 {
		t.Errorf("%s: %d columns say that their table is ordered by them", name, n)
	}
	p.Do(chromedp.Navigate(run))
	follow(".tabs a[href*='/compare']")
	check("conditions")
	p.Do(chromedp.Navigate(run))
	follow("a[href$='/answers']")
	check("answers")
	p.Do(chromedp.Navigate(browser.Eval[string](p, "location.href") + "?sort=longest"))
	check("longest")
	p.Do(chromedp.Navigate(run + "/answers"))
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
	mark(t, p)
}
