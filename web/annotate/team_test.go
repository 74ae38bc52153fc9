package annotate

import (
	"fmt"
	"strings"
	"testing"

	"crosstalk/labels"
)

// A team of three answers each question twice, all as many; one of them is not asked what is
// not hers; everybody's progress is on a page, and an adjudicator is asked only where labels
// disagree, sees what was said, and decides.
func TestTeam(t *testing.T) {
	path := newRun(t, "leakage", pairs(10, false)...)
	team := []string{"ann", "bob", "cy"}
	s := newServer(t, path, Options{Annotators: team, Overlap: 2})
	asked, work := map[string]int{}, map[string]int{}
	for _, name := range team {
		c := &client{t: t, h: s}
		c.send("GET", "/?token="+s.Token(name), nil)
		for _, a := range s.of(s.sheets[0], name) {
			u, _ := s.sheets[0].Unit(a.ID)
			asked[u.Key()]++
			work[name]++
		}
		label := "neither"
		if name == "cy" {
			label = "A"
		}
		for range work[name] {
			form, _ := c.question("leakage")
			form.Set("label", label)
			form.Set("comment", "by "+name[:1])
			c.send("POST", "/leakage", form)
		}
		page := c.send("GET", "/progress", nil).Body.String()
		if !strings.Contains(page, fmt.Sprintf(`<bdi>%s</bdi></td><td>Which text is nearer to X?</td>`+
			`<td class="n">%[2]d</td><td class="n">%[2]d</td>`, name, work[name])) {
			t.Errorf("progress of %s:\n%s", name, page)
		}
		if strings.Contains(page, "secret") {
			t.Errorf("the page of progress is not blind:\n%s", page)
		}
	}
	if len(asked) != 10 || work["ann"]+work["bob"]+work["cy"] != 20 {
		t.Fatalf("%v, %v", asked, work)
	}
	for key, n := range asked {
		if n != 2 {
			t.Errorf("%s is asked %d times", key, n)
		}
	}
	for name, n := range work {
		if n < 6 || n > 7 {
			t.Errorf("%s has %d questions", name, n)
		}
	}
	given := readLabels(t, path)
	disagreed := 10
	byKey := map[string]map[string]bool{}
	for _, l := range given {
		if byKey[l.Key()] == nil {
			byKey[l.Key()] = map[string]bool{}
		}
		byKey[l.Key()][l.Label] = true
	}
	for _, said := range byKey {
		if len(said) == 1 {
			disagreed--
		}
	}
	eve := newServer(t, path, Options{Adjudicator: "ann"}) // who is one of the annotators too
	if n := len(eve.of(eve.sheets[0], "ann")); n != disagreed || n == 0 || n == 10 {
		t.Fatalf("%d questions for the adjudicator; want %d", n, disagreed)
	}
	c := &client{t: t, h: eve}
	c.send("GET", "/?token="+eve.Token("ann"), nil)
	for i := range disagreed {
		form, page := c.question("leakage")
		a, _ := eve.sheets[0].Unit(form.Get("id"))
		other := "B"
		for _, l := range given {
			if l.Key() == a.Key() && l.Annotator == "cy" && eve.sheets[0].Shown(form.Get("id"), l.Label) == "A" {
				other = "A"
			}
		}
		if !strings.Contains(page, "<li><b><bdi>"+other+"</bdi></b>: <span dir=\"auto\">by c</span></li>") ||
			!strings.Contains(page, "<li><b><bdi>neither</bdi></b>: <span") || strings.Contains(page, ">cy<") ||
			!strings.Contains(page, fmt.Sprintf("Question %d of %d", i+1, disagreed)) {
			t.Errorf("the adjudicator sees:\n%s", page)
		}
		form.Set("label", "B")
		c.send("POST", "/leakage", form)
	}
	if page := c.send("GET", "/leakage", nil).Body.String(); !strings.Contains(page, "All questions are answered") {
		t.Errorf("after the last one:\n%s", page)
	}
	decided := 0
	for _, l := range readLabels(t, path) {
		if l.Decides && l.Annotator == "ann" {
			decided++
		}
	}
	a, err := labels.AgreementOf(path, "", labels.Options{Draws: 10})
	if err != nil || decided != disagreed || a.Adjudicated != disagreed || len(readLabels(t, path)) != 20+disagreed {
		t.Errorf("%d decided, %d in the agreement, %v; want %d", decided, a.Adjudicated, err, disagreed)
	}
}
