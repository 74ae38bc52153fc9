package annotate

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crosstalk/labels"
)

func TestOptions(t *testing.T) {
	for want, o := range map[string]Options{
		"annotator: duplicate name ann":         {Annotators: []string{"ann", " ann"}},
		`annotator "": expected a name of 1 to`: {Annotators: []string{"ann", " "}},
		"sample is -1; expected":                {Sample: labels.Sample{N: -1}},
		"nowhere is not a run directory":        {Annotators: []string{"ann", "bob"}},
	} {
		names := slices.Clone(o.Annotators)
		if _, err := New("nowhere", o); err == nil || !strings.HasPrefix(err.Error(), want) || !slices.Equal(names, o.Annotators) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestReadGuide(t *testing.T) {
	file := filepath.Join(t.TempDir(), "guide.txt")
	if err := os.WriteFile(file, []byte("\nOne,\r\nstill one.\r\n\r\n \n\nTwo.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadGuide(file); err != nil || !slices.Equal(got, []string{"One,\nstill one.", "Two."}) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := ReadGuide(file + "x"); err == nil {
		t.Error("a missing file is read")
	}
}
