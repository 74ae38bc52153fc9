package confusion

import (
	"slices"

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
var Kind = crosstalk.Kind{
	Name:     "confusion",
	Title:    "Language confusion",
	Sentence: "How often an answer is not in the requested language.",
	Measures: []crosstalk.Measure{
		{Key: LPR, Label: "LPR", Name: "line-level pass rate", Unscored: unscored, Headline: true,
			Sentence: "Share of answers without a line in another language."},
		{Key: WPR, Label: "WPR", Name: "word-level pass rate", Unscored: unscored, Headline: true,
			Sentence: "Share of answers without a word in another language, " +
				"among answers without a line in another language."},
		{Key: LCPR, Label: "LCPR", Name: "language confusion pass rate", Unscored: unscored, Headline: true,
			Sentence: "Harmonic mean of LPR and WPR, over the languages that have both."},
		{Key: LineAccuracy, Label: "line accuracy", Name: "line accuracy", Unscored: unscored,
			Sentence: "Share of lines in the right language, averaged over answers."},
		{Key: WordAccuracy, Label: "word accuracy", Name: "word accuracy", Unscored: unscored,
			Sentence: "Share of words of the reasoning in the expected language, averaged over answers."},
		{Key: FirstLine, Label: "first line", Name: "language of the first line", Unscored: unscored,
			Sentence: "Share of reasoning whose first line is in the expected language."},
		{Key: Switches, Label: "switches", Name: "changes of language", Unscored: unscored,
			Sentence: "How often the language of the reasoning changes in 1,000 words, averaged over answers."},
		{Key: Faults, Label: "any fault", Name: "answers with any fault", Unscored: unscored,
			Sentence: "Share of all answers with a line or a word in another language."},
		{Key: Entropy, Label: "entropy", Name: "entropy of the next token",
			Unscored: []string{countName(NoLogprobs)}, OfTokens: true,
			Sentence: "Uncertainty of the model about its next token, in bits."},
		{Key: NucleusSize, Label: "nucleus size", Name: "size of the nucleus",
			Unscored: []string{countName(NoLogprobs)}, OfTokens: true,
			Sentence: "Smallest number of tokens with a total probability of top-p."},
	},
	Findings: []crosstalk.Finding{
		{Key: FullAnswer, Titles: []string{wrongLanguage, "all in a wrong language"}, Fault: true,
			Sentence: "no line that is long enough to judge is in the expected language"},
		{Key: SomeLines, Titles: []string{wrongLanguage, "some lines in a wrong language"}, Fault: true,
			Sentence: "some lines are not in the expected language"},
		{Key: SingleWords, Titles: []string{"wrong word"}, Fault: true, Sentence: "some words are of another language"},
	},
	Columns: []crosstalk.Column{
		{Key: TaskColumn, Apart: true},
		{Key: LanguageColumn, Apart: true},
		{Key: atColumn, Within: true},
		{Key: distributionColumn, Within: true},
	},
	Counts: slices.Concat([]string{countName(FullAnswer), SomeLines, SingleWords, countName(LineError)}, unscored,
		[]string{passedUnchecked, countName(NoLanguage), countName(NoReasoning), countName(NoLogprobs)},
		crosstalk.Unanswered, []string{censoredCount, tokensCount}),
	Unjudged: []string{countName(NoLanguage), countName(NoReasoning)},
	Waived:   []string{passedUnchecked},
	Choices:  []string{LanguageColumn, TaskColumn, SourceColumn},
	Target:   LanguageColumn,
	Doubt:    []string{Margin},
	Faults: crosstalk.Faults{Measure: Faults, Of: LPR, Numbers: map[string]string{wordsWrong: SingleWords},
		Sentence: "answers are wholly or partly in another language"},
	Charts: []crosstalk.Chart{
		{Form: crosstalk.DotPlot, Measures: []string{LPR, WPR, LCPR}, Rows: []string{crosstalk.ModelColumn}},
		{Form: crosstalk.SweepCharts, Measures: []string{LPR, WPR, LCPR}},
		{Form: crosstalk.GroupCharts, Measures: []string{LPR, WPR}},
		{Form: crosstalk.DotPlot, Measures: []string{Entropy}, Rows: []string{atColumn}, Series: crosstalk.ModelColumn,
			Title: "entropy at and away from confusion points"},
		{Form: crosstalk.DotPlot, Measures: []string{NucleusSize}, Rows: []string{atColumn},
			Series: crosstalk.ModelColumn, Title: "nucleus size at and away from confusion points"},
		{Form: crosstalk.TokenStrips, Title: "where confusion begins",
			Note: "Tokens around the first confusion point of an answer."},
	},
}

// unscored are the counts of texts that cannot be judged: under our own protocol,
// and under those of the paper.
var unscored = []string{countName(CannotTell), Unchecked}

const wrongLanguage = "wrong language"
