package page

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/labels"
	"crosstalk/report"
	"crosstalk/run/figures"
	"crosstalk/study"
)

// A page of figures by other columns has the answers below these, and the same figures
// as without a page.
func TestPageByColumns(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "answers.csv")
	text := "model,language,source,id,completion\n"
	for i, source := range []string{"a", "b", "a"} {
		text += fmt.Sprintf("m,de,%s,%d,Das Wetter ist heute wirklich sehr schön.\n", source, i)
		text += fmt.Sprintf("m,fr,%s,%d,The weather is really very nice today.\n", source, i)
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := study.Confusion{}.Recorded([]string{file}, "")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "run")
	if _, err := s.Run(t.Context(), path, ask.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		by   []string
		want string
	}{
		{nil, "fr 3, de 3"},
		{[]string{"source"}, "a 4, b 2"},
		{[]string{"model", "source"}, "a 4, b 2"}, // the model sets sections apart
		{[]string{"script", "family"}, "Indo-European 6"},
		{[]string{}, "all 6"},
	} {
		r, err := Files{}.Read(path, c.by, report.Names{"m": "mine"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		want, err := figures.Set{By: c.by}.Of(path)
		if err != nil || string(crosstalk.Canonical(r.Figures)) != string(crosstalk.Canonical(want)) {
			t.Errorf("by %v: figures %v, %v; want %v", c.by, r.Figures, err, want)
		}
		if r.Figures[0].By["model"] != "m" || r.Estimates[0].By["model"] != "mine" {
			t.Errorf("by %v: the model is %v, named %v", c.by, r.Figures[0].By, r.Estimates[0].By)
		}
		var got []string
		sections := r.Answers.sections(r.Estimates)
		for _, g := range sections[0].Groups {
			got = append(got, fmt.Sprint(g.Name, " ", g.seen))
		}
		if text := strings.Join(got, ", "); text != c.want || len(sections) != 1 || !strings.Contains(sections[0].Name, "model mine") {
			t.Errorf("by %v: groups %s of %d sections, %s; want %s", c.by, text, len(sections), sections[0].Name, c.want)
		}
		if len(r.Plots) == 0 && (c.by == nil || len(c.by) > 0) {
			t.Errorf("by %v: no plots", c.by)
		}
	}
	none := Files{HTML: "none"}
	if r, err := none.Read(path, nil, nil, nil); err != nil || len(r.Figures) == 0 || r.Answers != nil {
		t.Errorf("without files: %d figures, %v, %v", len(r.Figures), r.Answers, err)
	}
	if _, err := Read(path, []string{"colour"}, nil, nil); err == nil || !strings.Contains(err.Error(), `unknown column "colour"`) {
		t.Errorf("%v", err)
	}
	// Figures as they were measured need no observations, but the page does.
	observations := filepath.Join(path, "observations.jsonl")
	lines, err := os.ReadFile(observations)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(observations, lines[:len(lines)/2], 0o666); err != nil {
		t.Fatal(err)
	}
	if r, err := Read(path, nil, nil, nil); err == nil || len(r.Figures) == 0 {
		t.Errorf("a page of a run that was cut: %d figures, %v", len(r.Figures), err)
	}
	if r, err := Read(path, []string{"source"}, nil, nil); err == nil || r.Figures != nil {
		t.Errorf("figures of a run that was cut: %v, %v", r.Figures, err)
	}
	if _, err := none.Read(path, nil, nil, nil); err != nil {
		t.Error(err)
	}
}

// Answers leave room for estimates that are not known when they are collected: those
// without a finding go first, the last ones of each kind before the others.
func TestRoomForMoreEstimates(t *testing.T) {
	wrong := crosstalk.Span{Start: 0, End: 3, Language: "en", Probability: 0.9}
	text := strings.Repeat("x", 1000)
	collect := func() *Answers {
		a := newAnswers(estimates(), nil)
		for i := range 4000 {
			o := confusion(fmt.Sprint(i), text)
			if i%2 == 0 {
				o = confusion(fmt.Sprint(i), text, wrong)
			}
			a.Add(o, labels.Note{})
		}
		return a
	}
	kept := func(a *Answers, more int) (faults, clean []string) {
		for _, c := range a.sections(slices.Repeat(estimates(), 1+more))[0].Groups[0].Cards {
			if c.Fault {
				faults = append(faults, c.Name)
			} else {
				clean = append(clean, c.Name)
			}
		}
		return faults, clean
	}
	whole := collect()
	faults, clean := kept(whole, 0)
	some := collect()
	fewer, left := kept(some, 2000) // 4,000 estimates take 1.6 MB
	if len(fewer) != len(faults) || len(left) >= len(clean) || len(left) == 0 || !slices.Equal(left, clean[:len(left)]) {
		t.Errorf("%d of %d with and %d of %d without a finding are left", len(fewer), len(faults), len(left), len(clean))
	}
	if some.room < 0 || some.dropped != 4000-len(fewer)-len(left) {
		t.Errorf("%d bytes are left, and %d are dropped", some.room, some.dropped)
	}
	few := collect()
	fewest, none := kept(few, 20_000)
	if len(none) > 0 || len(fewest) == 0 || len(fewest) >= len(faults) || !slices.Equal(fewest, faults[:len(fewest)]) {
		t.Errorf("%d with and %d without a finding are left of %d", len(fewest), len(none), len(faults))
	}
}
