package journal

import (
	"fmt"
	"slices"
	"strings"

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
	// reasoning: what the model thought; finish: how the answer ended; missing: the parameters without effect, a JSON
	// list or empty; checksum: of the columns before it, NULL in rows of version 1.
	`ALTER TABLE asks ADD COLUMN reasoning TEXT NOT NULL DEFAULT '';
	ALTER TABLE asks ADD COLUMN finish TEXT NOT NULL DEFAULT '';
	ALTER TABLE asks ADD COLUMN missing TEXT NOT NULL DEFAULT '';
	ALTER TABLE asks ADD COLUMN checksum BLOB`,
	`CREATE TABLE batches (
		number       INTEGER PRIMARY KEY,
		provider     TEXT NOT NULL,
		endpoint     TEXT NOT NULL,
		model        TEXT NOT NULL,
		tag          TEXT NOT NULL,    -- what the batch is found by
		id           TEXT NOT NULL,    -- the provider's, empty as long as it is not known
		submitted_at INTEGER NOT NULL, -- Unix time in ms, shortly before
		ended        INTEGER NOT NULL  -- 1: what came of it is in asks
	);
	CREATE TABLE batch_asks (
		batch   INTEGER NOT NULL,      -- its number
		key     BLOB NOT NULL,         -- crosstalk.KeyOf
		request TEXT NOT NULL          -- canonical JSON
	)`,
	// What Progress counts, which would else read every answer.
	`CREATE INDEX progress ON asks (model, status, prompt_tokens, completion_tokens)`,
	// The counts themselves, which take no time to read, and less to keep than the index.
	`CREATE TABLE counts (
		model             TEXT NOT NULL,
		status            TEXT NOT NULL,
		asks              INTEGER NOT NULL,
		prompt_tokens     INTEGER NOT NULL, -- of all of them
		completion_tokens INTEGER NOT NULL,
		PRIMARY KEY (model, status)
	) WITHOUT ROWID;
	INSERT INTO counts SELECT model, status, count(*), sum(prompt_tokens), sum(completion_tokens) ` +
		`FROM asks GROUP BY model, status;
	DROP INDEX progress`,
}

// Versions that differ in how asks are counted: in all earlier ones, from the answers.
const (
	indexed = 4 // from the index progress
	counted = 5 // in the table counts
)

// countedOf is the query for how many asks a journal of a version has, with their tokens, by model and status.
func countedOf(version int) string {
	if version >= counted {
		return "SELECT model, status, asks, prompt_tokens, completion_tokens FROM counts"
	}
	return "SELECT model, status, count(*), sum(prompt_tokens), sum(completion_tokens) FROM asks GROUP BY model, status"
}

// columns are those of the newest version, in the order of the table.
const columns = "key, provider, endpoint, model, request, status, text, reason, served_model, " +
	"prompt_tokens, completion_tokens, reasoning_tokens, logprobs, raw, latency_ns, attempts, answered_at, " +
	"reasoning, finish, missing, checksum"

// added says what stands in the place of the columns that version i+2 has and version i+1 has not.
var added = []struct{ columns, defaults string }{{"reasoning, finish, missing, checksum", "'', '', '', NULL"}}

// columnsOf is columns as they are read from a journal of a version.
func columnsOf(version int) string {
	list := columns
	for _, a := range added[min(version-1, len(added)):] {
		list = strings.Replace(list, a.columns, a.defaults, 1)
	}
	return list
}

// insertion writes a row. What is to be done if there is one with its key follows.
func insertion() string {
	return fmt.Sprintf("INSERT INTO asks (%s) VALUES (?%s) ON CONFLICT (key)", columns,
		strings.Repeat(", ?", strings.Count(columns, ",")))
}

// replacing is what follows insertion for a row that takes the place of another one, whose number it keeps.
func replacing() string {
	names := columnNames(len(migrations))
	sets := make([]string, len(names))
	for i, name := range names {
		sets[i] = name + " = excluded." + name
	}
	return " DO UPDATE SET " + strings.Join(sets, ", ")
}

// migrate brings the file to the newest version, in one step: readers never see
// one in between. A new file has version 0.
func migrate(conn *sqlite3.Conn) error {
	have, err := admit(conn)
	if err != nil {
		return err
	}
	newest := len(migrations)
	if have == newest {
		return nil
	}
	steps := fmt.Sprintf("BEGIN IMMEDIATE; %s; PRAGMA user_version = %d; COMMIT", strings.Join(migrations[have:], "; "),
		newest)
	if err := conn.Exec(steps); err != nil {
		return fmt.Errorf("cannot be brought from journal version %d to %d: %w", have, newest, err)
	}
	return nil
}

// notJournal says that a file is an SQLite file and no journal.
type notJournal struct{ why string }

func (e notJournal) Error() string {
	return "is not a journal of crosstalk: " + e.why + ": move it away, or use another --out"
}

// admit returns the version of a journal that this program can read, and an
// error for everything else. A file without anything in it has version 0.
func admit(conn *sqlite3.Conn) (have int, err error) {
	numbers, err := query(conn, "PRAGMA user_version")
	if err != nil {
		return 0, err
	}
	if _, err := fmt.Sscan(numbers[0], &have); err != nil || have < 0 {
		return 0, notJournal{fmt.Sprintf("it has the version %s", numbers[0])}
	}
	if have > len(migrations) {
		return 0, fmt.Errorf("was written by a newer crosstalk (journal version %d, this one reads up to %d): update "+
			"crosstalk, or use another --out",
			have, len(migrations))
	}
	tables := tablesOf(max(have, 1))
	// Triggers, views and virtual tables could do anything while they are used.
	objects, err := query(conn, "SELECT type || ' ' || name || iif(rootpage > 0, '', ' virtual') FROM sqlite_schema "+
		"WHERE name <> 'sqlite_autoindex_asks_1' ORDER BY name")
	if err != nil {
		return 0, err
	}
	switch {
	case have == 0 && len(objects) == 0:
		return 0, nil
	case have == 0:
		return 0, notJournal{fmt.Sprintf("it has no version, and a %.100q in it", objects[0])}
	case !slices.Equal(objects, names(tables, have)):
		return 0, notJournal{fmt.Sprintf("it should have %s, and has %.200q", strings.Join(names(tables, have), ", "),
			objects)}
	}
	if have == indexed { // another index could be over expressions
		switch sql, err := query(conn, "SELECT sql FROM sqlite_schema WHERE name = 'progress'"); {
		case err != nil:
			return 0, err
		case sql[0] != migrations[indexed-1]:
			return 0, notJournal{fmt.Sprintf("its index should be %q, and is %.200q", migrations[indexed-1], sql[0])}
		}
	}
	for _, t := range tables {
		columns, err := query(conn, fmt.Sprintf("SELECT name || iif(hidden, ' hidden', '') FROM pragma_table_xinfo('%s')",
			t.name))
		if err != nil {
			return 0, err
		}
		if !slices.Equal(columns, t.columns) {
			return 0, notJournal{fmt.Sprintf("its table %s should have the columns %s, and has %.500s", t.name,
				strings.Join(t.columns, ", "), strings.Join(columns, ", "))}
		}
	}
	return have, nil
}

// table is a table of the journal.
type table struct {
	name    string
	columns []string
}

// tablesOf are the tables of a version, in the order of their names.
func tablesOf(version int) []table {
	tables := []table{{"asks", columnNames(version)}}
	if version >= 3 {
		tables = append(tables,
			table{"batch_asks", []string{"batch", "key", "request"}},
			table{"batches", []string{"number", "provider", "endpoint", "model", "tag", "id", "submitted_at", "ended"}})
	}
	if version >= counted {
		tables = append(tables, table{"counts", []string{"model", "status", "asks", "prompt_tokens", "completion_tokens"}})
	}
	return tables
}

// names are those of the tables and the index of a version as SQLite lists them.
func names(tables []table, version int) (list []string) {
	for _, t := range tables {
		list = append(list, "table "+t.name)
	}
	if version == indexed {
		list = append(list, "index progress")
	}
	return list
}

// columnNames are the names of the columns of a version.
func columnNames(version int) []string {
	list := columns
	for _, a := range added[min(version-1, len(added)):] {
		list = strings.Replace(list, ", "+a.columns, "", 1)
	}
	return strings.Split(list, ", ")
}

// query returns the first column of all rows, as text.
func query(conn *sqlite3.Conn, sql string) (list []string, err error) {
	stmt, _, err := conn.Prepare(sql)
	if err != nil {
		return nil, err
	}
	defer stmt.Close()
	for stmt.Step() {
		if list = append(list, stmt.ColumnText(0)); len(list) > 1000 {
			return nil, notJournal{"it has more than 1000 objects"}
		}
	}
	return list, stmt.Err()
}
