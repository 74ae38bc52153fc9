package labels

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Every unit is for as many of a team as wanted, all of whom get as many, in the units' order.
func TestShare(t *testing.T) {
	var units []Unit
	for i := range 25 {
		units = append(units, Unit{key: fmt.Sprint("unit ", i)})
	}
	d, other := Design{Secret: strings.Repeat("ab", 32)}, Design{Secret: strings.Repeat("cd", 32)}
	for _, c := range []struct {
		team            []string
		overlap, people int // that a unit is for
	}{
		{[]string{"ann", "bob", "cy"}, 1, 1}, {[]string{"ann", "bob", "cy"}, 2, 2}, {[]string{"ann", "bob", "cy"}, 3, 3},
		{[]string{"ann", "bob", "cy"}, 9, 3}, {[]string{"ann"}, 1, 1}, {[]string{"ann", "bob"}, 0, 0},
	} {
		count, least, most := map[string]int{}, math.MaxInt, 0
		for _, member := range c.team {
			share := d.Share(units, c.team, c.overlap, member)
			least, most = min(least, len(share)), max(most, len(share))
			at := -1
			for _, u := range share {
				i := slices.IndexFunc(units, func(v Unit) bool { return v.key == u.key })
				if i <= at {
					t.Fatalf("%v: unit %d is after %d", c, i, at)
				}
				at = i
				count[u.key]++
			}
			if again := d.Share(units, c.team, c.overlap, member); fmt.Sprint(again) != fmt.Sprint(share) {
				t.Errorf("%v: %s has another share the second time", c, member)
			}
			drawn := c.people > 0 && c.people < len(c.team)
			if drawn == (fmt.Sprint(other.Share(units, c.team, c.overlap, member)) == fmt.Sprint(share)) {
				t.Errorf("%v: %s is drawn by the secret: %v", c, member, !drawn)
			}
		}
		for _, u := range units {
			if count[u.key] != c.people {
				t.Errorf("%v: %s is for %d people, want %d", c, u.key, count[u.key], c.people)
			}
		}
		if most-least > 1 {
			t.Errorf("%v: from %d to %d units each", c, least, most)
		}
		if strangers := d.Share(units, c.team, c.overlap, "zoe"); strangers != nil {
			t.Errorf("%v: a stranger has %d units", c, len(strangers))
		}
	}
}

// A list of labels has each once, without the space around them, in alphabetical order.
func TestListed(t *testing.T) {
	for text, want := range map[string]string{"b; a;b": "a; b", "  two  words ;": "two words", "a": "a", "": "", " ; ;": ""} {
		if got, err := listed(text); got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
}

// A label is shown as the letter of its side, and a letter means the label of its side, however the sides are.
func TestShown(t *testing.T) {
	s := openAs(t, newRun(t, pairs(t)[:2], false), "")
	d := Design{Secret: strings.Repeat("ab", 32)}
	b := s.Blind(d)
	for _, swapped := range []bool{false, true} {
		id := d.id(s.Units[0].key, swapped)
		for label, shown := range map[string]string{Test: "A", Control: "B", Neither: Neither, "else": "else"} {
			if swapped && len(shown) == 1 {
				shown = map[string]string{"A": "B", "B": "A"}[shown]
			}
			if got := b.Shown(id, label); got != shown {
				t.Errorf("%s is shown as %s, want %s, exchanged: %v", label, got, shown, swapped)
			}
			if label == "else" {
				continue
			}
			if l, err := b.Label(Answer{ID: id, Shown: strings.ToLower(shown)}); err != nil || l.Label != label {
				t.Errorf("%s means %q, %v; want %s, exchanged: %v", shown, l.Label, err, label, swapped)
			}
		}
	}
	if got := b.Shown("unknown", Test); got != Test {
		t.Errorf("of an unknown question: %s", got)
	}
}

// An adjudicator is asked about answers on which labels differ: of two people or more, and about no others.
func TestDisagreed(t *testing.T) {
	dir := newRun(t, pairs(t)[:4], false)
	s := openAs(t, dir, "")
	if _, err := NewQuestionnaire(dir, "", "eve", Sample{Seed: 1}, true); err == nil {
		t.Error("nobody has labelled anything")
	}
	labels := []Label{s.says(s.Units[0], "ann", Test), s.says(s.Units[0], "bob", Test), s.says(s.Units[1], "ann", Test)}
	if err := Append(dir, labels...); err != nil {
		t.Fatal(err)
	}
	if q, err := NewQuestionnaire(dir, "", "eve", Sample{Seed: 1}, true); err == nil || err.Error() != dir+": no labels disagree" {
		t.Errorf("%+v, %v", q, err)
	}
	more := []Label{s.says(s.Units[2], "ann", Test), s.says(s.Units[2], "bob", Control), s.says(s.Units[2], "cy", Test)}
	if err := Append(dir, more...); err != nil {
		t.Fatal(err)
	}
	q, err := NewQuestionnaire(dir, "", "eve", Sample{Seed: 1}, true)
	if err != nil || len(q.Asked) != 1 || q.Of != len(s.Units) {
		t.Fatalf("%+v, %v", q, err)
	}
	d, err := ReadDesign(dir)
	if u, known := s.Blind(d).Unit(q.Asked[0].ID); err != nil || !known || u.key != s.Units[2].key {
		t.Errorf("asked about %+v, %v, %v", u, known, err)
	}
}

// A sheet with only odd rows is reported, with at most ten reasons, and adds nothing.
func TestImportOddOnly(t *testing.T) {
	dir := newRun(t, pairs(t)[:2], false)
	plan(t, dir, Sample{Seed: 1})
	for n, want := range map[int]int{1: 1, 10: 10, 11: 10} {
		text := "id,label\n"
		for i := range n {
			text += fmt.Sprintf("odd%d,A\n", i)
		}
		file := filepath.Join(t.TempDir(), "odd.csv")
		write(t, file, text)
		got, err := ImportInto(dir, "", file, "ann", false, time.Now())
		if err == nil || strings.Count(err.Error(), "unknown id odd") != want || len(got.Labels) != 0 {
			t.Errorf("%d odd rows: %+v, %v", n, got, err)
		}
	}
	if kept, err := Read(dir); err != nil || len(kept) != 0 {
		t.Errorf("%v, %v", kept, err)
	}
}

// A sample gives each stratum as much, what a small one lacks goes to the others, and all where it is as large as all.
func TestDrawShares(t *testing.T) {
	s := openAs(t, leaks(t, 12), "")
	of := func(n int, by ...string) map[string]int {
		units, err := s.Draw(Sample{N: n, Seed: 3, By: by})
		if err != nil {
			t.Fatal(err)
		}
		counts := map[string]int{}
		for _, u := range units {
			counts[u.stratum(by)]++
		}
		return counts
	}
	all := of(0)
	total := 0
	for _, n := range all {
		total += n
	}
	for _, n := range []int{0, -1, total, total + 1} {
		if got := of(n); fmt.Sprint(got) != fmt.Sprint(all) {
			t.Errorf("a sample of %d of %d has %v", n, total, got)
		}
	}
	for n := len(all); n < total; n++ {
		sum, least, most := 0, total, 0
		for _, k := range of(n) {
			sum, least, most = sum+k, min(least, k), max(most, k)
		}
		if sum != n || most-least > 1 {
			t.Errorf("a sample of %d has %d, from %d to %d of each stratum", n, sum, least, most)
		}
	}
	if _, err := s.Draw(Sample{N: len(all) - 1}); err == nil ||
		!strings.Contains(err.Error(), fmt.Sprintf("a sample of %d is smaller than the number of strata, %d; ", len(all)-1, len(all))) {
		t.Errorf("fewer than strata: %v", err)
	}
	small, _ := s.Draw(Sample{N: len(all), Seed: 3})
	large, _ := s.Draw(Sample{N: len(all) + 5, Seed: 3})
	for _, u := range small {
		if !slices.ContainsFunc(large, func(v Unit) bool { return v.key == u.key }) {
			t.Errorf("a larger sample lacks %s", u.key)
		}
	}
}

// The lengths of lines are in classes of which each begins behind the one before.
func TestLengthClasses(t *testing.T) {
	for n, want := range map[int]string{0: "1 to 20", 20: "1 to 20", 21: "21 to 50", 50: "21 to 50", 51: "51 to 100",
		100: "51 to 100", 101: "101 to 200", 200: "101 to 200", 201: "201 or more"} {
		if got := length(strings.Repeat("é", n)); got != want {
			t.Errorf("%d characters: %s, want %s", n, got, want)
		}
	}
}
