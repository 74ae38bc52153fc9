package consistency

import (
	"cmp"
	"crosstalk"
	"crosstalk/measure/estimate"
	"crosstalk/measure/translation"
	"strings"

	"golang.org/x/text/language"
)

// Protocol is a named, frozen set of measuring rules. A figure's signature states the rules, not the name.
type Protocol struct {
	Name   string
	Reader string // how a label is found in an answer: a name in read.Readers

	// InvalidIsClass treats answers without a label, empty ones among them, as a class of their own: two of them
	// are consistent. Else only pairs of two valid answers are scored.
	InvalidIsClass bool

	ROUGE ROUGE // how ROUGE cuts texts into words

	// Questions formats rewritten questions of BoolQ like the source's.
	// Rules.Questions has the tasks that it concerns.
	Questions bool `json:"-"`

	// How a model is asked, unless the user chooses otherwise.
	Temperature   float64
	TopP          float64
	MaxTokens     int
	RewriteTokens int
	Samples       int
	System        string
}

// ROUGE names a way to cut texts into words for ROUGE.
type ROUGE string

const (
	ROUGEUnicode ROUGE = "unicode" // Unicode words, and single characters of scripts without spaces
	ROUGEPapers  ROUGE = "papers"  // the packages of Ohmer et al. (2023): rouge_score, and rouge_chinese on jieba's words
)

const system = "You are a helpful assistant." // the code of Ohmer et al. 2023

// Protocols are the presets, the default first.
var Protocols = []Protocol{
	{Name: "crosstalk-1", Reader: "crosstalk-1", ROUGE: ROUGEUnicode,
		Temperature: 0.25, TopP: 1, MaxTokens: 256, RewriteTokens: 2048, Samples: 1, System: system},
	{Name: "ohmer-2023", Reader: "ohmer-2023", InvalidIsClass: true, ROUGE: ROUGEPapers, Questions: true,
		Temperature: 0.25, TopP: 1, MaxTokens: 256, RewriteTokens: 2048, Samples: 1, System: system},
}

// ProtocolNamed returns the preset of that name.
func ProtocolNamed(name string) (Protocol, error) {
	return crosstalk.Named("consistency protocol", name, Protocols, func(p Protocol) string { return p.Name })
}

// Options choose protocols.
type Options struct {
	Protocols []string // measured side by side; nil: the default
}

// Resolve returns the protocols, or a *crosstalk.OptionError.
func (o Options) Resolve() ([]Protocol, error) {
	return crosstalk.ProtocolsNamed(o.Protocols, Protocols[0].Name, ProtocolNamed)
}

// By are the columns that figures are grouped by unless the user says otherwise: none beside task, pair and part.
var By []string

// ByClass is the column whose presence in by adds the figures that take
// answers apart by class: LabelShare and Transition.
const ByClass = "class"

// Rules are all that figures over the same answers depend on.
type Rules struct {
	Protocol
	Classes   map[string][]string // by task
	Free      string              // the name of what compares free answers
	Quality   string              // the name of the external scorer
	Languages string              // the name of what flags wrong languages
	Rewrites  string              // where rewritten instructions come from, and who looked at them
	Review    string              // of answers

	// Questions are the fields of tasks whose rewritten questions are formatted.
	Questions map[string]string `json:",omitempty"`
}

// Rules returns the instrument's rules.
func (in *Instrument) Rules() Rules {
	r := Rules{Protocol: in.Protocol, Classes: map[string][]string{}, Rewrites: in.Rewrites, Review: in.Overrides.ID()}
	for _, task := range in.Tasks {
		r.Classes[task.Name] = task.Classes
		if in.Protocol.Questions && task.Question != "" && len(in.Senses.To) > 0 { // not in recorded texts
			if r.Questions == nil {
				r.Questions = map[string]string{}
			}
			r.Questions[task.Name] = task.Question
		}
	}
	if in.Free != nil {
		r.Free = in.Free.Name()
	}
	if in.Quality != nil {
		r.Quality = in.Quality.Name()
	}
	if in.Languages != nil {
		r.Languages = in.Languages.Name()
	}
	return r
}

func (r Rules) signature(measure string, labels map[string]string, suites crosstalk.SuiteIDs) string {
	fields := []string{measure, "suite:" + suites.Of(labels)}
	reading := []string{"read:" + r.Reader, "invalid:" + r.invalid(), "review:" + cmp.Or(r.Review, "none")}
	if len(r.Classes[labels["task"]]) == 0 {
		reading = []string{"free:" + cmp.Or(r.Free, "-")}
	}
	quality := "bleu:" + flat(bleuFor(labels["pair"]).Signature())
	switch measure {
	case Rewriting:
		fields = append(fields, "lid:"+cmp.Or(r.Languages, "none"))
	case BLEU, ItemBLEU:
		fields = append(fields, quality)
	case ROUGE1, ROUGE2, ROUGEL:
		fields = append(fields, "rouge:"+flat(r.rouge(Sense(labels["pair"]).Target()).Signature()))
	case Quality:
		fields = append(fields, "scorer:"+r.Quality)
	case ConsistencyBLEU50, BLEUConsistency, BLEUAccuracy:
		fields = append(append(fields, reading...), quality)
	default:
		fields = append(fields, reading...)
	}
	if field := r.Questions[labels["task"]]; field != "" {
		fields = append(fields, field+":sentence-case")
	}
	return estimate.Signature(labels, append(fields, "rewrites:"+cmp.Or(r.Rewrites, "-"))...)
}

// flat is a signature within a signature.
func flat(signature string) string { return strings.ReplaceAll(signature, "|", ",") }

func (p Protocol) invalid() string {
	if p.InvalidIsClass {
		return "class"
	}
	return "apart"
}

// bleuFor is BLEU as it is computed for texts of a sense.
func bleuFor(sense string) translation.Tokenizer {
	return translation.TokenizerFor(Sense(sense).Target())
}

// rouge is the protocol's ROUGE for texts in a language.
func (p Protocol) rouge(lang string) translation.ROUGE {
	base, _ := language.Make(lang).Base()
	switch {
	case p.ROUGE == ROUGEUnicode:
		return translation.ROUGEUnicode
	case base.String() == "zh":
		return translation.ROUGEChinese
	}
	return translation.ROUGEASCII
}
