package labels

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/ask/journal"
	"crosstalk/instrument"
	"crosstalk/instrument/confusion"
	"crosstalk/instrument/consistency"
	"crosstalk/instrument/consistency/read"
	"crosstalk/run"
)

// Sheet is one question about the answers of a run.
type Sheet struct {
	Question Question
	Units    []Unit
	at       map[string]int  // places in Units by key
	words    map[int]float64 // of answers: 1 if the instrument found no wrong word in them, else 0
	err      error           // why it cannot be asked
}

// Open reads what the question of this name asks about a finished run, in the order
// of its observations; without a name, the first of its instrument's questions. What
// the instrument could not score is left out.
func Open(path, name string) (*Sheet, error) {
	sheets, errs := OpenAll(path, name)
	return sheets[0], errs[0]
}

// OpenAll opens several questions as Open does, and reads the observations once. Each
// question has a sheet or the reason why it cannot be asked.
func OpenAll(path string, names ...string) ([]*Sheet, []error) {
	sheets, errs := make([]*Sheet, len(names)), make([]error, len(names))
	err := openAll(path, names, sheets)
	for i, s := range sheets {
		if errs[i] = err; err == nil {
			errs[i] = s.err
		}
		if errs[i] != nil {
			sheets[i] = nil
		}
	}
	return sheets, errs
}

func openAll(path string, questions []string, sheets []*Sheet) error {
	if _, err := run.ReadEstimates(path); err != nil { // it is finished
		return err
	}
	manifest, err := run.ReadManifest(path)
	if err != nil {
		return err
	}
	name := manifest.Plan.Instrument
	possible := QuestionsOf(name)
	if len(possible) == 0 {
		return fmt.Errorf("%s: there are no questions about a run of %s", path, name)
	}
	readers := make([]reader, len(questions))
	for i, wanted := range questions {
		s := &Sheet{at: map[string]int{}}
		sheets[i] = s
		q := slices.IndexFunc(possible, func(q Question) bool { return q.Name == cmp.Or(wanted, possible[0].Name) })
		if q < 0 {
			s.err = fmt.Errorf("unknown question %q for a run of %s; choose one of: %s", wanted, name,
				strings.Join(names(possible), ", "))
			continue
		}
		s.Question = possible[q]
		if s.Question.Words && s.Question.Unit != unitLine {
			s.words = map[int]float64{}
		}
		units, done, err := s.unitsOf(path, manifest)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		defer done()
		readers[i] = reader{s, units, map[string]string{}}
	}
	if !slices.ContainsFunc(sheets, func(s *Sheet) bool { return s.err == nil }) {
		return nil
	}
	for o, err := range run.ReadObservations(path) {
		if err != nil {
			return err
		}
		for _, r := range readers {
			if r.Sheet != nil && r.err == nil {
				r.err = r.read(path, o)
			}
		}
	}
	for _, r := range readers {
		if r.Sheet != nil {
			r.fill()
		}
	}
	return nil
}

// reader reads the units of a sheet.
type reader struct {
	*Sheet
	units  func(crosstalk.Observation) []Unit
	inputs map[string]string // the first given text of each item
}

func (r reader) read(path string, o crosstalk.Observation) error {
	if r.words != nil && o.Measure == confusion.WPR { // after LPR of the same answer
		r.readWords(o)
	}
	if o.Measure != r.Question.Measure {
		return nil
	}
	if text := o.Text(cmp.Or(r.Question.Given[0], r.Question.Topic)); text != "" {
		r.inputs[o.Item] = text
	}
	for _, u := range r.units(o) {
		if err := r.add(u); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// readWords keeps what the instrument found in the words of an answer.
func (s *Sheet) readWords(o crosstalk.Observation) {
	right := float64(o.Value)
	if !o.Value.Defined() {
		right = 0
		if o.NotScored != confusion.LineError {
			return
		}
	}
	condition := s.unjudged(o.Condition)
	if i, known := s.at[key(s.Question.Name, o.Item, o.Sample, o.Variant, condition, 0)]; known {
		s.words[i] = right
	}
}

// unjudged is a condition without the judge's column.
func (s *Sheet) unjudged(condition map[string]string) map[string]string {
	condition = maps.Clone(condition)
	delete(condition, instrument.Named(s.Question.Instrument).Judge)
	return condition
}

// add adds a unit with one judgement, or the judgement to the unit that is there.
func (s *Sheet) add(u Unit) error {
	u.near = s.Question.Near
	u.key = key(s.Question.Name, u.Item, u.Sample, u.Variant, u.Condition, u.Line)
	i, known := s.at[u.key]
	if !known {
		s.at[u.key] = len(s.Units)
		s.Units = append(s.Units, u)
		return nil
	}
	old := &s.Units[i]
	if slices.ContainsFunc(old.Judged, func(j Judged) bool { return j.Judge == u.Judged[0].Judge }) {
		return fmt.Errorf("item %s has two answers with sample %d; labels cannot tell them apart", u.Item, u.Sample)
	}
	old.Judged = append(old.Judged, u.Judged...)
	old.Doubt = min(old.Doubt, u.Doubt)
	return nil
}

// fill completes units from other observations: one whose input was not rewritten does
// not repeat the input, and the classes of a task come from all its answers.
func (r reader) fill() {
	classes, all := map[string]map[string]bool{}, map[string]bool{}
	for i := range r.Units {
		u := &r.Units[i]
		switch {
		case r.Question.Given[0] != "":
			u.Given[0] = cmp.Or(u.Given[0], r.inputs[u.Item])
			u.Given[1] = cmp.Or(u.Given[1], u.Given[0])
		case u.Topic == "":
			u.Topic = r.inputs[u.Item]
		}
		for _, c := range u.Choices {
			if classes[u.Topic] == nil {
				classes[u.Topic] = map[string]bool{}
			}
			classes[u.Topic][c], all[c] = true, true
		}
	}
	if r.Question.Unit != unitReading {
		return
	}
	choices := func(classes map[string]bool) []string {
		return append(slices.Sorted(maps.Keys(classes)), noClass, cannotTell)
	}
	for i := range r.Units {
		r.Units[i].Choices = choices(classes[r.Units[i].Topic])
	}
	for _, label := range choices(all) {
		r.Question.Choices = append(r.Question.Choices, choice{Label: label, Value: math.NaN()})
	}
}

// own are the labels that answer the sheet's question.
func (s *Sheet) own(labels []Label) (list []Label) {
	for _, l := range labels {
		if l.Question == s.Question.Name {
			list = append(list, l)
		}
	}
	return list
}

// check returns an error that names the option if no unit has one of these columns.
func (s *Sheet) check(option string, columns []string) error {
	known := map[string]bool{findingColumn: true}
	for _, u := range s.Units {
		for c := range u.Columns {
			known[c] = true
		}
		for c := range u.Condition {
			known[c] = true
		}
		known[lengthColumn] = known[lengthColumn] || u.Line > 0
		known[disputedColumn] = known[disputedColumn] || len(u.Judged) > 1
		known[doubtfulColumn] = known[doubtfulColumn] || !math.IsNaN(u.Doubt)
	}
	maps.DeleteFunc(known, func(_ string, has bool) bool { return !has })
	for _, c := range columns {
		switch {
		case known[c]:
		case c == disputedColumn:
			return crosstalk.BadOption(option, " %s: needs a run with several similarities", c)
		case c == doubtfulColumn && s.Question.Near > 0:
			return crosstalk.BadOption(option, " %s: this run does not say how sure the instrument was; score it again", c)
		default:
			return crosstalk.BadOption(option, ": unknown column %s; choose one of: %s", c,
				strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
	}
	return nil
}

// answered opens the questions about a run that a label answers and wanted, the most
// important first.
func answered(path string, labels []Label, wanted func(Question) bool) ([]*Sheet, error) {
	manifest, err := run.ReadManifest(path)
	if err != nil {
		return nil, err
	}
	questions := slices.DeleteFunc(QuestionsOf(manifest.Plan.Instrument), func(q Question) bool {
		return !wanted(q) || !slices.ContainsFunc(labels, func(l Label) bool { return l.Question == q.Name })
	})
	if len(questions) == 0 {
		return nil, nil
	}
	sheets, errs := OpenAll(path, names(questions)...)
	return sheets, errors.Join(errs...)
}

// given reads the labels of a run and how their questions were drawn. No label is
// an error.
func given(path string) ([]Label, Design, error) {
	labels, err := Read(path)
	if err != nil {
		return nil, Design{}, err
	}
	if len(labels) == 0 {
		return nil, Design{}, fmt.Errorf("%s has no labels: "+
			"use 'crosstalk labels export' and 'crosstalk labels import'", path)
	}
	design, err := ReadDesign(path)
	return labels, design, err
}

// unitsOf returns a function that makes units of an observation: none, one, or one
// for each line. Each has one judgement. done is called after the last one.
func (s *Sheet) unitsOf(path string, m run.Manifest) (
	units func(crosstalk.Observation) []Unit, done func() error, err error,
) {
	done = func() error { return nil }
	switch s.Question.Unit {
	case unitLine:
		units, err = s.lines(m)
		return units, done, err
	case unitReading:
		j, err := journal.OpenReader(filepath.Join(path, journal.Name))
		if err != nil { // recorded answers have none
			return s.readings(nil), done, nil
		}
		return s.readings(j), j.Close, nil
	}
	return func(o crosstalk.Observation) []Unit {
		differ := o.Finding == consistency.Inconsistent && o.Condition[consistency.ReadingColumn] != consistency.AsRead
		if !scored(o) || s.Question.Unit == unitPair && !differ {
			return nil
		}
		return []Unit{s.unit(o)}
	}, done, nil
}

func scored(o crosstalk.Observation) bool { return o.NotScored == "" && o.Value.Defined() }

// unit is the unit of an observation.
func (s *Sheet) unit(o crosstalk.Observation) Unit {
	q := s.Question
	j := Judged{Judge: o.Condition[instrument.Named(q.Instrument).Judge], Value: float64(o.Value), Finding: o.Finding,
		Difference: math.NaN()}
	if a, known := o.Numbers[q.Sides[0]]; known {
		if b, known := o.Numbers[q.Sides[1]]; known {
			j.Difference = a - b
		}
	}
	u := Unit{Item: o.Item, Sample: o.Sample, Variant: o.Variant, Condition: s.unjudged(o.Condition),
		Cluster: cmp.Or(o.Cluster, o.Item), Columns: o.Labels, Topic: cmp.Or(o.Text(q.Topic), o.Labels[q.Topic]),
		Judged: []Judged{j}, Doubt: math.Abs(j.Difference)}
	if margin, known := o.Numbers[confusion.Margin]; known {
		u.Doubt = margin
	}
	for side := range 2 {
		if name := q.Sides[side]; name != "" {
			u.Texts[side] = o.Text(name)
		}
		if name := q.Given[side]; name != "" {
			u.Given[side] = o.Text(name)
		}
	}
	return u
}

// lines makes a unit of each checked line of an answer.
func (s *Sheet) lines(m run.Manifest) (func(crosstalk.Observation) []Unit, error) {
	rules := map[string]confusion.Rules{}
	for _, scoring := range m.Scoring {
		var r confusion.Rules
		if err := json.Unmarshal(scoring.Rules, &r); err != nil {
			return nil, fmt.Errorf("invalid rules: %w", err)
		}
		rules[scoring.Protocol] = r
		rules[""] = r // of observations of the only protocol
	}
	return func(o crosstalk.Observation) (units []Unit) {
		if !scored(o) {
			return nil
		}
		rule := rules[o.Condition[crosstalk.ProtocolColumn]]
		wrong := map[int]crosstalk.Span{}
		for _, span := range o.Spans {
			wrong[span.Line] = span
		}
		answer := s.unit(o)
		_, sure := o.Numbers[confusion.Margin]
		for _, line := range rule.Lines(answer.Topic, answer.Texts[0]) {
			u := answer
			u.Line, u.Texts[0] = line.Line, line.Text
			u.Judged = []Judged{{Value: 1, Difference: math.NaN()}}
			if sure && line.Line != int(o.Numbers[confusion.MarginLine]) {
				u.Doubt = math.Inf(1) // farther than the answer's nearest line
			}
			if span, found := wrong[line.Line]; found {
				u.Judged[0].Value, u.Judged[0].Finding = 0, cmp.Or(span.Language, "unknown")
				u.Doubt = math.Abs(float64(span.Probability) - rule.Threshold)
			}
			units = append(units, u)
		}
		return units
	}, nil
}

// readings makes a unit of each answer whose class was read, the first time it
// comes: answers with the same text to the same instruction are read alike. The
// journal has what was asked.
func (s *Sheet) readings(j *journal.Journal) func(crosstalk.Observation) []Unit {
	seen := map[consistency.Answered]bool{}
	return func(o crosstalk.Observation) []Unit {
		if o.Text(consistency.RuleText) == "" || o.Condition[consistency.ReadingColumn] == consistency.Reviewed {
			return nil
		}
		answered := consistency.Answered{Task: o.Labels[consistency.TaskColumn],
			Instruction: o.Text(consistency.SenseText), Text: o.Text(consistency.AnswerText)}
		if seen[answered] {
			return nil
		}
		seen[answered] = true
		u := s.unit(o)
		u.answered = answered
		delete(u.Condition, consistency.ReadingColumn)
		class := o.Text(consistency.ClassText)
		u.Judged = []Judged{{Value: math.NaN(), Difference: math.NaN(), Finding: cmp.Or(class, noClass)}}
		if j != nil && len(o.Answers) > 0 {
			if r, found, err := j.Record(o.Answers[0]); err == nil && found {
				u.Given[0] = lastMessage(r.Request)
			}
		}
		u.Doubt = 1
		var confidence read.Confidence
		if err := confidence.UnmarshalText([]byte(o.Text(consistency.Confidence))); err != nil || confidence <= read.Low {
			u.Doubt = 0
		}
		for _, class := range []string{class, o.Text(consistency.GoldText)} {
			if class != "" {
				u.Choices = append(u.Choices, class)
			}
		}
		return []Unit{u}
	}
}

// lastMessage is the end of a request: the question.
func lastMessage(r crosstalk.Request) string {
	if n := len(r.Messages); n > 0 {
		return strings.TrimSpace(r.Messages[n-1].Content)
	}
	return strings.TrimSpace(r.Prompt)
}
