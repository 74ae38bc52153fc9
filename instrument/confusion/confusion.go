// Package confusion measures language confusion: how often a model's answer is not in the requested language
// (Marchisio et al. 2024, "Understanding and Mitigating Language Confusion in LLMs").
//
// An answer has a line error if a line is in another language than expected, and a
// word error if it has no line error but a word of another language.
//
//	LPR            share of answers without a line error
//	WPR            share without a word error, among answers without a line error
//	LCPR           harmonic mean of the two
//	line accuracy  mean over answers of the share of right lines
//
// Under our own protocol, package guard judges answers, as it does in production. Under the protocols of the paper,
// a language identifier judges each line, and word errors are checked in six languages that are not written in
// Latin script, where they are English words of a list; one protocol also checks languages in Latin script, where
// they are words with a letter of another script.
//
// The same figures can be of the reasoning that a model wrote before its answer,
// with three more on how its languages alternate.
//
// If the model returns log probabilities, its uncertainty about the next token is
// measured where confusion begins and elsewhere (section 5).
package confusion

import (
	"crosstalk"
	"crosstalk/measure/langid"
	"crosstalk/measure/wordlist"
)

// The measures.
const (
	Faults       = "faults"        // share of answers with a wrong line, word or script (Kind().Fault)
	LPR          = "lpr"           // line-level pass rate
	WPR          = "wpr"           // word-level pass rate
	LCPR         = "lcpr"          // language confusion pass rate
	LineAccuracy = "line_accuracy" // share of right lines
	WordAccuracy = "word_accuracy" // share of words in the expected language, of reasoning
	FirstLine    = "first_line"    // share of reasoning whose first line is in the expected language
	Switches     = "switches"      // changes of language per 1,000 words, of reasoning
	Entropy      = "entropy"       // of the next token, in bits
	NucleusSize  = "nucleus_size"  // fewest tokens that have the probability top-p together
)

// Reasons why an answer of text has no value.
const (
	CannotTell  = "cannot tell"  // too little prose, or alike in both languages
	Unchecked   = "unchecked"    // the same under the paper's protocols: no line is long enough to be checked
	LineError   = "line error"   // words are not checked: the answer is not in the expected language anyway
	NoLanguage  = "no language"  // it is unknown what language is expected, or the identifier does not know it
	NoReasoning = "no reasoning" // the answer has none, or it was not kept apart
	NoLogprobs  = "no logprobs"  // the model returned no log probabilities, or a text that they do not match
)

// Findings in an answer (Marchisio et al. 2024, section 1).
const (
	FullAnswer  = "full answer" // every checked line is in another language
	SomeLines   = "line"        // some checked lines are
	SingleWords = "word"        // words are
)

// Instrument measures confusion. It is safe for concurrent use.
type Instrument struct {
	Protocol   Protocol
	Identifier langid.Identifier
	Words      *wordlist.List         // English words, for the paper's protocols
	Part       Part                   // of answers that is scored
	Prompting  crosstalk.PromptConfig // not needed to score recorded answers; nor are Format and Samples
	Format                            // of prompts
	Samples    int                    // requested answers per prompt
	Condition  map[string]string      // of every observation: the model, and the settings that a sweep varies
	AskOnly    bool                   // Measure scores nothing
}
