package labels

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/guard"
	"crosstalk/instrument"
	"crosstalk/internal/ordered"
	"crosstalk/run"
)

// Sheet is one question about the answers of a run.
type Sheet struct {
	Question Question
	Units    []Unit
	at       map[string]int  // indexes in Units by key
	words    map[int]float64 // by answer: 1 if the instrument found no wrong word, else 0
	splits   crosstalk.LineRules
}

// Open reads the units that the question with this name asks about in a finished run, in the order of its observations;
// without a name, it takes the first of the instrument's questions. Unscored observations are left out.
func Open(path, name string) (*Sheet, error) {
	sheets, errs := OpenAll(path, name)
	return sheets[0], errs[0]
}

// OpenAll opens several questions as Open does, in one pass. Each has a sheet or the reason why it has none.
func OpenAll(path string, names ...string) ([]*Sheet, []error) {
	sheets, errs := make([]*Sheet, len(names)), make([]error, len(names))
	err := openAll(path, names, sheets, errs)
	for i := range errs {
		if errs[i] = cmp.Or(err, errs[i]); errs[i] != nil {
			sheets[i] = nil
		}
	}
	return sheets, errs
}

func openAll(path string, questions []string, sheets []*Sheet, errs []error) error {
	if _, err := run.ReadEstimates(path); err != nil { // checks that the run is finished
		return err
	}
	manifest, err := run.ReadManifest(path)
	if err != nil {
		return err
	}
	name := manifest.Plan.Instrument
	possible := questionsOf(instrument.Named(name))
	if len(possible) == 0 {
		return fmt.Errorf("%s: there are no questions about a run of %s", path, name)
	}
	answers, err := run.OpenAnswers(path)
	if err == nil { // recorded answers have none
		defer answers.Close()
	}
	readers := map[int]*reader{}
	for i, wanted := range questions {
		q := slices.IndexFunc(possible, func(q Question) bool { return q.Name == cmp.Or(wanted, possible[0].Name) })
		if q < 0 {
			errs[i] = fmt.Errorf("unknown question %q for a run of %s; choose one of: %s", wanted, name,
				strings.Join(names(possible), ", "))
			continue
		}
		s := &Sheet{Question: possible[q], at: map[string]int{}}
		sheets[i] = s
		if zero, err := instrument.ReadRules(name, []byte("{}")); err == nil {
			s.splits, _ = zero.(crosstalk.LineRules)
		}
		if s.Question.Words && !s.Question.Unit.Lines {
			s.words = map[int]float64{}
		}
		readers[i] = &reader{Sheet: s, answers: answers, inputs: map[string]string{}, seen: map[string]bool{}}
		if readers[i].rules, err = rulesOf(manifest); err != nil && s.Question.Unit.Lines {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	if len(readers) == 0 {
		return nil
	}
	for o, err := range run.ReadObservations(path) {
		if err != nil {
			return err
		}
		for i, r := range readers {
			if errs[i] == nil {
				errs[i] = r.read(path, o)
			}
		}
	}
	for _, r := range readers {
		r.fill()
	}
	return nil
}

// rulesOf returns the rules of each protocol that judge lines, or of the only one as "".
func rulesOf(m run.Manifest) (map[string]crosstalk.LineRules, error) {
	rules := map[string]crosstalk.LineRules{}
	for _, scoring := range m.Scoring {
		r, err := instrument.ReadRules(m.Plan.Instrument, scoring.Rules)
		if err != nil {
			return nil, fmt.Errorf("invalid rules: %w", err)
		}
		if lines, ok := r.(crosstalk.LineRules); ok {
			rules[scoring.Protocol], rules[""] = lines, lines
		}
	}
	return rules, nil
}

type reader struct {
	*Sheet
	rules   map[string]crosstalk.LineRules
	answers *run.Answers      // nil: there are none
	inputs  map[string]string // the first text given of each item
	seen    map[string]bool   // units added, by the values of Unit.Alike
}

func (r *reader) read(path string, o crosstalk.Observation) error {
	q := r.Question
	if r.words != nil && o.Measure == q.Corrects[1] { // follows the question's measure of the same answer
		right := float64(o.Value)
		if !o.Value.Defined() {
			right = 0
		}
		p := r.place(o)
		r.tellApart(&p, o.Labels)
		if i, known := r.at[p.key(q.Name)]; known && (o.Value.Defined() || o.Implied) {
			r.words[i] = right
		}
	}
	if o.Measure != q.Measure {
		return nil
	}
	if text := o.Text(cmp.Or(q.Given[0], q.Topic)); text != "" {
		r.inputs[o.Item] = text
	}
	for _, u := range r.units(o) {
		if err := r.add(u); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// units returns the units of an observation: none, one, or one for each line. Each has one judgement.
func (r *reader) units(o crosstalk.Observation) []Unit {
	of := r.Question.Unit
	for key, values := range of.Only {
		if !slices.Contains(values, valueOf(o, key)) {
			return nil
		}
	}
	for key, values := range of.Except {
		if slices.Contains(values, valueOf(o, key)) {
			return nil
		}
	}
	switch {
	case of.Classes != nil:
		return r.classes(o)
	case o.NotScored != "" || !o.Value.Defined():
		return nil
	case of.Lines:
		return r.lines(o)
	}
	return []Unit{r.unit(o)}
}

// valueOf returns the value of a key of Unit in an observation.
func valueOf(o crosstalk.Observation, key string) string {
	if key == findingColumn {
		return o.Finding
	}
	return cmp.Or(o.Condition[key], o.Labels[key], o.Text(key))
}

func (r *reader) place(o crosstalk.Observation) Place {
	p := Place{Item: o.Item, Sample: o.Sample, Variant: o.Variant, Condition: maps.Clone(o.Condition)}
	delete(p.Condition, r.Question.kind.Judge)
	return p
}

func (r *reader) unit(o crosstalk.Observation) Unit {
	q := r.Question
	j := Judged{Judge: o.Condition[q.kind.Judge], Value: float64(o.Value), Finding: o.Finding,
		Difference: math.NaN()}
	a, measured := o.Numbers[q.Sides[0]]
	if b, both := o.Numbers[q.Sides[1]]; measured && both {
		j.Difference = a - b
	}
	u := Unit{Place: r.place(o), Cluster: cmp.Or(o.Cluster, o.Item), Columns: o.Labels,
		Topic: cmp.Or(o.Text(q.Topic), o.Labels[q.Topic]), Judged: []Judged{j}, Doubt: math.Abs(j.Difference)}
	if doubt := q.kind.Doubt; len(doubt) == 1 {
		if margin, known := o.Numbers[doubt[0]]; known {
			u.Doubt = margin
		}
	}
	for side := range 2 {
		u.Texts[side], u.Given[side] = o.Text(q.Sides[side]), o.Text(q.Given[side])
	}
	return u
}

// lines returns a unit for each checked line of an answer.
func (r *reader) lines(o crosstalk.Observation) (units []Unit) {
	rules := r.rules[o.Condition[crosstalk.ProtocolColumn]]
	if rules == nil {
		return nil
	}
	judge := func(risk float64) crosstalk.Judge { return guard.Checker{Threshold: risk} }
	answer := r.unit(o)
	for _, line := range rules.JudgedLines(judge, o) {
		u := answer
		u.Line, u.Texts[0], u.Doubt = line.Line, line.Text, line.Doubt
		u.Judged = []Judged{{Value: 1, Difference: math.NaN()}}
		if line.Wrong {
			u.Judged[0].Value, u.Judged[0].Finding = 0, cmp.Or(line.Language, "unknown")
		}
		units = append(units, u)
	}
	return units
}

// classes returns a unit for an answer that was read as a class, on its first occurrence among observations that are
// alike.
func (r *reader) classes(o crosstalk.Observation) []Unit {
	of := r.Question.Unit
	alike := ordered.Map(of.Alike, func(key string) string { return valueOf(o, key) })
	key := string(crosstalk.Canonical(alike))
	if r.seen[key] {
		return nil
	}
	r.seen[key] = true
	u := r.unit(o)
	u.alike, u.Doubt = alike, 0
	maps.DeleteFunc(u.Condition, func(c, _ string) bool { return r.Question.kind.Column(c).Within })
	u.Judged = []Judged{{Value: math.NaN(), Difference: math.NaN(), Finding: cmp.Or(o.Text(of.Classes[0]), noClass)}}
	if of.Request && r.answers != nil && len(o.Answers) > 0 {
		if record, found, err := r.answers.Record(o.Answers[0]); err == nil && found {
			u.Given[0] = strings.TrimSpace(record.Request.Text())
		}
	}
	for key, values := range of.Sure {
		if slices.Contains(values, valueOf(o, key)) {
			u.Doubt = 1
		}
	}
	for _, c := range of.Classes {
		if class := o.Text(c); class != "" {
			u.Choices = append(u.Choices, class)
		}
	}
	return []Unit{u}
}

// tellApart distinguishes a place from an earlier one: recorded data sets may have items of the same names.
func (s *Sheet) tellApart(p *Place, columns map[string]string) {
	i, known := s.at[p.key(s.Question.Name)]
	if !known {
		return
	}
	for _, c := range s.Question.Apart {
		if v := columns[c]; v != "" && v != s.Units[i].Columns[c] {
			p.Condition = maps.Clone(p.Condition)
			p.Condition[c] = v
		}
	}
}

// add adds a unit with one judgement, or adds the judgement to an existing unit.
func (s *Sheet) add(u Unit) error {
	s.tellApart(&u.Place, u.Columns)
	u.near = s.Question.Near
	u.key = u.Place.key(s.Question.Name)
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

// fill completes units from other observations: an observation without rewriting does not repeat the input, and the
// classes of a task are collected from all its answers.
func (r *reader) fill() {
	classes, all := map[string]map[string]bool{}, map[string]bool{}
	for i := range r.Units {
		u := &r.Units[i]
		switch {
		case r.Question.Given[0] != "":
			u.Given[0] = cmp.Or(u.Given[0], r.inputs[u.Item])
			if r.Question.paired() {
				u.Given[1] = cmp.Or(u.Given[1], u.Given[0])
			}
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
	if r.Question.Unit.Classes == nil {
		return
	}
	choices := func(of map[string]bool) []string { return append(slices.Sorted(maps.Keys(of)), noClass, cannotTell) }
	for i := range r.Units {
		r.Units[i].Choices = choices(classes[r.Units[i].Topic])
	}
	for _, label := range choices(all) {
		r.Question.Choices = append(r.Question.Choices, crosstalk.Choice{Label: label, Value: crosstalk.Undefined})
	}
}

// own returns the labels that answer the sheet's question.
func (s *Sheet) own(labels []Label) []Label {
	return slices.DeleteFunc(slices.Clone(labels), func(l Label) bool { return l.Question != s.Question.Name })
}

// check returns an error that names the option if no unit has one of these columns.
func (s *Sheet) check(option string, columns []string) error {
	known := map[string]string{findingColumn: "", itemColumn: "", sampleColumn: ""}
	for _, u := range s.Units {
		maps.Copy(known, u.Columns)
		maps.Copy(known, u.Condition)
		for column, has := range map[string]bool{lengthColumn: u.Line > 0, disputedColumn: len(u.Judged) > 1,
			doubtfulColumn: !math.IsNaN(u.Doubt)} {
			if has {
				known[column] = ""
			}
		}
	}
	for _, c := range columns {
		_, is := known[c]
		switch {
		case is:
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

// answered opens the wanted questions about a run that a label answers, the most important first.
func answered(path string, labels []Label, wanted func(Question) bool) ([]*Sheet, error) {
	manifest, err := run.ReadManifest(path)
	if err != nil {
		return nil, err
	}
	questions := slices.DeleteFunc(questionsOf(instrument.Named(manifest.Plan.Instrument)), func(q Question) bool {
		return !wanted(q) || !slices.ContainsFunc(labels, func(l Label) bool { return l.Question == q.Name })
	})
	if len(questions) == 0 {
		return nil, nil
	}
	sheets, errs := OpenAll(path, names(questions)...)
	return sheets, errors.Join(errs...)
}

// given reads the labels of a run and its design. It is an error if there are no labels.
func given(path string) ([]Label, Design, error) {
	labels, err := Read(path)
	if err == nil && len(labels) == 0 {
		err = fmt.Errorf("%s has no labels: use 'crosstalk annotate'", path)
	}
	if err != nil {
		return nil, Design{}, err
	}
	design, err := ReadDesign(path)
	return labels, design, err
}
