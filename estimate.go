package crosstalk

import (
	"cmp"
	"maps"
	"math"
)

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

// MostlyUnchecked begins the warning of a figure that rests on a minority of the answers.
const MostlyUnchecked = "MOST ANSWERS WERE NOT CHECKED"

// Estimate is a figure over observations (crosstalk/estimates/v1).
type Estimate struct {
	Measure      string            `json:"measure"`
	Value        Value             `json:"value"`          // NaN where undefined
	Unit         string            `json:"unit,omitempty"` // of Value and Interval; empty: a fraction
	N            int               `json:"n"`              // items that were measured: with a scored observation
	Observations int               `json:"observations"`   // scored; Value is their mean; N x samples if all are
	Clusters     int               `json:"clusters"`
	Interval     *Interval         `json:"interval"` // nil if there is none
	Counts       map[string]int    `json:"counts"`   // what was not scored, and ties
	Test         *Test             `json:"test,omitempty"`
	Effect       *Effect           `json:"effect,omitempty"`
	People       *People           `json:"people,omitempty"`  // whose labels correct the figure
	Average      *Average          `json:"average,omitempty"` // what Value is made of; nil: the plain mean
	Better       Direction         `json:"better,omitempty"`  // which way a model gets better; empty: neither
	By           map[string]string `json:"by"`
	Signature    string            `json:"signature"` // figures with equal signatures are comparable
	Warnings     []string          `json:"warnings,omitempty"`
}

// Of returns the columns of By in which the figure is of a single value.
func (e Estimate) Of() map[string]string {
	by := maps.Clone(e.By)
	maps.DeleteFunc(by, func(_, value string) bool { return value == All })
	return by
}

// Key identifies a figure within a run, by its measure and Of.
func (e Estimate) Key() string { return e.Measure + "\x00" + string(Canonical(e.Of())) }

// People tells how far the labels behind a figure can be trusted.
type People struct {
	Kappa       Value `json:"kappa"`                 // Cohen's, mean of pairs of annotators; undefined for one
	CannotTell  Value `json:"cannot_tell"`           // share of the labelled answers that have no judgement
	Adjudicated int   `json:"adjudicated,omitempty"` // labelled answers that a third person decided
}

// Average describes how a figure is averaged from its parts, so that others can compute it from other observations.
type Average struct {
	// Over are columns: the figure is the unweighted mean over the values of the first, of the unweighted mean over
	// the values of the second, and so on, of the mean of the observations with these values.
	Over []string `json:"over,omitempty"`
	// HarmonicOf are two measures: the mean over the first column is one of their
	// harmonic mean within each of its values. The first covers all answers, the
	// second may cover a part of them. Empty: the figure has only its own measure.
	HarmonicOf []string `json:"harmonic_of,omitempty"`
	// EmptyIsOne gives parts without data the mean 1. Otherwise they are left out.
	EmptyIsOne bool `json:"empty_is_one,omitempty"`
}

// Direction says which figures are better.
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
	DF     float64 `json:"-"`      // of Student's t behind it; 0 where there is none

	// Range is the least and the greatest possible figure: 0 and 1, -1 and 1 of a difference; both 0: not known.
	Range [2]float64 `json:"-"`
}

// Defined reports whether both ends are known.
func (i Interval) Defined() bool { return !math.IsNaN(i.Low) && !math.IsNaN(i.High) }

// Known returns the interval, or nil where it is undefined, as estimates have it.
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

// Effect is the size of what the figure counts, in the measure's own unit.
type Effect struct {
	Name  string `json:"name"`
	Value Value  `json:"value"`
}

// SuiteIDs name the suites that figures are about, each with a hash of its items (name@hash): one for all, and
// where recorded answers come from several one for each value of a column.
type SuiteIDs struct {
	All    string            `json:"all,omitempty"`
	Column string            `json:"column,omitempty"` // "dataset" or "model"
	Each   map[string]string `json:"each,omitempty"`   // by the column's value
}

// Of returns the suite of a figure with these columns, "-" where none is known.
func (s SuiteIDs) Of(by map[string]string) string {
	id := s.All
	if value := by[s.Column]; s.Column != "" && value != "" && value != All {
		id = s.Each[value]
	}
	return cmp.Or(id, "-")
}

// All is the value of a column in figures over all its values.
const All = "all"
