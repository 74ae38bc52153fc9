package shared

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// write writes files of one line below a new folder and returns the folder.
func write(t *testing.T, names ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("1\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRoot(t *testing.T) {
	for name, c := range map[string]struct {
		files           []string
		at, named, want string // below the folder of the files
	}{
		"beside the project":        {[]string{"shared/data/x", "project/go.mod", "project/a/b/b.go"}, "project/a/b", "", "shared"},
		"from a module inside":      {[]string{"shared/data/x", "project/go.mod", "project/tools/go.mod"}, "project/tools", "", "shared"},
		"a package of this name":    {[]string{"shared/data/x", "project/go.mod", "project/a/shared/data/x", "project/a/b/b.go"}, "project/a/b", "", "shared"},
		"beside something else":     {[]string{"shared/data/x", "project/a.go"}, "project", "", ""},
		"without data":              {[]string{"shared/README.md", "project/go.mod"}, "project", "", ""},
		"named":                     {[]string{"shared/data/x", "project/go.mod", "elsewhere/data/x"}, "project", "elsewhere", "elsewhere"},
		"named, but without data":   {[]string{"shared/data/x", "project/go.mod", "elsewhere/x"}, "project", "elsewhere", ""},
		"named, but does not exist": {[]string{"shared/data/x", "project/go.mod"}, "project", "elsewhere", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := write(t, c.files...)
			t.Chdir(filepath.Join(dir, c.at))
			t.Setenv("CROSSTALK_SHARED", "")
			if c.named != "" {
				t.Setenv("CROSSTALK_SHARED", filepath.Join(dir, c.named))
			}
			want := ""
			if c.want != "" {
				want = filepath.Join(dir, c.want)
			}
			if got := Root(); got != want {
				t.Errorf("Root is %q; want %q", got, want)
			}
		})
	}
}

// skipping records whether and why a test was skipped.
type skipping struct {
	testing.TB
	why string
}

func (s *skipping) Helper() {}

func (s *skipping) Skipf(format string, args ...any) { s.why = fmt.Sprintf(format, args...) }

func TestFile(t *testing.T) {
	dir := write(t, "data/lcb/words")
	t.Setenv("CROSSTALK_SHARED", dir)
	if got, want := File(t, "lcb/words"), filepath.Join(dir, "data", "lcb", "words"); got != want {
		t.Errorf("File is %q; want %q", got, want)
	}
	s := &skipping{TB: t}
	if got := File(s, "lcb/other"); got != "" || !strings.HasPrefix(s.why, Absent+"../shared/data/lcb/other ") {
		t.Errorf("File is %q, skipped: %q; want a skip that says what does not exist", got, s.why)
	}
}

var full = flag.Bool("full", false, "fail without reference data")

// ended is a test that notes how it ends.
type ended struct {
	testing.TB
	how string
}

func (e *ended) Helper()               {}
func (e *ended) Skipf(string, ...any)  { e.how = "skipped" }
func (e *ended) Fatalf(string, ...any) { e.how = "failed" }

// Whoever asks for everything is not told that all is well where nothing was compared.
func TestMissing(t *testing.T) {
	asked := *full
	defer func() { *full = asked }()
	t.Setenv("CROSSTALK_SHARED", t.TempDir())
	for all, want := range map[bool]string{false: "skipped", true: "failed"} {
		*full = all
		var e ended
		if File(&e, "lcb"); e.how != want {
			t.Errorf("-full=%v: %s, want %s", all, e.how, want)
		}
	}
}
