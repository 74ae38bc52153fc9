package labels

import "slices"

// Merge adds to a run what people said of its shards: labels, notes, and how samples
// were drawn. Where the run and a shard have something of one annotator on the same
// answer, the later one counts, so merging again has no effect. It returns how many
// labels and notes were added.
//
// A sheet that was exported from a shard is imported into that shard, whose secret
// blinded it.
func Merge(run string, shards []string) (added int, err error) {
	for _, shard := range shards {
		labels, err := mergeLabels(run, shard)
		if err != nil {
			return added, err
		}
		notes, err := mergeNotes(run, shard)
		if err != nil {
			return added, err
		}
		added += labels + notes
		design, err := ReadDesign(shard)
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

func mergeLabels(run, shard string) (added int, err error) {
	have, from := NewLog(run), NewLog(shard)
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

func mergeNotes(run, shard string) (added int, err error) {
	have, err := lastNotes(run)
	if err != nil {
		return 0, err
	}
	from, err := lastNotes(shard)
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
