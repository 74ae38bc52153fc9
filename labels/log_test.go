package labels

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A log reads what was added since, whoever added it, and begins again when
// another file is in its place.
func TestLog(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, File)
	label := func(item, annotator, label string) Label {
		return Label{Question: NearerText, Place: Place{Item: item}, Annotator: annotator, Label: label, When: time.Now()}
	}
	add := func(labels ...Label) {
		t.Helper()
		if err := Append(dir, labels...); err != nil {
			t.Fatal(err)
		}
	}
	l := NewLog(dir)
	want := func(want string) {
		t.Helper()
		if err := l.Refresh(); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, x := range l.Labels() {
			got = append(got, x.Item+x.Annotator+":"+x.Label)
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("labels are %q; expected %q", s, want)
		}
	}
	want("")
	add(label("1", "a", Test))
	want("1a:test")
	add(label("2", "a", Test), label("1", "b", Neither))
	add(label("1", "a", Control))
	want("1a:control 2a:test 1b:neither")
	_, first, _ := l.Find("a", label("1", "", "").Key(), false)
	_, second, _ := l.Find("a", label("2", "", "").Key(), false)
	if first <= second {
		t.Errorf("the label that was given last is at %d, the other one at %d", first, second)
	}
	add(label("2", "a", ""))
	want("1a:control 1b:neither")
	if x, _, found := l.Find("a", label("2", "", "").Key(), false); !found || x.Label != "" {
		t.Errorf("a withdrawn label: %v, %v", x, found)
	}
	// A line that is being written, or was cut short, is not read.
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	cut := func(want bool) {
		t.Helper()
		if note, err := CutShort(filepath.Dir(file)); err != nil || (note != "") != want ||
			want && !strings.HasPrefix(note, file+": its last line is cut short") {
			t.Errorf("%q, %v; want %v", note, err, want)
		}
	}
	cut(false)
	f.WriteString(`{"question":"leakage","it`)
	f.Close()
	want("1a:control 1b:neither")
	cut(true)
	add(label("3", "c", Test)) // drops it
	cut(false)
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for lines, says := range map[string]string{string(whole): "again: about 12", "": "again: all"} { // 12 lines' worth
		zeros := strings.Repeat("\x00", 12*len(whole)/strings.Count(string(whole), "\n"))
		if err := os.WriteFile(file, []byte(lines+zeros), 0o666); err != nil {
			t.Fatal(err)
		}
		note, err := CutShort(filepath.Dir(file))
		if err != nil || !strings.Contains(note, fmt.Sprintf("its last %d bytes are zeros", len(zeros))) ||
			!strings.HasSuffix(note, says) {
			t.Errorf("%q, %v; want %q", note, err, says)
		}
	}
	if err := os.WriteFile(file, whole, 0o666); err != nil {
		t.Fatal(err)
	}
	want("1a:control 1b:neither 3c:test")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	cut(false)
	write(t, file, "")
	cut(false)
	add(label("9", "a", Test))
	want("9a:test")
	write(t, file, "{}\n{}\n"+strings.Repeat(" ", 1000)+"\n")
	if err := l.Refresh(); err == nil || !strings.Contains(err.Error(), "labels.jsonl:") {
		t.Errorf("invalid lines: %v", err)
	}
}

// Answers name a question by its id, a choice as shown, and words by places.
func TestBlindLabel(t *testing.T) {
	list := pairs(t)
	dir := newRun(t, list, false)
	d := plan(t, dir, Sample{Seed: 1})
	s := open(t, dir)
	b := s.Blind(d)
	for _, a := range d.Ask(s.Question, s.Units, "ann", 1)[:20] {
		l, err := b.Label(Answer{ID: a.ID, Shown: "a", Annotator: "ann", When: time.Now(), Seconds: 2, Comment: "c"})
		want := Test
		if strings.HasPrefix(a.A, "west") {
			want = Control
		}
		if err != nil || l.Label != want || l.Seconds != 2 || l.Comment != "c" || l.Annotator != "ann" {
			t.Errorf("A of %+v: %+v, %v", a, l, err)
		}
		if u, known := b.Unit(a.ID); !known || u.Key() != l.Key() {
			t.Errorf("%s is of %v", a.ID, u)
		}
		for _, wrong := range []Answer{{ID: a.ID, Shown: "left"}, {ID: a.ID, Shown: Test}, {ID: "x" + a.ID, Shown: "a"},
			{ID: a.ID, Shown: "a", Words: [][2]int{{0, 4}}}, {ID: a.ID}} {
			if l, err := b.Label(wrong); err == nil {
				t.Errorf("%+v is %+v", wrong, l)
			}
		}
	}
}

// --only chooses by columns; what it leaves out is a stratum of its own.
func TestOnly(t *testing.T) {
	s := open(t, newRun(t, pairs(t), false))
	near := 0
	for i := range s.Units {
		u := &s.Units[i]
		other := u.Judged[0]
		other.Judge = "other"
		if i < 10 {
			other.Finding = "tie"
		}
		u.Judged = append(u.Judged, other)
		if u.Doubt <= 0.03 {
			near++
		}
	}
	already := 0 // ties of the first similarity are not disputed
	for _, u := range s.Units[:10] {
		if u.Judged[0].Finding == "tie" {
			already++
		}
	}
	for _, c := range []struct {
		only string
		want int
	}{{"", 109}, {"disputed", 10 - already}, {"disputed=no", 99 + already}, {"doubtful", near}, {"disputed,disputed=no", 109}, {"language=en", 109},
		{"disputed,finding=tie", 0}, {"language=de", 0}} {
		var only []string
		if c.only != "" {
			only = strings.Split(c.only, ",")
		}
		units, err := s.Draw(Sample{Only: only, Seed: 1})
		if len(units) != c.want || (err == nil) != (c.want > 0) {
			t.Errorf("--only %s: %d, %v; expected %d", c.only, len(units), err, c.want)
		}
	}
	d := Design{Samples: []Sample{{By: []string{"category"}}, {By: []string{"category"}, Only: []string{"disputed", "language=en"}}}}
	if by := fmt.Sprint(d.strata()); by != "[category disputed language]" {
		t.Errorf("strata are by %s", by)
	}
}

// Whatever is in the file, labels that are read can be added again.
func FuzzLog(f *testing.F) {
	f.Add([]byte(`{"question":"leakage","item":"1","annotator":"a","label":"test","when":"2026-01-02T03:04:05Z"}` + "\n"))
	f.Add([]byte(`{"question":"lines","item":"1","line":2,"annotator":"a","label":"right","words":[{"start":0,"end":1,"text":"x"}]}` + "\n{"))
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		dir := t.TempDir()
		write(t, filepath.Join(dir, File), string(text))
		list, err := Read(dir)
		if err != nil {
			return
		}
		other := t.TempDir()
		if err := Append(other, list...); err != nil {
			t.Fatal(err)
		}
		again, err := Read(other)
		if err != nil || len(again) != len(list) {
			t.Errorf("%d labels became %d: %v", len(list), len(again), err)
		}
	})
}
