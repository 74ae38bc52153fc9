package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"crosstalk"

	"github.com/ncruces/go-sqlite3"
)

// Batch is a batch that was submitted to a provider, or was about to be.
type Batch struct {
	Number   int64 // in the journal
	Identity crosstalk.Identity
	Tag      string
	ID       string    // the provider's; "": nobody knows whether it was submitted
	At       time.Time // shortly before it was submitted, the last time if that was tried more than once
	Asks     []crosstalk.BatchAsk
}

// AddBatch notes that a batch is about to be submitted, sets its number, and returns when that is on the disk.
func (j *Journal) AddBatch(b *Batch) error {
	return j.change(func() error {
		id := b.Identity
		if err := j.exec("INSERT INTO batches (provider, endpoint, model, tag, id, submitted_at, ended) VALUES (?, ?, ?, ?, "+
			"'', ?, 0)",
			id.Provider, id.Endpoint, id.Name, b.Tag, b.At.UnixMilli()); err != nil {
			return err
		}
		b.Number = j.writer.LastInsertRowID()
		insert, _, err := j.writer.Prepare("INSERT INTO batch_asks (batch, key, request) VALUES (?, ?, ?)")
		if err != nil {
			return err
		}
		defer insert.Close()
		for _, a := range b.Asks {
			if err := run(insert, b.Number, a.Key[:], string(crosstalk.Canonical(a.Request))); err != nil {
				return err
			}
		}
		return nil
	})
}

// UpdateBatch saves the provider's id of a batch, and when it was submitted.
func (j *Journal) UpdateBatch(b *Batch) error {
	return j.change(func() error {
		return j.exec("UPDATE batches SET id = ?, submitted_at = ? WHERE number = ?", b.ID, b.At.UnixMilli(), b.Number)
	})
}

// EndBatch notes that all that came of a batch is saved. Its asks without an answer become what Unanswered lists.
func (j *Journal) EndBatch(b *Batch) error {
	return j.change(func() error {
		return errors.Join(
			j.exec("UPDATE batches SET ended = 1 WHERE number = ?", b.Number),
			j.exec("DELETE FROM batch_asks WHERE batch = ? AND EXISTS (SELECT 1 FROM asks WHERE asks.key = batch_asks.key AND "+
				"status <> 'failed')", b.Number))
	})
}

// DropBatch forgets a batch that the provider does not have, or took back.
func (j *Journal) DropBatch(b *Batch) error {
	return j.change(func() error {
		return errors.Join(
			j.exec("DELETE FROM batches WHERE number = ?", b.Number),
			j.exec("DELETE FROM batch_asks WHERE batch = ?", b.Number))
	})
}

// change makes a change as a part of the next commit.
func (j *Journal) change(do func() error) error { return j.hand(put{change: do}) }

func (j *Journal) exec(sql string, values ...any) error {
	stmt, _, err := j.writer.Prepare(sql)
	if err != nil {
		return err
	}
	defer stmt.Close()
	return run(stmt, values...)
}

// OpenBatches returns the batches that have not ended, with their asks, in the order in which they were added.
func (j *Journal) OpenBatches() (open []*Batch, err error) {
	err = j.query("SELECT number, provider, endpoint, model, tag, id, submitted_at FROM batches WHERE ended = 0 ORDER BY "+
		"number", func(s *sqlite3.Stmt) error {
		open = append(open, &Batch{Number: s.ColumnInt64(0), Identity: crosstalk.Identity{Provider: s.ColumnText(1),
			Endpoint: s.ColumnText(2), Name: s.ColumnText(3)},
			Tag: s.ColumnText(4), ID: s.ColumnText(5), At: time.UnixMilli(s.ColumnInt64(6)).UTC()})
		return nil
	})
	for _, b := range open {
		if err == nil {
			err = j.query(fmt.Sprintf("SELECT key, request FROM batch_asks WHERE batch = %d ORDER BY rowid", b.Number),
				func(s *sqlite3.Stmt) error {
					var a crosstalk.BatchAsk
					if err := json.Unmarshal(s.ColumnRawText(1), &a.Request); err != nil {
						return fmt.Errorf("a request of the batch %s is not JSON: %w", b.Tag, err)
					}
					copy(a.Key[:], s.ColumnRawBlob(0))
					if crosstalk.KeyOf(b.Identity, a.Request) != a.Key {
						return fmt.Errorf("a request of the batch %s does not match its key: put a copy of the file in its place", b.Tag)
					}
					b.Asks = append(b.Asks, a)
					return nil
				})
		}
	}
	return open, err
}

// BatchIDs returns the providers' ids of all batches.
func (j *Journal) BatchIDs() (ids []string, err error) {
	err = j.query("SELECT id FROM batches WHERE id <> ''", func(s *sqlite3.Stmt) error {
		ids = append(ids, s.ColumnText(0))
		return nil
	})
	return ids, err
}

// Unanswered returns the asks that batches which have ended did not answer.
func (j *Journal) Unanswered() (keys []crosstalk.Key, err error) {
	err = j.query("SELECT key FROM batch_asks JOIN batches ON batch = number WHERE ended = 1",
		func(s *sqlite3.Stmt) error {
			var key crosstalk.Key
			copy(key[:], s.ColumnRawBlob(0))
			keys = append(keys, key)
			return nil
		})
	return keys, err
}

func (j *Journal) query(sql string, row func(*sqlite3.Stmt) error) error {
	j.reading.Lock()
	defer j.reading.Unlock()
	if j.get == nil {
		return j.wrap(errClosed)
	}
	stmt, _, err := j.reader.Prepare(sql)
	if err != nil {
		return j.wrap(err)
	}
	defer stmt.Close()
	for stmt.Step() {
		if err := row(stmt); err != nil {
			return j.wrap(err)
		}
	}
	return j.wrap(stmt.Err())
}
