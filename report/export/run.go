package export

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"crosstalk"
	"crosstalk/ask/journal"
	"crosstalk/internal/rescue"
	"crosstalk/run"
)

// WriteRun writes the observations of a finished run in a format or, with answers,
// every request in its journal with its answer, which LMEval has no place for. A defect in a writer is an error.
func WriteRun(w io.Writer, format, path string, answers bool) error {
	if _, err := crosstalk.Chosen("format", format, Formats); err != nil {
		return err
	}
	if answers && format == LMEval {
		return crosstalk.BadOption("format", " %s and --answers cannot be combined: the format is for observations", format)
	}
	manifest, err := run.ReadManifest(path)
	if err != nil {
		return err
	}
	return rescue.Do("the export", func() error { return writeRun(w, format, path, manifest, answers) })
}

func writeRun(w io.Writer, format, path string, manifest run.Manifest, answers bool) error {
	if answers {
		j, err := journal.OpenReader(filepath.Join(path, journal.Name))
		if err != nil {
			return err
		}
		defer j.Close()
		if format == JSONLines {
			return WriteLines(w, Mapped(j.All(), answerRow))
		}
		return writeRows(w, format, Mapped(j.All(), answerRow))
	}
	if _, err := os.Lstat(filepath.Join(path, "observations.jsonl")); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s %w", path, run.ErrUnfinished)
	}
	if format == JSONLines {
		return WriteLines(w, run.ReadObservations(path))
	}
	if format == LMEval {
		j, err := journal.OpenReader(filepath.Join(path, journal.Name))
		if err != nil {
			return err
		}
		defer j.Close()
		return writeSamples(w, run.ReadObservations(path), j.Known)
	}
	from, err := newOrigin(path, manifest)
	if err != nil {
		return err
	}
	return writeRows(w, format, Mapped(run.ReadObservations(path), from.row))
}
