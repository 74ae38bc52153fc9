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
	Carried = "carried" // the text of a context item that mentions the concept
)

// Findings in a pair of answers.
const (
	Leaked    = "leaked"
	Tie       = "tie"
	NotLeaked = "not leaked"

	ClosestLeaked    = "closest sentence leaked"
	ClosestTie       = "closest sentence tie"
	ClosestNotLeaked = "closest sentence not leaked"

	MeanLeaked    = "mean of sentences leaked"
	MeanTie       = "mean of sentences tie"
	MeanNotLeaked = "mean of sentences not leaked"

	Copied    = "copied"
	NotCopied = "not copied"
)

// The counts of estimates, besides the counts of answers without text.
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
	Reads: []string{Concept, Test, Control},
	Title: "Semantic leakage",
	Sentence: "How often the answer to a prompt that mentions a concept is closer in meaning to the concept " +
		"than the answer to the same prompt without it.",
	Measures: []crosstalk.Measure{{
		Key: Measure, Label: "leak rate", Name: "Leak-Rate",
		Sentence: "Share of pairs of answers in which the answer to the prompt with the concept is closer to the concept; " +
			"a tie counts as half.",
		Baseline: crosstalk.Baseline{Value: 0.5, Meaning: "no leakage"},
		Numbers:  []string{Test, Control}, Unscored: []string{NotScored}, Headline: true,
	}, {
		Key: MeasureClosest, Label: "leak rate (max)", Name: "Leak-Rate of the closest sentences",
		Sentence: "Share of pairs of answers in which the sentence that is closest to the concept is in the answer " +
			"to the prompt with the concept; a tie counts as half.",
		Baseline: crosstalk.Baseline{Value: 0.5, Meaning: "no leakage"},
		Numbers:  []string{Test, Control}, Unscored: []string{NotScored}, Headline: true,
	}, {
		Key: MeasureMean, Label: "leak rate (mean)", Name: "Leak-Rate of the mean over sentences",
		Sentence: "Share of pairs of answers in which the sentences of the answer to the prompt with the concept " +
			"are closer to the concept on average; a tie counts as half.",
		Baseline: crosstalk.Baseline{Value: 0.5, Meaning: "no leakage"},
		Numbers:  []string{Test, Control}, Unscored: []string{NotScored}, Headline: true,
	}, {
		Key: MeasureCopied, Label: "copied", Name: "copying rate",
		Sentence: "Share of answers to the test that repeat three content words in a row of the text around the prompt, " +
			"which neither the prompt nor the control's text has.",
		Unscored: []string{NotScored},
	}, {
		Key: MeasureControlCopied, Label: "copied (control)", Name: "copying rate of the control",
		Sentence: "Share of answers to the control that have such words, which they cannot have copied.",
		Unscored: []string{NotScored},
	}, {
		Key: MeasureCopying, Label: "copied (difference)", Name: "copying rate minus that of the control",
		Sentence: "How much more often answers to the test have such words: copying beyond chance.",
		Baseline: crosstalk.Baseline{Value: 0, Meaning: "no copying"},
		Unscored: []string{NotScored},
	}, {
		Key: Faults, Label: "leaks", Name: "pairs of answers that leak",
		Sentence: "Share of pairs of answers in which the answer to the prompt with the concept is closer to the concept.",
		Unscored: []string{NotScored},
	}, {
		Key: MeasureRepeated, Label: "concept repeated", Name: "answers that repeat the concept",
		Sentence: "Share of answers to the prompt with the concept that contain it.",
		Unscored: []string{NotScored},
	}, {
		Key: MeasureSame, Label: "same answer", Name: "the same answer to different concepts",
		Sentence: "Share of answers to prompts with a concept that are the same as an answer to another concept " +
			"with the same control.",
		Unscored: []string{NotScored},
	}},
	Findings: []crosstalk.Finding{
		finding(Leaked, "the test answer is closer", true),
		finding(Tie, "a tie", false),
		finding(NotLeaked, "the control answer is closer", false),
		finding(ClosestLeaked, "the closest sentence is in the test answer", true),
		finding(ClosestTie, "the closest sentences are a tie", false),
		finding(ClosestNotLeaked, "the closest sentence is in the control answer", false),
		finding(MeanLeaked, "the test answer's sentences are closer on average", true),
		finding(MeanTie, "the sentences are a tie on average", false),
		finding(MeanNotLeaked, "the control answer's sentences are closer on average", false),
		finding(Copied, "the test answer repeats the carrier", true),
		finding(NotCopied, "the test answer does not repeat the carrier", false),
	},
	Columns: []crosstalk.Column{
		{Key: SimilarityColumn, Apart: true, Within: true},
		{Key: DatasetColumn, Apart: true},
		{Key: LanguageColumn, Apart: true},
	},
	Counts:  slices.Concat([]string{Ties, Identical, NotScored}, crosstalk.Unanswered),
	Choices: []string{LanguageColumn, "category", SimilarityColumn},
	Target:  Concept,
	Doubt:   []string{Test, Control},
	Faults: crosstalk.Faults{Measure: Faults, Of: Measure, ByRate: true,
		Sentence: "answers leak the concept"},
	Judge: SimilarityColumn,
	Charts: []crosstalk.Chart{
		{Form: crosstalk.DotPlot, Measures: []string{Measure}, Rows: []string{crosstalk.ModelColumn},
			Series: SimilarityColumn},
		{Form: crosstalk.SideChart, Measures: []string{Measure}, Title: "which answer is closer to the concept",
			Parts: []string{Control, "neither", Test},
			Note: "The stronger the colour, the larger the difference between the two similarities " +
				"(full colour: the largest tenth by the same similarity). Human judgements have the full colour."},
		{Form: crosstalk.SweepCharts, Measures: []string{Measure}},
		{Form: crosstalk.SizeChart, Measures: []string{Measure}, Series: SimilarityColumn,
			Title: "leak rate and model size"},
		{Form: crosstalk.GroupCharts, Measures: []string{Measure}},
	},
}

func finding(key, sentence string, fault bool) crosstalk.Finding {
	return crosstalk.Finding{Key: key, Titles: []string{key}, Sentence: sentence, Fault: fault}
}
