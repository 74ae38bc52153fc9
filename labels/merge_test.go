package labels

import (
	"testing"
	"time"

	"crosstalk"
)

// Labels, notes and samples of two parts come into a run once; what is later wins,
// be it that the run has it or a part.
func TestMerge(t *testing.T) {
	run, parts := t.TempDir(), []string{t.TempDir(), t.TempDir()}
	at := func(minute int) time.Time { return time.Date(2026, 1, 1, 0, minute, 0, 0, time.UTC) }
	label := func(run, item, label string, minute int) {
		t.Helper()
		l := Label{Question: "leakage", Place: Place{Item: item, Condition: map[string]string{"model": "m"}},
			Annotator: "ann", Label: label, When: at(minute)}
		if err := Append(run, l); err != nil {
			t.Fatal(err)
		}
	}
	note := func(run, item, text string, minute int) {
		t.Helper()
		n := NoteOn(crosstalk.Observation{Measure: "leak_rate", Item: item})
		n.Text, n.When = text, at(minute)
		if err := AddNote(run, n); err != nil {
			t.Fatal(err)
		}
	}
	check := func(added int, labels, notes string) {
		t.Helper()
		n, err := Merge(run, parts)
		if err != nil || n != added {
			t.Errorf("%d added, %v; want %d", n, err, added)
		}
		list, err := Read(run)
		got := ""
		for _, l := range list {
			got += l.Item + " " + l.Label + ", "
		}
		if err != nil || got != labels {
			t.Errorf("%q, %v; want %q", got, err, labels)
		}
		all, err := ReadNotes(run)
		got = ""
		for _, item := range []string{"a", "b", "c"} {
			if n := all.Of(crosstalk.Observation{Measure: "leak_rate", Item: item}); !n.Empty() {
				got += item + " " + n.Text + ", "
			}
		}
		if err != nil || got != notes {
			t.Errorf("%q, %v; want %q", got, err, notes)
		}
	}
	check(0, "", "")
	label(parts[0], "a", "test", 1)
	label(parts[1], "b", "control", 2)
	label(parts[1], "c", "test", 2)
	label(parts[1], "c", "", 3)
	note(parts[0], "a", "odd", 1)
	note(parts[1], "b", "gone", 1)
	note(parts[1], "b", "", 2)
	check(3, "a test, b control, ", "a odd, ")
	check(0, "a test, b control, ", "a odd, ")
	label(run, "a", "neither", 5)
	label(parts[0], "a", "control", 4) // before
	label(parts[1], "b", "", 6)
	note(parts[0], "a", "", 7)
	note(parts[1], "c", "new", 7)
	check(3, "a neither, ", "c new, ")
	for i, part := range parts {
		for n := range i + 1 {
			if _, err := Plan(part, Sample{N: n + 1}); err != nil {
				t.Fatal(err)
			}
		}
	}
	check(0, "a neither, ", "c new, ")
	if d, err := ReadDesign(run); err != nil || len(d.Samples) != 2 {
		t.Errorf("%+v, %v", d.Samples, err)
	}
}
