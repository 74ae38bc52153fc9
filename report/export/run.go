package export

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"crosstalk"
	"crosstalk/ask/journal"
	"crosstalk/internal/rescue"
	"crosstalk/run"
)

// WriteRun writes the observations of a finished run in a format or, with answers,
// every request in its journal with its answer, which LMEval has no place for. A defect
// in a writer is an error.
func WriteRun(w io.Writer, format, path string, answers bool) error {
	if err := CheckFormat(format); err != nil {
		return err
	}
	if answers && format == LMEval {
		return crosstalk.BadOption("format", " %s and --answers cannot be combined: the format is for observations", format)
	}
	if _, err := run.ReadManifest(path); err != nil {
		return err
	}
	return rescue.Do("the export", func() error { return writeRun(w, format, path, answers) })
}

func writeRun(w io.Writer, format, path string, answers bool) error {
	if !answers {
		if _, err := os.Lstat(filepath.Join(path, "observations.jsonl")); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s %w", path, run.ErrUnfinished)
		}
		if format == JSONLines {
			return Observations(w, format, run.ReadObservations(path))
		}
		if format != LMEval {
			from, err := newOrigin(path)
			if err != nil {
				return err
			}
			rows := mapped(run.ReadObservations(path), from.row)
			if format == Codebook {
				return writeCodebook(w, rows)
			}
			return writeCSV(w, rows)
		}
	}
	j, err := journal.OpenReader(filepath.Join(path, journal.Name))
	if err != nil {
		return err
	}
	defer j.Close()
	if answers {
		return Answers(w, format, answersOf(j))
	}
	return Samples(w, run.ReadObservations(path), func(key crosstalk.Key) (Answer, bool) {
		record, found, err := j.Record(key)
		return newAnswer(key, record), found && err == nil
	})
}

func answersOf(j *journal.Journal) iter.Seq2[Answer, error] {
	return func(yield func(Answer, error) bool) {
		for record, err := range j.All() {
			if !yield(newAnswer(record.Answer.Key, record), err) {
				return
			}
		}
	}
}

func newAnswer(key crosstalk.Key, r journal.Record) Answer {
	return Answer{Key: key, Identity: r.Identity, Request: r.Request, Answer: r.Answer}
}
