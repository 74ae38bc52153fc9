package suite

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"crosstalk/internal/testing/shared"
	"crosstalk/suite/datasets"
)

// Every data set that can be fetched is meant by its name, and named by the
// error if it was not fetched.
func TestNotPulled(t *testing.T) {
	t.Setenv("CROSSTALK_CACHE", t.TempDir())
	for _, s := range datasets.All(datasets.Suite) {
		for _, get := range []func() error{
			func() error { _, err := Load(s.Name); return err },
			func() error { _, err := PulledDir(s.Name); return err },
		} {
			if err := get(); !errors.As(err, new(*datasets.MissingError)) || !strings.HasSuffix(err.Error(), "crosstalk suites pull "+s.Name) {
				t.Errorf("%s: %v", s.Name, err)
			}
		}
	}
	if _, err := PulledDir("okapi"); err == nil || !strings.Contains(err.Error(), `unknown data set "okapi"`) {
		t.Error(err)
	}
}

func TestPulledLCB(t *testing.T) {
	sets, err := os.ReadFile(shared.File(t, "lcb/test_sets.zip"))
	if err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	t.Setenv("CROSSTALK_CACHE", cache)
	dir := filepath.Join(cache, "lcb")
	if err := errors.Join(os.Mkdir(dir, 0o777), os.WriteFile(filepath.Join(dir, "test_sets.zip"), sets, 0o666)); err != nil {
		t.Fatal(err)
	}
	s, err := Load("lcb")
	if err != nil || s.Name != "lcb" || s.License == "" || s.Description == "" || s.Items.Len() != 6586 {
		t.Fatalf("%v %v", s, err)
	}
	if got, err := PulledDir("lcb"); got != dir || err != nil {
		t.Errorf("%s %v", got, err)
	}
}
