package consistency

import (
	_ "embed"

	"crosstalk"
)

// Names of the texts of observations.
const (
	SourceInput  = "source_input" // the original input
	InputText    = "input"        // as asked
	Reference    = "reference"    // the original text in the other language
	SourceAnswer = "source"       // the answer to the source
	AnswerText   = "answer"
	SourceClass  = "source_class" // the class of the answer to the source
	ClassText    = "class"
	GoldText     = "gold"
	SourceRule   = "source_rule" // the rule that decided
	RuleText     = "rule"
	Confidence   = "confidence"
	FlagsText    = "flags"
	SenseText    = "instruction" // the sense of the instruction
	Reviewer     = "reviewer"
	ReviewReason = "review_reason"
)

// Names of the numbers of observations of Consistency: 0 or 1, the last from 0 to 1.
const (
	SourceCorrect = "source_correct"
	Correct       = "correct"
	Repeated      = "repeat" // the source asked again is consistent with the source
	BLEUNumber    = "bleu"   // of the item
)

const (
	TaskColumn = "task"
	PairColumn = "pair"
	PartColumn = "part"
)

// The counts of estimates, besides Invalid and the counts of answers without text.
const (
	NotScored = "not_scored"
	Flagged   = "flagged" // also a finding in a rewritten input
)

// Kind describes consistency for reports.
var Kind = crosstalk.ParseKind(kind)

//go:embed kind.json
var kind string
