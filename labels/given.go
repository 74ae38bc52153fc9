package labels

import (
	"fmt"
	"slices"

	"crosstalk"
	"crosstalk/run"
)

// given reads the labels of a run and how their questions were drawn. No label is
// an error.
func given(path string) ([]Label, Design, error) {
	labels, err := Read(path)
	if err != nil {
		return nil, Design{}, err
	}
	if len(labels) == 0 {
		return nil, Design{}, fmt.Errorf("%s has no labels: use 'crosstalk labels export' and 'crosstalk labels import'", path)
	}
	design, err := ReadDesign(path)
	return labels, design, err
}

// Answered opens the questions about a run that a label answers and wanted, the
// most important first.
func Answered(path string, labels []Label, wanted func(Question) bool) (sheets []*Sheet, err error) {
	manifest, err := run.ReadManifest(path)
	if err != nil {
		return nil, err
	}
	for _, q := range QuestionsOf(manifest.Plan.Instrument) {
		if !wanted(q) || !slices.ContainsFunc(labels, func(l Label) bool { return l.Question == q.Name }) {
			continue
		}
		sheet, err := Open(path, q.Name)
		if err != nil {
			return nil, err
		}
		sheets = append(sheets, sheet)
	}
	return sheets, nil
}

// AgreementOf compares the labels of a finished run that answer a question, by
// default the first of its instrument's. If By is nil, it is the columns that the
// run was scored by last and LengthColumn, those of them that the questions have.
func AgreementOf(path, question string, o Options) (Agreement, error) {
	sheet, err := Open(path, question)
	if err != nil {
		return Agreement{}, err
	}
	labels, design, err := given(path)
	if err != nil {
		return Agreement{}, err
	}
	stated := o.By != nil
	if !stated {
		manifest, err := run.ReadManifest(path)
		if err != nil {
			return Agreement{}, err
		}
		if len(manifest.Scoring) > 0 {
			o.By = sheet.having(append(slices.Clone(manifest.Scoring[0].By), LengthColumn))
		}
	}
	a, err := sheet.Compare(design, labels, o)
	if !stated {
		a.groups = append([]string{}, o.By...)
	}
	if err == nil && a.Questions == 0 {
		err = fmt.Errorf("%s: none of its %d labels answers the question %s about an answer that was scored", path, len(labels), a.Question)
	}
	return a, err
}

// having are the columns that the sheet's units have.
func (s *Sheet) having(columns []string) []string {
	return slices.DeleteFunc(columns, func(column string) bool { return s.CheckBy([]string{column}) != nil })
}

// CorrectedOf returns the figures of a finished run that its labels correct, as
// Sheet.Correct does, of every question that was answered. Notes say what could
// not be corrected.
func CorrectedOf(path string, by []string) (estimates []crosstalk.Estimate, notes []string, err error) {
	labels, design, err := given(path)
	if err != nil {
		return nil, nil, err
	}
	own, err := run.ReadEstimates(path)
	if err != nil {
		return nil, nil, err
	}
	sheets, err := Answered(path, labels, func(q Question) bool { return q.Fault != "" }) // others say nothing of a figure
	if err != nil {
		return nil, nil, err
	}
	if len(sheets) == 0 {
		return nil, nil, fmt.Errorf("%s: no label is of a question whose figure can be corrected", path)
	}
	for _, sheet := range sheets {
		if err := sheet.ReadWords(path); err != nil {
			return nil, nil, err
		}
		corrected, err := sheet.Correct(design, labels, by, own)
		if err != nil {
			return nil, nil, err
		}
		estimates = append(estimates, corrected...)
		if sheet.Question.Name == Language && !sheet.MarkedWords(labels) {
			notes = append(notes, "WPR and LCPR are not corrected: no label marks a word")
		}
	}
	return estimates, notes, nil
}
