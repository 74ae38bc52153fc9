package run

import (
	"path/filepath"

	"crosstalk/ask/journal"
)

// Answers are the requests and answers of a run, read from its journal.
type (
	Answers      = journal.Journal
	Record       = journal.Record       // one request with its answer
	DamageError  = journal.DamageError  // of a record that is not as it was written
	MissingError = journal.MissingError // of records that are missing
)

// OpenAnswers opens the answers of a run to read them. A run of answers that were recorded elsewhere has none: the
// error is fs.ErrNotExist.
func OpenAnswers(path string) (*Answers, error) {
	return journal.OpenReader(filepath.Join(path, journal.Name))
}
