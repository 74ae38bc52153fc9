package labels

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/instrument/consistency"
	"crosstalk/instrument/consistency/review"
	"crosstalk/run"
)

// WriteDoubts writes the answers of a finished consistency run that have no class, or
// a doubtful one, as review.WriteDoubts does, with what the majority of people says.
func WriteDoubts(w io.Writer, path string) error {
	given, err := ofConsistency(path)
	if err != nil {
		return err
	}
	sheet, err := Open(path, Reading)
	if err != nil {
		return err
	}
	doubts, err := review.Doubts(run.ReadObservations(path), sheet.Overrides(given))
	if err != nil {
		return err
	}
	return review.WriteDoubts(w, doubts)
}

// WritePairs writes the pairs of answers of a finished consistency run that differ in
// meaning, as review.WritePairs does, with the codes that people gave them.
func WritePairs(w io.Writer, path string) error {
	given, err := ofConsistency(path)
	if err != nil {
		return err
	}
	return review.WritePairs(w, run.ReadObservations(path), PairCodes(given))
}

// ofConsistency are the labels of a run, which must be a finished consistency run.
func ofConsistency(path string) ([]Label, error) {
	manifest, err := run.ReadManifest(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s is not a run directory: "+
			"expected one written by 'crosstalk run consistency' or 'score consistency --out'", path)
	case err != nil:
		return nil, err
	case manifest.Plan.Instrument != consistency.Kind.Name:
		return nil, fmt.Errorf("%s is a run of %s; expected one of consistency", path, manifest.Plan.Instrument)
	case len(manifest.Scoring) == 0:
		return nil, fmt.Errorf("%s %w", path, run.ErrUnfinished)
	}
	return Read(path)
}

// Overrides are the readings that the majority of people gives answers, from the
// labels of a sheet of Reading. What people cannot tell, or not agree on, is left
// out.
func (s *Sheet) Overrides(labels []Label) consistency.Overrides {
	overrides := consistency.Overrides{}
	given := byUnit(s.own(labels))
	for _, u := range s.Units {
		list := given[u.key]
		if len(list) == 0 {
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
		if class == CannotTell {
			continue
		}
		agreed := 0
		for _, label := range said {
			if label == class {
				agreed++
			}
		}
		if class == NoClass {
			class = ""
		}
		reason := append([]string{fmt.Sprintf("labelled so by %d of %d", agreed, len(said))}, comments...)
		overrides[u.answered] = consistency.Override{Class: class, Reviewer: strings.Join(slices.Sorted(maps.Keys(said)), ", "),
			Reason: strings.Join(reason, "; ")}
	}
	return overrides
}

// PairCodes returns what people say of inconsistent pairs of answers: the codes
// that at least half of them gave a pair, and their comments.
func PairCodes(labels []Label) func(crosstalk.Observation) (codes, note string) {
	given := map[string][]Label{}
	for key, list := range byUnit(labels) {
		if list[0].Question == Codes {
			given[key] = list
		}
	}
	return func(o crosstalk.Observation) (string, string) {
		list := given[key(Codes, o.Item, o.Sample, o.Variant, o.Condition, 0)]
		counts := map[string]int{}
		var comments []string
		for _, l := range list {
			for code := range strings.SplitSeq(l.Label, "; ") {
				counts[code]++
			}
			if l.Comment != "" {
				comments = append(comments, l.Comment)
			}
		}
		maps.DeleteFunc(counts, func(_ string, n int) bool { return 2*n < len(list) })
		return strings.Join(slices.Sorted(maps.Keys(counts)), "; "), strings.Join(comments, "; ")
	}
}

// byUnit are labels by what they are about.
func byUnit(labels []Label) map[string][]Label {
	units := map[string][]Label{}
	for _, l := range labels {
		units[l.Key()] = append(units[l.Key()], l)
	}
	return units
}
