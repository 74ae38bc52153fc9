// Package leakage measures semantic leakage: how often a model's answer to a
// prompt that mentions a concept is closer in meaning to the concept than its
// answer to the same prompt without it (Gonen et al. 2024, "Does Liking Yellow
// Imply Driving a School Bus?"; Smilga 2025).
//
// The leak value of a pair of answers is 1 if sim(concept, test answer) is
// larger than sim(concept, control answer), 0 if smaller, 0.5 if equal. Its
// mean is the Leak-Rate; 0.5 means no leakage.
package leakage

import (
	"crosstalk"
	"crosstalk/measure/similarity"
)

// Measure is the name of the figure.
const Measure = "leak_rate"

// Reasons why a pair has no leak value, besides the status of an answer without
// text.
const (
	NoVector = "no vector" // the similarity is undefined for the concept or an answer
	NoText   = "no text"   // nothing is left of an answer after post-processing
	Unpaired = "unpaired"  // one of the two answers was never recorded
)

// Instrument measures leakage. It is safe for concurrent use.
type Instrument struct {
	Protocol     Protocol
	Similarities []similarity.Similarity // one figure each, never mixed
	Prompting    crosstalk.PromptConfig  // not needed to score recorded answers
	Samples      int                     // requested answers per prompt
	Condition    map[string]string       // of every observation: the model, and the settings that a sweep varies
}
