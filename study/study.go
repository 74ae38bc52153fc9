// Package study runs a measurement from end to end: a suite under conditions and
// protocols, or recorded answers. A study is opened from data (Leakage, Confusion,
// Consistency), counts its requests, measures, and resumes if it is run again in
// the same directory.
//
// Data flows from items or recorded rows to answers, to observations, which are
// written to the run and added to an estimator, to estimates.
package study

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"crosstalk"
	"crosstalk/model"
	"crosstalk/run"
	"crosstalk/shard"
	"crosstalk/study/similarities"
	"crosstalk/suite"
)

// Study is a measurement with one or several protocols of an instrument.
type Study struct {
	Instrument string
	Suite      *suite.Suite // nil for recorded answers
	By         []string     // columns for grouping figures
	Protocols  []Protocol
	Notes      Notes // on recorded rows that are not scored

	Names map[string]string // kept in the run; nil: those that it has

	// Observe, if set, returns what is called with every observation that the
	// figures are about. It is asked again if measuring starts over.
	Observe func() func(crosstalk.Observation)

	shard  shard.Shard
	part   suite.Items // the shard's items
	places []int       // their numbers in the suite; nil: the study has all

	thought atomic.Int64 // recorded answers that had thoughts in them

	asked   bool                      // for By: columns of the instrument's default may be missing
	suites  func() crosstalk.SuiteIDs // known when all is observed
	columns Columns                   // that the instrument adds to the suite's and the grid's, or that recorded answers have
	check   func() error              // reads what was recorded once before it is scored; nil: scoring finds out
	rescan  func() error              // the same before anything is written, where check is nil
	env     *similarities.Env         // nil: nothing is compared
	counted []Counted                 // the conditions of all protocols, unless answers were recorded

	families []model.Family // that the user added
	mu       sync.Mutex
	found    []string // changes that models asked for, in words
	plan     run.Plan // of recorded answers

	// prepare sends the requests that must precede those of the items; nil: none.
	prepare func(ctx context.Context, dir *run.Dir, asker func(Protocol, Condition) crosstalk.Asker) error
	// common sends the same for one condition and uses nothing of it; nil: none.
	common func(ctx context.Context, protocol int, c Condition, asker crosstalk.Asker) error
}

// Protocol is the part of a study with one set of rules.
type Protocol struct {
	Rules   crosstalk.Rules
	Scoring run.Scoring

	Conditions []Condition // to be asked
	// instrument returns the instrument for a condition. Unless it is to score, it
	// only needs to ask.
	instrument func(c Condition, score bool) crosstalk.Instrument

	// recorded yields the observations of recorded answers in their order; no model
	// is asked.
	recorded func(context.Context) iter.Seq2[scored, error]
}

// scored is what came of one item of what was recorded.
type scored struct {
	item         int // its number, from 0, in the order in which items are read
	observations []crosstalk.Observation
}

// Changes are, in words, the settings that are not sent as the protocol or the
// user wants, since a model takes nothing else: those that are known before it
// is asked, and those found since.
func (s *Study) Changes() (changes []string) {
	for _, p := range s.Protocols {
		for _, c := range p.Conditions {
			for _, change := range c.Changes {
				if text := change.String(); !slices.Contains(changes, text) {
					changes = append(changes, text)
				}
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return append(changes, s.found...)
}

// noteChange notes a change that a model asked for.
func (s *Study) noteChange(c model.Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if text := c.String(); !slices.Contains(s.found, text) {
		s.found = append(s.found, text)
	}
}

// Remarks are what is to be said of recorded answers once they are scored, each in a
// line: the notes, and how many had the model's thoughts in them.
func (s *Study) Remarks() []string {
	remarks := slices.Concat(s.Notes.Files, s.Notes.Shown)
	if s.Notes.More > 0 {
		remarks = append(remarks, fmt.Sprintf("and %d more like these", s.Notes.More))
	}
	if n := s.thought.Load(); n > 0 {
		remarks = append(remarks, fmt.Sprintf("note: %d answers had the model's thoughts in them, which are not scored", n))
	}
	return remarks
}

// countThoughts counts the answers that had thoughts in them, unless another
// protocol than the first reads them.
func (s *Study) countThoughts(protocol string, answers ...crosstalk.Answer) {
	if s.Protocols[0].Scoring.Protocol != protocol {
		return
	}
	for _, a := range answers {
		if a.Reasoning != "" {
			s.thought.Add(1)
		}
	}
}

// IsRecorded reports whether the study's answers were recorded elsewhere.
func (s *Study) IsRecorded() bool { return s.Suite == nil }

// suitesOf is the id of a suite, which takes a while to compute for a large one.
func suitesOf(s *suite.Suite) func() crosstalk.SuiteIDs {
	return sync.OnceValue(func() crosstalk.SuiteIDs { return crosstalk.SuiteIDs{All: s.ID()} })
}

// Plan is the run's: the conditions of all protocols, each once.
func (s *Study) Plan() run.Plan {
	if s.IsRecorded() {
		plan := s.plan
		plan.Shard = s.shard
		return plan
	}
	plan := run.Plan{Instrument: s.Instrument, Suite: s.suites().All, Shard: s.shard}
	seen := map[string]bool{}
	for _, p := range s.Protocols {
		for _, c := range p.Conditions {
			if key := string(crosstalk.Canonical(c.Condition)); !seen[key] {
				seen[key] = true
				plan.Conditions = append(plan.Conditions, c.Condition)
			}
		}
	}
	return plan
}

// Directory is the default run directory, of all shards if there are some: below
// runs, named after suite, model and plan.
func (s *Study) Directory() string {
	plan := s.Plan().Whole()
	var models []string
	for _, c := range plan.Conditions {
		if n := len(models); n == 0 || models[n-1] != c.Model.Name {
			models = append(models, c.Model.Name)
		}
	}
	name := models[0]
	if n := len(models) - 1; n > 0 {
		name += fmt.Sprintf("-and-%d-more", n)
	}
	return filepath.Join("runs", fileName(s.Suite.Name+"-"+name)+"-"+plan.Hash())
}

// fileName turns a text into a name that every file system accepts.
func fileName(s string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '.', r == '_':
			return r
		}
		return '-'
	}, s), "-.")
}

// named are a protocol's conditions with the names in observations, as far as
// they are known before anything is asked.
func (s *Study) named(p Protocol) []Condition {
	named := slices.Clone(p.Conditions)
	for i := range named {
		named[i] = s.observed(p, named[i])
	}
	return named
}

// Items is the number of items of all conditions that this study measures.
func (s *Study) Items() (n int) {
	for _, p := range s.Protocols {
		n += len(p.Conditions) * s.items().Len()
	}
	return n
}

// CheckBy returns an error if a column for grouping is neither in the suite nor in
// the grid. The columns of recorded answers are known only when they are read; Run
// checks them.
func (s *Study) CheckBy() error {
	if s.IsRecorded() || !s.asked {
		return nil
	}
	known := maps.Clone(s.columns)
	for _, p := range s.Protocols {
		for _, c := range s.named(p) {
			known.Add(c.Name)
		}
	}
	for _, item := range s.Suite.Items.All() {
		known.Add(item.Labels)
	}
	return s.checkBy(known)
}

func (s *Study) checkBy(known Columns) error {
	if !s.asked {
		return nil
	}
	return known.Check(s.By)
}

// conditionOf names the condition of recorded answers: their model and, if there
// are several protocols, the protocol.
func conditionOf(model, protocol string, protocols int) map[string]string {
	name := map[string]string{"model": model}
	if protocols > 1 {
		name["protocol"] = protocol
	}
	return name
}

// Columns are the columns by which observations can be grouped.
type Columns map[string]bool

// Add adds the columns of some labels.
func (known Columns) Add(labels map[string]string) {
	for c := range labels {
		known[c] = true
	}
}

// Check returns an error for an unknown column.
func (known Columns) Check(by []string) error {
	for _, column := range by {
		if !known[column] {
			return crosstalk.BadOption("by", ": %w", known.Unknown(column))
		}
	}
	return nil
}

// Unknown is the error for an unknown column.
func (known Columns) Unknown(column string) *ColumnError {
	return &ColumnError{column, slices.Sorted(maps.Keys(known))}
}

// ColumnError is an unknown column for grouping.
type ColumnError struct {
	Column string
	Known  []string // the columns that they have
}

func (e *ColumnError) Error() string {
	return crosstalk.UnknownName("column", e.Column, e.Known).Error()
}

// ParseBy reads the columns for grouping figures, each once.
func ParseBy(by []string) ([]string, error) {
	clean := []string{}
	for _, column := range by {
		if column = strings.TrimSpace(column); column == "" {
			return nil, crosstalk.BadOption("by", " has an empty column name; expected names such as category,language")
		}
		if !slices.Contains(clean, column) {
			clean = append(clean, column)
		}
	}
	return clean, nil
}

// group sets the columns for grouping figures: those of an option or, if it is
// nil, the instrument's defaults, which observations may lack.
func (s *Study) group(by, byDefault []string) (err error) {
	s.By, s.asked = byDefault, by != nil
	if s.asked {
		s.By, err = ParseBy(by)
	}
	return err
}

// Notes are remarks on recorded answers. Of those on single rows the first few are
// kept, the rest counted.
type Notes struct {
	Files []string // on files
	Shown []string // on rows
	More  int
}

func (n *Notes) add(note string) {
	if len(n.Shown) < 10 {
		n.Shown = append(n.Shown, note)
		return
	}
	n.More++
}

// say adds a note on a whole file, once.
func (n *Notes) say(note string) {
	if !slices.Contains(n.Files, note) {
		n.Files = append(n.Files, note)
	}
}

func (n *Notes) first() string {
	if len(n.Shown) == 0 {
		return ""
	}
	return ": " + n.Shown[0]
}
