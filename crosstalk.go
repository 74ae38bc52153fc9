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
	// API is the kind of request that the model accepts.
	API() API
	// Answer asks once, without retrying. Whatever the model returned, even empty or refused text, is an Answer;
	// everything else is an error: an *AskError if the provider reported what was wrong. ctx bounds the whole exchange.
	Answer(ctx context.Context, req Request) (Answer, error)
}

// An Asker is a durable Model: it keeps limits, retries failures and journals answers.
type Asker interface {
	// Ask returns the answer to req, without the response body unless that contains vectors. An ask that failed after
	// its retries is an Answer with Status Failed; an error means that measuring cannot continue (stopped, out of
	// budget, a full disk, a wrong key).
	Ask(ctx context.Context, req Request) (Answer, error)
}

// An Instrument turns items and a model's answers into observations.
type Instrument interface {
	// Measure sends the requests that the item needs and scores the answers. With journalled answers, this resumes,
	// re-scores or extends a run. Errors come from the Asker or the measure. An answer that cannot be scored is also an
	// Observation.
	Measure(ctx context.Context, ask Asker, item Item) ([]Observation, error)
}

// Rules are the settings that figures depend on besides the answers: an instrument's part of a run's manifest, from
// which figures can be recomputed.
type Rules interface {
	// Estimator returns an estimator with these rules: it computes one figure over all observations and one for each
	// prefix of the columns in by.
	Estimator(by []string) Estimator
}

// An Estimator sums up observations as they arrive. It keeps sums per group and cluster, never the observations. It is
// not safe for concurrent use.
type Estimator interface {
	Add(Observation)
	// Estimates returns the figures over all added observations, in the order of tables. suites goes into their
	// signatures.
	Estimates(suites SuiteIDs) []Estimate
}

// OptionError reports an invalid value of an option: a flag on the command line and a key of crosstalk.yaml.
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

// Unwrap returns the error in the value.
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

// Chosen returns the choice with this name. what is the noun for the choices in the error (UnknownName).
func Chosen[S ~string](what, name string, choices []S) (S, error) {
	return Named(what, name, choices, func(s S) string { return string(s) })
}

// Named returns the choice with this name. what is the noun for the choices in the error (UnknownName).
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
