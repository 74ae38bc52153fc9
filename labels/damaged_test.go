package labels

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A label needs an annotator, an item and a known answer.
func TestLabelsThatSayTooLittle(t *testing.T) {
	whole := Label{Question: "leakage", Place: Place{Item: "a"}, Annotator: "ann", Label: Test}
	if err := whole.check(); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*Label){
		"has no item":               func(l *Label) { l.Item = "" },
		"has no annotator":          func(l *Label) { l.Annotator = " " },
		`unknown question "others"`: func(l *Label) { l.Question = "others" },
		`unknown label "yes"; choose one of: test, control, neither`: func(l *Label) { l.Label = "yes" },
	} {
		l := whole
		change(&l)
		if err := l.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
		if err := Append(t.TempDir(), l); err == nil {
			t.Errorf("appended: %s", want)
		}
	}
}

// Nothing of a shard is left out in silence: a damaged file of labels, notes or samples is an error that names it.
func TestMergeOfDamaged(t *testing.T) {
	for _, name := range []string{File, NotesFile, designFile} {
		run, shard := t.TempDir(), t.TempDir()
		write(t, filepath.Join(shard, name), "{\"not\": what is kept\n")
		if _, err := Merge(run, []string{t.TempDir(), shard}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	run, shard := t.TempDir(), t.TempDir()
	if added, err := Merge(run, []string{shard}); added != 0 || err != nil {
		t.Errorf("nothing: %d, %v", added, err)
	}
	if files, err := os.ReadDir(run); err != nil || len(files) != 0 {
		t.Errorf("of nothing there are files: %v, %v", files, err)
	}
	plan(t, shard, Sample{N: 3})
	write(t, filepath.Join(run, designFile), "{")
	if _, err := Merge(run, []string{shard}); err == nil || !strings.Contains(err.Error(), designFile) {
		t.Errorf("a run whose samples cannot be read: %v", err)
	}
	run, shard = t.TempDir(), t.TempDir()
	l := Label{Question: "leakage", Place: Place{Item: "a"}, Annotator: "ann", Label: Test, When: time.Unix(9, 0)}
	if err := Append(shard, l); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(run, File), 0o700); err != nil {
		t.Fatal(err)
	}
	if added, err := Merge(run, []string{shard}); err == nil || added != 0 {
		t.Errorf("a run that cannot be written: %d, %v", added, err)
	}
	link := t.TempDir()
	if err := os.Symlink(filepath.Join(shard, "lock"), filepath.Join(link, File+".lock")); err != nil {
		t.Skip(err)
	}
	if err := Append(link, l); err == nil {
		t.Error("a lock that is a link to somewhere else is followed")
	}
}

// What a sheet does not date is of when it is imported; a sample of all is all, once.
func TestImportedNow(t *testing.T) {
	dir := newRun(t, pairs(t)[:6], false)
	d := plan(t, dir, Sample{Seed: 1})
	s := open(t, dir)
	rows := sheet(t, s, d, s.Units, "ann")
	rows[1][6] = "A"
	file := filepath.Join(t.TempDir(), "ann.csv")
	text := ""
	for _, r := range rows {
		text += "\"" + strings.Join(r, "\",\"") + "\"\n"
	}
	write(t, file, text)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	got, err := ImportInto(dir, "", file, "ann", false, now)
	if err != nil || len(got.Labels) != 1 || !got.Labels[0].When.Equal(now) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, n := range []int{0, 6, 7} {
		units, err := s.Draw(Sample{N: n, Seed: 1})
		if err != nil || len(units) != 6 || units[0].Item != s.Units[0].Item {
			t.Errorf("%d: %d, %v", n, len(units), err)
		}
	}
}
