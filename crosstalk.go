// Package crosstalk is the vocabulary of the program: items, requests, answers,
// observations and estimates. It does no I/O, and every other package may use it.
//
// Data flows one way: a suite has items, an instrument asks a model each item,
// scores the answers as observations, and summarises observations as estimates.
package crosstalk

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"crosstalk/internal/nearest"
)

// Version is part of every signature.
const Version = "0.1.0"

// A Model answers requests. Implementations are safe for concurrent use, do not
// retry, and have no state that changes an answer.
type Model interface {
	// Identity is constant. It is part of the key of every ask.
	Identity() Identity
	// API is the kind of request the model takes.
	API() API
	// Answer asks once. An answer that arrived, be it empty or refused, is an Answer; everything else is an error,
	// a *AskError where the model's side said what was wrong. ctx bounds the whole exchange.
	Answer(ctx context.Context, req Request) (Answer, error)
}

// An Asker is a Model made durable: limits, retries and the journal lie behind it.
type Asker interface {
	// Ask returns the answer to req, without its body unless it is of vectors. An ask that failed after its retries is
	// an Answer with Status Failed; an error means that measuring cannot go
	// on (stopped, out of budget, a full disk, a wrong key).
	Ask(ctx context.Context, req Request) (Answer, error)
}

// An Instrument turns items and a model's answers into observations.
type Instrument interface {
	// Measure asks what the item needs and scores the answers; over journalled answers it resumes, re-scores or
	// extends. An error is the Asker's or the measure's. An answer that could not be scored is an Observation, too.
	Measure(ctx context.Context, ask Asker, item Item) ([]Observation, error)
}

// Rules are what figures over the same answers depend on: an instrument's part
// of a run's manifest, from which its figures can be made again.
type Rules interface {
	// Estimator returns an estimator of these rules: one figure over all
	// observations and one for each prefix of the columns in by.
	Estimator(by []string) Estimator
}

// An Estimator sums observations up as they come. It keeps sums per group and
// cluster, never the observations. It is for one goroutine.
type Estimator interface {
	Add(Observation)
	// Estimates are the figures over all that was added, in the order of tables. suites is for their signatures.
	Estimates(suites SuiteIDs) []Estimate
}

// OptionError is a setting with an invalid value. An option is a flag on the
// command line and a key of crosstalk.yaml.
type OptionError struct {
	Option string // its name: "top-p"
	err    error
}

// BadOption returns an OptionError whose message is the option's name followed by
// the text, as in BadOption("samples", " is %d; expected a number above 0", n).
func BadOption(option, format string, args ...any) error {
	return &OptionError{option, fmt.Errorf("%s"+format, append([]any{option}, args...)...)}
}

func (e *OptionError) Error() string { return e.err.Error() }

// Unwrap returns what is wrong with the value.
func (e *OptionError) Unwrap() error { return e.err }

// UnknownName is the error for a name that is not one of the choices: `unknown
// protocol "lcb"; did you mean lcb-1? choose one of: lcb-1, smilga`.
func UnknownName[S ~string](what, name string, choices []S) error {
	list := make([]string, len(choices))
	for i, c := range choices {
		list[i] = string(c)
	}
	return fmt.Errorf("unknown %s %q; %schoose one of: %s", what, name, nearest.Question(name, list),
		strings.Join(list, ", "))
}

// Chosen reads a name that is one of the choices. what they are is for the error (UnknownName).
func Chosen[S ~string](what, name string, choices []S) (S, error) {
	return Named(what, name, choices, func(s S) string { return string(s) })
}

// Named is the choice of that name. what they are is for the error (UnknownName).
func Named[T any](what, name string, choices []T, nameOf func(T) string) (one T, err error) {
	names := make([]string, len(choices))
	for i, c := range choices {
		if names[i] = nameOf(c); names[i] == name {
			return c, nil
		}
	}
	return one, UnknownName(what, name, names)
}

// ProtocolsNamed resolves the protocols of an option by calling one for each name.
// Without names it resolves the default.
func ProtocolsNamed[P any](names []string, byDefault string, one func(name string) (P, error)) (list []P, err error) {
	if names == nil {
		names = []string{byDefault}
	}
	if len(names) == 0 {
		return nil, BadOption("protocol", " is empty; expected the name of a protocol")
	}
	for i, name := range names {
		p, err := one(name)
		if err != nil {
			return nil, err
		}
		if slices.Contains(names[:i], name) {
			return nil, BadOption("protocol", ": duplicate %s", name)
		}
		list = append(list, p)
	}
	return list, nil
}
