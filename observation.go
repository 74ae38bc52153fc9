package crosstalk

import (
	"cmp"
	"encoding/json"
	"maps"
	"math"
)

// Observation is one measured value for one item and sample. It contains all that is needed to show it; the
// instrument's Kind defines names and order.
type Observation struct {
	Measure   string             `json:"measure"`
	Item      string             `json:"item"`
	Cluster   string             `json:"cluster"`
	Sample    int                `json:"sample"`
	Variant   string             `json:"variant,omitempty"`    // how it was asked, if there are several ways: "en>de T"
	Value     Value              `json:"value"`                // NaN when not scored
	NotScored string             `json:"not_scored,omitempty"` // why: "empty", "refused", "failed", or another reason
	Implied   bool               `json:"implied,omitempty"`    // missing because of another observation of the same answer
	Condition map[string]string  `json:"condition"`            // model, similarity, swept settings; never mixed
	Labels    map[string]string  `json:"labels,omitempty"`     // the item's columns
	Numbers   map[string]float64 `json:"numbers,omitempty"`    // what the value was computed from
	Texts     []NamedText        `json:"texts,omitempty"`      // what was compared, after post-processing
	Finding   string             `json:"finding,omitempty"`    // what was found: the key of one of the Kind's findings
	Spans     []Span             `json:"spans,omitempty"`      // where the fault lies
	Masked    []Span             `json:"masked,omitempty"`     // what was not judged, with the Reason
	Tokens    []Token            `json:"tokens,omitempty"`     // around the fault, where probabilities are known
	Answers   []Key              `json:"answers,omitempty"`    // what it is based on: those of its sides first, in order
}

// NamedText is a text that an observation is based on. Names are unique in an observation, and have one role throughout
// an instrument.
type NamedText struct {
	Name string `json:"name"`
	Role Role   `json:"role"`
	Text string `json:"text"`
}

// Role is a text's part in an observation, which decides how it is shown.
type Role string

const (
	Topic Role = "topic" // what answers are compared with; its words are marked in them
	Given Role = "given" // a part of the question, or the expected answer; repeats are shown once
	Side  Role = "side"  // an answer; several are shown side by side, in order
	Fact  Role = "fact"  // a fact about an answer in a word or two: a class, a rule; answers can be filtered by it
	Aside Role = "aside" // kept for other programs, not shown
)

// HasAll reports whether columns contains every wanted column with its value.
func HasAll(columns, wanted map[string]string) bool {
	for column, value := range wanted {
		if got, ok := columns[column]; !ok || got != value {
			return false
		}
	}
	return true
}

// Text returns the text with this name, or "".
func (o Observation) Text(name string) string {
	for _, t := range o.Texts {
		if t.Name == name {
			return t.Text
		}
	}
	return ""
}

// Column returns the value of a column of the observation's condition or else of its item; "" if neither has it.
func (o Observation) Column(name string) string {
	if value, ok := o.Condition[name]; ok {
		return value
	}
	return o.Labels[name]
}

// AddText appends a text. As with append, only one of several copies of an observation may have texts added.
func (o *Observation) AddText(role Role, name, text string) {
	if o.Texts == nil {
		o.Texts = make([]NamedText, 0, 6) // enough for most observations
	}
	o.Texts = append(o.Texts, NamedText{name, role, text})
}

// Span is a piece of an answer.
type Span struct {
	Side        string  `json:"side,omitempty"` // the name of the text that contains it; empty: the last Side
	Line        int     `json:"line"`           // of the answer, from 1
	Start       int     `json:"start"`          // bytes of that text: [Start, End)
	End         int     `json:"end"`
	Text        string  `json:"text,omitempty"`        // as it was checked
	Language    string  `json:"language,omitempty"`    // the identified language
	Probability float32 `json:"probability,omitempty"` // of Language, according to the identifier
	Score       float64 `json:"score,omitempty"`       // the judge's score of the piece
	Reason      string  `json:"reason,omitempty"`      // in a word: why the piece is a fault, or why it was not judged
}

// Token is a position in an answer, with measures of the model's uncertainty from the candidates there.
type Token struct {
	Start      int                `json:"start"` // bytes of the answer as received: [Start, End)
	End        int                `json:"end"`
	Text       string             `json:"text"`                 // "\xe3\x81" for a part of a character
	Fault      bool               `json:"fault,omitempty"`      // a fault begins here
	Logprob    float64            `json:"logprob"`              // as received: not scaled
	Entropy    Value              `json:"entropy"`              // bits; null without candidates
	Nucleus    int                `json:"nucleus,omitempty"`    // the fewest candidates that reach top-p; 0: none known
	Censored   bool               `json:"censored,omitempty"`   // top-p is not reached: Nucleus is a lower bound
	Mass       float64            `json:"mass"`                 // total probability of the candidates
	Candidates []CandidateLogprob `json:"candidates,omitempty"` // the likeliest ones, as received
}

// Value is a number that may be undefined: NaN, null in JSON, "-" in tables.
type Value float64

// Undefined is the value of a figure over nothing.
var Undefined = Value(math.NaN())

// Defined reports whether f is a number.
func (f Value) Defined() bool { return !math.IsNaN(float64(f)) && !math.IsInf(float64(f), 0) }

// MarshalJSON writes null for an undefined figure.
func (f Value) MarshalJSON() ([]byte, error) {
	if !f.Defined() {
		return []byte("null"), nil
	}
	return json.Marshal(float64(f))
}

// UnmarshalJSON reads null as undefined.
func (f *Value) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*f = Undefined
		return nil
	}
	return json.Unmarshal(b, (*float64)(f))
}

// EstimatesSchema names the machine format of estimates.
const EstimatesSchema = "crosstalk/estimates/v1"

// Document is the content of estimates.json and of --format json.
type Document struct {
	Schema    string     `json:"schema"`
	Estimates []Estimate `json:"estimates"`
}

// NewDocument wraps estimates.
func NewDocument(estimates []Estimate) Document {
	if estimates == nil {
		estimates = []Estimate{}
	}
	return Document{EstimatesSchema, estimates}
}

// MostlyUnchecked begins the warning about a figure that is based on a minority of the answers.
const MostlyUnchecked = "MOST ANSWERS WERE NOT CHECKED"

// Estimate is a figure over observations (crosstalk/estimates/v1).
type Estimate struct {
	Measure      string            `json:"measure"`
	Value        Value             `json:"value"`          // NaN where undefined
	Unit         string            `json:"unit,omitempty"` // of Value and Interval; empty: a fraction
	N            int               `json:"n"`              // items that were measured: with a scored observation
	Observations int               `json:"observations"`   // scored; Value is their mean; N x samples if all are
	Clusters     int               `json:"clusters"`
	Interval     *Interval         `json:"interval"` // or nil
	Counts       map[string]int    `json:"counts"`   // what was not scored, and ties
	Test         *Test             `json:"test,omitempty"`
	Effect       *Effect           `json:"effect,omitempty"`
	People       *People           `json:"people,omitempty"`  // whose labels correct the figure
	Average      *Average          `json:"average,omitempty"` // how Value is averaged; nil: the plain mean
	Better       Direction         `json:"better,omitempty"`  // the direction in which a model improves; empty: neither
	By           map[string]string `json:"by"`
	Signature    string            `json:"signature"` // figures with equal signatures are comparable
	Warnings     []string          `json:"warnings,omitempty"`
}

// Of returns the columns of By in which the figure has a single value.
func (e Estimate) Of() map[string]string {
	by := maps.Clone(e.By)
	maps.DeleteFunc(by, func(_, value string) bool { return value == All })
	return by
}

// Key identifies a figure within a run, by its measure and Of.
func (e Estimate) Key() string { return e.Measure + "\x00" + string(Canonical(e.Of())) }

// People describes how reliable the labels behind a figure are.
type People struct {
	Kappa       Value `json:"kappa"`                 // Cohen's kappa, the mean over pairs of annotators; undefined for one
	CannotTell  Value `json:"cannot_tell"`           // share of the labelled answers without a judgement
	Adjudicated int   `json:"adjudicated,omitempty"` // labelled answers that a third person decided
}

// Average describes how a figure is averaged from its parts, so that others can compute it from other observations.
type Average struct {
	// Over are columns of nested means: the figure is the unweighted mean over the values of the first column, of the
	// unweighted means over the values of the second, and so on. The innermost mean is over observations.
	Over []string `json:"over,omitempty"`
	// HarmonicOf are two measures: their harmonic mean is computed within each value of the first column, then
	// averaged. The first measure covers all answers, the second may cover a part of them. If empty, the figure is
	// based on its own measure only.
	HarmonicOf []string `json:"harmonic_of,omitempty"`
	// EmptyIsOne counts parts without data as 1. Otherwise they are left out.
	EmptyIsOne bool `json:"empty_is_one,omitempty"`
}

// Direction tells whether higher or lower figures are better.
type Direction string

const (
	Higher Direction = "higher"
	Lower  Direction = "lower"
)

// Interval is a two-sided confidence interval. Low and High are NaN where it is undefined.
type Interval struct {
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Level  float64 `json:"level"`  // nominal coverage: 0.95
	Method string  `json:"method"` // how it was constructed: "wilson", "cluster-robust-logit-t", ...
	DF     float64 `json:"-"`      // degrees of freedom of Student's t, or 0

	// Range has the smallest and largest possible figure: 0 and 1, or -1 and 1 of a difference; both 0 if unknown.
	Range [2]float64 `json:"-"`
}

// Defined reports whether both ends are known.
func (i Interval) Defined() bool { return !math.IsNaN(i.Low) && !math.IsNaN(i.High) }

// Known returns the interval, or nil if it is undefined, as in Estimate.Interval.
func (i Interval) Known() *Interval {
	if !i.Defined() {
		return nil
	}
	return &i
}

// Contains reports whether x lies in the closed interval. An undefined interval contains nothing.
func (i Interval) Contains(x float64) bool { return i.Low <= x && x <= i.High }

// Width is High - Low, NaN where undefined.
func (i Interval) Width() float64 { return i.High - i.Low }

// Test is a test of the figure against Null.
type Test struct {
	Method    string  `json:"method"`
	Null      float64 `json:"null"`
	Statistic Value   `json:"statistic"`
	DF        Value   `json:"df"`
	P         Value   `json:"p"` // two-sided
}

// Effect is the size of the effect that the figure counts, in the measure's own unit.
type Effect struct {
	Name  string `json:"name"`
	Value Value  `json:"value"`
}

// SuiteIDs identify the suites behind figures as name@hash, with a hash of the items: one suite for all figures or, if
// recorded answers come from several, one for each value of a column.
type SuiteIDs struct {
	All    string            `json:"all,omitempty"`
	Column string            `json:"column,omitempty"` // "dataset" or "model"
	Each   map[string]string `json:"each,omitempty"`   // by the column's value
}

// Of returns the suite of a figure with these columns, or "-" if it is unknown.
func (s SuiteIDs) Of(by map[string]string) string {
	id := s.All
	if value := by[s.Column]; s.Column != "" && value != "" && value != All {
		id = s.Each[value]
	}
	return cmp.Or(id, "-")
}

// All is the value of a column in figures over all its values.
const All = "all"
