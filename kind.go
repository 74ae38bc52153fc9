package crosstalk

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"sync"
)

// Kind describes an instrument to the packages that show its figures and observations. They read nothing else about it.
// Keys are keys of observations and estimates.
type Kind struct {
	Name     string // the instrument's name on the command line: "leakage"
	Title    string // "Semantic leakage"
	Sentence string // what it measures
	Measures []Measure
	Findings []Finding
	Columns  []Column
	Counts   []string // keys of Estimate.Counts, in the order of tables
	Unjudged []string // counts of answers that could not be judged, besides Unanswered and Measure.Unscored
	Waived   []string // counts of answers that could not be judged but have a value by a rule
	Choices  []string // the most useful columns for filtering answers, in order
	Derived  []string // columns for grouping figures that observations lack
	Reads    []string // names of the texts of observations that figures depend on; estimators get no others
	Target   string   // the text or label that the answer should match, or that is searched for in it
	Doubt    []string // the observation's number that shows how close the decision was, or the two whose difference does
	Judge    string   // the condition column of the judge, if several judge the same answers; empty: none
	Charts   []Chart
	Faults   Faults

	Questions []Question // for people, the most important first
}

// ParseKind returns a function that parses an instrument's embedded JSON description, with the fields of Kind, on its
// first call: most commands need none.
func ParseKind(text string) func() Kind {
	return sync.OnceValue(func() (k Kind) {
		if err := json.Unmarshal([]byte(text), &k); err != nil {
			panic("crosstalk: kind: " + err.Error())
		}
		return k
	})
}

// Measure is a measure of observations and estimates.
type Measure struct {
	Key       string
	Label     string // short, as in charts: "LPR"
	Name      string // in full: "line-level pass rate"
	Sentence  string // what its figures mean
	Unit      string // of figures that are not fractions
	Better    Direction
	Bold      Direction // the end of its figures that tables set in bold; empty: Better
	Baseline  Baseline  // for comparison
	Numbers   []string  // keys of Observation.Numbers to show with a finding
	Unscored  []string  // keys of the counts of observations that the measure cannot score; tables always have them
	Headline  bool      // one of the few that answer the instrument's question; its figures are fractions
	ByClass   bool      // figures are by class of answers, so they are not headlines
	OfTokens  bool      // observations describe an answer's tokens, not the answer
	LeavesOut bool      // answers with another fault
}

// Faults define which answers have any fault: the first thing that users ask of an instrument. Kind.Fault derives an
// observation from them.
type Faults struct {
	Measure  string            // the measure: 1 for an answer with a fault, 0 for one without
	Of       string            // the measure whose observations decide: by a Finding that is a fault,
	Numbers  map[string]string // by a number above 0, here with its finding,
	Reasons  []string          // or by a reason for which they have no value
	Sentence string            // after the number of answers: "answers leak the concept"
	ByRate   bool              // groups are listed by the share of answers with a fault, not by their number
}

// AnyFault names the Faults.Measure of every instrument where users name a measure.
const AnyFault = "faults"

// Baseline is a value with which figures of a measure are compared.
type Baseline struct {
	Value   float64
	Meaning string // of the value: "no leakage"; empty: no baseline
}

// Finding is a possible finding in an answer.
type Finding struct {
	Key      string
	Titles   []string // for filtering answers, from general to specific
	Sentence string   // about one answer; empty: the last title
	Fault    bool     // the instrument looks for it
}

// Column is a column of conditions, labels or figures that an instrument adds, or never mixes.
type Column struct {
	Key    string
	Apart  bool // figures of different values never share a table
	Within bool // observations that differ only in it are of the same answer, or are shown together

	OfFigures bool // observations lack it; only figures grouped by Kind.Derived have it

	// Made maps values that only figures have to the value of the observations that they are computed from.
	Made map[string]string
}

// Chart describes a plot of figures or observations. One is drawn for each condition that has data.
type Chart struct {
	Form     Form
	Title    string // empty: composed of measures and columns
	Note     string // how to read it
	Measures []string
	Rows     []string // columns whose values name a row or a point
	Series   string   // the column whose values are compared within a row; empty: the measures
	Over     string   // the measure on the horizontal axis of a ScatterChart
	Axis     string   // the name of the horizontal axis of a ScatterChart
	Parts    []string // the meaning of the values 0, 0.5 and 1 in a SideChart
}

// Form is a form of plot.
type Form string

const (
	DotPlot      Form = "dots"    // a dot with its interval for each figure
	HeatMap      Form = "heat"    // a cell for each figure of the first measure; the values of Series are its columns
	ShareChart   Form = "shares"  // a bar for each row, divided among the values of Series
	ScatterChart Form = "scatter" // a point for each figure of the first measure, over that of another
	SizeChart    Form = "sizes"   // a point for each figure of the first measure, over the size of its model
	SweepCharts  Form = "sweeps"  // each measure over the settings that vary: lines over numbers, dots over words
	GroupCharts  Form = "groups"  // each measure by each column by which figures are grouped
	SideChart    Form = "sides"   // shares of the values 0, 0.5 and 1, shaded by the difference of two Numbers
	TokenStrips  Form = "tokens"  // the tokens of observations, if any
)

// Condition columns of every instrument. Sent exists only if a model rejects settings of the protocol or the user: it
// names what was sent instead, as in "temperature default; seed none". Protocol exists only if several protocols score
// the answers.
const (
	ModelColumn    = "model"
	SentColumn     = "sent"
	ProtocolColumn = "protocol"
)

// NotMeasured is the key of the count of items that a stopped run did not reach.
const NotMeasured = "not_measured"

// Unanswering is the key of the count of answers that say they give none: NoAnswer.
const Unanswering = "no_answer"

// Unanswered are counts that every instrument can have: of answers without text or without an answer in it, and of
// items that nobody answered.
var Unanswered = []string{string(Empty), Unanswering, string(Refused), string(Failed), NotMeasured}

// UnjudgedOf counts the answers that a figure leaves out because they could not be judged, and all answers that it
// should cover.
func (k Kind) UnjudgedOf(e Estimate) (unjudged, of int) {
	for _, count := range slices.Concat(k.Unjudged, Unanswered, k.Measure(e.Measure).Unscored) {
		unjudged += e.Counts[count]
	}
	of = e.Observations + unjudged
	for _, count := range k.Waived {
		unjudged += e.Counts[count]
	}
	return unjudged, of
}

// WithFault yields the observation of Faults.Measure that an observation implies, if any, then the observation itself.
func (k Kind) WithFault(o Observation) iter.Seq[Observation] {
	return func(yield func(Observation) bool) {
		if fault, ok := k.Fault(o); ok && !yield(fault) {
			return
		}
		yield(o)
	}
}

// Fault derives an observation of Faults.Measure from an observation: 1 if the answer has any fault, 0 if it has none,
// or not scored. There is one for each answer; ok is false for all other observations.
func (k Kind) Fault(o Observation) (of Observation, ok bool) {
	if k.Faults.Measure == "" || o.Measure != k.Faults.Of {
		return o, false
	}
	found := ""
	switch {
	case o.Finding != "" && k.Finding(o.Finding).Fault:
		found = o.Finding
	case slices.Contains(k.Faults.Reasons, o.NotScored):
		found = o.NotScored
	default:
		for number, finding := range k.Faults.Numbers {
			if o.Numbers[number] > 0 {
				found = finding
			}
		}
	}
	o.Measure, o.Finding = k.Faults.Measure, found
	switch {
	case found != "":
		o.Value, o.NotScored = 1, ""
	case o.NotScored == "":
		o.Value = 0
	}
	return o, true
}

// Measure returns a measure by its key. An unknown key, as words, is its own label.
func (k Kind) Measure(key string) Measure {
	if i := k.Place(key); i >= 0 {
		return k.Measures[i]
	}
	return Measure{Key: key, Label: Words(key)}
}

// Place returns the position of a measure in tables; -1 if it is unknown.
func (k Kind) Place(measure string) int {
	return slices.IndexFunc(k.Measures, func(m Measure) bool { return m.Key == measure })
}

// Finding returns a finding by its key. An unknown key is a fault, and its own title.
func (k Kind) Finding(key string) Finding {
	if i := slices.IndexFunc(k.Findings, func(f Finding) bool { return f.Key == key }); i >= 0 {
		return k.Findings[i]
	}
	return Finding{Key: key, Titles: []string{key}, Fault: true}
}

// Column returns a column by its key. An unknown one has only its key.
func (k Kind) Column(key string) Column {
	if i := slices.IndexFunc(k.Columns, func(c Column) bool { return c.Key == key }); i >= 0 {
		return k.Columns[i]
	}
	return Column{Key: key}
}

// Says describes the finding of one answer.
func (f Finding) Says() string {
	if f.Sentence == "" && len(f.Titles) > 0 {
		return f.Titles[len(f.Titles)-1]
	}
	return f.Sentence
}

// Words returns a key as words.
func Words(key string) string { return strings.ReplaceAll(key, "_", " ") }
