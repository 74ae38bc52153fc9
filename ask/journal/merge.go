package journal

import (
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"

	"github.com/ncruces/go-sqlite3"
)

// Merged counts what Merge has done.
type Merged struct {
	Asks   int // of the other journal
	Twice  int // of Asks: answered in both, by different answers; the one that was there stays
	Behind int // of Asks: failed in the other journal, and answered in this one
}

// Merge takes in every ask of another journal, which is only read. As with Put, an answer is never overwritten, unless
// it was a failed one. It returns when all is on the disk; after an error a part of it may be. To merge a journal
// again has no effect. Meanwhile nothing else is written to the journal.
func (j *Journal) Merge(from *Journal) (merged Merged, err error) {
	from.reading.Lock()
	defer from.reading.Unlock()
	if from.get == nil {
		return merged, from.wrap(errClosed)
	}
	if j.lock == nil {
		return merged, j.wrap(errReading)
	}
	rows, err := from.readAhead()
	if err != nil {
		return merged, from.wrap(err)
	}
	defer rows.close()
	t := &transfer{rows: rows}
	err = guard(func() error { return t.open(j.path, from) })
	for err == nil && !t.done {
		if err = guard(t.some); err == nil {
			err = j.files.check()
		}
	}
	err = errors.Join(err, t.close())
	if t.failed != nil {
		return t.merged, from.wrap(t.failed)
	}
	return t.merged, j.wrap(err)
}

// transfer copies the rows of a journal to another one. SQLite copies them by itself, without handing each to Go.
type transfer struct {
	rows   *ahead
	done   bool
	failed error // of the rows
	merged Merged

	to                    *sqlite3.Conn // its own connection to the other, with the journal as the database "shard"
	counts                counts        // of the other
	before                int64         // the number of the last row that the other had
	insert, meet, replace *sqlite3.Stmt
}

// Limits of a transaction, in rows and bytes: large, so that the disk is rarely waited for.
const (
	rowsAtOnce  = 1 << 17
	bytesAtOnce = 1 << 28
)

// ofSpan are the rows of a span, at most as many as it has: a file that leads in a circle has no end.
const ofSpan = "FROM (SELECT * FROM shard.asks WHERE rowid > ?1 AND rowid <= ?2 ORDER BY rowid LIMIT ?3) AS new "

func (t *transfer) open(path string, from *Journal) (err error) {
	if t.to, err = connect(path, "?mode=rw", sqlite3.OPEN_READWRITE); err != nil {
		return err
	}
	source, err := resolve(from.path)
	if err != nil {
		return err
	}
	uri := "file:" + (&url.URL{Path: filepath.ToSlash(source)}).EscapedPath() + "?mode=ro"
	if from.immutable {
		uri += "&immutable=1"
	}
	// The keys are in no order: there is room for the index of a million, and the
	// log is folded into the file every 64 MiB.
	if err := t.to.Exec("PRAGMA synchronous = FULL; PRAGMA cache_size = -98304; PRAGMA wal_autocheckpoint = 16384; " +
		"ATTACH " + sqlite3.Quote(uri) + " AS shard"); err != nil {
		return err
	}
	if t.counts, err = newCounts(t.to); err != nil {
		return err
	}
	add := fmt.Sprintf("INSERT INTO main.asks (%s) SELECT %[1]s %s WHERE true ON CONFLICT (key) ", columns, ofSpan)
	for _, s := range []struct {
		stmt **sqlite3.Stmt
		sql  string
	}{
		{&t.insert, add + "DO NOTHING"},
		{&t.replace, add + replacing + " WHERE asks.status = 'failed' AND excluded.status <> 'failed'"},
		{&t.meet, "SELECT old.model, old.status, sum(old.prompt_tokens), sum(old.completion_tokens), " +
			"new.model, new.status, sum(new.prompt_tokens), sum(new.completion_tokens), count(*), sum(old.text <> new.text) " +
			ofSpan + "JOIN main.asks AS old ON old.key = new.key AND old.rowid <= ?4 " +
			"GROUP BY old.model, old.status, new.model, new.status"},
	} {
		if *s.stmt, _, err = t.to.Prepare(s.sql); err != nil {
			return err
		}
	}
	last, err := query(t.to, "SELECT coalesce(max(rowid), 0) FROM main.asks")
	if err != nil {
		return err
	}
	t.before, err = strconv.ParseInt(last[0], 10, 64)
	return err
}

func (t *transfer) close() error {
	for _, s := range []*sqlite3.Stmt{t.insert, t.meet, t.replace, t.counts.add} {
		s.Close() // its error is the last run's, which was reported
	}
	return t.to.Close()
}

// some copies the next rows, in a transaction.
func (t *transfer) some() (err error) {
	txn, err := t.to.BeginImmediate()
	if err != nil {
		return err
	}
	defer txn.End(&err)
	for n, size := 0, 0; n < rowsAtOnce && size < bytesAtOnce; {
		s, more := <-t.rows.ready
		if t.done = !more; t.done {
			break
		}
		if t.failed = s.err; t.failed != nil {
			return t.failed
		}
		if err := t.copy(s); err != nil {
			return err
		}
		n += s.rows
		size += s.bytes
	}
	return t.counts.save()
}

func (t *transfer) copy(s span) error {
	t.merged.Asks += s.rows
	for of, n := range s.counts {
		t.counts.changed.add(of, *n, 1)
	}
	if err := errors.Join(s.bind(t.insert), t.insert.Exec()); err != nil {
		return err
	}
	if int(t.to.Changes()) == s.rows {
		return nil
	}
	replaces := false
	defer t.meet.Reset()
	if err := errors.Join(s.bind(t.meet), t.meet.BindInt64(4, t.before)); err != nil {
		return err
	}
	for t.meet.Step() {
		old := tallied{t.meet.ColumnText(0), t.meet.ColumnText(1)}
		met := tallied{t.meet.ColumnText(4), t.meet.ColumnText(5)}
		known := tally{t.meet.ColumnInt64(8), t.meet.ColumnInt64(2), t.meet.ColumnInt64(3)}
		again := tally{t.meet.ColumnInt64(8), t.meet.ColumnInt64(6), t.meet.ColumnInt64(7)}
		if old.failed() && !met.failed() {
			replaces = true
			t.counts.changed.add(old, known, -1)
			continue
		}
		t.counts.changed.add(met, again, -1)
		switch {
		case met.failed() && !old.failed():
			t.merged.Behind += int(again.asks)
		case met.failed():
		case met.status != old.status:
			t.merged.Twice += int(again.asks)
		default:
			t.merged.Twice += t.meet.ColumnInt(9)
		}
	}
	if err := t.meet.Err(); err != nil || !replaces {
		return err
	}
	return errors.Join(s.bind(t.replace), t.replace.Exec())
}
