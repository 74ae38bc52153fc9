package web

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"crosstalk"
	"crosstalk/ask/journal"
	"crosstalk/internal/testing/browser"
	"crosstalk/run"

	"github.com/chromedp/chromedp"
)

// senses are observations as multisense consistency has them.
func senses() (list []crosstalk.Observation) {
	for i, o := range []crosstalk.Observation{
		{Measure: "consistency", Value: 1,
			Texts: []crosstalk.NamedText{{Name: "source", Role: crosstalk.Side, Text: "Yes, they say the same."},
				{Name: "answer", Role: crosstalk.Side, Text: "Ja, das ist dasselbe."},
				{Name: "source_class", Role: crosstalk.Fact, Text: "same"}, {Name: "class", Role: crosstalk.Fact, Text: "same"},
				{Name: "rule", Role: crosstalk.Fact, Text: "first word"}, {Name: "source_rule", Role: crosstalk.Aside, Text: "first word"}}},
		{Measure: "consistency", Value: 0, Finding: "inconsistent",
			Texts: []crosstalk.NamedText{{Name: "source_input", Role: crosstalk.Given, Text: "The first sentence."},
				{Name: "input", Role: crosstalk.Given, Text: "الجملة الأولى"}, {Name: "source", Role: crosstalk.Side, Text: "No."},
				{Name: "answer", Role: crosstalk.Side, Text: "نعم، المعنى واحد."},
				{Name: "source_class", Role: crosstalk.Fact, Text: "different"}, {Name: "class", Role: crosstalk.Fact, Text: "same"}}},
		{Measure: "consistency", Value: crosstalk.Undefined, NotScored: "refused",
			Texts: []crosstalk.NamedText{{Name: "source", Role: crosstalk.Side, Text: "Yes."}, {Name: "answer", Role: crosstalk.Side, Text: ""}}},
		{Measure: "accuracy", Value: 0, Finding: "invalid",
			Texts: []crosstalk.NamedText{{Name: "answer", Role: crosstalk.Side, Text: "I like trains."},
				{Name: "gold", Role: crosstalk.Fact, Text: "same"}, {Name: "instruction", Role: crosstalk.Aside, Text: "en"}}},
	} {
		o.Item, o.Cluster = fmt.Sprintf("pair-%d", i), fmt.Sprintf("pair-%d", i)
		o.Condition = map[string]string{"model": "m"}
		o.Labels = map[string]string{"task": "paraphrase", "pair": "en>" + []string{"de", "ar"}[i%2], "part": "T"}
		o.Variant = o.Labels["pair"] + " " + o.Labels["part"]
		list = append(list, o)
	}
	return list
}

// Both senses stand side by side, and hostile answers break no page.
func TestPagesInABrowser(t *testing.T) {
	dir := t.TempDir()
	makeRun(t, filepath.Join(dir, "senses"), "consistency", senses())
	hostileRun(t, filepath.Join(dir, "hostile"))
	s := newServer(t, dir, Options{})
	built(t, s, idOf("senses"))
	built(t, s, idOf("hostile"))
	server := httptest.NewServer(s)
	defer server.Close()
	b := browser.Start(t)
	for _, look := range browser.Looks {
		t.Run(look.String(), func(t *testing.T) {
			p := b.Open(t, server.URL+"/", look)
			p.Check()
			for name, pages := range map[string][]string{"senses": {"", "/answers", "/answers/2"}, "hostile": {"", "/answers", "/answers/1", "/answers/9", "/answers/13"}} {
				for _, page := range pages {
					p.Do(chromedp.Navigate(server.URL + "/runs/" + idOf(name) + page))
					p.Check()
				}
			}
			p.Do(chromedp.Navigate(server.URL + "/runs/" + idOf("senses") + "/answers?is.found=inconsistent"))
			if texts := browser.Eval[[]string](p, "[...document.querySelectorAll(`.sides .t`)].map(e => e.textContent)"); len(texts) != 4 || texts[0] != "The first sentence." || texts[1] != "الجملة الأولى" || texts[2] != "No." {
				t.Errorf("the senses are %q", texts)
			}
			if left := browser.Eval[bool](p, "(() => { const [, b] = document.querySelectorAll(`.sides .t`), r = document.createRange(); r.selectNodeContents(b); return r.getBoundingClientRect().right > b.getBoundingClientRect().right - 2 })()"); !left {
				t.Error("Arabic does not begin at the right")
			}
		})
	}
}

// The words that changed from one answer to the other are marked in the place and the
// direction that they have, by lines and not by colours alone.
func TestChangesInABrowser(t *testing.T) {
	b := browser.Start(t)
	dir := t.TempDir()
	judgedRun(t, filepath.Join(dir, "old"), saying(judged("m", "rrr"), "أحب السيارة الحمراء كثيرا", "The red car is here.", "退款已经处理完毕。"))
	judgedRun(t, filepath.Join(dir, "new"), saying(judged("m", "www"), "أحب السيارة الزرقاء كثيرا", "The blue car is here.", "退款正在处理完毕。"))
	s := newServer(t, dir, Options{})
	built(t, s, idOf("old"))
	built(t, s, idOf("new"))
	server := httptest.NewServer(s)
	defer server.Close()
	for _, look := range browser.Looks {
		t.Run(look.String(), func(t *testing.T) {
			p := b.Open(t, server.URL+"/compare?a="+idOf("old")+"&b="+idOf("new"), look)
			p.Check()
			for element, want := range map[string]string{"del": "الحمراء red 已经 line-through", "ins": "الزرقاء blue 正在 underline"} {
				got := browser.Eval[string](p, "[...document.querySelectorAll(`.pair "+element+"`)].map(e => e.textContent).join(` `) + ` ` + getComputedStyle(document.querySelector(`.pair "+element+"`)).textDecorationLine")
				if got != want {
					t.Errorf("%s: %s, want %s", element, got, want)
				}
			}
			// In Arabic the marked word comes left of the one before it.
			if right := browser.Eval[bool](p, "(() => { const e = document.querySelector(`.pair ins`), r = document.createRange(); r.setStart(e.closest(`p`).firstChild, 0); r.setEnd(e.closest(`p`).firstChild, 1); return e.getBoundingClientRect().right <= r.getBoundingClientRect().left + 1 })()"); !right {
				t.Error("the order of Arabic words changed")
			}
		})
	}
}

// Tables are ordered by what their columns hold: numbers as numbers, undefined figures last.
func TestSortInABrowser(t *testing.T) {
	dir := t.TempDir()
	makeRun(t, filepath.Join(dir, "mine"), "leakage", nil)
	s := newServer(t, dir, Options{})
	built(t, s, idOf("mine"))
	server := httptest.NewServer(s)
	defer server.Close()
	p := browser.Start(t).Open(t, server.URL+"/runs/"+idOf("mine"), browser.Looks[0])
	for _, c := range []struct{ column, want, order string }{{"0", "all animal colour food", "ascending"},
		{"0", "food colour animal all", "descending"}, {"1", "colour all animal food", "ascending"},
		{"1", "animal all colour food", "descending"}, {"0", "all animal colour food", "ascending"}} {
		p.Do(chromedp.Click("#tables ~ details thead th:nth-of-type(" + string(c.column[0]+1) + ") a"))
		got := browser.Eval[string](p, "[...document.querySelectorAll(`.tables tbody th`)].map(e => e.textContent).join(` `)")
		order := browser.Eval[string](p, "[...document.querySelectorAll(`[aria-sort]`)].map(e => e.ariaSort).join(` `)")
		if got != c.want || order != c.order {
			t.Errorf("by column %s: %s, %s; want %s, %s", c.column, got, order, c.want, c.order)
		}
	}
	p.Check()
}

// A page of a run at work shows how far it is without being loaded again, and
// is loaded again when the run has ended.
func TestLiveInABrowser(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "mine")
	d, err := run.Create(path, run.Recorded("leakage", "suite@1", "m"))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.SetAsks(10); err != nil {
		t.Fatal(err)
	}
	put := func(i int) { t.Helper(); putAnswer(t, d, i, crosstalk.Text) }
	put(0)
	s := newServer(t, dir, Options{})
	var loads atomic.Int64 // of the page
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.ServeHTTP(w, r)
		if r.URL.Path == "/runs/"+idOf("mine") {
			loads.Add(1)
		}
	}))
	defer server.Close()
	p := browser.Start(t).Open(t, server.URL+"/runs/"+idOf("mine"), browser.Looks[0])
	p.Check()
	p.Wait("document.getElementById(`live-asks`).textContent.startsWith(`1 of 10`)")
	for i := range 5 {
		put(1 + i)
	}
	p.Wait("document.getElementById(`live-asks`).textContent.startsWith(`6 of 10`) && document.getElementById(`live-bar`).value == 6")
	p.Wait("document.querySelector(`#live-latest .t`).textContent.includes(`<b>answer</b> 5`) && !document.querySelector(`#live-latest b`)")
	p.Check()
	recordAll(t, d, senses()[0])
	if err := d.WriteEstimates(nil); err != nil {
		t.Fatal(err)
	}
	// Nothing but the page's own script loads it again.
	p.Wait("!document.body.dataset.live && document.body.innerText.includes(`finished`)")
	if n := loads.Load(); n < 2 {
		t.Errorf("the page was loaded %d times", n)
	}
	p.Check()
}

// putAnswer puts an answer into the journal of a run.
func putAnswer(t testing.TB, d *run.Dir, i int, status crosstalk.Status) {
	t.Helper()
	request := crosstalk.Request{API: crosstalk.Completions, Prompt: fmt.Sprintf("prompt %d", i)}
	id := crosstalk.Identity{Provider: "openai", Name: "m"}
	answer := crosstalk.Answer{Key: crosstalk.KeyOf(id, request), Status: status, Text: fmt.Sprintf("<b>answer</b> %d", i),
		Time: time.Now(), Usage: crosstalk.Usage{Prompt: 2, Completion: 3}}
	if err := d.Journal.Put(journal.Record{Identity: id, Request: request, Answer: answer}); err != nil {
		t.Fatal(err)
	}
}
