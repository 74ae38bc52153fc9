// Package confusion measures language confusion: how often a model's answer is
// not in the language that was asked for (Marchisio et al. 2024,
// "Understanding and Mitigating Language Confusion in LLMs").
//
// The language of each line of an answer is identified. An answer has a line
// error if a line is in another language than expected, and a word error if it
// has no line error but a word of another language.
//
//	LPR            share of answers without a line error
//	WPR            share without a word error, among answers without a line error
//	LCPR           harmonic mean of the two
//	line accuracy  mean over answers of the share of right lines
//
// Word errors are looked for in six languages that are not written in Latin
// script, where they are English words of a list, and under some protocols in
// languages of Latin script, where they are words with a letter of another.
//
// Where the model gives log probabilities, its uncertainty about the next token is
// measured where confusions begin and elsewhere (section 4.3).
package confusion

import (
	"crosstalk"
	"crosstalk/measure/langid"
	"crosstalk/measure/wordlist"
)

// The measures.
const (
	LPR          = "lpr"           // line-level pass rate
	WPR          = "wpr"           // word-level pass rate
	LCPR         = "lcpr"          // language confusion pass rate
	LineAccuracy = "line_accuracy" // share of right lines
	LatinWPR     = "latin_wpr"     // word-level pass rate of languages in Latin script, where it is apart
	Entropy      = "entropy"       // of the next token, in bits
	NucleusSize  = "nucleus_size"  // fewest tokens that have the probability top-p together
)

// Reasons why an answer of text has no value.
const (
	Unchecked  = "unchecked"   // no line is long enough to be checked
	LineError  = "line error"  // words are not looked at: the answer is not in the expected language anyway
	NoLogprobs = "no logprobs" // the model did not say how probable its tokens were, or the tokens are not those of the text
)

// What is found in an answer (Marchisio et al. 2024, section 3.1).
const (
	FullAnswer  = "full answer" // every checked line is in another language
	SomeLines   = "line"        // some checked lines are
	SingleWords = "word"        // words are
)

// Instrument measures confusion. It is safe for concurrent use.
type Instrument struct {
	Protocol   Protocol
	Identifier langid.Identifier
	Words      *wordlist.List         // English words
	Prompting  crosstalk.PromptConfig // not needed to score recorded answers; nor are Format and Samples
	Format                            // how prompts are put
	Samples    int                    // answers asked for to each prompt
	AsServed   bool                   // the log probabilities are of the distribution that tokens are drawn from: do not scale them
	Condition  map[string]string      // stands in every observation: the model, and what a sweep varies
}
