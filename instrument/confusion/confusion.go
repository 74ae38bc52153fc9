// Package confusion measures language confusion: how often a model's answer is not in the requested language
// (Marchisio et al. 2024, "Understanding and Mitigating Language Confusion in LLMs").
//
// An answer has a line error if a line is in another language than expected, and a word error if it has no line error
// but a word in another language.
//
//	LPR            share of answers without a line error
//	WPR            share without a word error, among answers without a line error
//	LCPR           harmonic mean of the two
//	line accuracy  mean over answers of the share of right lines
//
// Under our own protocol, package guard judges answers, as it does in production. Under the paper's protocols, a
// language identifier judges each line, and word errors are checked in six languages not written in Latin script, where
// they are English words from a list; one protocol also checks languages in Latin script, where they are words with a
// letter of another script.
//
// The same figures can be computed for the reasoning before an answer, with three more on how its languages alternate.
//
// If the model returns log probabilities, its uncertainty about the next token is measured where confusion begins and
// elsewhere (section 5).
package confusion

import (
	_ "embed"
	"fmt"
	"slices"

	"crosstalk"
	"crosstalk/measure/estimate"
	"crosstalk/measure/langid"
	"crosstalk/measure/wordlist"
)

// The measures.
const (
	Faults       = "faults"        // share of answers with a wrong line, word or script (Kind().Fault)
	LPR          = "lpr"           // line-level pass rate
	WPR          = "wpr"           // word-level pass rate
	LCPR         = "lcpr"          // language confusion pass rate
	LineAccuracy = "line_accuracy" // share of right lines
	wordAccuracy = "word_accuracy" // share of words in the expected language, in reasoning
	firstLine    = "first_line"    // share of reasoning whose first line is in the expected language
	switches     = "switches"      // changes of language per 1,000 words, in reasoning
	Entropy      = "entropy"       // of the next token, in bits
	nucleusSize  = "nucleus_size"  // fewest tokens that reach the probability top-p together

	// Reasons why an answer with text has no value.
	cannotTell  = "cannot tell"         // too little prose, or the same in both languages
	Unchecked   = "unchecked"           // the same under the paper's protocols: no line is long enough to check
	LineError   = "line error"          // words are not checked: the answer is not in the expected language anyway
	NoLanguage  = "no language"         // the expected language is unknown, or the identifier does not support it
	noReasoning = "no reasoning"        // the answer has none, or it was not recorded separately
	Mixed       = "mixed with thoughts" // where the model's thoughts end is unknown (crosstalk.Mixed)
	noLogprobs  = "no logprobs"         // the model returned no log probabilities, or a text that does not match them

	// Findings in an answer (Marchisio et al. 2024, section 1).
	FullAnswer  = "full answer" // every checked line is in another language
	SomeLines   = "line"        // some checked lines are in another language
	SingleWords = "word"        // single words are in another language
)

// Instrument measures confusion. It is safe for concurrent use.
type Instrument struct {
	Protocol   Protocol
	Identifier langid.Identifier
	Judge      crosstalk.Judge        // with the protocol's threshold of risk, for Prose
	Words      *wordlist.List         // English words, for the paper's protocols
	Part       Part                   // the part of answers to score
	Prompting  crosstalk.PromptConfig // not needed to score recorded answers; nor are Format and Samples
	Format                            // format of prompts
	Samples    int                    // requested answers per prompt
	Condition  map[string]string      // added to every observation: the model, and the settings that a sweep varies
	AskOnly    bool                   // Measure scores nothing
}

// Names of the texts and numbers of observations.
const (
	AnswerText = "answer"          // the checked text, whichever part it is
	promptText = "recorded_prompt" // the prompt of a recorded answer

	firstLanguage = "first_line_language" // language of the reasoning's first line

	linesChecked = "lines_checked" // numbers
	linesWrong   = "lines_wrong"
	linesUnclear = "lines_unclear"
	wordsWrong   = "words_wrong" // if there are any
	Margin       = "margin"      // least distance of a checked line's probability from the threshold
	MarginLine   = "margin_line" // the line with Margin, from 1

	// Columns of observations. The suite also has the first three.
	TaskColumn         = "task"
	LanguageColumn     = "language" // the requested language
	SourceColumn       = "source"
	atColumn           = "at"           // the tokens at which uncertainty was measured
	distributionColumn = "distribution" // the distribution of the tokens

	// Keys of counts in estimates, besides those named like findings and reasons.
	tokensCount   = "tokens" // both are also keys of numbers of observations
	censoredCount = "censored"

	passedUnchecked = "passed_unchecked" // no line was long enough, and the protocol passes such answers
)

// Kind describes confusion for reports.
var Kind = crosstalk.ParseKind(kind)

//go:embed kind.json
var kind string

// Protocol is a named, frozen set of measuring rules. A figure's signature contains the rules, not the name.
type Protocol struct {
	Name  string
	Prose bool    `json:",omitempty"` // the judge judges: the five rules below do not apply
	Risk  float64 `json:",omitempty"` // threshold for parts in another language, 0: crosstalk.Warn; Prose only

	MinWords  int     // lines with fewer words are not checked
	Threshold float64 // a line has a language if its probability exceeds this
	Kana      bool    // kana decided between Japanese and Chinese; only in some older runs
	Latin     Latin   // word check of languages in Latin script

	AllAnswers bool // answers without a checked line are correct; otherwise unchecked, and in no denominator
	EmptyIsOne bool // a (language, source) cell without data has the rate 1; otherwise it is undefined, and in no average

	// PerToken gives every token the same weight in Entropy and nucleusSize, as in the paper (section 5). Otherwise
	// every answer has the same weight.
	PerToken bool `json:",omitempty"`

	// How a model is asked, unless the user overrides it.
	Temperature float64
	TopP        float64
	MaxTokens   int
	Samples     int
}

// asked adds the paper's settings of requests.
func asked(p Protocol) Protocol {
	p.Temperature, p.TopP, p.MaxTokens, p.Samples = 0.3, 0.75, 100, 1
	return p
}

// Latin selects how letters of other scripts are treated in answers expected in a language with Latin script.
type Latin string

const (
	LatinOff   Latin = "off" // not checked
	LatinInWPR Latin = "wpr" // word errors like any other (Marchisio et al. 2024, section 2.2)
)

// Protocols lists the presets, the default first: ours, the paper's, and the rules of the script published with it.
var Protocols = []Protocol{
	asked(Protocol{Name: "crosstalk-1", Prose: true, Threshold: 0.5}),
	asked(Protocol{Name: "lcb-paper", MinWords: 5, Threshold: 0.3, Latin: LatinInWPR, AllAnswers: true,
		PerToken: true}),
	asked(Protocol{Name: "lcb-script", MinWords: 5, Threshold: 0.3, Latin: LatinOff, EmptyIsOne: true, PerToken: true}),
}

// ProtocolNamed returns the preset with this name.
func ProtocolNamed(name string) (Protocol, error) {
	return crosstalk.Named("confusion protocol", name, Protocols, func(p Protocol) string { return p.Name })
}

// Part is a part of answers.
type Part string

// The parts. The zero value is Answer.
const (
	Answer    Part = "answer"
	Reasoning Part = "reasoning" // the model's text before it, if recorded separately
)

// Parts lists all values of Part.
var Parts = []Part{Answer, Reasoning}

// unscored returns why an answer with text has no value.
func (p Protocol) unscored() string {
	if p.Prose {
		return cannotTell
	}
	return Unchecked
}

// Options choose protocols and override their rules; the zero value of each field overrides nothing.
type Options struct {
	Protocols []string `json:"protocols,omitempty"` // measured side by side; nil: the default
	Threshold string   `json:"threshold,omitempty"` // of risk, as for crosstalk.ParseThreshold; "": the default
	Part      string   `json:"part,omitempty"`      // one of Parts; "": Answer
}

// Resolve returns the protocols with the overrides applied, or a *crosstalk.OptionError.
func (o Options) Resolve() ([]Protocol, error) {
	list, err := crosstalk.ProtocolsNamed(o.Protocols, Protocols[0].Name, func(name string) (Protocol, error) {
		p, err := ProtocolNamed(name)
		if err == nil && o.Threshold != "" && p.Prose {
			if p.Risk, err = crosstalk.ParseThreshold(o.Threshold); err != nil {
				err = crosstalk.BadOption("threshold", ": %w", err)
			}
		}
		return p, err
	})
	if err != nil {
		return nil, err
	}
	if _, err := crosstalk.Chosen("part", o.Part, Parts); err != nil && o.Part != "" {
		return nil, crosstalk.BadOption("part", ": %w", err)
	}
	if o.Threshold != "" && !slices.ContainsFunc(list, func(p Protocol) bool { return p.Prose }) {
		return nil, crosstalk.BadOption("threshold", " has no effect on the protocol %s; choose %s with --protocol",
			list[0].Name, Protocols[0].Name)
	}
	return list, nil
}

// OnlyProse reports whether no protocol identifies lines and looks up words in a list.
func OnlyProse(protocols []Protocol) bool {
	return !slices.ContainsFunc(protocols, func(p Protocol) bool { return !p.Prose })
}

// By lists the columns of averages, which are also the default columns for grouping figures.
var By = []string{"language", "source"}

// Rules are everything that determines the figures of given answers.
type Rules struct {
	Protocol
	Identifier string // its name
	Words      string // the name of the English list
	Candidates int    `json:",omitempty"` // candidates requested at each token; 0: none
	Points     int    `json:",omitempty"` // version of the rule for confusion points, if there are candidates; 0: 1
	Shown      string `json:",omitempty"` // demonstrations, unless they are in the expected language
	Part       Part   `json:",omitempty"` // Reasoning, or empty
	Judge      string `json:",omitempty"` // its rules, if the protocol uses a judge
}

// Rules returns the instrument's rules.
func (in *Instrument) Rules() Rules {
	r := Rules{Protocol: in.Protocol, Identifier: in.Identifier.Name(), Words: in.Words.Name(),
		Candidates: in.Prompting.Logprobs, Shown: in.Demonstrations.Name}
	if in.Part == Reasoning {
		r.Part = Reasoning
	}
	if r.Candidates > 0 {
		r.Points = 2
	}
	if in.Protocol.Prose {
		r.Judge = in.Judge.Rules()
	}
	return r
}

// fields returns the rules' fields of a signature. Figures of lines leave out the fields about words.
func (r Rules) fields(words bool) []string {
	fields := []string{"lid:" + r.Identifier}
	add := func(applies bool, field string) {
		if applies {
			fields = append(fields, field)
		}
	}
	add(r.Judge != "", "judge:"+r.Judge)
	if r.Judge == "" {
		add(true, fmt.Sprintf("threshold:%g", r.Threshold))
		add(true, fmt.Sprintf("words:%d+", r.MinWords))
		add(r.Kana, "kana")
		add(r.AllAnswers, "unchecked:right")
		add(r.EmptyIsOne, "undefined:1")
		add(true, "segment:"+segmenters)
		add(words, "list:"+r.Words)
		add(words && r.Latin == LatinInWPR, "latin")
	}
	add(r.Part != "", "part:"+string(r.Part))
	add(r.Shown != "", "demonstrations:"+r.Shown)
	return fields
}

func (r Rules) signature(measure string, g *estimate.Group[*sum], suites crosstalk.SuiteIDs) string {
	fields := []string{measure, "suite:" + suites.Of(g.Labels)}
	fields = append(fields, r.fields(measure == Faults || measure == WPR || measure == LCPR || isUncertainty(measure))...)
	if measure == LCPR && g.Sum.harmonicOfSource() {
		fields = append(fields, "harmonic:source")
	}
	if isUncertainty(measure) {
		if r.Points > 0 {
			fields = append(fields, fmt.Sprintf("points:%d", r.Points))
		}
		fields = append(fields, fmt.Sprintf("top:%d", r.Candidates), g.Labels["distribution"])
		if r.PerToken {
			fields = append(fields, "mean:tokens")
		}
		if measure == nucleusSize {
			fields = append(fields, fmt.Sprintf("p=%g", g.Sum.cells[cellKey{measure: measure}].topP))
		}
	}
	return estimate.Signature(g.Labels, fields...)
}
