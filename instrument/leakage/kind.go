package leakage

import (
	"slices"

	"crosstalk"
)

// Names of the texts and numbers of observations. Test and Control name the two
// answers and their similarities to the concept.
const (
	Concept = "concept"
	Test    = "test"
	Control = "control"
)

// Findings in a pair of answers.
const (
	Leaked    = "leaked"
	Tie       = "tie"
	NotLeaked = "not leaked"
)

// The counts of estimates, besides those of answers without text.
const (
	Ties      = "ties"
	Identical = "identical"
	NotScored = "not_scored"
)

// Columns. Figures over several similarities, data sets or languages have no
// meaning.
const (
	SimilarityColumn = "similarity"
	DatasetColumn    = "dataset"
	LanguageColumn   = "language"
)

// Kind describes leakage for reports.
var Kind = crosstalk.Kind{
	Name:  "leakage",
	Title: "Semantic leakage",
	Sentence: "How often the answer to a prompt that mentions a concept is closer in meaning to the concept " +
		"than the answer to the same prompt without it.",
	Measures: []crosstalk.Measure{{
		Key: Measure, Label: "leak rate", Name: "Leak-Rate",
		Sentence: "Share of pairs of answers in which the answer to the prompt with the concept is closer to the concept; " +
			"a tie counts as half.",
		Baseline: crosstalk.Baseline{Value: 0.5, Meaning: "no leakage"},
		Numbers:  []string{Test, Control}, Unscored: NotScored,
	}},
	Findings: []crosstalk.Finding{
		{Key: Leaked, Titles: []string{Leaked}, Sentence: "the test answer is closer", Fault: true},
		{Key: Tie, Titles: []string{Tie}, Sentence: "a tie"},
		{Key: NotLeaked, Titles: []string{NotLeaked}, Sentence: "the control answer is closer"},
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
		{Form: crosstalk.BarChart, Measures: []string{Measure}, Rows: []string{crosstalk.ModelColumn},
			Series: SimilarityColumn},
		{Form: crosstalk.SideChart, Measures: []string{Measure}, Title: "which answer is closer to the concept",
			Parts: []string{Control, "neither", Test},
			Note: "The stronger the colour, the larger the difference between the two similarities " +
				"(full colour: the largest tenth). Human judgements have the full colour."},
		{Form: crosstalk.SweepCharts, Measures: []string{Measure}},
		{Form: crosstalk.SizeChart, Measures: []string{Measure}, Series: SimilarityColumn,
			Title: "leak rate and model size"},
		{Form: crosstalk.GroupCharts, Measures: []string{Measure}},
	},
}
