package journal

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ncruces/go-sqlite3"
)

// version is the version of the schema, in PRAGMA user_version. Earlier ones were never released.
const version = 5

// columns lists the columns of asks, in order, schema makes the tables, insertion writes a row, and replacing follows
// it for a row that takes the place of the one with its key, whose number it keeps.
var columns, schema, insertion, replacing = func() (names, tables, insert, replace string) {
	for _, c := range layout {
		names += c.name + ", "
		tables += c.name + " " + c.declared + ", "
		replace += c.name + " = excluded." + c.name + ", "
	}
	names += "checksum"
	tables = "CREATE TABLE asks (" + tables + "checksum BLOB NOT NULL);" + otherTables
	insert = fmt.Sprintf("INSERT INTO asks (%s) VALUES (%s?) ON CONFLICT (key)", names, strings.Repeat("?, ", len(layout)))
	return names, tables, insert, " DO UPDATE SET " + replace + "checksum = excluded.checksum"
}()

const otherTables = `	CREATE TABLE batches (
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
	);
	CREATE TABLE counts (              -- of asks, so that nobody has to read every answer
		model             TEXT NOT NULL,
		status            TEXT NOT NULL,
		asks              INTEGER NOT NULL,
		prompt_tokens     INTEGER NOT NULL, -- of all of them
		completion_tokens INTEGER NOT NULL,
		PRIMARY KEY (model, status)
	) WITHOUT ROWID`

// tables are those that a journal has, in the order of their names, with their columns.
var tables = []struct{ name, columns string }{
	{"asks", columns},
	{"batch_asks", "batch, key, request"},
	{"batches", "number, provider, endpoint, model, tag, id, submitted_at, ended"},
	{"counts", "model, status, asks, prompt_tokens, completion_tokens"},
}

type notJournal struct{ why string }

func (e notJournal) Error() string {
	return "is not a journal of crosstalk: " + e.why + ": move it away, or use another --out"
}

// admit reports whether a file has a journal that this program can read, or is empty. All else is an error.
func admit(conn *sqlite3.Conn) (journal bool, err error) {
	numbers, err := query(conn, "PRAGMA user_version")
	if err != nil {
		return false, err
	}
	var have int
	if _, err := fmt.Sscan(numbers[0], &have); err != nil || have < 0 {
		return false, notJournal{fmt.Sprintf("it has the version %s", numbers[0])}
	}
	if have > version {
		return false, fmt.Errorf("was written by a newer crosstalk (journal version %d, this one reads %d): "+
			"update crosstalk, or use another --out", have, version)
	}
	// Triggers, views and virtual tables could do anything while they are used.
	objects, err := query(conn, "SELECT type || ' ' || name || iif(rootpage > 0, '', ' virtual') FROM sqlite_schema "+
		"WHERE name <> 'sqlite_autoindex_asks_1' ORDER BY name")
	if err != nil {
		return false, err
	}
	var names []string
	for _, t := range tables {
		names = append(names, "table "+t.name)
	}
	switch {
	case have == 0 && len(objects) == 0:
		return false, nil
	case have == 0:
		return false, notJournal{fmt.Sprintf("it has no version, and a %.100q in it", objects[0])}
	case have < version:
		return false, fmt.Errorf("was written by crosstalk before its first release (journal version %d, "+
			"this one reads %d): move it away, or use another --out", have, version)
	case !slices.Equal(objects, names):
		return false, notJournal{fmt.Sprintf("it should have %s, and has %.200q", strings.Join(names, ", "), objects)}
	}
	for _, t := range tables {
		columns, err := query(conn, fmt.Sprintf("SELECT name || iif(hidden, ' hidden', '') FROM pragma_table_xinfo('%s')",
			t.name))
		if err != nil {
			return false, err
		}
		if has := strings.Join(columns, ", "); has != t.columns {
			return false, notJournal{fmt.Sprintf("its table %s should have the columns %s, and has %.500s", t.name, t.columns,
				has)}
		}
	}
	return true, nil
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
