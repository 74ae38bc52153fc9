package crosstalk

import (
	"encoding/json"
	"math"
	"strings"
)

// Item is one thing to measure.
type Item struct {
	ID      string            `json:"id"`
	Cluster string            `json:"cluster,omitempty"` // items of one cluster share a prompt and are not independent; empty: a cluster of its own
	Labels  map[string]string `json:"labels,omitempty"`  // columns that figures can be grouped by: category, language, source, ...
	Pair    *Pair             `json:"pair,omitempty"`    // leakage
	Prompt  *Prompt           `json:"prompt,omitempty"`  // confusion
	Input   *Input            `json:"input,omitempty"`   // consistency
}

// Pair is the content of a leakage item: two prompts with the same ending, of
// which only Test mentions Concept (Gonen et al. 2024, section 3).
type Pair struct {
	Concept string   `json:"concept"`
	Test    string   `json:"test"`
	Control string   `json:"control"`
	Remove  []string `json:"remove,omitempty"`  // cut out of both answers before scoring
	Leaks   []string `json:"leaks,omitempty"`   // continuations of Test that would be a leak
	Neutral []string `json:"neutral,omitempty"` // continuations of Control
}

// Prompt is the content of a confusion item: what is asked, and the language
// that the answer should be in (Marchisio et al. 2024, section 3).
type Prompt struct {
	Text     string `json:"text"`     // empty where an answer was recorded without its prompt
	Language string `json:"language"` // as language identifiers label it: ISO 639-1 where there is a code, else ISO 639-3

	// Placed are the same prompt with the instruction to answer in Language at
	// another place, by place: "start", "end", "integrated". Text is one of them.
	Placed map[string]string `json:"placed,omitempty"`
}

// Observation is one measured value for one item and sample.
type Observation struct {
	Measure   string             `json:"measure"`
	Item      string             `json:"item"`
	Cluster   string             `json:"cluster"`
	Sample    int                `json:"sample"`
	Value     Figure             `json:"value"`                // NaN when not scored
	NotScored string             `json:"not_scored,omitempty"` // why: "empty", "refused", "failed", or the measure's own reason
	Condition map[string]string  `json:"condition"`            // what was measured and how: model, similarity, what a sweep varies; never mixed in one figure
	Labels    map[string]string  `json:"labels,omitempty"`     // the item's columns
	Numbers   map[string]float64 `json:"numbers,omitempty"`    // what the value was made from
	Texts     map[string]string  `json:"texts,omitempty"`      // what was compared, after post-processing
	Finding   string             `json:"finding,omitempty"`    // what kind of fault was found, in the measure's terms
	Spans     []Span             `json:"spans,omitempty"`      // where in the answer the fault lies
	Tokens    []Token            `json:"tokens,omitempty"`     // the answer's tokens around the fault, where their probabilities are known
	Answers   []Key              `json:"answers,omitempty"`    // the answers it came from
}

// Span is a piece of an answer.
type Span struct {
	Line        int     `json:"line"`  // of the answer, from 1
	Start       int     `json:"start"` // bytes of the answer as received: [Start, End)
	End         int     `json:"end"`
	Text        string  `json:"text"`                  // as it was checked
	Language    string  `json:"language,omitempty"`    // what it was taken for
	Probability float32 `json:"probability,omitempty"` // the identifier's, of Language
}

// Token is a position of an answer, with what the candidates say of the
// model's doubt there.
type Token struct {
	Start      int                `json:"start"` // bytes of the answer as received: [Start, End); a part of a character may be empty
	End        int                `json:"end"`
	Text       string             `json:"text"`                 // "\xe3\x81" for a part of a character
	Fault      bool               `json:"fault,omitempty"`      // a fault begins here
	Logprob    float64            `json:"logprob"`              // as received: not scaled
	Entropy    Figure             `json:"entropy"`              // bits; null without candidates
	Nucleus    int                `json:"nucleus,omitempty"`    // the fewest candidates that have the condition's top-p together; 0 without candidates
	Censored   bool               `json:"censored,omitempty"`   // the candidates do not reach top-p: Nucleus is the least it can be
	Mass       float64            `json:"mass"`                 // probability that the candidates have together
	Candidates []CandidateLogprob `json:"candidates,omitempty"` // the likeliest ones, as received
}

// Estimate is a figure over observations (crosstalk/estimates/v1).
type Estimate struct {
	Measure      string            `json:"measure"`
	Value        Figure            `json:"value"`          // NaN where undefined
	Unit         string            `json:"unit,omitempty"` // of Value and Interval; empty: a fraction
	N            int               `json:"n"`              // items the figure is about, those included that Counts says could not be scored
	Observations int               `json:"observations"`   // scored observations: what Value is the mean of; N x samples when all are scored
	Clusters     int               `json:"clusters"`
	Interval     *Interval         `json:"interval"` // nil where there is none
	Counts       map[string]int    `json:"counts"`   // what was not scored, and ties
	Test         *Test             `json:"test,omitempty"`
	Effect       *Effect           `json:"effect,omitempty"`
	Average      *Average          `json:"average,omitempty"` // what Value is made of; nil: the mean of all observations alike
	Better       Direction         `json:"better,omitempty"`  // which way a model gets better; empty: neither
	By           map[string]string `json:"by"`
	Signature    string            `json:"signature"` // figures with equal signatures are comparable
	Warnings     []string          `json:"warnings,omitempty"`
}

// Average says how a figure is made of the means of its parts, so that others
// can make it again of other observations.
type Average struct {
	// Over are columns: the figure is the plain mean over the values of the
	// first of the plain mean over those of the second, and so on, of the mean
	// of the observations that share them all.
	Over []string `json:"over,omitempty"`
	// HarmonicOf are measures: the mean over the first column is one of their
	// harmonic mean within each of its values. The first is of all answers, the
	// others may be of some of them. Empty: the figure is of its own measure.
	HarmonicOf []string `json:"harmonic_of,omitempty"`
}

// Direction says which figures are better.
type Direction string

const (
	Higher Direction = "higher"
	Lower  Direction = "lower"
)

// Interval is a confidence interval.
type Interval struct {
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Level  float64 `json:"level"` // 0.95
	Method string  `json:"method"`
}

// Test is a test of the figure against Null.
type Test struct {
	Method    string  `json:"method"`
	Null      float64 `json:"null"`
	Statistic Figure  `json:"statistic"`
	DF        Figure  `json:"df"`
	P         Figure  `json:"p"` // two-sided
}

// Effect is the size of what the figure counts, in the measure's own unit.
type Effect struct {
	Name  string `json:"name"`
	Value Figure `json:"value"`
}

// Figure is a number that may be undefined: NaN, null in JSON, "-" in tables.
type Figure float64

// Undefined is the figure over nothing.
var Undefined = Figure(math.NaN())

// Defined reports whether f is a number.
func (f Figure) Defined() bool { return !math.IsNaN(float64(f)) && !math.IsInf(float64(f), 0) }

// MarshalJSON writes null for an undefined figure.
func (f Figure) MarshalJSON() ([]byte, error) {
	if !f.Defined() {
		return []byte("null"), nil
	}
	return json.Marshal(float64(f))
}

// UnmarshalJSON reads null as undefined.
func (f *Figure) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*f = Undefined
		return nil
	}
	return json.Unmarshal(b, (*float64)(f))
}

// Rollup returns the groups that an observation with these labels belongs to:
// everything, then each prefix of the columns in by. A column that stands for
// everything has the value "all". With by = [category language] an
// observation of category x and language en is in (all, all), (x, all) and
// (x, en). A column that the observation lacks ends the prefixes, as does one
// that says "all" itself: the observation is in the sums only.
func Rollup(labels map[string]string, by []string) []map[string]string {
	groups := make([]map[string]string, 0, len(by)+1)
	for depth := 0; depth <= len(by); depth++ {
		group := make(map[string]string, len(by))
		for i, column := range by {
			if i < depth {
				group[column] = labels[column]
			} else {
				group[column] = All
			}
		}
		if depth > 0 && (group[by[depth-1]] == "" || group[by[depth-1]] == All) {
			break
		}
		groups = append(groups, group)
	}
	return groups
}

// All is the value of a column in figures over all its values.
const All = "all"

// Ranks orders figures: values in the order of their first appearance, All
// before any.
type Ranks map[string]int

// Rank is the place of a value, which may be named by several parts; the last
// decides whether it stands for all.
func (seen Ranks) Rank(value ...string) int {
	if value[len(value)-1] == All {
		return -1
	}
	key := strings.Join(value, "\x00")
	if _, ok := seen[key]; !ok {
		seen[key] = len(seen)
	}
	return seen[key]
}
