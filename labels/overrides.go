package labels

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"crosstalk/instrument/consistency"
	"crosstalk/run"
)

// Overrides are the readings that the majority of people gives the answers of a
// finished consistency run, from the labels of the question Reading. Where people
// cannot tell or do not agree, there is none.
func Overrides(path string) (consistency.Overrides, error) {
	manifest, err := run.ReadManifest(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s is not a run directory: "+
			"expected one written by 'crosstalk run consistency' or 'score consistency --out'", path)
	case err != nil:
		return nil, err
	case manifest.Plan.Instrument != consistency.Kind.Name:
		return nil, fmt.Errorf("%s is a run of %s; expected one of consistency", path, manifest.Plan.Instrument)
	}
	sheet, err := Open(path, Reading)
	if err != nil {
		return nil, err
	}
	labels, _, err := given(path)
	if err != nil {
		return nil, err
	}
	return sheet.overrides(labels), nil
}

func (s *Sheet) overrides(labels []Label) consistency.Overrides {
	overrides := consistency.Overrides{}
	for _, list := range groupBy(s.own(labels), Label.Key) {
		i, known := s.at[list[0].Key()]
		if !known {
			continue
		}
		said := map[string]string{}
		var comments []string
		for _, l := range list {
			said[l.Annotator] = l.Label
			if l.Comment != "" {
				comments = append(comments, l.Comment)
			}
		}
		class := s.Question.majority(said)
		if class == cannotTell {
			continue
		}
		agreed := 0
		for _, label := range said {
			if label == class {
				agreed++
			}
		}
		if class == noClass {
			class = ""
		}
		reason := append([]string{fmt.Sprintf("labelled so by %d of %d", agreed, len(said))}, comments...)
		overrides[s.Units[i].answered] = consistency.Override{Class: class,
			Reviewer: strings.Join(slices.Sorted(maps.Keys(said)), ", "), Reason: strings.Join(reason, "; ")}
	}
	return overrides
}
