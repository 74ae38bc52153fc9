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
)

// A table that somebody takes away is an error of whatever needs it, with the name of the file, and of nothing else.
func TestLostTables(t *testing.T) {
	from := newPath(t)
	write(t, from, record(5))
	uses := map[string][]string{
		"asks":       {"put", "get", "progress", "end batch", "latest", "all", "merge"},
		"batches":    {"add batch", "update batch", "end batch", "drop batch", "open batches", "batch ids", "unanswered"},
		"batch_asks": {"add batch", "end batch", "drop batch", "open batches", "unanswered"},
		"counts":     {"put", "progress", "merge"},
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
