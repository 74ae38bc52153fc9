// Package leakage measures semantic leakage: how often a model's answer to a prompt that mentions a concept is
// closer in meaning to the concept than its answer to the same prompt without it (Gonen et al. 2024, "Does Liking
// Yellow Imply Driving a School Bus?"; Smilga 2025).
//
// The leak value of a pair of answers is 1 if sim(concept, test answer) is larger than sim(concept, control
// answer), 0 if smaller, 0.5 if equal. Its mean is the Leak-Rate; 0.5 means no leakage.
package leakage

import (
	"crosstalk"
	"crosstalk/measure/similarity"
)

// The measures. Measure is the Leak-Rate of whole answers; the next two are of their sentences.
const (
	Faults         = "leaks" // share of pairs that leak; ties do not count (Kind().Fault)
	Measure        = "leak_rate"
	MeasureClosest = "leak_rate_max"  // of the sentence of each answer that is closest to the concept
	MeasureMean    = "leak_rate_mean" // of the mean similarity of each answer's sentences

	// Of context leakage: shares of answers that repeat an n-gram of the test's
	// carrier, and the difference of the two.
	MeasureCopied        = "copied"
	MeasureControlCopied = "copied_control"
	MeasureCopying       = "copied_difference"

	// Of answers to the test alone, if the rules ask for counts.
	MeasureRepeated = "concept_repeated" // share that repeats the concept
	MeasureSame     = "same_answer"      // share that another concept with the same control got too
)

// Reasons why a pair has no leak value, besides the status of an answer without text.
const (
	NoVector = "no vector" // the similarity is undefined for the concept or an answer
	NoText   = "no text"   // nothing is left of an answer after post-processing
	Unpaired = "unpaired"  // one of the two answers was never recorded

	NothingToCopy = "nothing to copy" // the test's carrier has too few words that the control's has not
)

// Instrument measures leakage. It is safe for concurrent use.
type Instrument struct {
	Protocol     Protocol
	Similarities []similarity.Similarity // one figure each, never mixed
	Prompting    crosstalk.PromptConfig  // not needed to score recorded answers
	Samples      int                     // requested answers per prompt
	Condition    map[string]string       // of every observation: the model, and the settings that a sweep varies
	AskOnly      bool                    // Measure scores nothing, and needs no similarity
}
