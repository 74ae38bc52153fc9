package labels

import "slices"

// Merge adds to a run what people said of runs that have parts of its answers, of
// shards: labels, notes, and how samples were drawn. What the run has of the same
// answer by the same annotator stays, unless a part has something later. So to merge
// again has no effect. It returns how many labels and notes were added.
//
// Sheets that were exported from a part are imported into the part, whose secret
// blinded them.
func Merge(run string, parts []string) (added int, err error) {
	for _, part := range parts {
		labels, err := mergeLabels(run, part)
		if err != nil {
			return added, err
		}
		notes, err := mergeNotes(run, part)
		if err != nil {
			return added, err
		}
		added += labels + notes
		design, err := ReadDesign(part)
		if err != nil {
			return added, err
		}
		for _, sample := range design.Samples {
			if _, err := Plan(run, sample); err != nil {
				return added, err
			}
		}
	}
	return added, nil
}

func mergeLabels(run, part string) (added int, err error) {
	have, from := NewLog(run), NewLog(part)
	if err := have.Refresh(); err != nil {
		return 0, err
	}
	if err := from.Refresh(); err != nil {
		return 0, err
	}
	var list []Label
	for _, l := range from.list {
		before, _, found := have.Find(l.Annotator, l.Key())
		if found && l.When.After(before.When) || !found && l.Label != "" {
			list = append(list, l)
		}
	}
	if len(list) == 0 {
		return 0, nil
	}
	return len(list), Append(run, list...)
}

func mergeNotes(run, part string) (added int, err error) {
	have, err := lastNotes(run)
	if err != nil {
		return 0, err
	}
	from, err := lastNotes(part)
	if err != nil {
		return 0, err
	}
	var list []Note
	for key, n := range from {
		before, found := have[key]
		if found && n.When.After(before.When) || !found && !n.Empty() {
			list = append(list, n)
		}
	}
	slices.SortFunc(list, func(a, b Note) int { return a.When.Compare(b.When) })
	for _, n := range list {
		if err := AddNote(run, n); err != nil {
			return 0, err
		}
	}
	return len(list), nil
}
