package merge_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/ask/journal"
	"crosstalk/labels"
	"crosstalk/run"
	"crosstalk/run/merge"
	"crosstalk/run/shard"
	"crosstalk/study"
	"crosstalk/suite"
)

const shards = 8

// measure runs the study that open opens, or a shard of it.
func measure(t *testing.T, open func() (*study.Study, error), of shard.Shard, dir string) {
	t.Helper()
	s, err := open()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Take(t.Context(), of); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Run(t.Context(), dir, ask.Options{}); err != nil {
		t.Fatalf("shard %v: %v", of, err)
	}
}

// recordedFiles writes answers of all kinds that were recorded elsewhere.
func recordedFiles(t *testing.T) (leakage, confusion, consistency string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, head, line string, n int) string {
		var b strings.Builder
		b.WriteString(head + "\n")
		for i := range n {
			b.WriteString(strings.NewReplacer("#3", fmt.Sprint(i%3), "#", fmt.Sprint(i)).Replace(line) + "\n")
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	leakage = write("leakage.csv", "prompt,control_prompt,concept,test,control,model",
		"He likes koalas #. He,He # He,koalas,eats eucalyptus and number #,works as a teacher,m#3", 90)
	confusion = write("confusion.csv", "id,prompt,language,completion,model",
		"p#,Erzähle mir etwas über die Zahl # bitte,de,Das ist eine deutsche Antwort auf die Frage nach der Zahl # und sonst nichts.,m#3", 90)
	of, err := suite.Load("consistency")
	if err != nil {
		t.Fatal(err)
	}
	var rows strings.Builder
	for i, item := range of.Items.List()[:40] {
		word := "en,yes"
		if i%3 == 0 {
			word = "en,no"
		}
		fmt.Fprintf(&rows, "%s,%s,en,en,yes\n%[1]s,%[2]s,en>de,%s\n", item.Input.Task, item.ID, word)
	}
	consistency = write("consistency.csv", "task,item,input,instruction,answer", strings.TrimSpace(rows.String()), 1)
	return leakage, confusion, consistency
}

func studies(t *testing.T) map[string]func() (*study.Study, error) {
	leakage, confusion, consistency := recordedFiles(t)
	return map[string]func() (*study.Study, error){
		"leakage": study.Leakage{Sweep: study.Sweep{Temperatures: []string{"0", "1"}, Samples: 2, Items: 24}}.Open,
		"confusion": study.Confusion{Sweep: study.Sweep{Temperatures: []string{"0", "1"}, Items: 24},
			By: []string{"language", "length_tertile"}}.Open,
		"consistency": study.Consistency{Sweep: study.Sweep{Items: 10}, To: []string{"de", "zh"}}.Open,
		"recorded leakage": func() (*study.Study, error) {
			return study.Leakage{By: []string{"model"}}.Recorded([]string{leakage}, "")
		},
		"recorded confusion": func() (*study.Study, error) {
			return study.Confusion{By: []string{"model", "length_tertile"}}.Recorded([]string{confusion}, "")
		},
		"recorded consistency": func() (*study.Study, error) {
			return study.Consistency{}.Recorded([]string{consistency}, "", "consistency")
		},
	}
}

// The runs of shards, merged in any order and more than once, are the run of one
// process, byte for byte; no request is sent by two shards.
func TestMerge(t *testing.T) {
	for name, open := range studies(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			single, merged := filepath.Join(dir, "single"), filepath.Join(dir, "merged")
			measure(t, open, shard.Shard{}, single)
			var paths []string
			asks, observed := 0, 0
			for i := range shards {
				of := shard.Shard{Index: i + 1, Count: shards}
				measure(t, open, of, filepath.Join(dir, "shards"))
				path := of.Dir(filepath.Join(dir, "shards"))
				paths = append(paths, path)
				asks += count(t, path)
				m, err := run.ReadManifest(path)
				if err != nil {
					t.Fatal(err)
				}
				if m.Observations.N > 0 {
					observed++
				}
				estimates, err := run.ReadEstimates(path)
				if err != nil {
					t.Fatal(err)
				}
				for _, e := range estimates {
					if !strings.Contains(e.Signature, fmt.Sprintf("[%v]", of)) {
						t.Errorf("the signature of a figure of %v is %s", of, e.Signature)
					}
				}
			}
			if want := count(t, single); asks != want {
				t.Errorf("the shards have %d answers, a single run has %d", asks, want)
			}
			if observed < shards/2 {
				t.Errorf("only %d of %d shards measured something", observed, shards)
			}
			slices.Reverse(paths)
			for range 2 {
				result, err := merge.Merge(paths, merged, labels.Merge)
				if err != nil || result.Shards != shards || result.Asks != asks || result.Twice+result.Failed > 0 {
					t.Fatalf("%+v, %v", result, err)
				}
				for _, file := range []string{"estimates.json", "observations.jsonl", "manifest.json"} {
					if got, want := read(t, merged, file), read(t, single, file); !bytes.Equal(got, want) {
						t.Errorf("%s differs: %d bytes, want %d", file, len(got), len(want))
					}
				}
				if got := count(t, merged); got != asks {
					t.Errorf("%d answers in the merged run, want %d", got, asks)
				}
				paths = []string{filepath.Join(dir, "shards")}
			}
			measure(t, open, shard.Shard{}, merged) // resumes
			if got, want := read(t, merged, "estimates.json"), read(t, single, "estimates.json"); !bytes.Equal(got, want) || count(t, merged) != asks {
				t.Error("a merged run that is resumed differs")
			}
		})
	}
}

func read(t *testing.T, dir, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// count is the number of answers in a run.
func count(t *testing.T, dir string) int {
	t.Helper()
	j, err := journal.OpenReader(filepath.Join(dir, "answers.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	p, err := j.Progress()
	if err != nil || p.Failed > 0 {
		t.Fatalf("%d failed, %v", p.Failed, err)
	}
	return p.Done
}

// What is not there once is named, and the answers that are there are merged, so
// that a single process can do the rest.
func TestIncomplete(t *testing.T) {
	dir := t.TempDir()
	open := study.Leakage{Sweep: study.Sweep{Items: 30}}.Open
	all, single, out := filepath.Join(dir, "shards"), filepath.Join(dir, "single"), filepath.Join(dir, "out")
	for i := range 4 {
		measure(t, open, shard.Shard{Index: i + 1, Count: 4}, all)
	}
	path := func(i int) string { return shard.Shard{Index: i, Count: 4}.Dir(all) }
	if err := os.Remove(filepath.Join(path(2), "estimates.json")); err != nil {
		t.Fatal(err)
	}
	_, err := merge.Merge([]string{path(4), path(2), path(1)}, out, labels.Merge)
	var incomplete *merge.IncompleteError
	if !errors.As(err, &incomplete) || !slices.Equal(incomplete.Missing, []string{"3/4"}) || len(incomplete.Unfinished) != 1 ||
		!strings.HasPrefix(incomplete.Unfinished[0], "2/4 (") || incomplete.Out != out || incomplete.Figures {
		t.Fatal(err)
	}
	if _, err := run.ReadEstimates(out); !errors.Is(err, run.ErrUnfinished) {
		t.Errorf("an incomplete run has figures: %v", err)
	}
	if got, want := count(t, out), count(t, path(1))+count(t, path(2))+count(t, path(4)); got != want {
		t.Errorf("%d answers, want %d", got, want)
	}
	measure(t, open, shard.Shard{}, out) // the rest
	measure(t, open, shard.Shard{}, single)
	_, err = merge.Merge([]string{path(4), path(1)}, out, labels.Merge)
	if !errors.As(err, &incomplete) || !incomplete.Figures || !strings.Contains(err.Error(), "its figures from before") {
		t.Error(err)
	}
	if !bytes.Equal(read(t, out, "estimates.json"), read(t, single, "estimates.json")) {
		t.Error("the figures differ from those of a single run")
	}

	again := filepath.Join(dir, "again")
	if err := os.CopyFS(again, os.DirFS(path(1))); err != nil {
		t.Fatal(err)
	}
	none := filepath.Join(dir, "none")
	if _, err := merge.Merge([]string{path(1), again, path(3)}, none, labels.Merge); !errors.As(err, &incomplete) ||
		len(incomplete.Twice) != 1 || incomplete.Out != "" {
		t.Fatal(err)
	}
	if _, err := os.Stat(none); err == nil {
		t.Error("a shard was there twice, and something was written")
	}
}

// A shard is finished if its figures are written, and of all its items.
func TestUnfinished(t *testing.T) {
	dir := t.TempDir()
	measure(t, study.Leakage{Sweep: study.Sweep{Items: 4}}.Open, shard.Shard{Index: 1, Count: 1}, dir)
	path := shard.Shard{Index: 1, Count: 1}.Dir(dir)
	manifest := string(read(t, path, "manifest.json"))
	for why, text := range map[string]string{
		"1 items not measured": strings.Replace(manifest, `"asks":`, `"not_measured": 1, "asks":`, 1),
		"no figures yet":       regexp.MustCompile(`"estimates_sha256": "[0-9a-f]+"`).ReplaceAllString(manifest, `"estimates_sha256": ""`),
	} {
		if err := os.WriteFile(filepath.Join(path, "manifest.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var incomplete *merge.IncompleteError
		_, err := merge.Merge([]string{dir}, filepath.Join(t.TempDir(), "out"), labels.Merge)
		if !errors.As(err, &incomplete) || len(incomplete.Unfinished) != 1 ||
			!strings.HasSuffix(incomplete.Unfinished[0], ": "+why+")") || incomplete.Missing != nil {
			t.Errorf("%v; want %s", err, why)
		}
	}
}

// A merged run that was resumed, so that it has answers where the shards have
// failures, keeps its figures when they are merged again.
func TestAhead(t *testing.T) {
	dir := t.TempDir()
	open := study.Leakage{Sweep: study.Sweep{Items: 12}}.Open
	all, out := filepath.Join(dir, "shards"), filepath.Join(dir, "out")
	for i := range 2 {
		measure(t, open, shard.Shard{Index: i + 1, Count: 2}, all)
	}
	if _, err := merge.Merge([]string{all}, out, labels.Merge); err != nil {
		t.Fatal(err)
	}
	want := read(t, out, "estimates.json")
	fail(t, filepath.Join(all, "shard-1-of-2", "answers.db"))
	var ahead *merge.AheadError
	if _, err := merge.Merge([]string{all}, out, labels.Merge); !errors.As(err, &ahead) || ahead.Requests != 1 ||
		ahead.Out != out {
		t.Error(err)
	}
	if _, err := run.ReadEstimates(out); err != nil || !bytes.Equal(read(t, out, "estimates.json"), want) {
		t.Errorf("the figures are others: %v", err)
	}
	if result, err := merge.Merge([]string{all}, filepath.Join(dir, "new"), labels.Merge); err != nil || result.Failed != 1 {
		t.Errorf("%+v, %v; want one failure", result, err)
	}
}

// fail makes a failure of a journal's first answer.
func fail(t *testing.T, path string) {
	t.Helper()
	alter(t, path, func(r *journal.Record) {
		r.Answer.Status, r.Answer.Text, r.Answer.Reason = crosstalk.Failed, "", "timeout"
	})
}

// alter changes the first answer of a journal.
func alter(t *testing.T, path string, change func(*journal.Record)) {
	t.Helper()
	from, err := journal.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	into, err := journal.Open(path + ".new")
	if err != nil {
		t.Fatal(err)
	}
	first := true
	for r, err := range from.All() {
		if err != nil {
			t.Fatal(err)
		}
		if first {
			change(&r)
			first = false
		}
		if err := into.Put(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(from.Close(), into.Close(), os.Rename(path+".new", path)); err != nil {
		t.Fatal(err)
	}
	os.Remove(path + "-wal") // those of the former file, if they are there
	os.Remove(path + "-shm")
}

// Runs of different measurements, and what is no shard, are refused by name.
func TestRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	begin := func(out string, l study.Leakage, of shard.Shard) {
		if l.Items == 0 {
			l.Items = 12
		}
		measure(t, l.Open, of, out)
	}
	first, second := shard.Shard{Index: 1, Count: 2}, shard.Shard{Index: 2, Count: 2}
	begin("all", study.Leakage{}, first)
	begin("all", study.Leakage{}, second)
	begin("single", study.Leakage{}, shard.Shard{})
	begin("warm", study.Leakage{Sweep: study.Sweep{Temperatures: []string{"1"}}}, second)
	begin("fewer", study.Leakage{Sweep: study.Sweep{Items: 11}}, second)
	begin("rules", study.Leakage{By: []string{"category", "language"}}, second)
	begin("thirds", study.Leakage{}, shard.Shard{Index: 3, Count: 3})
	begin("older", study.Leakage{}, second)
	manifest := string(read(t, "older/shard-2-of-2", "manifest.json"))
	older := strings.Replace(manifest, `"crosstalk": "`, `"crosstalk": "older than `, 1)
	if err := errors.Join(os.WriteFile("older/shard-2-of-2/manifest.json", []byte(older), 0o600), os.Mkdir("empty", 0o700)); err != nil || older == manifest {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"warm":    "warm/shard-2-of-2 is not of the same measurement as all/shard-1-of-2: its temperature is 1, not 0",
		"fewer":   `fewer/shard-2-of-2 is not of the same measurement as all/shard-1-of-2: its suite is "leakage-en[11 of `,
		"rules":   "rules/shard-2-of-2 is not of the same measurement as all/shard-1-of-2: its by is [\"category\",\"language\"], not [\"",
		"thirds":  "thirds/shard-3-of-3 is not of the same measurement as all/shard-1-of-2: its number of shards is 3, not 2",
		"older":   "older/shard-2-of-2 is not of the same measurement as all/shard-1-of-2: its crosstalk is version older than ",
		"single":  "single is a run of all items: expected runs of shards, made with --shard",
		"nowhere": "nowhere: expected the run of a shard, or a directory with such runs",
		"empty":   "empty has no runs of shards: expected directories such as empty/shard-1-of-2",
	} {
		if _, err := merge.Merge([]string{"all/shard-1-of-2", path}, "none", labels.Merge); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
	for out, want := range map[string]string{
		"all":              "all is not empty and not a run directory",
		"all/shard-1-of-2": `all/shard-1-of-2 has a run with other settings: its shard is "1/2", not ""`,
	} {
		if _, err := merge.Merge([]string{"all"}, out, labels.Merge); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
	if _, err := os.Stat("none"); err == nil {
		t.Error("something was written")
	}
}
