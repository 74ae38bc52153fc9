package confusion

import (
	_ "embed"

	"crosstalk"
)

// Names of the texts and numbers of observations.
const (
	AnswerText = "answer"          // the text that was checked, of whatever part
	promptText = "recorded_prompt" // the prompt of a recorded answer

	firstLanguage = "first_line_language" // of reasoning

	linesChecked = "lines_checked" // numbers
	linesWrong   = "lines_wrong"
	linesUnclear = "lines_unclear"
	wordsWrong   = "words_wrong" // where there are any
	Margin       = "margin"      // least distance of a checked line's probability from the threshold
	MarginLine   = "margin_line" // that line, from 1
)

// Columns of observations. The first three are the suite's too.
const (
	TaskColumn         = "task"
	LanguageColumn     = "language" // the requested one
	SourceColumn       = "source"
	atColumn           = "at"           // the tokens at which uncertainty was measured
	distributionColumn = "distribution" // the distribution of the tokens
)

// The counts of estimates, besides those named like findings and reasons.
const (
	tokensCount   = "tokens" // both are also numbers of observations
	censoredCount = "censored"

	passedUnchecked = "passed_unchecked" // no line was long enough, and the protocol lets them pass
)

// Kind describes confusion for reports.
var Kind = crosstalk.ParseKind(kind)

//go:embed kind.json
var kind string
