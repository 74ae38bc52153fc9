package labels

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"crosstalk"
)

// Of several notes on an answer the last counts, an empty one withdraws them, and
// a line that a crash cut short is dropped. Columns within an answer do not matter.
func TestNotes(t *testing.T) {
	dir := t.TempDir()
	on := func(item, temperature, similarity string) crosstalk.Observation {
		return crosstalk.Observation{Measure: "leak_rate", Item: item, Condition: map[string]string{"model": "m", "temperature": temperature, "similarity": similarity}}
	}
	add := func(o crosstalk.Observation, text string, notError bool) {
		t.Helper()
		n := NoteOn(o)
		n.Text, n.NotError = text, notError
		if err := AddNote(dir, n); err != nil {
			t.Fatal(err)
		}
	}
	read := func() Notes {
		t.Helper()
		notes, err := ReadNotes(dir)
		if err != nil {
			t.Fatal(err)
		}
		return notes
	}
	if notes := read(); len(notes) != 0 || !notes.Of(on("i", "0", "a")).Empty() {
		t.Errorf("%+v without a file", notes)
	}
	add(on("i", "0", "a"), "first", false)
	add(on("i", "0.5", "a"), "", true)
	add(on("i", "0", "b"), " second\n", true)
	add(on("j", "0", "a"), "gone", false)
	add(on("j", "0", "a"), "", false)
	notes := read()
	if n := notes.Of(on("i", "0", "c")); len(notes) != 2 || n.Text != "second" || !n.NotError {
		t.Errorf("%+v", notes)
	}
	if n := notes.Of(on("i", "0.5", "b")); n.Text != "" || !n.NotError {
		t.Errorf("%+v", n)
	}
	file := filepath.Join(dir, NotesFile)
	if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v; want a file that only its owner may read", info.Mode(), err)
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString(`{"item":"k","tex`)
	f.Close()
	if notes := read(); len(notes) != 2 {
		t.Errorf("%+v with a torn line", notes)
	}
	add(on("k", "0", "a"), "whole", false)
	if n := read().Of(on("k", "0", "a")); n.Text != "whole" {
		t.Errorf("%+v after a torn line", n)
	}
	if err := AddNote(dir, Note{Place: Place{Item: "i"}, Text: strings.Repeat("é", LongestNote+1)}); err == nil {
		t.Error("a note that is too long is accepted")
	}
	write(t, file, `{"item":"i","text":"x"}`+"\n{}\n")
	if _, err := ReadNotes(dir); err == nil || !strings.Contains(err.Error(), NotesFile+":2: invalid note: has no item") {
		t.Errorf("%v", err)
	}
}

// Notes that are added at once are all kept.
func TestNotesAtOnce(t *testing.T) {
	dir := t.TempDir()
	var wait sync.WaitGroup
	for i := range 20 {
		wait.Go(func() {
			if err := AddNote(dir, Note{Place: Place{Item: strings.Repeat("x", i+1)}, Text: strings.Repeat("y", 3000)}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if notes, err := ReadNotes(dir); err != nil || len(notes) != 20 {
		t.Errorf("%d notes, %v", len(notes), err)
	}
}
