package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/run/shard"
)

// everyKind are observations with each field, and with each at an edge.
func everyKind() []crosstalk.Observation {
	full := crosstalk.Observation{Measure: "lpr", Item: "a \"<&>\"\\", Cluster: "\u2028\u2029\u007f\x1f\x7e ~", Sample: 3,
		Variant: "v", Value: 0.5, NotScored: "empty", Implied: true, Finding: "line",
		Condition: map[string]string{"model": "m", "temperature": "0"}, Labels: map[string]string{"b": "1", "a": "é世\xff"},
		Spans: []crosstalk.Span{{Line: 1, Start: 2, End: 3, Text: "<x>", Language: "en", Probability: 0.25, Score: 2.5,
			Reason: "r", Side: "s"}}, Answers: []crosstalk.Key{{1, 254}, {2}}}
	full.AddText(crosstalk.Side, "answer", "two\nlines\t\r\b\f\x00")
	full.AddText(crosstalk.Given, "question", strings.Repeat("long ", 20_000))
	all := []crosstalk.Observation{full, {Value: crosstalk.Undefined, NotScored: "failed"},
		{Value: crosstalk.Undefined, NotScored: "refused", Implied: true},
		{Masked: []crosstalk.Span{{Line: 1, Start: 10, End: 37, Reason: "number"}, {Line: 12, Start: 0, End: 5, Reason: "code"}}},
		{Masked: []crosstalk.Span{{Line: 1, Start: 10, End: 37}}}, {Tokens: []crosstalk.Token{{Text: "<t>", Start: 1, End: 4}}},
		{Texts: full.Texts[:1]}, {Answers: []crosstalk.Key{{7}}}, {Condition: map[string]string{}},
		{Labels: map[string]string{"only": ""}}, {Finding: "x"}, {Variant: "en>de T"}}
	for i := range all {
		if all[i].Condition == nil && i%2 == 1 {
			all[i].Condition = map[string]string{"model": "m"}
		}
	}
	for _, f := range []float64{0, math.Copysign(0, -1), 1, -1, 0.1, 1e-6, 9.99e-7, -1e-6, 1e-7, 1e-9, 1.5e-10, -2e-100,
		1e20, 1e21, 1.5e21, 9.9e20, -1e21, 1e100, 123456789012345678, 999999999999999, 9999999999999999, math.MaxFloat64,
		math.SmallestNonzeroFloat64, 1 << 53, 1<<53 + 2} {
		all = append(all, crosstalk.Observation{Value: crosstalk.Value(f), Sample: int(math.Mod(f, 1e6)),
			Numbers: map[string]float64{"n": f, "m": -f}})
	}
	return all
}

// What is recorded is what encoding/json would write, and it is read as it was.
func TestRecords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	d := create(t, path, plan())
	r, err := d.Record()
	if err != nil {
		t.Fatal(err)
	}
	var want bytes.Buffer
	encoder := json.NewEncoder(&want)
	encoder.SetEscapeHTML(false)
	all := everyKind()
	for i, o := range all {
		if err := errors.Join(r.AddAt(o, Place{1, i}), encoder.Encode(&o)); err != nil { // no shard: no place
			t.Fatal(err)
		}
	}
	for _, bad := range []crosstalk.Observation{{Numbers: map[string]float64{"n": math.NaN()}},
		{Numbers: map[string]float64{"n": math.Inf(-1)}}} {
		if err := r.AddAt(bad, Place{}); err == nil || !strings.Contains(err.Error(), "unsupported value") {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	if err := errors.Join(r.Commit(), d.SetScoring(nil, crosstalk.SuiteIDs{All: "s@1"}, 0, nil), d.Close()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(path, "observations.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if got, wanted := strings.Split(string(text), "\n"), strings.Split(want.String(), "\n"); !slices.Equal(got, wanted) {
		for i := range wanted {
			if i >= len(got) || got[i] != wanted[i] {
				t.Fatalf("line %d:\n%.500s\nencoding/json\n%.500s", i+1, got[min(i, len(got)-1)], wanted[i])
			}
		}
		t.Fatalf("%d lines, want %d", len(got), len(wanted))
	}
	if m, err := ReadManifest(path); err != nil || m.Observations == nil || m.Observations.N != len(all) ||
		m.SuiteIDs().All != "s@1" {
		t.Errorf("%+v, %v", m.Observations, err)
	}
	n := 0
	for o, err := range ReadObservations(path) {
		if err != nil {
			t.Fatal(err)
		}
		var wanted crosstalk.Observation
		if err := json.Unmarshal([]byte(strings.Split(want.String(), "\n")[n]), &wanted); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprintf("%+v", o) != fmt.Sprintf("%+v", wanted) {
			t.Errorf("line %d: %+v, want %+v", n+1, o, wanted)
		}
		n++
	}
	values := 0
	for o, err := range ReadValues(path) {
		if err != nil {
			t.Fatal(err)
		}
		wanted := all[values] // of lines without a condition, which encoding/json reads, the rest is there as well
		if o.Item != wanted.Item || wanted.Condition != nil && (o.Texts != nil || o.Spans != nil || o.Answers != nil ||
			o.Masked != nil || o.Tokens != nil) || !reflect.DeepEqual(o.Numbers, wanted.Numbers) || o.Finding != wanted.Finding {
			t.Errorf("line %d: %+v", values+1, o)
		}
		values++
	}
	if n != len(all) || values != len(all) {
		t.Errorf("%d and %d read, want %d", n, values, len(all))
	}
}

// placed is the run of a shard with these lines.
func placed(t *testing.T, lines ...string) string {
	t.Helper()
	path := t.TempDir()
	if err := os.WriteFile(filepath.Join(path, "observations.jsonl"), []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// The observations of a shard have places, which ascend; copied into another run they
// are what they were, without them.
func TestPlaces(t *testing.T) {
	dir := t.TempDir()
	p := plan()
	p.Shard = shard.Shard{Index: 2, Count: 3}
	d := create(t, filepath.Join(dir, "shard"), p)
	r, err := d.Record()
	if err != nil {
		t.Fatal(err)
	}
	all := everyKind()
	places := []Place{}
	for i, o := range all {
		at := Place{i / 10, i % 10 * 7}
		places = append(places, at, at)
		if err := errors.Join(r.AddAt(o, at), r.AddAt(crosstalk.Observation{Item: "the same place"}, at)); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.AddAt(crosstalk.Observation{Numbers: map[string]float64{"n": math.NaN()}}, Place{9, 9}); err == nil {
		t.Error("a number that is none")
	}
	ids := crosstalk.SuiteIDs{All: "s@1", Column: "task", Each: map[string]string{"a": "a@1"}}
	if err := errors.Join(r.Commit(), d.SetScoring(nil, ids, 0, nil), d.Close()); err != nil {
		t.Fatal(err)
	}
	m, err := ReadManifest(d.Path)
	if want := (crosstalk.SuiteIDs{All: "s@1[2/3]", Column: "task",
		Each: map[string]string{"a": "a@1[2/3]"}}); err != nil || !reflect.DeepEqual(m.SuiteIDs(), want) {
		t.Errorf("%+v, %v", m.SuiteIDs(), err)
	}
	if got := (Manifest{Plan: Plan{Shard: p.Shard}, Suites: crosstalk.SuiteIDs{}}).SuiteIDs(); got.All != "" {
		t.Errorf("%+v", got)
	}
	if whole := p.Whole(); !whole.Shard.IsZero() || whole.Difference(p) != `shard is "", not "2/3"` || p.Difference(p) != "" {
		t.Errorf("%q", whole.Difference(p))
	}
	whole := create(t, filepath.Join(dir, "whole"), plan())
	merged, err := whole.Record()
	if err != nil {
		t.Fatal(err)
	}
	plain, err := create(t, filepath.Join(dir, "plain"), plan()).Record()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for o, err := range ReadPlaced(d.Path) {
		if err != nil {
			t.Fatal(err)
		}
		if o.At != places[n] || n%2 == 0 && o.Item != all[n/2].Item {
			t.Errorf("line %d: %v %s, want %v", n+1, o.At, o.Item, places[n])
		}
		if err := merged.AddPlaced(o); err != nil {
			t.Fatal(err)
		}
		if n++; n%2 == 0 {
			plain.AddAt(crosstalk.Observation{Item: "the same place"}, Place{})
		} else {
			plain.AddAt(all[n/2], Place{})
		}
	}
	if err := errors.Join(merged.Commit(), plain.Commit()); err != nil || n != 2*len(all) {
		t.Fatal(n, err)
	}
	if got, want := merged.dir.Manifest.Observations, plain.dir.Manifest.Observations; *got != *want {
		t.Errorf("merged %+v, want %+v", got, want)
	}
	for lines, want := range map[string]string{
		`{"item":"a","place":[0,1]}|{"item":"b"}`:                            ":2: has no place: it is not of a shard",
		`{"item":"a","place":[0,1]}|{"item":"b","place":[0,0]}`:              ":2: its place {0 0} comes before {0 1}, the place of the line above",
		`{"item":"a","place":[1,0]}|{"item":"b","place":[0,7]}`:              ":2: its place {0 7} comes before {1 0}, the place of the line above",
		`{"item":"a","place":[0,0]}|{"place":[0,1],"item":"b"}`:              ":2: does not end with its place",
		`{"item":"a","place":[0,0]}|x`:                                       ":2: invalid character 'x'",
		`{"item":"a","place":[0,0]}||{"item":"b","place":[0,-1]}`:            ":2: its place {0 -1} comes before {0 0}",
		`{"item":"a","place":[0,0]}|{"item":"b","place":[0,0]}  `:            "",
		`{"item":"a","place":[0,-1]}`:                                        ":1: its place is {0 -1}; expected numbers from 0",
		`{"item":"a","place":[0,0]}|{"item":"b","place":[1,-1]}`:             ":2: its place is {1 -1}",
		`{"item":"a","place":[-1,5]}`:                                        ":1: its place is {-1 5}; expected numbers from 0",
		`{"item":"a","place":[0,0]}|{"item":"b","place":[0,1]}|{"item":"c"}`: ":3: has no place",
	} {
		path := placed(t, strings.Split(lines, "|")...)
		var last error
		n := 0
		for _, err := range ReadPlaced(path) {
			last = err
			n++
		}
		if want == "" && last != nil || want != "" &&
			(last == nil || !strings.HasPrefix(last.Error(), filepath.Join(path, "observations.jsonl")+want)) {
			t.Errorf("%s: %v, want %s", lines, last, want)
		}
		if want == "" && n != 2 {
			t.Errorf("%s: %d read", lines, n)
		}
	}
	// Who stops early hears of nothing that comes later.
	for o, err := range ReadPlaced(placed(t, `{"item":"a","place":[0,1]}`, `x`)) {
		if err != nil || o.Item != "a" {
			t.Error(o, err)
		}
		break
	}
}

func TestCompare(t *testing.T) {
	for _, c := range []struct {
		p, q Place
		want int
	}{{Place{0, 1}, Place{0, 2}, -1}, {Place{0, 9}, Place{1, 0}, -1}, {Place{1, 2}, Place{1, 2}, 0},
		{Place{2, 0}, Place{1, 5}, 1}, {Place{1, 3}, Place{1, 2}, 1}} {
		if got := c.p.Compare(c.q); got != c.want {
			t.Errorf("%v and %v: %d", c.p, c.q, got)
		}
	}
}

// What asking showed, and how many requests there are, is in the manifest for who
// resumes the run.
func TestNotes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	d := create(t, path, plan())
	adapted := []Adapted{{Condition: 0, Without: []string{"seed"}, Room: true}}
	if err := errors.Join(d.SetAsks(17), d.SetAdapted(adapted),
		d.SetScoring(nil, crosstalk.SuiteIDs{}, 5, []string{"seed was not sent"}), d.Close()); err != nil {
		t.Fatal(err)
	}
	check := func(m Manifest) {
		t.Helper()
		if m.Asks != 17 || !reflect.DeepEqual(m.Adapted, adapted) || m.NotMeasured != 5 ||
			!slices.Equal(m.Changes, []string{"seed was not sent"}) || m.Schema != "crosstalk/run/v1" {
			t.Errorf("%+v", m)
		}
	}
	m, err := ReadManifest(path)
	if err != nil {
		t.Fatal(err)
	}
	check(m)
	again := create(t, path, plan())
	check(again.Manifest)
	if err := again.Discard(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error("a run that was there is removed:", err)
	}
	text, err := ManifestText(path)
	if err != nil || !bytes.HasSuffix(text, []byte("}\n")) {
		t.Errorf("%q, %v", text, err)
	}
	made := create(t, filepath.Join(path, "..", "made"), plan())
	if err := made.Discard(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(made.Path); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a new run is kept:", err)
	}
}

// What cannot be noted is an error.
func TestNotesWithoutDirectory(t *testing.T) {
	d := create(t, filepath.Join(t.TempDir(), "run"), plan())
	defer d.Close()
	record := func() *Recorder {
		t.Helper()
		r, err := d.Record()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := record()
	manifest := filepath.Join(d.Path, manifestFile)
	if err := errors.Join(os.Remove(manifest), os.MkdirAll(filepath.Join(manifest, "x"), 0o700)); err != nil {
		t.Fatal(err)
	}
	set := map[string]func() error{"SetAsks": func() error { return d.SetAsks(1) },
		"SetAdapted":     func() error { return d.SetAdapted(nil) },
		"SetScoring":     func() error { return d.SetScoring(nil, crosstalk.SuiteIDs{}, 0, nil) },
		"WriteEstimates": func() error { return d.WriteEstimates(nil) }}
	for name, f := range set {
		if err := f(); err == nil || !strings.Contains(err.Error(), manifest) {
			t.Errorf("%s without a file for the manifest: %v", name, err)
		}
	}
	closed := record()
	closed.file.File.Close()
	if err := errors.Join(closed.AddAt(crosstalk.Observation{}, Place{}), closed.Commit()); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
	if err := closed.AddAt(crosstalk.Observation{Item: strings.Repeat("x", 1<<17)}, Place{}); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
	if err := os.RemoveAll(d.Path); err != nil {
		t.Fatal(err)
	}
	set["Commit"] = r.Commit
	for name, f := range set {
		if err := f(); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := d.Record(); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// Where a directory cannot be made, and where a manifest cannot be read.
func TestUnusablePaths(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Symlink(filepath.Join(dir, "nowhere"), link)); err != nil {
		t.Skip(err)
	}
	for path, want := range map[string]string{
		file:                       file + " is a file; expected a directory: use another --out",
		filepath.Join(file, "run"): file + "/run: cannot read the directory: open " + file + "/run: not a directory",
		filepath.Join(link, "run"): "cannot create the run directory: mkdir " + link + ": file exists",
		link:                       "cannot create the run directory: mkdir " + link + ": file exists",
	} {
		if d, err := Create(path, plan()); err == nil || err.Error() != want {
			t.Errorf("%v, %v, want %s", d, err, want)
		}
	}
	path := placed(t, `{}`)
	if err := os.WriteFile(filepath.Join(path, manifestFile), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for o, err := range ReadObservations(path) {
		if err == nil || !strings.HasPrefix(err.Error(), filepath.Join(path, manifestFile)+": invalid manifest: ") {
			t.Errorf("%v, %v", o, err)
		}
	}
}

// Stopping early leaves no file open.
func TestStoppedReading(t *testing.T) {
	path := placed(t, slices.Repeat([]string{`{"item":"a","place":[0,0]}`}, 5000)...)
	for range ReadPlaced(path) {
		break
	}
	for range ReadObservations(path) {
		break
	}
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no list of open files on this system")
	}
	for _, f := range open {
		if to, _ := os.Readlink("/proc/self/fd/" + f.Name()); strings.HasPrefix(to, path) {
			t.Errorf("%s was left open", to)
		}
	}
}

// Figures of another schema are not read.
func TestEstimatesOfAnotherSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	if err := create(t, path, plan()).Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(path, "estimates.json")
	if err := os.WriteFile(file, []byte(`{"schema":"crosstalk/estimates/v9","estimates":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	want := file + `: unknown schema "crosstalk/estimates/v9"; expected "` + crosstalk.EstimatesSchema + `": update crosstalk`
	if _, err := ReadEstimates(path); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// Figures cover items that were not measured unless a column has another value than theirs.
func TestMissingIn(t *testing.T) {
	m := Missing{Labels: map[string]string{"language": "de"}}
	for value, want := range map[string]bool{"": true, crosstalk.All: true, "de": true, "fr": false} {
		if got := m.In(map[string]string{"language": value, "similarity": "gloss"}); got != want {
			t.Errorf("%q: %t", value, got)
		}
	}
}
