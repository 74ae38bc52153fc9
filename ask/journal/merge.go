package journal

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/url"
	"path/filepath"
	"strconv"
	"time"

	"crosstalk"

	"github.com/ncruces/go-sqlite3"
)

// Progress is the progress of a run.
type Progress struct {
	Done   int                        // asks that are answered or failed
	Failed int                        // the failed ones of Done
	Status map[crosstalk.Status]int   // Done by status
	Usage  map[string]crosstalk.Usage // by model, prompts and completions only

	Last time.Time // when the latest answer arrived; zero: none has
	Rate float64   // answers per second, over the latest minute with answers; 0: unknown
}

// Progress counts the asks. It reads counts that the journal keeps, and a few answers.
func (j *Journal) Progress() (p Progress, err error) {
	p.Usage, p.Status = map[string]crosstalk.Usage{}, map[crosstalk.Status]int{}
	err = j.query("SELECT model, status, asks, prompt_tokens, completion_tokens FROM counts", func(s *sqlite3.Stmt) error {
		n, model := s.ColumnInt(2), s.ColumnText(0)
		p.Done += n
		p.Status[crosstalk.Status(s.ColumnText(1))] += n
		u := p.Usage[model]
		u.Prompt += s.ColumnInt(3)
		u.Completion += s.ColumnInt(4)
		p.Usage[model] = u
		return nil
	})
	if err != nil {
		return p, err
	}
	p.Failed = p.Status[crosstalk.Failed]
	err = j.query("WITH latest AS (SELECT answered_at AS at FROM asks ORDER BY rowid DESC LIMIT 500) "+
		"SELECT max(at), min(at), count(*) FROM latest WHERE at >= (SELECT max(at) FROM latest) - 60000",
		func(s *sqlite3.Stmt) error {
			n := s.ColumnInt(2)
			if n > 0 {
				p.Last = time.UnixMilli(s.ColumnInt64(0))
			}
			if took := p.Last.Sub(time.UnixMilli(s.ColumnInt64(1))).Seconds(); took > 0 {
				p.Rate = float64(n-1) / took
			}
			return nil
		})
	return p, err
}

type tally struct{ asks, prompt, completion int64 }

type tallied struct{ model, status string }

func (t tallied) failed() bool { return t.status == string(crosstalk.Failed) }

type sums map[tallied]*tally

func (s sums) add(of tallied, t tally, times int64) {
	sum := s[of]
	if sum == nil {
		sum = &tally{}
		s[of] = sum
	}
	sum.asks += times * t.asks
	sum.prompt += times * t.prompt
	sum.completion += times * t.completion
}

func (s sums) row(row []value) {
	s.add(tallied{string(row[modelColumn].bytes), string(row[statusColumn].bytes)},
		tally{1, row[promptColumn].number, row[completionColumn].number}, 1)
}

// counts are a transaction's changes to the table counts. Only the writer uses them.
type counts struct {
	changed sums
	wrong   bool // a damaged row was replaced: they are counted anew
	add     *sqlite3.Stmt
}

const recounting = "DELETE FROM counts; INSERT INTO counts SELECT model, status, count(*), sum(prompt_tokens), " +
	"sum(completion_tokens) FROM asks GROUP BY model, status"

// counting is the SQL of counts.add.
const counting = "INSERT INTO counts (model, status, asks, prompt_tokens, completion_tokens) VALUES (?, ?, ?, ?, ?)" +
	" ON CONFLICT (model, status) DO UPDATE SET asks = asks + excluded.asks," +
	" prompt_tokens = prompt_tokens + excluded.prompt_tokens," +
	" completion_tokens = completion_tokens + excluded.completion_tokens"

const known = "SELECT status, attempts, model, prompt_tokens, completion_tokens FROM asks WHERE key = ?"

func (c *counts) save() error {
	for of, t := range c.changed {
		if err := run(c.add, of.model, of.status, t.asks, t.prompt, t.completion); err != nil {
			return err
		}
	}
	clear(c.changed)
	return nil
}

// Merged counts what Merge did.
type Merged struct {
	Asks   int // asks in the other journal
	Twice  int // of Asks: answered differently in both; the journal keeps its own answer
	Behind int // of Asks: failed in the other journal, and answered in this one
}

// Merge adds every ask of another journal, which it only reads. As with Put, only a failed answer is overwritten. It
// returns when all is on the disk; after an error, some may be. Nothing else may write meanwhile.
func (j *Journal) Merge(from *Journal) (Merged, error) {
	if j.lock == nil {
		return Merged{}, j.wrap(errReading)
	}
	t := &transfer{counts: counts{changed: sums{}}}
	err := guard(func() error { return t.open(j.path, from) })
	for more := true; more && err == nil; {
		err = guard(func() (err error) {
			more, err = t.some()
			return err
		})
		if err == nil {
			err = j.moved()
		}
	}
	if err = errors.Join(err, t.close()); err == nil {
		return t.merged, nil
	}
	for _, damaged := range from.All() { // SQLite does not report which of the two files it is
		if damaged != nil {
			return t.merged, damaged
		}
	}
	return t.merged, j.wrap(err)
}

// transfer copies the rows of one journal to another. SQLite copies them, and calls intact to check each one.
type transfer struct {
	merged Merged

	to                    *sqlite3.Conn // its own connection to the target, with the source as the database "shard"
	counts                counts        // of the target
	before                int64         // the number of the target's last row before the transfer
	insert, meet, replace *sqlite3.Stmt

	// The rows that one statement copies.
	after, last int64 // their numbers are above after, up to last
	rows, bytes int
	row         []value // reused for each row
	summed      []byte
}

// Limits of a transaction in rows and bytes, large because each one waits for the disk; and limits of one statement.
const (
	rowsAtOnce  = 1 << 17
	bytesAtOnce = 1 << 28
	spanRows    = 1 << 12
	spanBytes   = 1 << 22
)

// ofSpan selects the rows with numbers above ?1 up to ?2, at most ?3: a file with a loop has no last row.
const ofSpan = "FROM (SELECT rowid AS number, * FROM shard.asks WHERE rowid > ?1 AND rowid <= ?2 ORDER BY rowid " +
	"LIMIT ?3) AS new "

// intact is an SQL function that decides whether to copy a row, given its number and columns. It fails for a damaged
// row or a wrong order.
func (t *transfer) intact(ctx sqlite3.Context, columns ...sqlite3.Value) {
	number, columns := columns[0].Int64(), columns[1:]
	if t.bytes >= spanBytes {
		ctx.ResultBool(false)
		return
	}
	t.row = t.row[:0]
	for _, c := range columns[:checksumColumn] {
		if c.Type() == sqlite3.INTEGER {
			t.row = append(t.row, value{number: c.Int64(), isNumber: true})
		} else {
			t.row = append(t.row, value{bytes: c.RawBlob()})
		}
	}
	t.summed = appendSummed(t.summed[:0], t.row)
	if number <= t.last || !bytes.Equal(columns[checksumColumn].RawBlob(), sumOf(t.summed)) {
		ctx.ResultError(errChecksum)
		return
	}
	t.last = number
	t.rows++
	t.bytes += len(t.summed)
	t.counts.changed.row(t.row)
	ctx.ResultBool(true)
}

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
	// Keys arrive in no order: the cache holds the index of a million. The log is folded in every 64 MiB.
	if err := t.to.Exec("PRAGMA synchronous = FULL; PRAGMA cache_size = -98304; PRAGMA wal_autocheckpoint = 16384; " +
		"ATTACH " + sqlite3.Quote(uri) + " AS shard"); err != nil {
		return err
	}
	if err := t.to.CreateFunction("intact", checksumColumn+2, 0, t.intact); err != nil {
		return err
	}
	add := func(which, conflict string) string {
		return fmt.Sprintf("INSERT INTO main.asks (%s) SELECT %[1]s %s WHERE %s ON CONFLICT (key) %s", columns, ofSpan, which,
			conflict)
	}
	if err := prepare(t.to, statement{&t.counts.add, counting},
		statement{&t.insert, add("intact(number, "+columns+")", "DO NOTHING")},
		statement{&t.replace, add("true", replacing+" WHERE asks.status = 'failed' AND excluded.status <> 'failed'")},
		statement{&t.meet, "SELECT old.model, old.status, sum(old.prompt_tokens), sum(old.completion_tokens), " +
			"new.model, new.status, sum(new.prompt_tokens), sum(new.completion_tokens), count(*), sum(old.text <> new.text) " +
			ofSpan + "JOIN main.asks AS old ON old.key = new.key AND old.rowid <= ?4 " +
			"GROUP BY old.model, old.status, new.model, new.status"}); err != nil {
		return err
	}
	forged, err := query(t.to, "SELECT 1 FROM shard.asks WHERE rowid < 1 LIMIT 1") // SQLite counts from 1
	if err != nil || len(forged) > 0 {
		return cmp.Or(err, errOrder)
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
		s.Close() // reports only the error of its last run, which was returned
	}
	return t.to.Close()
}

// some copies the next rows, in a transaction. more is false once it finds none.
func (t *transfer) some() (more bool, err error) {
	txn, err := t.to.BeginImmediate()
	if err != nil {
		return false, err
	}
	defer txn.End(&err)
	more = true
	for n, size := 0, 0; more && n < rowsAtOnce && size < bytesAtOnce; {
		if err := t.copy(); err != nil {
			return false, err
		}
		n, size, more = n+t.rows, size+t.bytes, t.rows > 0
	}
	return more, t.counts.save()
}

// copy copies the next rows with one statement.
func (t *transfer) copy() error {
	t.after, t.rows, t.bytes = t.last, 0, 0
	if err := run(t.insert, t.after, int64(math.MaxInt64), int64(spanRows)); err != nil {
		return err
	}
	t.merged.Asks += t.rows
	if int(t.to.Changes()) == t.rows {
		return nil
	}
	defer t.meet.Reset()
	if err := set(t.meet, t.after, t.last, int64(t.rows), t.before); err != nil {
		return err
	}
	for t.meet.Step() {
		old := tallied{t.meet.ColumnText(0), t.meet.ColumnText(1)}
		met := tallied{t.meet.ColumnText(4), t.meet.ColumnText(5)}
		known := tally{t.meet.ColumnInt64(8), t.meet.ColumnInt64(2), t.meet.ColumnInt64(3)}
		again := tally{t.meet.ColumnInt64(8), t.meet.ColumnInt64(6), t.meet.ColumnInt64(7)}
		if old.failed() && !met.failed() {
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
	if err := t.meet.Err(); err != nil {
		return err
	}
	return run(t.replace, t.after, t.last, int64(t.rows))
}
