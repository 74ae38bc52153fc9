package labels

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"crosstalk"
	"crosstalk/ask/journal"
	"crosstalk/instrument"
	"crosstalk/instrument/confusion"
	"crosstalk/instrument/consistency"
	"crosstalk/instrument/consistency/read"
	"crosstalk/run"
)

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
