package leakage

import (
	"slices"

	"crosstalk"
)

// Names of what stands in observations. Test and Control name the two answers
// as well as their similarities to the concept.
const (
	Concept = "concept"
	Test    = "test"
	Control = "control"
)

// What is found in a pair of answers.
const (
	Leaked    = "leaked"
	Tie       = "tie"
	NotLeaked = "not leaked"
)

// The counts of estimates, beside those of answers that are no text.
const (
	Ties      = "ties"
	Identical = "identical"
	NotScored = "not_scored"
)

// Columns. Figures over several similarities, data sets or languages would
// measure nothing.
const (
	SimilarityColumn = "similarity"
	DatasetColumn    = "dataset"
	LanguageColumn   = "language"
)

// Kind says how leakage is shown.
var Kind = crosstalk.Kind{
	Name:     "leakage",
	Title:    "Semantic leakage",
	Sentence: "How often an answer is nearer in meaning to a concept that its prompt mentions than the answer to the same prompt without it.",
	Measures: []crosstalk.Measure{{
		Key: Measure, Label: "leak rate", Name: "Leak-Rate",
		Sentence: "Share of pairs of answers of which the one to the prompt with the concept is nearer to it; a tie counts half.",
		Baseline: crosstalk.Baseline{Value: 0.5, Meaning: "no leakage"},
		Numbers:  []string{Test, Control}, Unscored: NotScored,
	}},
	Findings: []crosstalk.Finding{
		{Key: Leaked, Titles: []string{Leaked}, Sentence: "the test answer is nearer", Fault: true},
		{Key: Tie, Titles: []string{Tie}, Sentence: "a tie"},
		{Key: NotLeaked, Titles: []string{NotLeaked}, Sentence: "the control answer is nearer"},
	},
	Columns: []crosstalk.Column{
		{Key: SimilarityColumn, Apart: true, Within: true},
		{Key: DatasetColumn, Apart: true},
		{Key: LanguageColumn, Apart: true},
	},
	Counts:  slices.Concat([]string{Ties, Identical, NotScored}, crosstalk.Unanswered),
	Choices: []string{LanguageColumn, "category", SimilarityColumn},
	Target:  Concept,
	Judge:   SimilarityColumn,
	Charts: []crosstalk.Chart{
		{Form: crosstalk.BarChart, Measures: []string{Measure}, Rows: []string{crosstalk.ModelColumn}, Series: SimilarityColumn},
		{Form: crosstalk.SideChart, Measures: []string{Measure}, Title: "which answer is nearer to the concept", Parts: []string{Control, "neither", Test},
			Note: "The fuller a bar, the larger the difference of the two similarities (full: as in the strongest tenth); what people said is full."},
		{Form: crosstalk.SweepCharts, Measures: []string{Measure}},
		{Form: crosstalk.SizeChart, Measures: []string{Measure}, Series: SimilarityColumn, Title: "leak rate and the size of the model"},
		{Form: crosstalk.GroupCharts, Measures: []string{Measure}},
	},
}
