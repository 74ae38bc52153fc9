package leakage

import (
	_ "embed"

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

// Findings in a pair of answers. Those in sentences begin with closest or meanOf.
const (
	Leaked    = "leaked"
	Tie       = "tie"
	NotLeaked = "not leaked"

	closest = "closest sentence "
	meanOf  = "mean of sentences "

	Copied    = "copied"
	NotCopied = "not copied"
)

// The counts of estimates, besides the counts of answers without text.
const (
	Ties      = "ties"
	Identical = "identical"
	NotScored = "not_scored"
)

// Columns. Figures over several similarities, data sets or languages have no meaning.
const (
	SimilarityColumn = "similarity"
	DatasetColumn    = "dataset"
	LanguageColumn   = "language"
)

// Kind describes leakage for reports.
var Kind = crosstalk.ParseKind(kind)

//go:embed kind.json
var kind string
