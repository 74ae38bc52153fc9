package journal

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crosstalk"

	"github.com/ncruces/go-sqlite3"
)

// A table that somebody takes away is an error of whatever needs it, with the name of the file, and of nothing else.
func TestLostTables(t *testing.T) {
	from := newPath(t)
	write(t, from, record(5))
	uses := map[string][]string{
		"asks":       {"put", "get", "progress", "end batch", "latest", "all", "merge"},
		"batches":    {"add batch", "update batch", "end batch", "drop batch", "open batches", "batch ids", "unanswered"},
		"batch_asks": {"add batch", "end batch", "drop batch", "open batches", "unanswered"},
		"counts":     {"put", "progress", "all", "merge"},
	}
	for table, needed := range uses {
		t.Run(table, func(t *testing.T) {
			path := newPath(t)
			j := open(t, path)
			putAll(t, j, record(1))
			batch := func() *Batch {
				r := record(3)
				return &Batch{Identity: r.Identity, Tag: "t", Asks: []crosstalk.BatchAsk{{Key: r.Answer.Key, Request: r.Request}}}
			}
			there := batch()
			if err := j.AddBatch(there); err != nil {
				t.Fatal(err)
			}
			execute(t, path, "DROP TABLE "+table)
			for name, use := range map[string]func() error{
				"put":          func() error { return j.Put(record(2)) },
				"get":          func() error { _, _, err := j.Get(record(1).Answer.Key); return err },
				"progress":     func() error { _, err := j.Progress(); return err },
				"latest":       func() error { _, err := j.Latest(3); return err },
				"add batch":    func() error { return j.AddBatch(batch()) },
				"update batch": func() error { return j.UpdateBatch(there) },
				"open batches": func() error { _, err := j.OpenBatches(); return err },
				"batch ids":    func() error { _, err := j.BatchIDs(); return err },
				"unanswered":   func() error { _, err := j.Unanswered(); return err },
				"merge":        func() error { _, err := j.Merge(open2(t, from)); return err },
				"all": func() (last error) {
					for _, err := range j.All() {
						last = err
					}
					return last
				},
			} {
				err := use()
				if fails := slices.Contains(needed, name); fails != (err != nil) || fails && !strings.HasPrefix(err.Error(),
					path+": ") {
					t.Errorf("%s: %v", name, err)
				}
			}
			for name, use := range map[string]func(*Batch) error{"end batch": j.EndBatch, "drop batch": j.DropBatch} {
				if err := use(there); slices.Contains(needed, name) != (err != nil) {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
}

// Journals of anything merge to what Merge says, ask by ask, and their counts are right.
func TestMergeOfAny(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 7))
	for range 3 {
		some := func() (list []Record) {
			for i := range 40 {
				if random.IntN(3) == 0 {
					continue
				}
				r := record(i)
				r.Identity.Name = fmt.Sprint("m", random.IntN(2))
				r.Answer.Text = fmt.Sprint(random.IntN(2))
				r.Answer.Status = []crosstalk.Status{crosstalk.Failed, crosstalk.Text, crosstalk.Refused}[random.IntN(3)]
				r.Answer.Usage = crosstalk.Usage{Prompt: random.IntN(9), Completion: random.IntN(9)}
				list = append(list, r)
			}
			return list
		}
		mine, others, path := some(), some(), newPath(t)
		j := open(t, newPath(t))
		putAll(t, j, mine...)
		write(t, path, others...)
		want, all := Merged{Asks: len(others)}, map[crosstalk.Key]crosstalk.Answer{}
		for _, r := range mine {
			all[r.Answer.Key] = r.Answer
		}
		for _, r := range others {
			switch old, met := all[r.Answer.Key]; {
			case !met, old.Status == crosstalk.Failed && r.Answer.Status != crosstalk.Failed:
				all[r.Answer.Key] = r.Answer
			case old.Status == crosstalk.Failed:
			case r.Answer.Status == crosstalk.Failed:
				want.Behind++
			case old.Status != r.Answer.Status || old.Text != r.Answer.Text:
				want.Twice++
			}
		}
		if merged, err := j.Merge(open2(t, path)); err != nil || merged != want {
			t.Errorf("%+v, %v; want %+v", merged, err, want)
		}
		for key, a := range all {
			got, found, err := j.Get(key)
			if err != nil || !found || got.Status != a.Status || got.Text != a.Text || got.Usage != a.Usage {
				t.Errorf("%+v, %v; want %+v", got, err, a)
			}
		}
		checkCounts(t, j)
	}
}

// What could not be saved because the file was gone stays lost, even when the file is there again.
func TestGoneAndBack(t *testing.T) {
	path := newPath(t)
	j, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	putAll(t, j, record(1))
	if err := os.Rename(path, path+".elsewhere"); err != nil {
		t.Skip(err)
	}
	for i := range 2 {
		err := j.Put(record(2 + i))
		if !errors.Is(err, ErrGone) || strings.Count(err.Error(), filepath.Dir(path)) != 1 {
			t.Errorf("%v", err)
		}
		os.Rename(path+".elsewhere", path)
	}
}

// A run whose files were moved away leaves those alone that have taken their names, as of a run that was killed.
func TestGoneForAnother(t *testing.T) {
	path, other := newPath(t), newPath(t)
	j, err := Open(path)
	must(t, err)
	defer j.Close()
	putAll(t, j, record(1))
	write(t, other, record(2))
	putAll(t, open(t, other), record(3))
	for _, suffix := range []string{"", "-wal", "-shm", ".lock"} {
		if err := os.Rename(path+suffix, path+suffix+".elsewhere"); err != nil {
			t.Skip(err)
		}
		if suffix == "" || suffix == "-wal" {
			content, err := os.ReadFile(other + suffix)
			must(t, err, os.WriteFile(path+suffix, content, 0o600))
		}
	}
	if err := j.Put(record(4)); !errors.Is(err, ErrGone) {
		t.Error(err)
	}
	j.Close()
	if got := texts(t, open2(t, path)); !slices.Equal(got, []string{"answer 2", "answer 3"}) {
		t.Errorf("%q", got)
	}
}

// A file that cannot be opened is left unlocked, and can be opened once it is repaired.
func TestOpenAgain(t *testing.T) {
	path := newPath(t)
	must(t, os.WriteFile(path, []byte("no journal, and long enough to be seen as none, which takes a hundred bytes: "+
		"so many has the header of a file of SQLite"), 0o600))
	if j, err := Open(path); err == nil || j != nil {
		t.Error(j, err)
	}
	must(t, os.Remove(path))
	putAll(t, open(t, path), record(1))
}

// Whoever reads all may stop after the first.
func TestSomeOfAll(t *testing.T) {
	j := open(t, newPath(t))
	putAll(t, j, record(1), record(2))
	n := 0
	for _, err := range j.All() {
		must(t, err)
		n++
		break
	}
	if got := texts(t, j); n != 1 || len(got) != 2 {
		t.Errorf("%d, then %q", n, got)
	}
}

// Whoever can do without an ask gets it if it is there, and nothing else.
func TestKnown(t *testing.T) {
	j := open(t, newPath(t))
	putAll(t, j, record(1))
	if r, known := j.Known(record(1).Answer.Key); !known || r.Answer.Text != "answer 1" || r.Request.Sample != 1 {
		t.Errorf("%+v, %v", r, known)
	}
	for _, j := range []*Journal{j, nil} {
		if r, known := j.Known(record(2).Answer.Key); known {
			t.Errorf("%+v", r)
		}
	}
}

// A transaction takes no more once it has 16 MB.
func TestGather(t *testing.T) {
	large := put{record: Record{Answer: crosstalk.Answer{Raw: make([]byte, 9<<20)}}}
	for had, want := range []int{2, 2, 2} { // with so many of them at first
		j := &Journal{puts: make(chan put, 256)}
		for range 5 {
			j.puts <- large
		}
		if got := j.gather(slices.Repeat([]put{large}, had)); len(got) != want {
			t.Errorf("%d of %d", len(got), had)
		}
	}
	half := put{record: Record{Answer: crosstalk.Answer{Raw: make([]byte, 8<<20-512)}}}
	j := &Journal{puts: make(chan put, 256)}
	j.puts <- half
	if got := j.gather([]put{half, half}); len(got) != 2 { // 16 MB to the byte
		t.Errorf("%d halves", len(got))
	}
	small := &Journal{puts: make(chan put, 3)}
	for range 3 {
		small.puts <- put{}
	}
	if got := small.gather(nil); len(got) != 3 {
		t.Errorf("%d small ones", len(got))
	}
	words := Record{Request: crosstalk.Request{Prompt: "12", Messages: []crosstalk.Message{{Content: "123"}, {Content: "1"}}},
		Answer: crosstalk.Answer{Text: "1234", Reasoning: "12345", Raw: []byte("123456"),
			Logprobs: []crosstalk.TokenLogprob{{Top: make([]crosstalk.CandidateLogprob, 2)}, {}}}}
	if got := size(words); got != 512+2+3+1+4+5+6+64*4 {
		t.Errorf("size %d", got)
	}
}

// If SQLite refuses a write, the caller gets the error and nothing is saved.
func TestRefusedWrites(t *testing.T) {
	refusals := map[string][]string{ // by what is done to the table
		"INSERT ON asks":        {"put", "merge"},
		"INSERT ON counts":      {"put", "merge"},
		"INSERT ON batches":     {"add batch"},
		"INSERT ON batch_asks":  {"add batch"},
		"UPDATE ON batches":     {"update batch", "end batch"},
		"DELETE ON batches":     {"drop batch"},
		"DELETE ON batch_asks":  {"drop batch"},
		"UPDATE ON batch_asks":  nil,
		"UPDATE ON asks":        {"put again"},
		"INSERT ON asks, later": {"merge"},
	}
	for event, needed := range refusals {
		path, from := newPath(t), newPath(t)
		j := open(t, path)
		failed := record(1)
		failed.Answer.Status = crosstalk.Failed
		putAll(t, j, failed)
		write(t, from, record(7), record(8))
		there := batchOf("t", keyed(3))
		must(t, j.AddBatch(there))
		event, later := strings.CutSuffix(event, ", later")
		when := ""
		if later {
			when = "WHEN new.text = 'answer 8' "
		}
		execute(t, path, "CREATE TRIGGER no BEFORE "+event+" "+when+"BEGIN SELECT RAISE(ABORT, 'not today'); END")
		for _, use := range []struct {
			name string
			do   func() error
		}{
			{"put", func() error { return j.Put(record(2)) }},
			{"put again", func() error { return j.Put(record(1)) }},
			{"merge", func() error { _, err := j.Merge(open2(t, from)); return err }},
			{"add batch", func() error { return j.AddBatch(batchOf("u", keyed(4))) }},
			{"update batch", func() error { return j.UpdateBatch(there) }},
			{"end batch", func() error { return j.EndBatch(there) }},
			{"drop batch", func() error { return j.DropBatch(there) }},
		} {
			before := counted(t, path)
			err := use.do()
			fails := slices.Contains(needed, use.name)
			if use.name == "put again" && strings.HasPrefix(event, "INSERT ON") && (slices.Contains(needed, "put") || later) {
				continue // it updates where it can
			}
			if fails != (err != nil) || fails && !strings.HasSuffix(err.Error(), "not today") {
				t.Errorf("%s: %s: %v", event, use.name, err)
			}
			if after := counted(t, path); fails && after != before {
				t.Errorf("%s: %s: %s, before %s", event, use.name, after, before)
			}
		}
		execute(t, path, "DROP TRIGGER no") // what was refused can be written now
		putAll(t, j, record(9))
		checkCounts(t, j)
	}
}

// counted is how many rows the tables have.
func counted(t *testing.T, path string) string {
	t.Helper()
	conn, err := connect(path, "", sqlite3.OPEN_READONLY)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	list, err := query(conn, "SELECT (SELECT count(*) FROM asks) || ' ' || (SELECT count(*) FROM batches) || ' ' || (SELECT count(*) FROM batch_asks)")
	if err != nil {
		t.Fatal(err)
	}
	return list[0]
}

// If a transaction cannot begin, every write in it fails, and the next transaction works.
func TestNoTransaction(t *testing.T) {
	j := open(t, newPath(t))
	if err := j.writer.Exec("BEGIN"); err != nil {
		t.Fatal(err)
	}
	if err := j.Put(record(1)); err == nil || !strings.HasSuffix(err.Error(), "cannot start a transaction within a transaction") {
		t.Error(err)
	}
	if err := j.writer.Exec("ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	putAll(t, j, record(2))
	if got := texts(t, j); !slices.Equal(got, []string{"answer 2"}) {
		t.Errorf("%q", got)
	}
}

// The latest answers come first. An ask that is put again keeps its place.
func TestLatest(t *testing.T) {
	j := open(t, newPath(t))
	failed := record(1)
	failed.Answer.Status = crosstalk.Failed
	putAll(t, j, failed, record(2), record(3), record(1))
	for n, want := range map[int][]string{0: nil, 1: {"answer 3"}, 2: {"answer 3", "answer 2"}, 5: {"answer 3", "answer 2", "answer 1"}} {
		list, err := j.Latest(n)
		var got []string
		for _, r := range list {
			got = append(got, r.Answer.Text)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%d: %q, %v; want %q", n, got, err, want)
		}
	}
}

// The first damaged batch is an error, whatever comes after it.
func TestDamagedFirstBatch(t *testing.T) {
	path := newPath(t)
	j := open(t, path)
	must(t, j.AddBatch(batchOf("t", keyed(1))), j.AddBatch(batchOf("u", keyed(2))))
	execute(t, path, "UPDATE batch_asks SET request = '{' WHERE batch = 1")
	if open, err := j.OpenBatches(); err == nil || len(open[1].Asks) != 0 ||
		!strings.Contains(err.Error(), "a request of the batch t is not JSON: ") {
		t.Error(err)
	}
}

// A journal where nothing can be written is merged without making files beside it.
func TestMergeImmutable(t *testing.T) {
	path := newPath(t)
	write(t, path, record(1))
	j := open(t, newPath(t))
	if merged, err := j.Merge(&Journal{path: path, immutable: true}); err != nil || merged.Asks != 1 {
		t.Errorf("%+v, %v", merged, err)
	}
	if names, err := filepath.Glob(path + "-*"); err != nil || len(names) != 0 {
		t.Errorf("%q, %v", names, err)
	}
}

// A file in place of a directory is reported as an error.
func TestNoDirectory(t *testing.T) {
	file := newPath(t)
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, open := range []func(string) (*Journal, error){Open, OpenReader} {
		if _, err := open(filepath.Join(file, Name)); err == nil || errors.Is(err, os.ErrNotExist) ||
			!strings.Contains(err.Error(), "stat ") {
			t.Error(err)
		}
	}
}

// Missing values of an answer take no bytes: NULL and "null" mean nothing else.
func TestEmptyColumns(t *testing.T) {
	stored := func(r Record) (texts []string) {
		for i, v := range values(r) {
			if name := layout[i].name; name == "logprobs" || name == "missing" || name == "raw" {
				texts = append(texts, fmt.Sprintf("%s=%s", name, v.bytes))
			}
		}
		return texts
	}
	r := record(1)
	if got := fmt.Sprint(stored(r)); got != "[logprobs= raw= missing=]" {
		t.Errorf("an answer without: %s", got)
	}
	r.Answer.Logprobs, r.Answer.Raw, r.Answer.Missing = []crosstalk.TokenLogprob{}, []byte("{}"), []string{"seed"}
	if got := fmt.Sprint(stored(r)); got != `[logprobs=[] raw={} missing=["seed"]]` {
		t.Errorf("an answer with: %s", got)
	}
}
