package journal

import (
	"errors"
	"os"

	"github.com/ncruces/go-sqlite3"
)

// Vacuum rewrites the journal at path, in the newest version, without the room
// that is free in it and with each table and index in one piece, and returns its
// sizes in bytes before and after. It fails with ErrLocked if another process has
// it open for writing. A crash leaves the journal as it was, for whoever writes it
// next or vacuums it again. Meanwhile the disk needs room for it twice more.
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
		err = j.wrap(guard(j.vacuum))
	}
	if err = errors.Join(err, j.Close()); err != nil {
		return before, before, err
	}
	after, err = sizeOf(path)
	return before, after, err
}

// vacuum is called while nothing is put or read.
func (j *Journal) vacuum() error {
	j.reading.Lock()
	err := errors.Join(j.get.Close(), j.reader.Close())
	j.get, j.reader = nil, nil
	j.reading.Unlock()
	if err != nil {
		return err
	}
	// The new content is one transaction, and this build of SQLite runs out of
	// memory when the log has 2 GB. Without the log it does not, but that takes
	// nobody else who reads the file.
	err = j.writer.Exec("PRAGMA temp_store = FILE; PRAGMA journal_mode = DELETE")
	if err != nil && !errors.Is(err, sqlite3.BUSY) {
		return err
	}
	return j.writer.Exec("VACUUM; PRAGMA journal_mode = WAL; PRAGMA wal_checkpoint(TRUNCATE)")
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
