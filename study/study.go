// Package study runs a measurement from end to end: a suite under conditions and protocols, or recorded answers. A
// study is opened from data (Leakage, Confusion, Consistency). It counts its requests, measures, and resumes.
//
// Data flows from items or recorded rows to answers, to observations (written to the run), to estimates.
package study

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"crosstalk"
	"crosstalk/internal/lazyregexp"
	"crosstalk/model"
	"crosstalk/run"
	"crosstalk/run/figures"
	"crosstalk/run/shard"
	"crosstalk/study/similarities"
	"crosstalk/suite"
)

// Study is a measurement with one or more protocols of an instrument.
type Study struct {
	Instrument string
	Suite      *suite.Suite // nil for recorded answers
	By         []string     // columns for grouping figures
	Protocols  []Protocol
	Notes      Notes                       // on recorded rows that were not scored
	Names      map[string]string           // to keep in the run; nil: those it already has
	Observe    func(crosstalk.Observation) // if set, called with every observation in the figures

	source  source
	shard   shard.Shard
	part    suite.Items       // the shard's items
	places  []int             // their numbers in the suite; nil: all items
	thought atomic.Int64      // recorded answers that included thoughts
	byUser  bool              // the user chose By; default columns may be missing
	columns figures.Columns   // those that the instrument adds to the suite's and the grid's, or those of recorded answers
	env     *similarities.Env // nil: nothing is compared
	counted []counted         // the conditions of all protocols, unless answers were recorded
	reviews *reviews          // of rewritten instructions; nil: none are rewritten

	families  []model.Family  // added by the user
	settings  json.RawMessage // for the manifest; nil: answers were recorded
	countOnly bool            // Sweep.CountOnly
	mu        sync.Mutex
	changes   []string // described for people
}

// source yields the observations: of models that it asks (asked), or of recorded answers (recordedAnswers).
type source interface {
	// check refuses bad input before anything is scored. If keep, the observations are kept and need all columns.
	check(keep bool) error
	plan() run.Plan // of all shards
	// observations yields the observations under a protocol, in the order of items. m is nil if nothing is written.
	observations(ctx context.Context, m *Measurement, protocol int) iter.Seq2[scored, error]
	// suites identifies the items after all protocols are done. It refuses input that only scoring can judge.
	suites() (crosstalk.SuiteIDs, error)
}

type scored struct {
	place        run.Place // its Part is the number of the condition in the protocol
	observations []crosstalk.Observation
}

// Protocol is the part of a study with one set of rules.
type Protocol struct {
	Rules      crosstalk.Rules
	Scoring    run.Scoring
	Conditions []Condition // to be asked
	// instrument returns the instrument for a condition. Unless score is set, it only needs to ask.
	instrument func(c Condition, score bool) crosstalk.Instrument
}

// add adds a protocol. Without conditions, its answers are recorded ones.
func (s *Study) add(rules crosstalk.Rules, scoring run.Scoring, conditions []Condition,
	instrument func(Condition, bool) crosstalk.Instrument) {
	scoring.Rules, scoring.By = crosstalk.Canonical(rules), s.By
	s.Protocols = append(s.Protocols, Protocol{rules, scoring, conditions, instrument})
}

// Changes describes the settings that are not sent as the protocol or the user wants because a model refuses them:
// those known before it is asked, and those found out since.
func (s *Study) Changes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.changes)
}

func (s *Study) noteChange(changes ...model.Change) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range changes {
		if text := c.String(); !slices.Contains(s.changes, text) {
			s.changes = append(s.changes, text)
		}
	}
}

// Remarks returns remarks on recorded answers after scoring, one per line: notes, and how many included thoughts.
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

// IsRecorded reports whether the study's answers were recorded elsewhere.
func (s *Study) IsRecorded() bool { return s.Suite == nil }

// Plan returns the plan of the run: the conditions of all protocols, each once.
func (s *Study) Plan() run.Plan {
	plan := s.source.plan()
	plan.Shard = s.shard
	return plan
}

// Directory returns the default run directory, that of all shards: below runs, named after suite, model and plan.
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

var notInFileNames = lazyregexp.New(`[^a-zA-Z0-9._-]`)

// fileName turns a text into a name that every file system accepts.
func fileName(s string) string { return strings.Trim(notInFileNames().ReplaceAllString(s, "-"), "-.") }

// Items returns the number of items that this study measures, over all conditions.
func (s *Study) Items() (n int) {
	for _, p := range s.Protocols {
		n += len(p.Conditions) * s.items().Len()
	}
	return n
}

func (s *Study) checkBy(known figures.Columns) error {
	if !s.byUser {
		return nil
	}
	return known.Check(s.By)
}

// group sets the columns for grouping figures: those of an option or, if nil, the instrument's, which may be missing.
func (s *Study) group(by, byDefault []string) (err error) {
	s.By, s.byUser = byDefault, by != nil
	if s.byUser {
		s.By, err = figures.ParseBy(by)
	}
	return err
}

// Notes are remarks on recorded answers. Of those on single rows, the first few are kept and the others counted.
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

func (n *Notes) say(note string) {
	if !slices.Contains(n.Files, note) {
		n.Files = append(n.Files, note)
	}
}
