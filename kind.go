package crosstalk

import (
	"slices"
	"strings"
)

// Kind is all that others have to know of an instrument to show what it
// measured: it is data, and whoever shows figures or observations reads nothing
// else. Keys are those of observations and estimates.
type Kind struct {
	Name     string // the instrument's, on the command line: "leakage"
	Title    string // "Semantic leakage"
	Sentence string // what it measures
	Measures []Measure
	Findings []Finding
	Columns  []Column
	Counts   []string // keys of Estimate.Counts, in the order of tables
	Choices  []string // columns that answers are chosen by first, in order
	Derived  []string // columns that figures can be grouped by though no observation has them
	Target   string   // the text, or else the label, that says what was wanted of an answer or looked for in it
	Judge    string   // the column of conditions that says who found something, where several look at the same answers; empty: there is none
	Charts   []Chart
}

// Measure is what observations and estimates are of.
type Measure struct {
	Key      string
	Label    string   // short, as in charts: "LPR"
	Name     string   // in full: "line-level pass rate"
	Sentence string   // what a figure of it says
	Baseline Baseline // what figures are compared with
	Numbers  []string // keys of Observation.Numbers that are shown with a finding
	Unscored string   // key of the count of what has no value for a reason of the measure's own; tables always have it
	ByClass  bool     // it takes answers apart by what they say: not among the first figures of a run
	OfTokens bool     // observations are of an answer's tokens, not of the answer
}

// Baseline is a value that figures of a measure are compared with.
type Baseline struct {
	Value   float64
	Meaning string // of that value: "no leakage"; empty: there is no baseline
}

// Finding is something that can be found in an answer.
type Finding struct {
	Key      string
	Titles   []string // what answers can be chosen by: from the general to the special
	Sentence string   // as it is said of one answer; empty: the last title
	Fault    bool     // it is what the instrument looks for
}

// Column is a column of conditions, labels or figures that an instrument adds,
// or never mixes.
type Column struct {
	Key    string
	Apart  bool // figures of different values never share a table
	Within bool // observations that differ only in it are of the same answer, or are shown together with it
}

// Chart is a drawing of figures or observations, as data. It is drawn for each
// condition, where there is something to draw.
type Chart struct {
	Form     Form
	Title    string // empty: made of measures and columns
	Note     string // how to read it
	Measures []string
	Rows     []string // columns whose values name a row, or a point
	Series   string   // the column whose values are compared within a row; empty: the measures are
	Over     string   // of a ScatterChart: the measure of the horizontal axis
	Axis     string   // of a ScatterChart: the name of that axis
	Parts    []string // of a SideChart: what the values 0, 0.5 and 1 mean
}

// Form is a way to draw.
type Form string

// The forms.
const (
	BarChart     Form = "bars"    // a bar with its interval for each figure
	HeatMap      Form = "heat"    // a field for each figure of the first measure; the values of Series are its columns
	ShareChart   Form = "shares"  // a bar for each row, divided among the values of Series
	ScatterChart Form = "scatter" // a point for each figure of the first measure, over that of another
	SizeChart    Form = "sizes"   // a point for each figure of the first measure, over the size of its model
	SweepCharts  Form = "sweeps"  // each measure over what conditions vary: lines over numbers, bars over words
	GroupCharts  Form = "groups"  // each measure by each column that figures are grouped by
	SideChart    Form = "sides"   // shares of the values 0, 0.5 and 1 of observations; the measure's two Numbers say how strongly
	TokenStrips  Form = "tokens"  // the tokens of observations that have some
)

// ModelColumn and ProtocolColumn are the columns of conditions that every
// instrument has, the second where answers are scored by several protocols.
const (
	ModelColumn    = "model"
	ProtocolColumn = "protocol"
)

// NotMeasured is the key of the count of items that a run stopped before.
const NotMeasured = "not_measured"

// Unanswered are the counts that every instrument has: of answers that are no
// text, and of items without one.
var Unanswered = []string{string(Empty), string(Refused), string(Failed), NotMeasured}

// Measure returns what is known of a measure. Of an unknown one it is the key
// in words.
func (k Kind) Measure(key string) Measure {
	if i := slices.IndexFunc(k.Measures, func(m Measure) bool { return m.Key == key }); i >= 0 {
		return k.Measures[i]
	}
	return Measure{Key: key, Label: Words(key)}
}

// Finding returns what is known of a finding. An unknown one is a fault, and
// its key the title.
func (k Kind) Finding(key string) Finding {
	if i := slices.IndexFunc(k.Findings, func(f Finding) bool { return f.Key == key }); i >= 0 {
		return k.Findings[i]
	}
	return Finding{Key: key, Titles: []string{key}, Fault: true}
}

// Column returns what is known of a column; of an unknown one only its key.
func (k Kind) Column(key string) Column {
	if i := slices.IndexFunc(k.Columns, func(c Column) bool { return c.Key == key }); i >= 0 {
		return k.Columns[i]
	}
	return Column{Key: key}
}

// Says is the finding as it is said of one answer.
func (f Finding) Says() string {
	if f.Sentence == "" && len(f.Titles) > 0 {
		return f.Titles[len(f.Titles)-1]
	}
	return f.Sentence
}

// Words is a key as people read it.
func Words(key string) string { return strings.ReplaceAll(key, "_", " ") }
