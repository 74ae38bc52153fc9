package study

import (
	"cmp"
	"context"
	"iter"
	"maps"
	"slices"

	"crosstalk"
	"crosstalk/internal/intern"
	"crosstalk/internal/parallel"
	"crosstalk/measure/langgroup"
	"crosstalk/measure/langid"
	"crosstalk/run"
	"crosstalk/run/figures"
	"crosstalk/suite"

	"golang.org/x/sync/semaphore"
)

// recordedAnswers holds what all sources of recorded answers share.
type recordedAnswers struct {
	*Study
	files   []string
	planned run.Plan
	groups  groups                        // of the items seen by check
	rows    iter.Seq2[recordedRow, error] // of all files in order
	batch   struct{ rows, together int }  // number of rows scored in sequence, and of batches at a time
}

type recordedRow struct {
	item    crosstalk.Item
	prompt  string // "" if unknown
	bytes   int    // of the answers
	thought int64  // answers that include thoughts, which are not scored

	// score scores the row; item has the labels of its groups. It is called concurrently.
	score func(ctx context.Context, protocol int, item crosstalk.Item) ([]crosstalk.Observation, error)
	note  func() // called once, in the order of rows; may be nil
}

func (r *recordedRow) add(answers ...crosstalk.Answer) {
	for _, answer := range answers {
		r.bytes += len(answer.Text)
		if answer.Reasoning != "" {
			r.thought++
		}
	}
}

// rowsOf yields the values of read as rows, until the first error.
func rowsOf[R any](read iter.Seq2[R, error], row func(R) recordedRow) iter.Seq2[recordedRow, error] {
	return func(yield func(recordedRow, error) bool) {
		for of, err := range read {
			if err != nil {
				yield(recordedRow{}, err)
				return
			}
			if !yield(row(of), nil) {
				return
			}
		}
	}
}

func (r *recordedAnswers) plan() run.Plan { return r.planned }

// see registers an item before any is scored.
func (r *recordedAnswers) see(labels map[string]string, prompt string) {
	r.columns.Add(labels)
	r.groups.see(labels, prompt)
}

func (r *recordedAnswers) seen() error {
	r.groups.done()
	maps.Copy(r.columns, r.groups.columns())
	return r.checkBy(r.columns)
}

// conditionOf returns the condition of recorded answers: their model and, if there are several, the protocol.
func (s *Study) conditionOf(model string, protocol int) map[string]string {
	name := map[string]string{"model": model}
	if len(s.Protocols) > 1 {
		name[crosstalk.ProtocolColumn] = s.Protocols[protocol].Scoring.Protocol
	}
	return name
}

// observations scores the shard's rows and yields the observations of each, in order.
func (r *recordedAnswers) observations(ctx context.Context, _ *Measurement, protocol int) iter.Seq2[scored, error] {
	score := func(ctx context.Context, b recordedBatch) (recordedBatch, error) {
		for i, row := range b.rows {
			if !r.shard.Has(cmp.Or(row.item.Cluster, row.item.ID)) {
				continue
			}
			if protocol == 0 {
				r.thought.Add(row.thought)
			}
			row.item.Labels = r.groups.label(row.item.Labels, row.prompt)
			observations, err := row.score(ctx, protocol, row.item)
			if err != nil {
				return b, err
			}
			b.scored = append(b.scored, scored{run.Place{Item: b.first + i}, observations})
		}
		return b, nil
	}
	return func(yield func(scored, error) bool) {
		inside, leave := context.WithCancel(ctx)
		defer leave()
		const short = 4 << 10 // rows with answers of at most so many bytes need not wait
		room := semaphore.NewWeighted(scoringBytes)
		weighed := func(yield func(recordedBatch, error) bool) {
			for b, err := range r.batches {
				b.weight = min(scoringBytes, scoringTimes*int64(max(0, b.longest-short)))
				if room.Acquire(inside, b.weight) != nil || !yield(b, err) {
					return
				}
			}
		}
		for b, err := range parallel.Map(inside, weighed, r.batch.together, score) {
			if err != nil {
				leave() // stop waiting for memory
				yield(scored{}, err)
				return
			}
			for _, row := range b.rows {
				if protocol == 0 && row.note != nil {
					row.note()
				}
			}
			for _, one := range b.scored {
				if !yield(one, nil) {
					leave()
					return
				}
			}
			room.Release(b.weight)
		}
	}
}

// recordedBatch is a batch of consecutive rows.
type recordedBatch struct {
	first   int // the number of its first row
	rows    []recordedRow
	scored  []scored
	longest int   // bytes of the answers of the longest row
	weight  int64 // approximate bytes needed to score the row
}

// batchBytes is the approximate limit of the bytes of answers in a batch.
const batchBytes = 1 << 16

func (r *recordedAnswers) batches(yield func(recordedBatch, error) bool) {
	var next recordedBatch
	bytes := 0
	for row, err := range r.rows {
		if err != nil {
			yield(next, err)
			return
		}
		next.rows, next.longest = append(next.rows, row), max(next.longest, row.bytes)
		bytes += row.bytes
		if len(next.rows) == r.batch.rows || bytes >= batchBytes {
			if !yield(next, nil) {
				return
			}
			next, bytes = recordedBatch{first: next.first + len(next.rows)}, 0
		}
	}
	if next.rows != nil {
		yield(next, nil)
	}
}

// figures.Columns that a study adds to its items' labels, unless the data have a column of the same name.
const (
	familyColumn       = "family"        // of the item's language: langgroup.Groups
	scriptColumn       = "script"        // likewise
	indoEuropeanColumn = "indo_european" // "yes", "no" or langgroup.Undetermined, by the item's language
	latinColumn        = "latin"         // "yes", "no" or langgroup.Undetermined, by the script
	localeColumn       = "locale"        // the whole tag of the language, if the data have more than languages: "de-DE"
	tertileColumn      = "length_tertile"
)

var (
	languageColumns = []string{familyColumn, scriptColumn, indoEuropeanColumn, latinColumn}
	addedColumns    = append(slices.Clone(languageColumns), localeColumn, tertileColumn)
)

// groups are the groups of a study's items: those of their languages, and the tertiles of prompt length within each
// task, source and language. The language of an item becomes its canonical code, so that de and de-DE are one language
// in every figure. The zero value has seen no item.
//
// All items are seen first, in any order, and labelled afterwards, possibly concurrently.
type groups struct {
	own       map[string]bool              // columns of the data that keep their values
	languages map[string]map[string]string // columns by the tag that the data have
	locales   bool                         // a tag says more than the code of its language
	lengths   map[cell]map[float64]int     // number of prompts by length in words
	tertiles  map[cell]map[float64]string
}

// cell is a set of prompts whose lengths are compared. Lengths differ between languages and sources, and a figure is
// a mean over both: tertiles of all prompts would compare languages and sources, not lengths.
type cell struct{ task, source, language string }

func cellOf(labels map[string]string) cell {
	language, _ := langid.Canonical(labels["language"])
	return cell{labels["task"], labels["source"], language}
}

// see registers an item with its prompt, "" if unknown.
func (g *groups) see(labels map[string]string, prompt string) {
	if g.own == nil {
		g.own, g.languages, g.lengths = map[string]bool{}, map[string]map[string]string{}, map[cell]map[float64]int{}
	}
	for _, column := range addedColumns {
		if _, has := labels[column]; has {
			g.own[column] = true
		}
	}
	if language := labels["language"]; language != "" && g.languages[language] == nil {
		of := langgroup.Of(language)
		code, locale := langid.Canonical(language)
		g.locales = g.locales || locale != code
		g.languages[language] = map[string]string{familyColumn: of.Family, scriptColumn: of.Script,
			indoEuropeanColumn: is(of.Family, langgroup.IndoEuropean), latinColumn: is(of.Script, langgroup.Latin),
			localeColumn: locale}
	}
	if words := crosstalk.WordsIn(prompt); words > 0 {
		at := cellOf(labels)
		if g.lengths[at] == nil {
			g.lengths[at] = map[float64]int{}
		}
		g.lengths[at][words]++
	}
}

func is(group, wanted string) string {
	switch group {
	case langgroup.Undetermined:
		return group
	case wanted:
		return "yes"
	}
	return "no"
}

func (g *groups) done() {
	g.tertiles = make(map[cell]map[float64]string, len(g.lengths))
	for at, counts := range g.lengths {
		g.tertiles[at] = tertiles(counts)
	}
}

// label returns an item's labels with the canonical code of its language and its groups. It does not change labels.
// Before done, there are no groups.
func (g *groups) label(labels map[string]string, prompt string) map[string]string {
	added := map[string]string{}
	if g.tertiles != nil {
		maps.Copy(added, g.languages[labels["language"]])
		if third := g.tertiles[cellOf(labels)][crosstalk.WordsIn(prompt)]; third != "" {
			added[tertileColumn] = third
		}
		maps.DeleteFunc(added, func(column, _ string) bool { return !g.adds(column) })
	}
	language, _ := langid.Canonical(labels["language"])
	if len(added) == 0 && language == labels["language"] {
		return labels
	}
	maps.Copy(added, labels)
	if language != "" {
		added["language"] = language
	}
	return added
}

// adds reports whether items get this column: those of the data keep their values, and locales that only repeat
// languages are left out.
func (g *groups) adds(column string) bool {
	return !g.own[column] && (column != localeColumn || g.locales)
}

func (g *groups) columns() figures.Columns {
	known := figures.Columns{}
	for _, column := range addedColumns {
		has := len(g.languages) > 0
		if column == tertileColumn {
			has = len(g.lengths) > 0
		}
		if has && g.adds(column) {
			known[column] = true
		}
	}
	return known
}

// grouped returns the suite with the groups of its items, under the same id. change may change each item further.
func grouped(s *suite.Suite, change func(*crosstalk.Item) error) (*suite.Suite, error) {
	var g groups
	for _, item := range s.Items.All() {
		g.see(item.Labels, promptOf(item))
	}
	g.done()
	var labels intern.Maps
	with := *s
	with.Items = suite.Items{}
	for _, item := range s.Items.All() {
		item.Labels = labels.Of(g.label(item.Labels, promptOf(item)))
		if err := change(&item); err != nil {
			return nil, err
		}
		with.Items.Add(item)
	}
	return &with, nil
}

func unchanged(*crosstalk.Item) error { return nil }

// promptOf returns the prompt of a confusion item, and "" for other items, which nobody compares by length.
func promptOf(item crosstalk.Item) string {
	if item.Prompt == nil {
		return ""
	}
	return item.Prompt.Text
}

const (
	Short  = "short"
	Medium = "medium"
	Long   = "long"
)

// tertiles returns the tertile of prompts of each length.
//
// Prompts of the same length are in the same tertile: the one with the middle of their ranks. Without ties, the
// tertiles differ by at most one prompt. If all prompts are equally long, they are medium.
func tertiles(counts map[float64]int) map[float64]string {
	n := 0
	for _, count := range counts {
		n += count
	}
	of := make(map[float64]string, len(counts))
	shorter := 0
	for _, length := range slices.Sorted(maps.Keys(counts)) {
		middle := 2*shorter + counts[length] // the middle rank, times two
		switch {
		case 3*middle < 2*n:
			of[length] = Short
		case 3*middle <= 4*n:
			of[length] = Medium
		default:
			of[length] = Long
		}
		shorter += counts[length]
	}
	return of
}
