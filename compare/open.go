package compare

import (
	"io"
	"slices"

	"crosstalk/run"
	"crosstalk/study"
)

// Open reads the figures of finished runs, grouped by columns; if by is nil, as
// they were measured. Their observations are read when they are compared.
func Open(paths, by []string) ([]Run, error) {
	by, err := study.ParseBy(by)
	if err != nil {
		return nil, err
	}
	return OpenFigures(paths, study.Figures{By: by})
}

// WriteRuns compares the figures of finished runs, opened as Open does, and writes the
// differences in one of report.Formats.
func WriteRuns(w io.Writer, format string, paths, by []string, o Options) error {
	runs, err := Open(paths, by)
	if err != nil {
		return err
	}
	result, err := Runs(runs, o)
	if err != nil {
		return err
	}
	if result.Names, err = study.Names(paths...); err != nil {
		return err
	}
	return Write(w, format, result)
}

// OpenFigures reads these figures of finished runs, with the observations that they
// are about.
func OpenFigures(paths []string, figures study.Figures) ([]Run, error) {
	figures.Cross = slices.DeleteFunc(slices.Clone(figures.Cross),
		func(column string) bool { return column == AgainstColumn || column == RunColumn })
	names := run.Names(paths)
	runs := make([]Run, len(paths))
	for i, path := range paths {
		estimates, observations, err := figures.Compare(path)
		if err != nil {
			return nil, err
		}
		manifest, err := run.ReadManifest(path)
		if err != nil {
			return nil, err
		}
		runs[i] = Run{Name: names[i], Estimates: estimates, Observations: observations, Settings: study.Settings(manifest)}
	}
	return runs, nil
}
