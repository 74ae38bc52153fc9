// Package leakage measures semantic leakage: how often a model's answer to a prompt that mentions a concept is
// closer in meaning to the concept than its answer to the same prompt without it (Gonen et al. 2024, "Does Liking
// Yellow Imply Driving a School Bus?"; Smilga 2025).
//
// The leak value of a pair of answers is 1 if sim(concept, test answer) is larger than sim(concept, control
// answer), 0 if smaller, 0.5 if equal. Its mean is the Leak-Rate; 0.5 means no leakage.
package leakage

import (
	_ "embed"
	"strconv"

	"crosstalk"
	"crosstalk/measure/estimate"
	"crosstalk/measure/similarity"
)

// The measures. Measure is the Leak-Rate of whole answers; the next two look at their sentences.
const (
	Faults         = "leaks" // share of pairs that leak; ties do not count (Kind().Fault)
	Measure        = "leak_rate"
	MeasureClosest = "leak_rate_max"  // Leak-Rate of the sentence in each answer that is closest to the concept
	MeasureMean    = "leak_rate_mean" // Leak-Rate of the mean similarity of each answer's sentences

	// For context leakage: shares of answers that repeat an n-gram of the test's carrier, and their difference.
	MeasureCopied        = "copied"
	measureControlCopied = "copied_control"
	MeasureCopying       = "copied_difference"

	// For answers to the test alone, if the rules request counts.
	measureRepeated = "concept_repeated" // share that repeats the concept
	measureSame     = "same_answer"      // share that another concept with the same control also got

	// Reasons why a pair has no leak value, besides the status of an answer without text.
	noVector = "no vector" // the similarity is undefined for the concept or an answer
	noText   = "no text"   // post-processing leaves nothing of an answer
	unpaired = "unpaired"  // one of the two answers was never recorded

	repeatsPrompt = "repeated prompt" // an answer has nothing but words of its prompt

	nothingToCopy = "nothing to copy" // the test's carrier has too few words that the control's carrier lacks
)

// Instrument measures leakage. It is safe for concurrent use.
type Instrument struct {
	Protocol     Protocol
	Similarities []similarity.Similarity // one figure each, never mixed
	Prompting    crosstalk.PromptConfig  // not needed to score recorded answers
	Samples      int                     // requested answers per prompt
	Condition    map[string]string       // added to every observation: the model, and the settings that a sweep varies
	AskOnly      bool                    // Measure scores nothing, and needs no similarity
}

// Names of texts and numbers of observations. Test and Control name both the answers and their similarities.
const (
	Concept = "concept"
	Test    = "test"
	Control = "control"
	Carried = "carried" // the text of a context item that mentions the concept

	Repeating  = "repeats"  // the sides that repeat the prompt and say nothing else
	Abstaining = "abstains" // the sides that give no answer

	// Findings in a pair of answers. Those in sentences begin with closest or meanOf.
	Leaked    = "leaked"
	Tie       = "tie"
	notLeaked = "not leaked"

	closest = "closest sentence "
	meanOf  = "mean of sentences "

	copied    = "copied"
	notCopied = "not copied"

	// Keys of counts in estimates, besides those of answers without text.
	Ties      = "ties"
	identical = "identical"
	repeats   = "repeats" // pairs with an answer that repeats its prompt
	NotScored = "not_scored"

	// Columns. A figure over several similarities, data sets or languages would be meaningless.
	similarityColumn = "similarity"
	DatasetColumn    = "dataset"
	LanguageColumn   = "language"
)

// Kind describes leakage for reports.
var Kind = crosstalk.ParseKind(kind)

//go:embed kind.json
var kind string

// Protocol is a named, frozen set of measuring rules. A figure's signature contains the rules, not the name.
type Protocol struct {
	Name  string
	Post  Post    // how answers are trimmed before they are scored
	Round int     // decimals of similarities in comparisons; Exact: not rounded
	Tie   float64 // similarities that differed by at most this were tied; only in some older runs
	// Windows selects parts of answers to score besides the whole: Sentences, or "" for none. Counts adds figures of
	// answers to the test alone: how many repeat the concept, how many are the same for different concepts.
	Windows string `json:",omitempty"`
	Counts  bool   `json:",omitempty"`
	// Own scores only the model's own answer: sentences that repeat the prompt are cut, and answers that say that they
	// give none (package abstention) are not scored. Older runs and the papers score both.
	Own bool `json:",omitempty"`

	ClusterTest bool // the t-test accounts for tests that share a control; the papers treat leak values as independent

	// How a model is asked, unless the user chooses otherwise.
	Temperature float64
	MaxTokens   int
	Samples     int
	System      string // system message for chat models
}

// Exact is the value of Round that does not round similarities.
const Exact = -1

// Protocols are the presets, the default first.
var Protocols = []Protocol{
	{Name: "crosstalk-1", Post: Sentence, Round: Exact, Own: true, ClusterTest: true, Temperature: 0, MaxTokens: 100,
		Samples: 1},
	{Name: "gonen-2024", Post: PromptPeriod, Round: Exact, Temperature: 0, MaxTokens: 100, Samples: 10},
	{Name: "smilga-2025", Post: None, Round: 3, Temperature: 0.5, MaxTokens: 10, Samples: 5,
		System: "Finish the sentence you are given with no more than five words."},
}

// Sentences is the value of Protocol.Windows that also scores answers sentence by sentence.
const Sentences = "sentence"

// ProtocolNamed returns the preset with this name.
func ProtocolNamed(name string) (Protocol, error) {
	return crosstalk.Named("leakage protocol", name, Protocols, func(p Protocol) string { return p.Name })
}

// fields returns the protocol's fields of a signature.
func (p Protocol) fields() []string {
	round, ties := "none", "0.5"
	if p.Round != Exact {
		round = strconv.Itoa(p.Round)
	}
	if p.Tie > 0 {
		ties += "<=" + strconv.FormatFloat(p.Tie, 'g', -1, 64)
	}
	fields := []string{"post:" + string(p.Post), "round:" + round, "ties:" + ties}
	if p.Own {
		fields = append(fields, "answers:own")
	}
	return fields
}

// Options choose protocols and override their rules; the zero value of each field overrides nothing.
type Options struct {
	Protocols []string `json:"protocols,omitempty"` // measured side by side; nil: the default
	Post      string   `json:"post,omitempty"`      // how answers are trimmed
	Counts    bool     `json:"counts,omitempty"`    // add figures of answers to the test alone
	Windows   string   `json:"windows,omitempty"`   // parts of answers to score as well: Sentences or NoWindows
}

// NoWindows is the value of Options.Windows that scores only whole answers.
const NoWindows = "none"

// Resolve returns the protocols with the overrides applied, or a *crosstalk.OptionError.
func (o Options) Resolve() ([]Protocol, error) {
	return crosstalk.ProtocolsNamed(o.Protocols, Protocols[0].Name, func(name string) (Protocol, error) {
		p, err := ProtocolNamed(name)
		if err == nil && o.Post != "" {
			p.Post, err = crosstalk.Chosen("post-processing", o.Post, Posts)
		}
		p.Counts = p.Counts || o.Counts
		switch {
		case err != nil || o.Windows == "" || o.Windows == NoWindows:
		case o.Windows == Sentences:
			p.Windows = Sentences
		default:
			err = crosstalk.BadOption("windows", " is %q; expected %s or %s", o.Windows, Sentences, NoWindows)
		}
		return p, err
	})
}

// By lists the default columns for grouping figures.
var By = []string{"category"}

// Rules are everything that determines the figures of given answers.
type Rules struct{ Protocol }

// Rules returns the instrument's rules.
func (in *Instrument) Rules() Rules { return Rules{in.Protocol} }

func (r Rules) signature(measure string, by map[string]string, suites crosstalk.SuiteIDs) string {
	fields := []string{measure, "suite:" + suites.Of(by)}
	switch measure {
	case Measure, Faults:
		fields = append(append(fields, "sim:"+by[similarityColumn]), r.fields()...)
	case MeasureClosest, MeasureMean:
		fields = append(append(append(fields, "sim:"+by[similarityColumn]), r.fields()...), "windows:"+r.Windows)
	default:
		fields = append(fields, "words:"+strconv.Itoa(copiedWords))
	}
	return estimate.Signature(by, fields...)
}
