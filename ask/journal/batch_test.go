package journal

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"crosstalk"

	"github.com/google/go-cmp/cmp"
)

// batchOf is a batch of asks whose records are record(i).
func batchOf(tag string, records ...Record) *Batch {
	b := &Batch{Identity: records[0].Identity, Tag: tag, At: time.UnixMilli(1_700_000_000_000).UTC()}
	for _, r := range records {
		b.Asks = append(b.Asks, crosstalk.BatchAsk{Key: r.Answer.Key, Request: r.Request})
	}
	return b
}

// keyed returns a record with the key of its request.
func keyed(i int) Record {
	r := record(i)
	r.Request.Prompt = fmt.Sprint("prompt ", i)
	r.Answer.Key = crosstalk.KeyOf(r.Identity, r.Request)
	return r
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A batch is there from before it is submitted until it is collected, whoever
// opens the journal.
func TestBatches(t *testing.T) {
	path := newPath(t)
	j, err := Open(path)
	must(t, err)
	one, two := batchOf("one", keyed(1), keyed(2), keyed(3)), batchOf("two", keyed(4))
	must(t, j.AddBatch(one), j.AddBatch(two))
	two.ID, two.At = "batch_2", two.At.Add(time.Minute)
	must(t, j.UpdateBatch(two), j.Close())

	j = open(t, path)
	got, err := j.OpenBatches()
	if diff := cmp.Diff([]*Batch{one, two}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	failed := keyed(2)
	failed.Answer.Status = crosstalk.Failed
	putAll(t, j, keyed(1), failed)
	must(t, j.EndBatch(one))
	unanswered, err := j.Unanswered()
	if diff := cmp.Diff([]crosstalk.Key{keyed(2).Answer.Key, keyed(3).Answer.Key}, unanswered); diff != "" || err != nil {
		t.Error(diff, err)
	}
	must(t, j.DropBatch(two))
	if got, err := j.OpenBatches(); len(got) > 0 || err != nil {
		t.Error(got, err)
	}
	if keys, err := j.Unanswered(); len(keys) != 2 || err != nil {
		t.Errorf("%v, %v after another batch was dropped", keys, err)
	}
	three := batchOf("three", keyed(5)) // it may reuse the number of the dropped batch
	must(t, j.AddBatch(three))
	if got, err = j.OpenBatches(); err != nil || !cmp.Equal(got, []*Batch{three}) {
		t.Errorf("%+v, %v", got, err)
	}
	one.ID = "batch_1"
	must(t, j.UpdateBatch(one))
	if ids, err := j.BatchIDs(); err != nil || !cmp.Equal(ids, []string{"batch_1"}) {
		t.Error(ids, err)
	}
	if r := open2(t, path); r.AddBatch(two) == nil {
		t.Error("a reader wrote a batch")
	}
}

// A request that differs from what was written is reported as an error.
func TestDamagedBatch(t *testing.T) {
	for _, change := range []string{"request = '{}'", "request = '{'", "key = zeroblob(32)", "key = zeroblob(8)", "key = NULL"} {
		path := newPath(t)
		j, err := Open(path)
		must(t, err)
		must(t, j.AddBatch(batchOf("one", keyed(1), keyed(2))), j.Close())
		if tryExecute(path, "UPDATE batch_asks SET "+change+" WHERE rowid = 2") != nil {
			continue // SQLite guards it
		}
		if _, err := open2(t, path).OpenBatches(); err == nil || !strings.Contains(err.Error(), path+": a request of the batch one") {
			t.Errorf("%s: %v", change, err)
		}
	}
}
