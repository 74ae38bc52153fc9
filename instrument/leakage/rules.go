package leakage

import (
	"strconv"

	"crosstalk"
	"crosstalk/measure/estimate"
)

// Protocol is a named, frozen set of measuring rules. A figure's signature states the rules, not the name.
type Protocol struct {
	Name  string
	Post  Post    // how answers are trimmed before they are scored
	Round int     // decimals of similarities in comparisons; Exact: not rounded
	Tie   float64 // similarities that differed by at most this were a tie; in some older runs only

	// Windows are parts of answers that are scored besides the whole: Sentences, or "" for none.
	Windows string `json:",omitempty"`

	// Counts adds the figures of answers to the test alone: how many repeat the
	// concept, how many are the same for different concepts.
	Counts bool `json:",omitempty"`

	// ClusterTest makes the t-test account for tests that share a control. The
	// papers treat all leak values as independent.
	ClusterTest bool

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
	{Name: "crosstalk-1", Post: Sentence, Round: Exact, ClusterTest: true, Temperature: 0, MaxTokens: 100, Samples: 1},
	{Name: "gonen-2024", Post: PromptPeriod, Round: Exact, Temperature: 0, MaxTokens: 100, Samples: 10},
	{Name: "smilga-2025", Post: None, Round: 3, Temperature: 0.5, MaxTokens: 10, Samples: 5,
		System: "Finish the sentence you are given with no more than five words."},
}

// Sentences is the value of Protocol.Windows that scores answers sentence by sentence too.
const Sentences = "sentence"

// ProtocolNamed returns the preset of that name.
func ProtocolNamed(name string) (Protocol, error) {
	return crosstalk.Named("leakage protocol", name, Protocols, func(p Protocol) string { return p.Name })
}

// fields are the protocol's part of a signature.
func (p Protocol) fields() []string {
	round, ties := "none", "0.5"
	if p.Round != Exact {
		round = strconv.Itoa(p.Round)
	}
	if p.Tie > 0 {
		ties += "<=" + strconv.FormatFloat(p.Tie, 'g', -1, 64)
	}
	return []string{"post:" + string(p.Post), "round:" + round, "ties:" + ties}
}

// Options choose protocols and override their rules; the zero value of each field overrides nothing.
type Options struct {
	Protocols []string // measured side by side; nil: the default
	Post      string   // how answers are trimmed
	Counts    bool     // also of answers to the test alone
	Windows   string   // parts of answers that are scored too: Sentences or NoWindows
}

// NoWindows is the value of Options.Windows that scores only whole answers.
const NoWindows = "none"

// Resolve returns the protocols with the overrides applied, or a *crosstalk.OptionError.
func (o Options) Resolve() ([]Protocol, error) {
	return crosstalk.ProtocolsNamed(o.Protocols, Protocols[0].Name, o.resolve)
}

func (o Options) resolve(name string) (Protocol, error) {
	p, err := ProtocolNamed(name)
	if err != nil {
		return p, err
	}
	if o.Post != "" {
		if p.Post, err = crosstalk.Chosen("post-processing", o.Post, Posts); err != nil {
			return p, err
		}
	}
	p.Counts = p.Counts || o.Counts
	switch o.Windows {
	case "", NoWindows:
	case Sentences:
		p.Windows = Sentences
	default:
		return p, crosstalk.BadOption("windows", " is %q; expected %s or %s", o.Windows, Sentences, NoWindows)
	}
	return p, nil
}

// By are the default columns for grouping figures.
var By = []string{"category"}

// Rules are everything that determines the figures of given answers.
type Rules struct{ Protocol }

// Rules returns the instrument's rules.
func (in *Instrument) Rules() Rules { return Rules{in.Protocol} }

func (r Rules) signature(measure string, by map[string]string, suites crosstalk.SuiteIDs) string {
	fields := []string{measure, "suite:" + suites.Of(by)}
	switch measure {
	case Measure, Faults:
		fields = append(append(fields, "sim:"+by[SimilarityColumn]), r.fields()...)
	case MeasureClosest, MeasureMean:
		fields = append(append(append(fields, "sim:"+by[SimilarityColumn]), r.fields()...), "windows:"+r.Windows)
	default:
		fields = append(fields, "words:"+strconv.Itoa(copiedWords))
	}
	return estimate.Signature(by, fields...)
}
