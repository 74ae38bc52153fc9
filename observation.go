package crosstalk

import (
	"encoding/json"
	"math"
)

// Observation is one measured value for one item and sample. It says all that is needed to show it; how to name and
// order what it says is in the instrument's Kind.
type Observation struct {
	Measure   string             `json:"measure"`
	Item      string             `json:"item"`
	Cluster   string             `json:"cluster"`
	Sample    int                `json:"sample"`
	Variant   string             `json:"variant,omitempty"`    // how it was asked, if there are several ways: "en>de T"
	Value     Value              `json:"value"`                // NaN when not scored
	NotScored string             `json:"not_scored,omitempty"` // why: "empty", "refused", "failed", or another reason
	Implied   bool               `json:"implied,omitempty"`    // missing because of another observation of the same answer
	Condition map[string]string  `json:"condition"`            // model, similarity, what a sweep varies; never mixed
	Labels    map[string]string  `json:"labels,omitempty"`     // the item's columns
	Numbers   map[string]float64 `json:"numbers,omitempty"`    // what the value was made from
	Texts     []NamedText        `json:"texts,omitempty"`      // what was compared, after post-processing
	Finding   string             `json:"finding,omitempty"`    // what was found: the key of one of the Kind's findings
	Spans     []Span             `json:"spans,omitempty"`      // where the fault lies
	Masked    []Span             `json:"masked,omitempty"`     // what was not judged, with the Reason
	Tokens    []Token            `json:"tokens,omitempty"`     // around the fault, where probabilities are known
	Answers   []Key              `json:"answers,omitempty"`    // that it came from: those of its sides first, in order
}

// NamedText is a text that an observation rests on. Names are unique in an
// observation, and have one role throughout an instrument.
type NamedText struct {
	Name string `json:"name"`
	Role Role   `json:"role"`
	Text string `json:"text"`
}

// Role says what a text is, and so how it is shown.
type Role string

const (
	Topic Role = "topic" // what the answers are held against; its words are marked in them
	Given Role = "given" // a part of the question, or what an answer should be like; the same one is shown once
	Side  Role = "side"  // an answer; several are shown side by side, in order
	Fact  Role = "fact"  // something known of an answer in a word or two: a class, a rule; answers can be chosen by it
	Aside Role = "aside" // kept for other programs, not shown
)

// HasAll reports whether columns have all the wanted ones, with their values.
func HasAll(columns, wanted map[string]string) bool {
	for column, value := range wanted {
		if got, ok := columns[column]; !ok || got != value {
			return false
		}
	}
	return true
}

// Text returns the text of this name, "" if there is none.
func (o Observation) Text(name string) string {
	for _, t := range o.Texts {
		if t.Name == name {
			return t.Text
		}
	}
	return ""
}

// Column returns the observation's value of a column, of its condition or else of its item; "" if neither has it.
func (o Observation) Column(name string) string {
	if value, ok := o.Condition[name]; ok {
		return value
	}
	return o.Labels[name]
}

// AddText adds a text behind those that are there. As with append, only one of
// several copies of an observation may have texts added.
func (o *Observation) AddText(role Role, name, text string) {
	if o.Texts == nil {
		o.Texts = make([]NamedText, 0, 6) // as many as most observations have
	}
	o.Texts = append(o.Texts, NamedText{name, role, text})
}

// Span is a piece of an answer.
type Span struct {
	Side        string  `json:"side,omitempty"` // the name of the text that it is in; empty: the last Side
	Line        int     `json:"line"`           // of the answer, from 1
	Start       int     `json:"start"`          // bytes of that text: [Start, End)
	End         int     `json:"end"`
	Text        string  `json:"text,omitempty"`        // as it was checked
	Language    string  `json:"language,omitempty"`    // the identified language
	Probability float32 `json:"probability,omitempty"` // the identifier's, of Language
	Score       float64 `json:"score,omitempty"`       // the judge's, of the piece
	Reason      string  `json:"reason,omitempty"`      // in a word: why the piece is a fault, or why it was not judged
}

// Token is a position of an answer, with what the candidates say of the model's doubt there.
type Token struct {
	Start      int                `json:"start"` // bytes of the answer as received: [Start, End)
	End        int                `json:"end"`
	Text       string             `json:"text"`                 // "\xe3\x81" for a part of a character
	Fault      bool               `json:"fault,omitempty"`      // a fault begins here
	Logprob    float64            `json:"logprob"`              // as received: not scaled
	Entropy    Value              `json:"entropy"`              // bits; null without candidates
	Nucleus    int                `json:"nucleus,omitempty"`    // the fewest candidates that reach top-p; 0: none known
	Censored   bool               `json:"censored,omitempty"`   // top-p is not reached: Nucleus is a lower bound
	Mass       float64            `json:"mass"`                 // probability that the candidates have together
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
