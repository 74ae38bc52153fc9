package crosstalk

import "strings"

// Estimate is a figure over observations (crosstalk/estimates/v1).
type Estimate struct {
	Measure      string            `json:"measure"`
	Value        Value             `json:"value"`          // NaN where undefined
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
	Statistic Value   `json:"statistic"`
	DF        Value   `json:"df"`
	P         Value   `json:"p"` // two-sided
}

// Effect is the size of what the figure counts, in the measure's own unit.
type Effect struct {
	Name  string `json:"name"`
	Value Value  `json:"value"`
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
