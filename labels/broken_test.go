package labels

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"crosstalk"
)

// If a file of a run cannot be read, everything that needs it fails with an error that names the file.
func TestBrokenRuns(t *testing.T) {
	every := []string{"manifest.json", "observations.jsonl", "estimates.json", File, designFile}
	uses := map[string]struct {
		of    func(path string) (any, error)
		needs []string
	}{
		"agreement": {func(path string) (any, error) { return AgreementOf(path, "", Options{}) },
			every},
		"corrected": {func(path string) (any, error) { e, _, err := CorrectedOf(path, nil); return e, err },
			every},
		"opinions": {func(path string) (any, error) { return Opinions(path) },
			every},
		"a sheet": {func(path string) (any, error) { s, err := Open(path, ""); return s, err },
			every[:3]},
		"questions": {func(path string) (any, error) {
			return NewQuestionnaire(path, "", "ann", Sample{Seed: 1, N: 5}, false)
		}, append(slices.Clone(every[:3]), designFile)},
	}
	for _, file := range every {
		path := labelled(t)
		write(t, filepath.Join(path, file), "{\n")
		for name, use := range uses {
			got, err := use.of(path)
			if slices.Contains(use.needs, file) != (err != nil) || err != nil && !strings.Contains(err.Error(), file) {
				t.Errorf("%s without %s: %v", name, file, err)
			}
			if v := reflect.ValueOf(got); err != nil && name != "questions" && v.IsValid() && !v.IsZero() {
				t.Errorf("%s without %s: %+v", name, file, got)
			}
		}
	}
	path := labelled(t)
	if err := os.Remove(filepath.Join(path, File)); err != nil {
		t.Fatal(err)
	}
	if list, err := Opinions(path); list != nil || err != nil {
		t.Errorf("%+v, %v", list, err)
	}
	n := NoteOn(crosstalk.Observation{Item: "i"})
	n.Text = "a\xffb"
	if err := AddNote(path, n); err == nil || !strings.Contains(err.Error(), "UTF-8") {
		t.Errorf("%v", err)
	}
}
