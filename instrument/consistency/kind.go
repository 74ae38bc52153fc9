package consistency

import (
	"slices"

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

// Names of the numbers of observations of Consistency: 0 or 1, the last from 0
// to 1.
const (
	SourceCorrect = "source_correct"
	Correct       = "correct"
	Repeated      = "repeat" // the source asked again is consistent with the source
	BLEUNumber    = "bleu"   // of the item
)

// Columns. The last three belong to figures by class.
const (
	TaskColumn  = "task"
	PairColumn  = "pair"
	PartColumn  = "part"
	ClassColumn = ByClass
	FromColumn  = "from"
	ToColumn    = "to"
)

// The counts of estimates, besides Invalid and the counts of answers without text.
const (
	NotScored = "not_scored"
	Flagged   = "flagged" // also a finding in a rewritten input
)

// Kind describes consistency for reports.
var Kind = crosstalk.Kind{
	Name:     "consistency",
	Reads:    []string{FlagsText, ClassText, SourceClass, GoldText},
	Title:    "Multisense consistency",
	Sentence: "How often an answer keeps its meaning when the question is asked in another language or in other words.",
	Measures: []crosstalk.Measure{
		{Key: Consistency, Label: "consistency", Name: "consistency", Unscored: []string{NotScored}, Headline: true,
			Sentence: "Share of items whose answer has the same class as the answer to the source. " +
				"Asking the source again (repeat) is the baseline."},
		{Key: ConsistencyCorrect, Label: "consistency correct", Name: "consistency where the source is right",
			Unscored: []string{NotScored}, Sentence: "Consistency of the items whose source was answered correctly."},
		{Key: ConsistencyIncorrect, Label: "consistency incorrect", Name: "consistency where the source is wrong",
			Unscored: []string{NotScored}, Sentence: "Consistency of the items whose source was answered incorrectly."},
		{Key: ConsistencyBLEU50, Label: "consistency bleu50", Name: "consistency of good translations",
			Unscored: []string{NotScored}, Sentence: "Consistency of the items whose rewritten input has a BLEU above 50."},
		{Key: ConsistencyChange, Label: "consistency change", Name: "change of consistency", Unscored: []string{NotScored},
			Sentence: "Consistency minus the consistency of the source asked again."},
		{Key: Accuracy, Label: "accuracy", Name: "accuracy", Unscored: []string{NotScored}, Headline: true,
			Sentence: "Share of answers with the correct class."},
		{Key: AccuracyChange, Label: "accuracy change", Name: "change of accuracy", Unscored: []string{NotScored},
			Sentence: "Accuracy minus the accuracy of the source."},
		{Key: InvalidShare, Label: "invalid", Name: "answers without a label", Unscored: []string{NotScored}, Headline: true,
			Sentence: "Share of answers without a recognisable class."},
		{Key: Faults, Label: "changes", Name: "answers that change or are invalid", Unscored: []string{NotScored},
			Sentence: "Share of items whose answer has another class than the answer to the source, or none."},
		{Key: Rewriting, Label: "rewriting", Name: "rewritings without a flag", Unscored: []string{NotScored},
			Sentence: "Share of rewritten inputs without a flag."},
		{Key: BLEU, Label: "BLEU", Name: "BLEU of all rewritten inputs", Unscored: []string{NotScored},
			Sentence: "Similarity of rewritten inputs to human ones, with all texts as one corpus."},
		{Key: ItemBLEU, Label: "bleu item", Name: "BLEU of an item", Unscored: []string{NotScored},
			Sentence: "BLEU of single items, averaged."},
		{Key: ROUGE1, Label: "rouge1", Name: "ROUGE-1", Unscored: []string{NotScored},
			Sentence: "Overlap of words between rewritten and human inputs (F1)."},
		{Key: ROUGE2, Label: "rouge2", Name: "ROUGE-2", Unscored: []string{NotScored},
			Sentence: "Overlap of pairs of words between rewritten and human inputs (F1)."},
		{Key: ROUGEL, Label: "rougeL", Name: "ROUGE-L", Unscored: []string{NotScored},
			Sentence: "Longest common sequence of words of rewritten and human inputs (F1)."},
		{Key: Quality, Label: "quality", Name: "quality of rewritten inputs", Unscored: []string{NotScored},
			Sentence: "Mean score of rewritten inputs by the external scorer."},
		{Key: BLEUConsistency, Label: "bleu consistency pearson", Name: "correlation of BLEU and consistency",
			Unscored: []string{NotScored}, Sentence: "Pearson's r between BLEU and consistency of items."},
		{Key: BLEUAccuracy, Label: "bleu accuracy pearson", Name: "correlation of BLEU and accuracy",
			Unscored: []string{NotScored}, Sentence: "Pearson's r between BLEU and accuracy of items."},
		{Key: LabelShare, Label: "label share", Name: "share of a class", Unscored: []string{NotScored}, ByClass: true,
			Sentence: "Share of a class among the answers."},
		{Key: Transition, Label: "transition", Name: "transition between classes",
			Unscored: []string{NotScored}, ByClass: true,
			Sentence: "Share of each class among the answers in the other sense, " +
				"by the class of the answer to the source."},
	},
	Findings: []crosstalk.Finding{
		{Key: Inconsistent, Titles: []string{Inconsistent}, Fault: true},
		{Key: Wrong, Titles: []string{Wrong}, Fault: true},
		{Key: Invalid, Titles: []string{Invalid}, Fault: true},
		{Key: Flagged, Titles: []string{"rewriting flagged"}, Fault: true},
	},
	Columns: []crosstalk.Column{
		{Key: TaskColumn, Apart: true},
		{Key: PairColumn},
		{Key: PartColumn, Within: true, Made: map[string]string{string(Gold): string(Source)}},
		{Key: ReadingColumn, Within: true},
		{Key: ClassColumn, Within: true, OfFigures: true},
		{Key: FromColumn, Within: true, OfFigures: true},
		{Key: ToColumn, Within: true, OfFigures: true},
	},
	Counts:  slices.Concat([]string{NotScored}, crosstalk.Unanswered, []string{Flagged, Invalid}),
	Derived: []string{ByClass},
	Choices: []string{"language", "category", TaskColumn, PairColumn, PartColumn},
	Target:  GoldText,
	Faults: crosstalk.Faults{Measure: Faults, Of: Consistency, ByRate: true, Reasons: []string{Invalid},
		Sentence: "answers change their meaning or are invalid"},
	Charts: []crosstalk.Chart{
		{Form: crosstalk.SweepCharts, Measures: []string{Consistency, Accuracy}},
		{Form: crosstalk.DotPlot, Measures: []string{Consistency}, Rows: []string{PairColumn}, Series: PartColumn,
			Title: "consistency by pair and part"},
		{Form: crosstalk.DotPlot, Measures: []string{Accuracy}, Rows: []string{PairColumn}, Series: PartColumn,
			Title: "accuracy by pair and part"},
		{Form: crosstalk.DotPlot, Measures: []string{InvalidShare}, Rows: []string{PairColumn}, Series: PartColumn,
			Title: "invalid answers by pair and part"},
		{Form: crosstalk.DotPlot, Measures: []string{ConsistencyCorrect, ConsistencyIncorrect},
			Rows: []string{PairColumn, PartColumn}, Title: "consistency where the source is right and wrong"},
		{Form: crosstalk.ShareChart, Measures: []string{LabelShare}, Rows: []string{PairColumn, PartColumn},
			Series: ClassColumn, Title: "classes of the answers"},
		{Form: crosstalk.HeatMap, Measures: []string{Transition}, Rows: []string{FromColumn}, Series: ToColumn,
			Title: "transitions between classes",
			Note:  "Rows: class in the source; columns: class in the other sense; numbers: shares of the row."},
		{Form: crosstalk.ScatterChart, Measures: []string{Consistency}, Over: BLEU, Axis: "BLEU of the rewritten inputs",
			Rows: []string{PairColumn}, Series: PartColumn, Title: "consistency and translation quality"},
	},
}
