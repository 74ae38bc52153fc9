package journal

import (
	"errors"
	"os"

	"github.com/ncruces/go-sqlite3"
)

// Vacuum rewrites the journal at path, in the newest version, without the room
// that is free in it and with each table and index in one piece, and returns its
// sizes in bytes before and after. It fails with ErrLocked if another process has
// it open for writing. A crash leaves the journal as it was. Meanwhile the disk
// needs room for it twice more.
func Vacuum(path string) (before, after int64, err error) {
	if _, err := os.Stat(path); err != nil {
		return 0, 0, err
	}
	j, err := Open(path)
	if err != nil {
		return 0, 0, err
	}
	before, err = sizeOf(path)
	if err == nil {
		err = j.wrap(guard(func() error { return vacuum(j.writer) }))
	}
	if err = errors.Join(err, j.Close()); err != nil {
		return before, before, err
	}
	after, err = sizeOf(path)
	return before, after, err
}

// vacuum is called while nothing is put.
func vacuum(conn *sqlite3.Conn) error {
	return conn.Exec("PRAGMA temp_store = FILE; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
}

func sizeOf(path string) (int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	if log, err := os.Stat(path + "-wal"); err == nil {
		return info.Size() + log.Size(), nil
	}
	return info.Size(), nil
}
