// Package crosstalk is the vocabulary of the program: items, requests, answers,
// observations and estimates. It does no I/O, and every other package may use it.
//
// Data flows one way: a suite has items, an instrument asks a model each item,
// scores the answers as observations, and summarises observations as estimates.
package crosstalk

import "context"

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
	// Measure asks what the item needs and scores the answers. Running it again over journalled answers resumes,
	// re-scores or extends it. An error is the Asker's or the measure's; an answer that could not be scored is an
	// Observation that says why.
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
