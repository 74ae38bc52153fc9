package compare

import (
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
	return openFigures(paths, study.Figures{By: by})
}

// openFigures reads these figures of finished runs, with the observations that they are about.
func openFigures(paths []string, figures study.Figures) ([]Run, error) {
	figures.Cross = slices.DeleteFunc(slices.Clone(figures.Cross),
		func(column string) bool { return column == againstColumn || column == RunColumn })
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
