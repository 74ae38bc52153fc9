package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"crosstalk/internal/testing/browser"
	"crosstalk/labels"

	"github.com/chromedp/chromedp"
)

// Two people answer in real browsers at once. One loads the page again, one is
// cut off and comes back with another browser, and the server is killed and
// started again under their hands. Nothing is lost, nothing doubled, labels are
// what they meant, and their agreement is that of the script.
func TestAnnotateInABrowser(t *testing.T) {
	t.Parallel()
	b := browser.Start(t)
	for _, c := range []struct {
		question string
		n        int
		args     []string
	}{
		{"leakage", 60, []string{"run", "leakage"}},
		{"lines", 60, []string{"score", "confusion", confusionAnswers(t, 70)}},
		{"consistency", 40, []string{"run", "consistency", "--accept-rewrites"}},
	} {
		t.Run(c.question, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run")
			var stdout, stderr bytes.Buffer
			if code := execute(append(c.args, "--out", path, "--quiet"), &stdout, &stderr); code != 0 {
				t.Fatalf("%v: exit code %d\n%s", c.args, code, &stderr)
			}
			if !*full {
				c.n /= 3
			}
			a := &annotation{path: path, question: c.question, n: c.n}
			a.annotate(t, b)
			a.check(t)
		})
	}
}

// confusionAnswers writes n answers of one line.
func confusionAnswers(t *testing.T, n int) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "answers.csv")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := csv.NewWriter(f)
	w.Write([]string{"id", "model", "task", "source", "language", "prompt", "completion"})
	for i := range n {
		text := fmt.Sprintf("Das Haus Nummer %d steht am Rande einer kleinen Stadt.", i)
		if i%3 == 0 {
			text = fmt.Sprintf("House number %d is at the edge of a small town.", i)
		}
		w.Write([]string{fmt.Sprint(i), "m", "monolingual", "s", "de", "Erzähl mir etwas.", text})
	}
	w.Flush()
	if err := w.Error(); err != nil {
		t.Fatal(err)
	}
	return file
}

// annotation is one question of a run, answered by two people.
type annotation struct {
	path, question string
	n              int
	url            map[string]string // of each annotator
}

// start starts the server and returns it with each annotator's address.
func (a *annotation) start(t *testing.T, addr string) (*process, map[string]string) {
	t.Helper()
	p := start(t, nil, "annotate", a.path, "--question", a.question, "--sample", fmt.Sprint(a.n), "--annotator", "ann,bob", "--addr", addr)
	addresses := regexp.MustCompile(`questions for (\w+): (http://\S+)\n`)
	until(t, "addresses", func() bool { return len(addresses.FindAllString(p.stderr.String(), -1)) == 2 || p.over() })
	url := map[string]string{}
	for _, m := range addresses.FindAllStringSubmatch(p.stderr.String(), -1) {
		url[m[1]] = m[2]
	}
	if len(url) != 2 {
		t.Errorf("the server says\n%s", p.stderr.String())
	}
	return p, url
}

// written is the number of lines of labels.jsonl.
func (a *annotation) written(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(a.path, labels.File))
	if err != nil && !os.IsNotExist(err) {
		t.Error(err)
	}
	return bytes.Count(text, []byte("\n"))
}

func (a *annotation) annotate(t *testing.T, b *browser.Browser) {
	server, url := a.start(t, "127.0.0.1:0")
	a.url = url
	var beyond atomic.Int64 // people who have come to the part in which the server is killed
	var people sync.WaitGroup
	people.Go(func() {
		p := a.open(t, b, "ann", browser.Looks[0])
		a.answer(t, p, "ann", a.n/3)
		p.Do(chromedp.Click(".comment summary"), chromedp.SendKeys("#comment", "saw it"), chromedp.Reload())
		p.Wait("document.getElementById(`comment`)?.value == `saw it`")
		beyond.Add(1)
		a.answer(t, p, "ann", 2*a.n)
	})
	people.Go(func() {
		p := a.open(t, b, "bob", browser.Looks[1])
		a.answer(t, p, "bob", a.n/3)
		p.Do(chromedp.Navigate("about:blank")) // cut off with a question before him
		p = a.open(t, b, "bob", browser.Looks[0])
		beyond.Add(1)
		a.answer(t, p, "bob", 2*a.n)
	})
	until(t, "half of the answers", func() bool { return t.Failed() || beyond.Load() == 2 && a.written(t) >= a.n })
	server.cmd.Process.Kill()
	<-server.ended
	n := a.written(t)
	if _, again := a.start(t, regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(url["ann"])); again["ann"] != url["ann"] || again["bob"] != url["bob"] {
		t.Errorf("the addresses were %v, and are %v", url, again)
	}
	people.Wait()
	if n > 2*a.n-2 {
		t.Errorf("killed too late: after %d of %d answers", n, 2*a.n)
	}
	t.Logf("killed after %d of %d answers", n, 2*a.n)
}

// open opens an annotator's address in a browser that has not been there before.
func (a *annotation) open(t *testing.T, b *browser.Browser, name string, look browser.Look) *browser.Page {
	t.Helper()
	p := b.Open(t, a.url[name], look)
	p.Wait("!!document.querySelector(`progress`)")
	p.Check()
	return p
}

// shown is the page that an annotator sees.
type shown struct {
	Topic string
	Texts []string // none: all is answered
}

// answer answers at most n questions, some with the mouse and most with a key.
func (a *annotation) answer(t *testing.T, p *browser.Page, name string, n int) {
	t.Helper()
	// On the browser's page that there is no server, the address is opened again.
	next := "location.protocol == `chrome-error:` ? !(window.again ||= (location.href = `" + a.url[name] + "`, true))" +
		": !!document.querySelector(`progress`) && !window.answered"
	for i := range n {
		p.Wait(next)
		var s struct {
			shown
			Keys map[string]string
		}
		text := browser.Eval[string](p, `(() => {
			window.answered = true // to tell the next page from this one
			const t = e => e ? e.textContent : ""
			return JSON.stringify({ Topic: t(document.querySelector(".topic .t")), Texts: [...document.querySelectorAll(".text .t")].map(t),
				Keys: Object.fromEntries([...document.querySelectorAll("button[data-key]")].map(b => [b.value, b.dataset.key])) })
		})()`)
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		if len(s.Texts) == 0 {
			return
		}
		label := scripted(a.question, name, shown{s.Topic, slices.Clone(s.Texts)})
		if len(s.Texts) == 2 {
			label = choose(label, s.Texts[0], s.Texts[1], "A", "B")
		}
		// The server may be killed after it has sent a page and before its script.
		if i%8 == 0 || !browser.Eval[bool](p, "!!document.querySelector(`.keys`)") {
			p.Do(chromedp.Click(`button[value="` + label + `"]`))
		} else {
			p.Do(chromedp.KeyEvent(s.Keys[label]))
		}
	}
	p.Wait(next)
}

// scripted is what an annotator answers to what is shown: it depends on the
// texts, and not on their sides.
func scripted(question, name string, s shown) string {
	slices.Sort(s.Texts)
	hash := func(words ...string) uint32 {
		h := fnv.New32a()
		fmt.Fprint(h, words, s.Topic, s.Texts)
		return h.Sum32() >> 8
	}
	choice := hash() % 3
	if name == "bob" && hash(name)%4 == 0 {
		choice = (choice + 1) % 3
	}
	switch question {
	case "lines":
		return []string{"right", "wrong", "cannot tell"}[choice]
	case "consistency":
		return []string{"yes", "no", "cannot tell"}[choice]
	}
	return []string{"the first", "the second", "neither"}[choice] // in alphabetical order
}

// check compares labels and agreement with the script.
func (a *annotation) check(t *testing.T) {
	given, err := labels.Read(a.path)
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	comments := 0
	said := map[string]map[string]string{}
	for _, l := range given {
		count[l.Annotator]++
		if l.Comment != "" {
			comments++
		}
		if said[l.Key()] == nil {
			said[l.Key()] = map[string]string{}
		}
		said[l.Key()][l.Annotator] = l.Label
		if l.Seconds <= 0 || l.Seconds > 600 || time.Since(l.When) > time.Hour {
			t.Errorf("%v s, at %v", l.Seconds, l.When)
		}
	}
	if n := a.written(t); n != 2*a.n || len(given) != n || count["ann"] != a.n || count["bob"] != a.n ||
		len(said) != a.n || comments != 1 {
		t.Errorf("%d lines, %d labels, by annotator %v, of %d questions, %d comments; expected %d of %d questions each, and 1 comment",
			n, len(given), count, len(said), comments, a.n, a.n)
	}
	sheet, err := labels.Open(a.path, a.question)
	if err != nil {
		t.Fatal(err)
	}
	var pairs [][2]string
	for _, u := range sheet.Units {
		if said[u.Key()] == nil {
			continue
		}
		var pair [2]string
		for i, name := range []string{"ann", "bob"} {
			pair[i] = meant(name, sheet.Question, u)
			if got := said[u.Key()][name]; got != pair[i] {
				t.Errorf("%s of %s: %q; the script said %q", name, u.Item, got, pair[i])
			}
		}
		pairs = append(pairs, pair)
	}
	var stdout, stderr bytes.Buffer
	if code := execute([]string{"agreement", a.path, "--question", a.question, "--format", "json"}, &stdout, &stderr); code != 0 {
		t.Fatalf("agreement: exit code %d\n%s", code, &stderr)
	}
	var result labels.Agreement
	if err := json.Unmarshal(stdout.Bytes(), &result); err != nil {
		t.Fatal(err)
	}
	want := kappa(pairs)
	for _, f := range result.Figures {
		if f.Measure == labels.CohensKappa && f.Of == "ann and bob" {
			t.Logf("%s: kappa %v of %d questions; %v by the script", a.question, f.Value, f.N, want)
			if math.Abs(float64(f.Value)-want) > 1e-12 || f.N != a.n {
				t.Errorf("kappa is %v of %d questions; expected %v of %d", f.Value, f.N, want, a.n)
			}
			return
		}
	}
	t.Error("agreement has no kappa")
}

// meant is the label that the script means by its answer.
func meant(name string, q labels.Question, u labels.Unit) string {
	s := shown{u.Topic, slices.Clone(u.Texts[:])}
	if q.Sides[1] == "" {
		s.Texts = s.Texts[:1]
	}
	if q.Words {
		s.Topic = "" // the language is in the question
	}
	return choose(scripted(q.Name, name, s), u.Texts[0], u.Texts[1], "test", "control")
}

// choose makes "the first" the choice of the text that is first in alphabetical
// order.
func choose(answer, one, two, choiceOne, choiceTwo string) string {
	switch {
	case answer == "the first" && one < two, answer == "the second" && one > two:
		return choiceOne
	case answer == "the first" && one > two, answer == "the second" && one < two:
		return choiceTwo
	case strings.HasPrefix(answer, "the "): // the same text
		return "neither"
	}
	return answer
}

// kappa is Cohen's (1960), by its definition.
func kappa(pairs [][2]string) float64 {
	n := float64(len(pairs))
	agreed, a, b := 0.0, map[string]float64{}, map[string]float64{}
	for _, p := range pairs {
		if p[0] == p[1] {
			agreed++
		}
		a[p[0]]++
		b[p[1]]++
	}
	chance := 0.0
	for label, k := range a {
		chance += k / n * b[label] / n
	}
	return (agreed/n - chance) / (1 - chance)
}
