package consistency

import (
	"slices"

	"crosstalk"
)

// Names of the texts of observations.
const (
	SourceInput  = "source_input" // the input as people wrote it
	InputText    = "input"        // as it was asked
	Reference    = "reference"    // as people wrote it in the other language
	SourceAnswer = "source"       // the answer to the source
	AnswerText   = "answer"
	SourceClass  = "source_class" // what was read in the answers
	ClassText    = "class"
	GoldText     = "gold"
	SourceRule   = "source_rule" // by which rule
	RuleText     = "rule"
	Confidence   = "confidence"
	FlagsText    = "flags"
	SenseText    = "instruction" // the sense of the instruction
	Reviewer     = "reviewer"
	ReviewReason = "review_reason"
)

// Names of the numbers of observations of Consistency: 0 or 1, but for the
// last, which is from 0 to 1.
const (
	SourceCorrect = "source_correct"
	Correct       = "correct"
	Repeated      = "repeat" // the source asked again is consistent with the source
	BLEUNumber    = "bleu"   // of the item
)

// Columns. The last three are those of figures that take answers apart by
// class.
const (
	TaskColumn  = "task"
	PairColumn  = "pair"
	PartColumn  = "part"
	ClassColumn = ByClass
	FromColumn  = "from"
	ToColumn    = "to"
)

// The counts of estimates, beside Invalid and those of answers that are no
// text.
const (
	NotScored = "not_scored"
	Flagged   = "flagged" // also what is found in a rewritten input
)

// CodeShare is the share of a code among pairs of answers that people coded,
// with its counts.
const (
	CodeShare = "code_share"
	Coded     = "coded"
	Uncoded   = "uncoded"
)

// Kind says how consistency is shown.
var Kind = crosstalk.Kind{
	Name:     "consistency",
	Title:    "Multisense consistency",
	Sentence: "How often an answer keeps its meaning when the question is put in another language or in other words.",
	Measures: []crosstalk.Measure{
		{Key: Consistency, Label: "consistency", Name: "consistency", Unscored: NotScored,
			Sentence: "Share of items whose answer has the same class as the answer to the source. The source asked again (repeat) is the baseline."},
		{Key: ConsistencyCorrect, Label: "consistency correct", Name: "consistency where the source is right", Unscored: NotScored,
			Sentence: "Consistency of the items whose source is answered rightly."},
		{Key: ConsistencyIncorrect, Label: "consistency incorrect", Name: "consistency where the source is wrong", Unscored: NotScored,
			Sentence: "Consistency of the items whose source is answered wrongly."},
		{Key: ConsistencyBLEU50, Label: "consistency bleu50", Name: "consistency of good translations", Unscored: NotScored,
			Sentence: "Consistency of the items whose rewritten input has a BLEU above 50."},
		{Key: ConsistencyChange, Label: "consistency change", Name: "change of consistency", Unscored: NotScored,
			Sentence: "Consistency less that of the source asked again."},
		{Key: Accuracy, Label: "accuracy", Name: "accuracy", Unscored: NotScored,
			Sentence: "Share of answers of the right class."},
		{Key: AccuracyChange, Label: "accuracy change", Name: "change of accuracy", Unscored: NotScored,
			Sentence: "Accuracy less that of the source."},
		{Key: InvalidShare, Label: "invalid", Name: "answers without a label", Unscored: NotScored,
			Sentence: "Share of answers in which no class can be read."},
		{Key: Rewriting, Label: "rewriting", Name: "rewritings without a flag", Unscored: NotScored,
			Sentence: "Share of inputs that the model rewrote without anything doubtful about it."},
		{Key: BLEU, Label: "BLEU", Name: "BLEU of all rewritten inputs", Unscored: NotScored,
			Sentence: "How near rewritten inputs are to those that people wrote, all as one corpus."},
		{Key: ItemBLEU, Label: "bleu item", Name: "BLEU of an item", Unscored: NotScored,
			Sentence: "Mean over items of the BLEU of each."},
		{Key: ROUGE1, Label: "rouge1", Name: "ROUGE-1", Unscored: NotScored,
			Sentence: "Words that rewritten inputs share with those that people wrote (F1)."},
		{Key: ROUGE2, Label: "rouge2", Name: "ROUGE-2", Unscored: NotScored,
			Sentence: "Pairs of words that they share (F1)."},
		{Key: ROUGEL, Label: "rougeL", Name: "ROUGE-L", Unscored: NotScored,
			Sentence: "The longest sequence of words that they share (F1)."},
		{Key: Quality, Label: "quality", Name: "quality of rewritten inputs", Unscored: NotScored,
			Sentence: "Mean score that the external scorer gives rewritten inputs."},
		{Key: BLEUConsistency, Label: "bleu consistency pearson", Name: "correlation of BLEU and consistency", Unscored: NotScored,
			Sentence: "Pearson's r of an item's BLEU and its consistency."},
		{Key: BLEUAccuracy, Label: "bleu accuracy pearson", Name: "correlation of BLEU and accuracy", Unscored: NotScored,
			Sentence: "Pearson's r of an item's BLEU and its accuracy."},
		{Key: LabelShare, Label: "label share", Name: "share of a class", Unscored: NotScored, ByClass: true,
			Sentence: "Share of a class among the answers."},
		{Key: Transition, Label: "transition", Name: "transition between classes", Unscored: NotScored, ByClass: true,
			Sentence: "Share of a class among the items that the answer to the source puts into another."},
		{Key: CodeShare, Label: "code share", Name: "share of a code", Unscored: Uncoded,
			Sentence: "Share of a code among the pairs of answers that people coded."},
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
		{Key: PartColumn, Within: true},
		{Key: ReadingColumn, Within: true},
		{Key: ClassColumn, Within: true},
		{Key: FromColumn, Within: true},
		{Key: ToColumn, Within: true},
	},
	Counts:  slices.Concat([]string{NotScored}, crosstalk.Unanswered, []string{Coded, Flagged, Invalid, Uncoded}),
	Derived: []string{ByClass},
	Choices: []string{"language", "category", TaskColumn, PairColumn, PartColumn},
	Target:  GoldText,
	Charts: []crosstalk.Chart{
		{Form: crosstalk.SweepCharts, Measures: []string{Consistency, Accuracy}},
		{Form: crosstalk.BarChart, Measures: []string{Consistency}, Rows: []string{PairColumn}, Series: PartColumn, Title: "consistency by pair and part"},
		{Form: crosstalk.BarChart, Measures: []string{Accuracy}, Rows: []string{PairColumn}, Series: PartColumn, Title: "accuracy by pair and part"},
		{Form: crosstalk.BarChart, Measures: []string{InvalidShare}, Rows: []string{PairColumn}, Series: PartColumn, Title: "invalid by pair and part"},
		{Form: crosstalk.BarChart, Measures: []string{ConsistencyCorrect, ConsistencyIncorrect}, Rows: []string{PairColumn, PartColumn},
			Title: "consistency where the source is right and wrong"},
		{Form: crosstalk.ShareChart, Measures: []string{LabelShare}, Rows: []string{PairColumn, PartColumn}, Series: ClassColumn, Title: "classes of the answers"},
		{Form: crosstalk.HeatMap, Measures: []string{Transition}, Rows: []string{FromColumn}, Series: ToColumn, Title: "transitions between classes",
			Note: "Rows are the classes in the source, columns those in the other sense; the numbers are shares of a row."},
		{Form: crosstalk.ScatterChart, Measures: []string{Consistency}, Over: BLEU, Axis: "BLEU of the rewritten inputs",
			Rows: []string{PairColumn}, Series: PartColumn, Title: "consistency and translation quality"},
	},
}
