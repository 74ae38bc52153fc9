package merge_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"crosstalk/ask/journal"
	"crosstalk/labels"
	"crosstalk/run"
	"crosstalk/run/merge"
	"crosstalk/run/shard"
	"crosstalk/study"
)

// measureShards measures shards of a small study below dir, and returns their paths.
func measureShards(t *testing.T, dir string, items, count int) (paths []string) {
	t.Helper()
	for i := range count {
		of := shard.Shard{Index: i + 1, Count: count}
		measure(t, study.Leakage{Sweep: study.Sweep{Items: items}}.Open, of, dir)
		paths = append(paths, of.Dir(dir))
	}
	return paths
}

// change changes the manifest of a run.
func change(t *testing.T, path string, with func(*run.Manifest)) {
	t.Helper()
	m, err := run.ReadManifest(path)
	if err != nil {
		t.Fatal(err)
	}
	with(&m)
	text, err := json.Marshal(m)
	if err := errors.Join(err, os.WriteFile(filepath.Join(path, "manifest.json"), text, 0o600)); err != nil {
		t.Fatal(err)
	}
}

func TestTexts(t *testing.T) {
	for want, r := range map[string]merge.Result{
		"3 shards":                                          {Shards: 3},
		"3 shards, 12 answers":                              {Shards: 3, Asks: 12},
		"2 shards, 1 labels and notes of people":            {Shards: 2, Labels: 1},
		"2 shards, 1 answers, 5 labels and notes of people": {Shards: 2, Asks: 1, Labels: 5},
	} {
		if r.Text() != want {
			t.Errorf("%q, want %q", r.Text(), want)
		}
	}
	var many []string
	for i := range 12 {
		many = append(many, fmt.Sprintf("%d/12", i+1))
	}
	for _, c := range []struct {
		err  error
		want string
	}{
		{&merge.IncompleteError{Twice: []string{"1/2 (a and b)"}, Missing: []string{"2/2"}},
			"not all shards are there, and each once: twice: 1/2 (a and b); missing: 2/2: nothing was written; leave one out"},
		{&merge.IncompleteError{Missing: many, Out: "out"},
			"not all shards are there, and each once: missing: " + strings.Join(many[:10], ", ") +
				" and 2 more: out has the answers so far and no figures; run these shards, and merge again"},
		{&merge.IncompleteError{Missing: many[:10], Unfinished: []string{"11/12 (x: no figures yet)"}, Out: "out", Figures: true},
			"not all shards are there, and each once: missing: " + strings.Join(many[:10], ", ") +
				"; unfinished: 11/12 (x: no figures yet): out has the answers so far and its figures from before; run these shards, and merge again"},
		{&merge.AheadError{Requests: 3, Out: "out"}, "out has answers to 3 requests that failed in the shards: its figures " +
			"stay as they are; run the command that made the shards, without --shard and with --out out, for those of all answers"},
	} {
		if c.err.Error() != c.want {
			t.Errorf("%q, want %q", c.err, c.want)
		}
	}
}

// What people said of shards is in the merged run, once.
func TestPeople(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	paths := measureShards(t, filepath.Join(dir, "all"), 4, 2)
	for i, path := range paths {
		l := labels.Label{Question: "leakage", Place: labels.Place{Item: fmt.Sprint(i)}, Annotator: "ann", Label: "test", When: time.Unix(1e9, 0)}
		if err := labels.Append(path, l); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []int{2, 0} {
		result, err := merge.Merge(paths, out, labels.Merge)
		list, failed := labels.Read(out)
		if err != nil || failed != nil || result.Labels != want || len(list) != 2 {
			t.Errorf("%d labels are new, want %d; the run has %d: %v, %v", result.Labels, want, len(list), err, failed)
		}
	}
}

// The first and the last shard are missed as those between.
func TestMissingEnds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	of := shard.Shard{Index: 2, Count: 3}
	measure(t, study.Leakage{Sweep: study.Sweep{Items: 3}}.Open, of, dir)
	var incomplete *merge.IncompleteError
	_, err := merge.Merge([]string{dir}, filepath.Join(dir, "out"), labels.Merge)
	if !errors.As(err, &incomplete) || !reflect.DeepEqual(incomplete.Missing, []string{"1/3", "3/3"}) {
		t.Error(err)
	}
}

// One shard of one is a run too.
func TestOnlyShard(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	single, out := filepath.Join(dir, "single"), filepath.Join(dir, "out")
	measure(t, study.Leakage{Sweep: study.Sweep{Items: 4}}.Open, shard.Shard{}, single)
	if _, err := merge.Merge(measureShards(t, filepath.Join(dir, "all"), 4, 1), out, labels.Merge); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"estimates.json", "observations.jsonl", "manifest.json"} {
		if !bytes.Equal(read(t, out, file), read(t, single, file)) {
			t.Errorf("%s differs", file)
		}
	}
}

// Instructions that the models rewrote are those of all shards that have some.
func TestInstructions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	paths := measureShards(t, filepath.Join(dir, "all"), 4, 3)
	write := func(i int, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(paths[i], run.InstructionsFile), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i := 1; i < 3; i++ { // the first has none
		write(i, "a: b\n")
		out := filepath.Join(dir, fmt.Sprint("out", i))
		if _, err := merge.Merge(paths, out, labels.Merge); err != nil || string(read(t, out, run.InstructionsFile)) != "a: b\n" {
			t.Errorf("of %d shards: %v", i, err)
		}
	}
	if err := os.Mkdir(filepath.Join(paths[0], run.InstructionsFile), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := merge.Merge(paths, filepath.Join(dir, "no file"), labels.Merge); err == nil {
		t.Error("a directory is taken for instructions")
	}
	os.Remove(filepath.Join(paths[0], run.InstructionsFile))
	write(2, "a: c\n")
	out := filepath.Join(dir, "different")
	_, err := merge.Merge(paths, out, labels.Merge)
	var different *merge.DifferentError
	if !errors.As(err, &different) || different.Path != filepath.Join(paths[2], run.InstructionsFile) ||
		different.Than != filepath.Join(paths[1], run.InstructionsFile) {
		t.Error(err)
	}
	if _, err := run.ReadEstimates(out); !errors.Is(err, run.ErrUnfinished) {
		t.Errorf("instructions differ, and there are figures: %v", err)
	}
}

// What was not sent as planned, in any shard, is noted once in the merged run, and
// nothing from a former merge. Shards whose models refused different parameters are
// not of one measurement, unless one has asked nothing.
func TestNotes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	paths := measureShards(t, filepath.Join(dir, "all"), 4, 2)
	adapted := func(i int, changes []string, list ...run.Adapted) {
		change(t, paths[i], func(m *run.Manifest) { m.Changes, m.Adapted = changes, list })
	}
	check := func(changes []string, list []run.Adapted) {
		t.Helper()
		_, err := merge.Merge(paths, out, labels.Merge)
		m, failed := run.ReadManifest(out)
		if err != nil || failed != nil || !reflect.DeepEqual(m.Changes, changes) || !reflect.DeepEqual(m.Adapted, list) {
			t.Errorf("%v, %v: %q %+v; want %q %+v", err, failed, m.Changes, m.Adapted, changes, list)
		}
	}
	without := []string{"seed"}
	adapted(0, []string{"a", "b"}, run.Adapted{Condition: 1, Room: true}, run.Adapted{Condition: 0, Without: without})
	adapted(1, []string{"b", "c"}, run.Adapted{Condition: 0, Without: without, Room: true}, run.Adapted{Condition: 1})
	check([]string{"a", "b", "c"}, []run.Adapted{{Condition: 0, Without: without, Room: true}, {Condition: 1, Room: true}})
	adapted(0, nil)
	adapted(1, []string{"c"})
	check([]string{"c"}, nil)

	adapted(0, nil, run.Adapted{Condition: 0, Without: without})
	var different *merge.DifferentError
	if _, err := merge.Merge(paths, out, labels.Merge); !errors.As(err, &different) || different.Path != paths[1] ||
		different.Than != paths[0] ||
		!strings.HasPrefix(different.Field, "adapted is {}, not {") {
		t.Error(err)
	}

	paths = measureShards(t, filepath.Join(dir, "one item"), 1, 2)
	out = filepath.Join(dir, "out of one")
	for i, path := range paths {
		m, err := run.ReadManifest(path)
		if err != nil {
			t.Fatal(err)
		}
		if m.Observations.N > 0 {
			adapted(i, nil, run.Adapted{Condition: 0, Without: without})
		}
	}
	check(nil, []run.Adapted{{Condition: 0, Without: without}})
}

// A shard without answers is refused, unless it asks nothing.
func TestWithoutAnswers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	paths := measureShards(t, filepath.Join(dir, "all"), 4, 2)
	if err := os.Remove(filepath.Join(paths[1], "answers.db")); err != nil {
		t.Fatal(err)
	}
	_, err := merge.Merge(paths, filepath.Join(dir, "refused"), labels.Merge)
	if err == nil || !strings.HasSuffix(err.Error(), "answers.db: is missing: put a copy of the file in its place, or run the shard again") {
		t.Error(err)
	}
	change(t, paths[1], func(m *run.Manifest) { m.Asks = 0 })
	out := filepath.Join(dir, "out")
	if result, err := merge.Merge(paths, out, labels.Merge); err != nil || result.Asks != count(t, paths[0]) {
		t.Errorf("%+v, %v", result, err)
	}
	if err := os.WriteFile(filepath.Join(paths[1], "answers.db"), []byte(strings.Repeat("nonsense ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := merge.Merge(paths, filepath.Join(dir, "broken"), labels.Merge); err == nil {
		t.Error("nonsense was merged as answers")
	}
}

// Two runs that have the same item are not merged, nor is one whose observations are
// gone: there are no figures then, and nothing half written.
func TestObservations(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	paths := measureShards(t, filepath.Join(dir, "all"), 4, 2)
	second := shard.Shard{Index: 2, Count: 2}
	copied := second.Dir(filepath.Join(dir, "copies"))
	if err := os.CopyFS(copied, os.DirFS(paths[0])); err != nil {
		t.Fatal(err)
	}
	change(t, copied, func(m *run.Manifest) { m.Plan.Shard = second })
	refuse := func(other, want string) {
		t.Helper()
		out := filepath.Join(t.TempDir(), "out")
		if _, err := merge.Merge([]string{paths[0], other}, out, labels.Merge); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
		if _, err := run.ReadEstimates(out); !errors.Is(err, run.ErrUnfinished) {
			t.Errorf("%s: there are figures: %v", want, err)
		}
		list, err := os.ReadDir(out)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			if strings.Contains(e.Name(), "observations") {
				t.Errorf("%s: there is %s", want, e.Name())
			}
		}
	}
	refuse(copied, paths[0]+" and "+copied+" both have the item ")
	file := filepath.Join(paths[1], "observations.jsonl")
	text := read(t, paths[1], "observations.jsonl")
	if err := os.WriteFile(file, text[:len(text)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	refuse(paths[1], "observations.jsonl")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	refuse(paths[1], "observations.jsonl")
}

// A run that has no figures yet gets those of the shards, also if it has answers where
// they have failures.
func TestAheadWithoutFigures(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	paths := measureShards(t, filepath.Join(dir, "all"), 4, 2)
	if _, err := merge.Merge(paths[:1], out, labels.Merge); !errors.As(err, new(*merge.IncompleteError)) {
		t.Fatal(err)
	}
	fail(t, filepath.Join(paths[0], "answers.db"))
	result, err := merge.Merge(paths, out, labels.Merge)
	if err != nil || result.Behind != 1 || result.Failed != 0 {
		t.Errorf("%+v, %v", result, err)
	}
	if _, err := run.ReadEstimates(out); err != nil {
		t.Error(err)
	}
}

// Wait waits for shards that may still come, and for no longer than that.
func TestWait(t *testing.T) {
	dir := t.TempDir()
	all, single, others := filepath.Join(dir, "all"), filepath.Join(dir, "single"), filepath.Join(dir, "others")
	paths := measureShards(t, all, 4, 2)
	measure(t, study.Leakage{Sweep: study.Sweep{Items: 4}}.Open, shard.Shard{}, single)
	thirds := measureShards(t, others, 4, 3)
	for name, c := range map[string]struct {
		paths []string
		want  time.Duration
	}{
		"all are there":         {paths, 0},
		"one is missing":        {paths[:1], 5500 * time.Millisecond},
		"none has begun":        {[]string{filepath.Join(dir, "none")}, 5500 * time.Millisecond},
		"one is there twice":    {[]string{paths[0], paths[0]}, 0},
		"a whole run":           {[]string{paths[0], single}, 0},
		"of other measurements": {[]string{paths[0], thirds[1]}, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			if err := merge.Wait(t.Context(), c.paths, 5500*time.Millisecond); err != nil || time.Since(began) != c.want {
				t.Errorf("%s: %v after %v, want %v", name, err, time.Since(began), c.want)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		began := time.Now()
		if err := merge.Wait(ctx, paths[:1], time.Hour); err != context.DeadlineExceeded ||
			time.Since(began) != 2500*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
	away := filepath.Join(dir, "away")
	if err := os.Rename(paths[1], away); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		time.AfterFunc(2500*time.Millisecond, func() {
			if err := os.Rename(away, paths[1]); err != nil {
				t.Error(err)
			}
		})
		if err := merge.Wait(t.Context(), []string{all}, time.Hour); err != nil || time.Since(began) != 3*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// A shard whose answers cannot be read is named, and there are no figures without them.
func TestBrokenAnswers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	paths := measureShards(t, filepath.Join(dir, "all"), 4, 2)
	answers := filepath.Join(paths[1], "answers.db")
	if _, err := os.Stat(answers); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(answers, []byte("no journal"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := merge.Merge(paths, out, labels.Merge); err == nil || !strings.Contains(err.Error(), answers) {
		t.Errorf("the error is %v, want one about %s", err, answers)
	}
	if _, err := run.ReadEstimates(out); !errors.Is(err, run.ErrUnfinished) {
		t.Errorf("there are figures: %v", err)
	}
}

// Of a shard that is there three times, the first path is named with each other, and it is not unfinished too.
func TestThrice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var paths []string
	for i := range 3 {
		of := shard.Shard{Index: 1, Count: 2}
		measure(t, study.Leakage{Sweep: study.Sweep{Items: 4}}.Open, of, filepath.Join(dir, fmt.Sprint(i)))
		paths = append(paths, of.Dir(filepath.Join(dir, fmt.Sprint(i))))
	}
	change(t, paths[1], func(m *run.Manifest) { m.NotMeasured = 1 })
	var incomplete *merge.IncompleteError
	_, err := merge.Merge(paths, filepath.Join(dir, "out"), labels.Merge)
	want := []string{fmt.Sprintf("1/2 (%s and %s)", paths[0], paths[1]), fmt.Sprintf("1/2 (%s and %s)", paths[0], paths[2])}
	if !errors.As(err, &incomplete) || !reflect.DeepEqual(incomplete.Twice, want) || incomplete.Unfinished != nil ||
		!reflect.DeepEqual(incomplete.Missing, []string{"2/2"}) {
		t.Errorf("%v, want %q", err, want)
	}
}

// Another answer to the same request is counted, and the first stays; a shard that is there twice is refused though
// none is missing.
func TestTwice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	paths := measureShards(t, filepath.Join(dir, "all"), 4, 2)
	out := filepath.Join(dir, "out")
	if _, err := merge.Merge(paths, out, labels.Merge); err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		alter(t, filepath.Join(path, "answers.db"), func(r *journal.Record) { r.Answer.Text += "!" })
	}
	if result, err := merge.Merge(paths, out, labels.Merge); err != nil || result.Twice != 2 {
		t.Errorf("%+v, %v", result, err)
	}
	var incomplete *merge.IncompleteError
	if _, err := merge.Merge(append(paths, paths[0]), out, labels.Merge); !errors.As(err, &incomplete) ||
		len(incomplete.Twice) != 1 ||
		incomplete.Missing != nil {
		t.Error(err)
	}
}

// Shards that were scored over different suites are named with both. A model that got room for thoughts in one shard
// alone refused nothing.
func TestScoredOverOtherSuites(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	paths := measureShards(t, filepath.Join(dir, "all"), 4, 2)
	change(t, paths[0], func(m *run.Manifest) { m.Adapted = []run.Adapted{{Condition: 0, Room: true}} })
	if _, err := merge.Merge(paths, out, labels.Merge); err != nil {
		t.Error(err)
	}
	change(t, paths[1], func(m *run.Manifest) { m.Suites.All = "others" })
	var different *merge.DifferentError
	if _, err := merge.Merge(paths, out, labels.Merge); !errors.As(err, &different) || different.Path != paths[1] ||
		!strings.HasPrefix(different.Field, `suites is {"all":"others"}, not {"all":"leakage-en`) {
		t.Error(err)
	}
	change(t, paths[1], func(m *run.Manifest) { m.Scoring = append(m.Scoring, m.Scoring[0]) })
	if _, err := merge.Merge(paths, out, labels.Merge); !errors.As(err, &different) ||
		!strings.HasPrefix(different.Field, "scoring is [{") {
		t.Error(err)
	}
}
