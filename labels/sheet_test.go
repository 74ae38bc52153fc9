package labels

import (
	"bytes"
	"fmt"
	"testing"

	"crosstalk"
	"crosstalk/internal/testing/golden"
)

// Agreement and corrected figures of labels are, to the digit, what they were when simulations had confirmed them. With
// -update the sheet is written anew: look at what differs.
func TestSheet(t *testing.T) {
	var sheet bytes.Buffer
	row := func(of ...any) {
		for _, v := range of {
			switch v := v.(type) {
			case float64:
				fmt.Fprintf(&sheet, "%.6g ", v)
			case *crosstalk.Interval:
				if v != nil {
					fmt.Fprintf(&sheet, "[%.6g %.6g %s] ", v.Low, v.High, v.Method)
				}
			default:
				fmt.Fprintf(&sheet, "%v ", v)
			}
		}
		fmt.Fprintln(&sheet)
	}
	agreement := func(name, dir, question string, o Options) {
		a, err := AgreementOf(dir, question, o)
		row("\n==", name, "agreement by", o.By, err)
		row(a.Labels, a.Questions, a.Units, a.Annotators, a.Weighted, a.Unmatched, a.Adjudicated, a.ByDefault)
		for _, f := range a.Figures {
			row(f.Measure, "of", f.Of, f.By, float64(f.Value), f.Interval, f.N)
		}
		for _, c := range a.Cells {
			row(c.Judge, c.By, c.People, c.Found, c.N)
		}
		for _, c := range a.Curves {
			row("tau-b", c.Judge, c.By, c.N, float64(c.Points[0].Tau), float64(c.Points[len(c.Points)-1].Tau))
		}
		for _, x := range a.Disagreements {
			row(fmt.Sprintf("%.6v", x))
		}
	}
	correct := func(name, dir string, by []string) {
		estimates, notes, err := CorrectedOf(dir, by)
		row("\n==", name, "corrected by", by, notes, err)
		for _, e := range estimates {
			row(e.Measure, e.By, float64(e.Value), e.Interval, e.N, e.Clusters, e.Warnings)
			if e.People != nil {
				row(fmt.Sprintf("  %+.6v", *e.People))
			}
		}
	}
	for name, sample := range []Sample{{Seed: 3}, {N: 60, By: []string{"category"}, Seed: 3}} {
		dir := leaks(t, 40)
		plan(t, dir, sample)
		s := openAs(t, dir, "")
		units, err := s.Draw(sample)
		if err != nil {
			t.Fatal(err)
		}
		for k, who := range []string{"ann", "bob", "cem"} {
			var said []Label
			for i, u := range units {
				if (i+k)%4 == 3 {
					continue // nobody labels everything
				}
				label := []string{Test, Test, Control, Neither, Test}[(i+i/3*k)%5]
				said = append(said, s.says(u, who, label))
			}
			if err := Append(dir, said...); err != nil {
				t.Fatal(err)
			}
		}
		for decided := range 2 {
			said, err := Read(dir)
			if err != nil {
				t.Fatal(err)
			}
			name := fmt.Sprintf("sample %d, decided %d times", name, decided)
			for _, o := range []Options{{Worst: 4, Draws: 100, By: []string{}}, {Draws: 40, By: []string{"category"}},
				{Draws: 40, By: []string{"finding"}}, {By: []string{"nothing"}}} {
				agreement(name, dir, "", o)
			}
			for _, by := range [][]string{nil, {"category"}, {"nothing"}} {
				correct(name, dir, by)
			}
			opinions, err := Opinions(dir)
			row("\n==", name, len(opinions), err)
			for _, o := range opinions {
				for _, x := range o.Said[:12] {
					row(x.Item, x.Condition, float64(x.Value), x.Weight)
				}
				for _, e := range o.Shares {
					row(e.Measure, e.By, float64(e.Value), e.Interval, e.N)
				}
			}
			apart := s.Disagreed(said)
			row(len(apart))
			for _, u := range apart[:len(apart)/2] {
				label := s.says(u, "dee", Control)
				label.Decides = true
				if err := Append(dir, label); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	// Answers that are each their own cluster, in a sample by finding, with marked words; their lines; and codes.
	var right, words []int
	for i := range 60 {
		right, words = append(right, min(i%5, 1)), append(words, i%3-i%2*(i%3/2))
	}
	for _, marked := range []bool{false, true} {
		dir := confusionRun(t, right, words)
		sample := Sample{N: 30, By: []string{"finding"}, Seed: 3}
		plan(t, dir, sample)
		for _, question := range []string{"confusion", "lines"} {
			s := openAs(t, dir, question)
			units, err := s.Draw(sample)
			if err != nil {
				t.Fatal(err)
			}
			for k, who := range []string{"ann", "bob"} {
				var said []Label
				for i, u := range units {
					l := s.says(u, who, []string{"right", "wrong", "right", cannotTell, "right"}[(i+i/4*k)%5])
					if marked && i%4 == 0 {
						l.Words = []Word{{0, 1, "a"}}
					}
					said = append(said, l)
				}
				if err := Append(dir, said...); err != nil {
					t.Fatal(err)
				}
			}
			for _, by := range [][]string{nil, {"finding"}, {"language", "length"}} {
				agreement(question, dir, question, Options{By: by, Draws: 40, Worst: 2})
			}
		}
		for _, by := range [][]string{nil, {"language"}, {"finding"}} {
			correct("words", dir, by)
		}
	}
	dir := coded(t)
	s := openAs(t, dir, Codes)
	if err := Append(dir, s.says(s.Units[0], "ann", "negation; vague"), s.says(s.Units[0], "bob", "vague"), s.says(s.Units[1], "ann", "tone")); err != nil {
		t.Fatal(err)
	}
	agreement("codes", dir, Codes, Options{Draws: 40, Worst: 2})
	golden.Check(t, "testdata/sheet.txt", sheet.String())
}
