package gate

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crosstalk/compare"
)

// A measure that the reference has and the run has lost fails; one that only the run
// has does not matter.
func TestLostMeasure(t *testing.T) {
	dir := t.TempDir()
	old, now := runOf(t, dir, "old", 1, 1, 1, 1), runOf(t, dir, "now", 0, 0, 0, 0)
	rules := func(reference string) Rules {
		return Rules{NoWorseThan: reference, Margin: 0.95, Compare: compare.Options{Level: 0.95, Across: []string{"suite"}}}
	}
	file := filepath.Join(old, "estimates.json")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var whole map[string]any
	if err := json.Unmarshal(text, &whole); err != nil {
		t.Fatal(err)
	}
	list := whole["estimates"].([]any)
	more := maps.Clone(list[0].(map[string]any))
	more["measure"], more["better"] = "wpr", "higher"
	whole["estimates"] = append(list, more)
	changed, err := json.Marshal(whole)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := os.ReadFile(filepath.Join(old, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	sum := func(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text)) }
	manifest = bytes.Replace(manifest, []byte(sum(text)), []byte(sum(changed)), 1)
	for file, text := range map[string][]byte{file: changed, filepath.Join(old, "manifest.json"): manifest} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lost := func(v Verdict) (measures []string) {
		for _, c := range v.Checks {
			if strings.Contains(c.Reason, "measured in the reference run only") {
				measures = append(measures, c.Measure)
			}
		}
		return measures
	}
	v, err := rules(old).Check(now)
	if got := lost(v); err != nil || !slices.Equal(got, []string{"wpr"}) || v.Passed {
		t.Errorf("lost %q of %+v, %v", got, v, err)
	}
	v, err = rules(now).Check(old)
	if got := lost(v); err != nil || len(got) > 0 {
		t.Errorf("lost %q of %+v, %v", got, v, err)
	}
}

// What cannot be written is an error, at every place where it happens.
func TestWriteFails(t *testing.T) {
	full := errors.New("the disk is full")
	var whole strings.Builder
	if err := WriteJUnit(&whole, verdict(t)); err != nil {
		t.Fatal(err)
	}
	for _, after := range []int{0, 1, 10, len(whole.String()) / 2, whole.Len() - 1} {
		w := &upTo{left: after, err: full}
		if err := WriteJUnit(w, verdict(t)); !errors.Is(err, full) {
			t.Errorf("after %d bytes: %v", after, err)
		}
	}
	for _, write := range []func() error{
		func() error { return WriteAnnotations(&upTo{err: full}, verdict(t)) },
		func() error { return WriteSummary(&upTo{err: full}, verdict(t)) },
	} {
		if err := write(); !errors.Is(err, full) {
			t.Errorf("%v", err)
		}
	}
}

// upTo fails once, at the write with which more bytes come than are left; later
// writes are taken.
type upTo struct {
	left int
	err  error
}

func (u *upTo) Write(p []byte) (int, error) {
	if u.left -= len(p); u.left < 0 && u.err != nil {
		err := u.err
		u.err = nil
		return 0, err
	}
	return len(p), nil
}
