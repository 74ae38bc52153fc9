//go:build unix

package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"crosstalk"
	"crosstalk/internal/plainfile"
)

// finished makes a run of n observations.
func finished(t *testing.T, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "runs", "run")
	d := create(t, path, plan())
	r, err := d.Record()
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := r.AddAt(crosstalk.Observation{Measure: "m", Item: "item", Sample: i, Value: 1}, Place{}); err != nil {
			t.Fatal(err)
		}
	}
	cache, err := d.OpenSimilarityCache()
	if err == nil {
		err = errors.Join(cache.Close(), r.Commit(), d.SetScoring(nil, crosstalk.SuiteIDs{All: "s@1"}, 0, nil))
	}
	err = errors.Join(err, d.WriteEstimates([]crosstalk.Estimate{{Measure: "m"}}), d.Close())
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// each reads all observations of a run.
func each(path string, consume func(crosstalk.Observation) error) error {
	for o, err := range ReadObservations(path) {
		if err == nil {
			err = consume(o)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// readers read one file of a run each, as all commands do.
var readers = map[string]func(path string) error{
	manifestFile:  func(path string) error { _, err := ReadManifest(path); return err },
	estimatesFile: func(path string) error { _, err := ReadEstimates(path); return err },
	observationsFile: func(path string) error {
		return each(path, func(crosstalk.Observation) error { return nil })
	},
	"similarity.db": func(path string) error {
		d, err := Create(path, plan())
		if err != nil {
			return err
		}
		cache, err := d.OpenSimilarityCache()
		if err == nil {
			err = cache.Close()
		}
		return errors.Join(err, d.Close())
	},
}

// No file of a run is read or written through a link, and a FIFO or a directory
// in its place is refused at once.
func TestNotPlainFiles(t *testing.T) {
	for name, read := range readers {
		ends := []string{""}
		if name == "similarity.db" {
			ends = []string{"", "-wal", "-shm", "-journal"}
		}
		for _, end := range ends {
			path := finished(t, 2)
			if err := read(path); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(path, name+end)
			precious := filepath.Join(t.TempDir(), "precious")
			if err := os.Rename(file, precious); err != nil { // its content is right
				if err := os.WriteFile(precious, []byte("precious"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			before, err := os.ReadFile(precious)
			if err != nil {
				t.Fatal(err)
			}
			for kind, put := range map[string]func() error{
				"a symbolic link": func() error { return os.Symlink(precious, file) },
				"a named pipe":    func() error { return syscall.Mkfifo(file, 0o600) },
				"a directory":     func() error { return os.Mkdir(file, 0o700) },
			} {
				if err := put(); err != nil {
					t.Fatal(err)
				}
				if err := read(path); !errors.Is(err, plainfile.ErrNotPlain) || !strings.HasPrefix(err.Error(), file+": is "+kind+";") {
					t.Errorf("%s as %s%s: %v", kind, name, end, err)
				}
				if err := os.Remove(file); err != nil {
					t.Fatal(err)
				}
			}
			if after, err := os.ReadFile(precious); err != nil || string(after) != string(before) {
				t.Errorf("%s%s: what the link leads to was changed: %v", name, end, err)
			}
		}
	}
}

// Writing replaces a link; it does not follow it.
func TestWritingOverLinks(t *testing.T) {
	path := finished(t, 2)
	precious := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(precious, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := create(t, path, plan())
	defer d.Close()
	for _, name := range []string{manifestFile, estimatesFile, observationsFile} {
		if err := errors.Join(os.Remove(filepath.Join(path, name)),
			os.Symlink(precious, filepath.Join(path, name))); err != nil {
			t.Fatal(err)
		}
	}
	r, err := d.Record()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.Commit(), d.SetAsks(1), d.WriteEstimates(nil)); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(precious); err != nil || string(got) != "precious" {
		t.Errorf("%q, %v", got, err)
	}
	for _, name := range []string{manifestFile, estimatesFile, observationsFile} {
		if err := plainfile.Check(filepath.Join(path, name)); err != nil {
			t.Error(err)
		}
	}
}

// Files of any size on paper take no memory. A reader that took all of these would not
// take all of the machine.
func TestGiantFiles(t *testing.T) {
	for name, want := range map[string]string{
		manifestFile: ": is larger than 16 MiB", estimatesFile: ": is larger than 256 MiB", observationsFile: ":3: invalid character '\\x00'",
	} {
		path := finished(t, 2)
		file := filepath.Join(path, name)
		if err := os.Truncate(file, 1<<30); err != nil {
			t.Skip(err)
		}
		if err := readers[name](path); err == nil || !strings.HasPrefix(err.Error(), file+want) {
			t.Errorf("%v", err)
		}
	}
	path := finished(t, 0)
	for _, name := range []string{estimatesFile, manifestFile} {
		for n, want := range map[int]string{maxObjects: "invalid ", maxObjects + 1: "has 1048577 objects; expected at most 1048576"} {
			file := filepath.Join(path, name)
			if err := os.WriteFile(file, bytes.Repeat([]byte("{"), n), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := readers[name](path); err == nil || !strings.HasPrefix(err.Error(), file+": "+want) {
				t.Errorf("%v, want %s", err, want)
			}
		}
	}
}

// A line may be longer than what is read at once, up to a bound.
func TestLongLines(t *testing.T) {
	defer func(before int) { maxLine = before }(maxLine)
	if maxLine>>20 != 256 {
		t.Errorf("lines may have %d bytes", maxLine)
	}
	maxLine = 1 << 18 // a multiple of what is read at once
	path := finished(t, 0)
	file := filepath.Join(path, observationsFile)
	line := func(n int) string {
		const start, end = `{"measure":"m","item":"`, `"}` + "\n"
		return start + strings.Repeat("x", n-len(start)-len(end)) + end
	}
	for _, c := range []struct {
		lines []string
		want  string
	}{
		{[]string{line(50), line(maxLine + 1<<16), line(60)}, file + ": the number of observations is 3; the run's manifest says 0"},
		{[]string{line(50), line(1 << 17), line(maxLine + 1<<16 + 1)}, file + ":3: is longer than 0 MiB"},
		{[]string{line(50), "x" + line(1<<17)}, file + ":2: invalid character 'x' looking for beginning of value"},
	} {
		if err := os.WriteFile(file, []byte(strings.Join(c.lines, "")), 0o600); err != nil {
			t.Fatal(err)
		}
		at := int64(0)
		for o, err := range ReadLocated(path) {
			if err != nil {
				if !strings.HasPrefix(err.Error(), c.want) {
					t.Errorf("%v, want %s", err, c.want)
				}
				break
			}
			if text := c.lines[0]; o.Offset != at || o.Size != int64(len(text)) {
				t.Errorf("a line at %d of %d bytes, want %d and %d", o.Offset, o.Size, at, len(text))
			}
			at += int64(len(c.lines[0]))
			c.lines = c.lines[1:]
		}
	}
}

// Prompts and answers are nobody else's business.
func TestPrivate(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o022))
	path := finished(t, 2)
	for name, want := range map[string]os.FileMode{
		".": 0o700 | os.ModeDir, "..": 0o755 | os.ModeDir, manifestFile: 0o600, observationsFile: 0o600, estimatesFile: 0o600,
		"similarity.db": 0o600,
	} {
		if info, err := os.Stat(filepath.Join(path, name)); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v; want %v", name, info.Mode(), err, want)
		}
	}
	if err := os.Chmod(path, 0o755); err != nil { // the user shares it
		t.Fatal(err)
	}
	if err := create(t, path, plan()).Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// Observations that lack lines, have more, or were edited are an error that
// says so; those of runs that did not note what they are, are read.
func TestChangedObservations(t *testing.T) {
	change := map[string]struct {
		change func(lines []string) []string
		want   string
	}{
		"cut":       {func(l []string) []string { return l[:2] }, "the number of observations is 2; the run's manifest says 5"},
		"emptied":   {func(l []string) []string { return nil }, "the number of observations is 0; the run's manifest says 5"},
		"appended":  {func(l []string) []string { return append(l, l[0]) }, "the number of observations is 6; the run's manifest says 5"},
		"edited":    {func(l []string) []string { l[3] = strings.Replace(l[3], `"value":1`, `"value":0`, 1); return l }, "was changed after it was written"},
		"swapped":   {func(l []string) []string { l[0], l[1] = l[1], l[0]; return l }, "was changed after it was written"},
		"a blank":   {func(l []string) []string { return append(l, "\n") }, "was changed after it was written"},
		"a bracket": {func(l []string) []string { return append(l[:2], "]\n") }, "invalid character ']'"},
	}
	for name, c := range change {
		t.Run(name, func(t *testing.T) {
			path := finished(t, 5)
			file := filepath.Join(path, observationsFile)
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			changed := strings.Join(c.change(slices.Collect(strings.Lines(string(text)))), "")
			if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
				t.Fatal(err)
			}
			err = readers[observationsFile](path)
			if err == nil || !strings.HasPrefix(err.Error(), file) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want %s", err, c.want)
			}
			if e := (*ChangedError)(nil); errors.As(err, &e) != (name != "a bracket") || e != nil && !strings.Contains(err.Error(), "score the run again") {
				t.Errorf("%v", err)
			}
			if strings.HasPrefix(c.want, "the number") || name == "edited" { // an older run
				m, err := ReadManifest(path)
				if err != nil {
					t.Fatal(err)
				}
				m.Observations = nil
				text, _ := json.Marshal(m)
				if err := os.WriteFile(filepath.Join(path, manifestFile), text, 0o600); err != nil {
					t.Fatal(err)
				}
				if err := readers[observationsFile](path); err != nil {
					t.Errorf("a run that does not say: %v", err)
				}
			}
		})
	}
}

// A reader that began before a run was scored again reads the old observations
// to their end without an error, and one that stops early gets none.
func TestScoredWhileRead(t *testing.T) {
	path := finished(t, 5)
	d := create(t, path, plan())
	defer d.Close()
	n := 0
	err := each(path, func(crosstalk.Observation) error {
		if n++; n > 1 {
			return nil
		}
		r, err := d.Record()
		if err != nil {
			return err
		}
		return errors.Join(r.AddAt(crosstalk.Observation{Item: "new"}, Place{}), r.Commit(),
			d.SetScoring(nil, crosstalk.SuiteIDs{}, 0, nil))
	})
	if err != nil || n != 5 {
		t.Errorf("%d observations, %v", n, err)
	}
	if m, err := ReadManifest(path); err != nil || m.Observations == nil || m.Observations.N != 1 {
		t.Errorf("%+v, %v", m.Observations, err)
	}
	if err := os.WriteFile(filepath.Join(path, observationsFile), []byte("{\"item\":\"a\"}\n{\"item\":\"b\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for o, err := range ReadObservations(path) {
		if err != nil || o.Item != "a" {
			t.Errorf("%+v, %v", o, err)
		}
		break
	}
}

// A scoring that ends between the opening of the manifest and that of the
// observations is no change; and resuming keeps what the manifest says.
func TestScoredWhileOpened(t *testing.T) {
	path := finished(t, 5)
	d := create(t, path, plan())
	defer d.Close()
	old, err := ReadManifest(path)
	if err != nil || old.Observations == nil || old.Observations.N != 5 {
		t.Fatalf("after Create: %+v, %v", old.Observations, err)
	}
	f, check, err := openObservations(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := d.Record()
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.AddAt(crosstalk.Observation{Item: "new"}, Place{}), r.Commit(),
		d.SetScoring(nil, crosstalk.SuiteIDs{}, 0, nil)); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(check(*old.Observations), check(*d.Manifest.Observations)); err != nil {
		t.Error(err)
	}
	if err := check(Content{N: 1}); !errors.As(err, new(*ChangedError)) {
		t.Errorf("%v", err)
	}
}

// FuzzManifest reads any manifest: an error that names the file, or a manifest of
// this schema.
func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"schema":"crosstalk/run/v1","plan":{"instrument":"leakage","suite":"s@1","conditions":[{}]},"scoring":[{"rules":{}}],"observations":{"n":1,"sha256":""}}`))
	f.Add([]byte(`{"schema":"crosstalk/run/v2"}`))
	f.Add([]byte(`{"scoring":[null,null],"asks":-1}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := parseManifest("manifest.json", text)
		if err != nil && !strings.HasPrefix(err.Error(), "manifest.json: ") {
			t.Errorf("%v", err)
		}
		if err == nil && m.Schema != schema {
			t.Errorf("the schema %q", m.Schema)
		}
		if err == nil {
			m.Plan.Difference(plan())
			m.Plan.Hash()
		}
	})
}

// FuzzObservations reads any observations: what the run recorded in full, or an
// error that names the file.
func FuzzObservations(f *testing.F) {
	path := filepath.Join(f.TempDir(), "run")
	d, err := Create(path, plan())
	if err != nil {
		f.Fatal(err)
	}
	r, err := d.Record()
	if err != nil {
		f.Fatal(err)
	}
	for i := range 3 {
		r.AddAt(crosstalk.Observation{Measure: "m", Item: "item", Sample: i}, Place{})
	}
	if err := errors.Join(r.Commit(), d.SetScoring(nil, crosstalk.SuiteIDs{}, 0, nil), d.Close()); err != nil {
		f.Fatal(err)
	}
	file := filepath.Join(path, observationsFile)
	good, err := os.ReadFile(file)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add([]byte(strings.Repeat(string(good[:len(good)/3]), 2) + "]"))
	f.Add([]byte("null\n{}\n[]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		n := 0
		err := each(path, func(crosstalk.Observation) error { n++; return nil })
		switch {
		case string(text) == string(good):
			if err != nil || n != 3 {
				t.Errorf("%d observations, %v", n, err)
			}
		case err == nil || !strings.HasPrefix(err.Error(), file):
			t.Errorf("%d observations, %v", n, err)
		}
	})
}
