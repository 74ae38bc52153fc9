// Package consistency measures multisense consistency: whether a model's answer keeps its meaning when the form of
// the question changes (Ohmer et al. 2023, "Separating form and meaning: Using self-consistency to quantify task
// understanding across multiple senses").
//
// A task is an instruction and an input. The model itself rewrites both into another sense (another language, a
// paraphrase, an equal formula) and then answers in both senses. Consistency is the share of items whose class in
// the new sense equals that in the source sense:
//
//	T  instruction and input are rewritten
//	I  the instruction only
//	X  the input only
//
// Asking the source again is the baseline: the inconsistency that is chance.
package consistency

import (
	"crosstalk"
	"crosstalk/measure/langid"
	"crosstalk/measure/similarity"
)

// The measures of observations.
const (
	Faults      = "changes"     // share of pairs with another class, or an answer without one (Kind().Fault)
	Consistency = "consistency" // the class equals the source sense's; 0 or 1
	Accuracy    = "accuracy"    // the class is the right one; 0 or 1
	Rewriting   = "rewriting"   // an input was rewritten without a flag; 0 or 1
	ItemBLEU    = "bleu_item"   // of a rewritten input against the human one, the mean over its texts; 0 to 1
	ROUGE1      = "rouge1"
	ROUGE2      = "rouge2"
	ROUGEL      = "rougeL"
	Quality     = "quality" // the same by an external scorer, in its own unit
)

// Reasons why there is no value, besides the status of an answer without text.
const (
	Invalid     = "invalid"      // an answer has no label
	Missing     = "missing"      // an answer was never recorded
	NoRewriting = "no rewriting" // the model did not rewrite the input
	NoSource    = "no source"    // the text that was rewritten is unknown
	NoGold      = "no gold"      // the correct class is unknown
	Undefined   = "undefined"    // the measure has no value for these texts
)

// Findings in answers.
const (
	Inconsistent = "inconsistent"
	Wrong        = "wrong"
)

// Instrument measures consistency. It is safe for concurrent use.
type Instrument struct {
	Protocol  Protocol
	Tasks     []crosstalk.Task  // with the instructions in all senses asked or recorded
	Condition map[string]string // of every observation: the model, and the settings that a sweep varies

	Free      Comparer              // compares free answers; needed for tasks without classes
	Quality   similarity.Similarity // an additional measure of rewritten texts; nil: none
	Languages langid.Identifier     // flags rewritings in a wrong language; nil: no flags
	Overrides Overrides             // manually corrected readings; nil: none

	Rewrites string // for the signature: who rewrote the instructions, and who reviewed them

	// Not needed to score recorded answers.
	Prompting crosstalk.PromptConfig // of questions
	Rewriting Rewriter
	Senses    Senses
	Samples   int  // answers to each question
	AskOnly   bool // Measure scores nothing, and so does not compare free answers
}

// Answers are the answers to one item by form and run. All forms of the task are
// present, and a run without an answer has the zero Answer.
type Answers map[Form][]crosstalk.Answer

// Reading is the version of an answer's class in figures: as the reader found it, or with manual corrections.
const (
	ReadingColumn = "reading"
	AsRead        = "as read"
	Reviewed      = "reviewed"
)

// InstructionIn returns the task's instruction in a sense. For a rewritten sense without one, it is the instruction
// in that language, since the answer words are the same.
func InstructionIn(task crosstalk.Task, s Sense) (crosstalk.Instruction, bool) {
	if in, ok := task.Instructions[string(s)]; ok {
		return in, true
	}
	in, ok := task.Instructions[s.Target()]
	return in, ok
}
