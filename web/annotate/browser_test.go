package annotate

import (
	"net/http/httptest"
	"testing"

	"crosstalk/internal/testing/browser"

	"github.com/chromedp/chromedp"
)

// All pages can be used with a keyboard, a screen reader and a phone, in light
// and dark.
func TestPagesInABrowser(t *testing.T) {
	consistency := newRun(t, "consistency", senses()...)
	confusion := newRun(t, "confusion", answers()...)
	var servers []*httptest.Server
	for _, path := range []string{newRun(t, "leakage", pairs(2, false)...), confusion, consistency} {
		server := httptest.NewServer(newServer(t, path, Options{}))
		defer server.Close()
		servers = append(servers, server)
	}
	b := browser.Start(t)
	for i, look := range browser.Looks {
		t.Run(look.String(), func(t *testing.T) {
			for k, pages := range [][]string{{"/leakage"}, {"/", "/confusion", "/lines"}, {"/consistency", "/reading", "/codes"}} {
				url := servers[k].URL
				p := b.Open(t, url+"/", look)
				p.Check()
				p.Do(chromedp.Focus("#name"), chromedp.KeyEvent([]string{"ann\r", "bob\r"}[i]))
				p.Wait("!!document.querySelector(`progress`)")
				for _, page := range pages {
					p.Do(chromedp.Navigate(url + page))
					p.Check()
					p.CheckKeyboard()
				}
			}
		})
	}
	t.Run("words", func(t *testing.T) {
		url := servers[1].URL
		p := b.Open(t, url+"/", browser.Looks[1])
		p.Do(chromedp.Focus("#name"), chromedp.KeyEvent("cat\r"))
		p.Wait("!!document.querySelector(`progress`)")
		p.Do(chromedp.Navigate(url + "/lines"))
		answered := 0
		answer := func(key string) {
			browser.Eval[bool](p, "window.answered = true") // to tell the next page from this one
			p.Do(chromedp.KeyEvent(key))
			p.Wait("!window.answered")
			answered++
		}
		// Answer until the line with a foreign word shows.
		for !browser.Eval[bool](p, "document.body.textContent.includes(`test`)") {
			answer("1")
		}
		if right := browser.Eval[bool](p, "(() => { const [a, b] = document.querySelectorAll(`.word`); return a.getBoundingClientRect().left > b.getBoundingClientRect().left })()"); !right {
			t.Error("Hebrew words do not go from right to left")
		}
		p.Do(chromedp.Click(".word:nth-of-type(4)"))
		if marked := browser.Eval[string](p, "document.querySelector(`:checked[name=mark]`).parentElement.textContent"); marked != "test" {
			t.Errorf("marked %q", marked)
		}
		p.Do(chromedp.Reload())
		p.Wait("document.querySelector(`:checked[name=mark]`)?.parentElement.textContent == `test`") // the draft
		// Return on a word does not answer; keys can be switched off.
		p.Do(chromedp.Focus("[name=mark]"), chromedp.KeyEvent("\r"), chromedp.Focus(".comment summary"))
		browser.Eval[bool](p, "(document.querySelector(`.keys input`).click(), true)")
		p.Do(chromedp.KeyEvent("2"))
		browser.Eval[bool](p, "(document.querySelector(`.keys input`).click(), true)")
		answer("3")
		said := readLabels(t, confusion)
		if last := said[len(said)-1]; last.Label != "cannot tell" || last.Line != 3 || len(last.Words) != 1 || last.Words[0].Text != "test" {
			t.Errorf("%+v", last)
		}
		if n := lines(t, confusion); n != answered {
			t.Errorf("%d answers, %d given: Return, or a key that is switched off, answered", n, answered)
		}
	})
}
