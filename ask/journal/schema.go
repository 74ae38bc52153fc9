package journal

import (
	"fmt"

	"github.com/ncruces/go-sqlite3"
)

// migrations[i] takes a journal from version i to version i+1. Those that were
// released never change; PRAGMA user_version counts how many were applied.
var migrations = []string{
	`CREATE TABLE asks (
		key               BLOB NOT NULL UNIQUE, -- crosstalk.KeyOf
		provider          TEXT NOT NULL,
		endpoint          TEXT NOT NULL,
		model             TEXT NOT NULL,
		request           TEXT NOT NULL,        -- canonical JSON of the rendered request
		status            TEXT NOT NULL,
		text              TEXT NOT NULL,
		reason            TEXT NOT NULL,
		served_model      TEXT NOT NULL,
		prompt_tokens     INTEGER NOT NULL,
		completion_tokens INTEGER NOT NULL,
		reasoning_tokens  INTEGER NOT NULL,
		logprobs          TEXT NOT NULL,        -- JSON, or empty
		raw               BLOB,                 -- the response body as it came
		latency_ns        INTEGER NOT NULL,
		attempts          INTEGER NOT NULL,
		answered_at       INTEGER NOT NULL      -- Unix time in ms
	)`,
}

// migrate brings the file to the newest version; a new file has version 0.
func migrate(conn *sqlite3.Conn) error {
	have, err := version(conn)
	if err != nil {
		return err
	}
	if have > len(migrations) {
		return newerVersion(have)
	}
	for v := have; v < len(migrations); v++ {
		step := fmt.Sprintf("BEGIN IMMEDIATE; %s; PRAGMA user_version = %d; COMMIT", migrations[v], v+1)
		if err := conn.Exec(step); err != nil {
			return fmt.Errorf("migrating to version %d: %w", v+1, err)
		}
	}
	return nil
}

func version(conn *sqlite3.Conn) (int, error) {
	stmt, _, err := conn.Prepare("PRAGMA user_version")
	if err != nil {
		return 0, err
	}
	defer stmt.Close()
	stmt.Step()
	return stmt.ColumnInt(0), stmt.Err()
}

func newerVersion(have int) error {
	return fmt.Errorf("was written by a newer crosstalk (journal version %d, this one reads up to %d): update crosstalk, or use another --out",
		have, len(migrations))
}
