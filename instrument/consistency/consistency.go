// Package consistency measures multisense consistency: whether a model's answer keeps its meaning when the form of
// the question changes (Ohmer et al. 2023, "Separating form and meaning: Using self-consistency to quantify task
// understanding across multiple senses").
//
// A task is an instruction and an input. The model itself rewrites both into another sense (another language, a
// paraphrase, an equal formula) and then answers in both senses. Consistency is the share of items whose class in
// the new sense equals that in the source sense:
//
//	T  instruction and input are rewritten
//	I  the instruction only
//	X  the input only
//
// Asking the source again is the baseline: inconsistency by chance.
package consistency

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/measure/estimate"
	"crosstalk/measure/langid"
	"crosstalk/measure/similarity"
	"crosstalk/measure/translation"

	"golang.org/x/text/language"
)

// Measures of observations.
const (
	Faults      = "changes"     // share of pairs with another class, or an answer without one (Kind().Fault)
	Consistency = "consistency" // the class equals the source's; 0 or 1
	Accuracy    = "accuracy"    // the class is correct; 0 or 1
	Rewriting   = "rewriting"   // an input was rewritten without a flag; 0 or 1
	itemBLEU    = "bleu_item"   // of a rewritten input against the human one, averaged over its texts; 0 to 1
	ROUGE1      = "rouge1"
	ROUGE2      = "rouge2"
	ROUGEL      = "rougeL"
	Quality     = "quality" // from an external scorer, in its own unit

	// Reasons for a missing value, besides the status of an answer without text.
	Invalid     = "invalid"      // an answer has no label
	Missing     = "missing"      // an answer was never recorded
	noRewriting = "no rewriting" // the model did not rewrite the input
	noSource    = "no source"    // the text before rewriting is unknown
	noGold      = "no gold"      // the correct class is unknown
	undefined   = "undefined"    // the measure has no value for these texts

	// Findings in answers.
	Inconsistent = "inconsistent"
	wrong        = "wrong"
)

// Instrument measures consistency. It is safe for concurrent use.
type Instrument struct {
	Protocol  Protocol
	Tasks     []crosstalk.Task  // with the instructions in all senses asked or recorded
	Condition map[string]string // added to every observation: the model, and the settings that a sweep varies

	Free      Comparer              // compares free answers; needed for tasks without classes
	Quality   similarity.Similarity // an additional measure of rewritten texts; nil: none
	Languages langid.Identifier     // flags rewritings in a wrong language; nil: no flags
	Overrides Overrides             // manually corrected readings; nil: none

	Rewrites string // for the signature: who rewrote the instructions, and who reviewed them

	// Not needed to score recorded answers.
	Prompting crosstalk.PromptConfig // of questions
	Rewriting Rewriter
	Senses    Senses
	Samples   int  // answers to each question
	AskOnly   bool // Measure scores nothing, and so does not compare free answers
}

// Answers are the answers to one item by form and run. All forms of the task are present; a run without an answer has
// the zero Answer.
type Answers map[Form][]crosstalk.Answer

// Reading tells which version of an answer's class figures use: as read, or manually corrected.
const (
	readingColumn = "reading"
	asRead        = "as read"
	reviewed      = "reviewed"
)

// InstructionIn returns the task's instruction in a sense. If a rewritten sense has none, it returns the instruction in
// that language, since the answer words are the same.
func InstructionIn(task crosstalk.Task, s Sense) (crosstalk.Instruction, bool) {
	if in, ok := task.Instructions[string(s)]; ok {
		return in, true
	}
	in, ok := task.Instructions[s.Target()]
	return in, ok
}

// Names of the texts of observations.
const (
	sourceInput  = "source_input" // the original input
	inputText    = "input"        // as sent
	Reference    = "reference"    // the original text in the other language
	sourceAnswer = "source"       // the answer to the source
	answerText   = "answer"
	sourceClass  = "source_class" // the class of the answer to the source
	classText    = "class"
	goldText     = "gold"
	sourceRule   = "source_rule" // the rule that decided its class
	ruleText     = "rule"
	Confidence   = "confidence"
	flagsText    = "flags"
	senseText    = "instruction"     // the sense of the instruction
	promptText   = "recorded_prompt" // the question that a recorded answer answers: no request shows it
	reviewer     = "reviewer"
	reviewReason = "review_reason"

	// Names of the numbers in observations of Consistency: 0 or 1, the last from 0 to 1.
	sourceCorrect = "source_correct"
	correct       = "correct"
	repeated      = "repeat" // the source asked again is consistent with the source
	bleuNumber    = "bleu"   // of the item

	// Columns.
	TaskColumn = "task"
	pairColumn = "pair"
	partColumn = "part"

	// Keys of counts in estimates, besides Invalid and the counts of answers without text.
	flagged = "flagged" // also a finding in a rewritten input
)

// Kind describes consistency for reports.
var Kind = crosstalk.ParseKind(kind)

//go:embed kind.json
var kind string

// Sense is a way to express a text: "en" is the original English, "en>de" its German rewriting, "en>paraphrase" and
// "en>formula" other rewritings.
type Sense string

// Origin returns the original sense: "en" of "en>de", and of "en".
func (s Sense) Origin() Sense {
	origin, _, _ := strings.Cut(string(s), ">")
	return Sense(origin)
}

// Target returns the target of the last rewriting: "de" of "en>de", and of "de".
func (s Sense) Target() string { return string(s[strings.LastIndexByte(string(s), '>')+1:]) }

// Rewritten reports whether the sense is not the original.
func (s Sense) Rewritten() bool { return strings.Contains(string(s), ">") }

// To returns the sense rewritten into another.
func (s Sense) To(target string) Sense { return s + ">" + Sense(target) }

// Form is the form of a question: the senses of its input and its instruction.
type Form struct{ Input, Instruction Sense }

// Part is the part of a question whose sense differs from the source (Ohmer et al. 2023, section 3).
type Part string

const (
	Source       Part = "source" // none: the original, all in one language
	Repeat       Part = "repeat" // none: the source asked again
	Both         Part = "T"      // the whole task
	Instructions Part = "I"      // only the instruction
	Inputs       Part = "X"      // only the input
	Mixed        Part = "mixed"  // input and instruction are in different languages, or rewritten differently
	Gold         Part = "gold"   // the correct classes, not answers
)

// Parts lists all parts, in the order of tables.
var Parts = []Part{Source, Repeat, Both, Instructions, Inputs, Mixed, Gold}

// Source returns the form that a form is compared with.
func (f Form) Source() Form {
	origin := f.Input.Origin()
	return Form{origin, origin}
}

// Place names a form: the pair of senses, such as "en>de", and the part. If input and instruction have different
// senses, the pair is "en/de".
func (f Form) Place() (pair string, part Part) {
	switch {
	case f.Input == f.Instruction && !f.Input.Rewritten():
		return string(f.Input), Source
	case f.Input == f.Instruction:
		return string(f.Input), Both
	case f.Input.Rewritten() && f.Instruction == f.Input.Origin():
		return string(f.Input), Inputs
	case f.Instruction.Rewritten() && f.Input == f.Instruction.Origin():
		return string(f.Instruction), Instructions
	}
	return string(f.Input) + "/" + string(f.Instruction), Mixed
}

// compareForms orders forms: sources first, then pair by pair.
func compareForms(a, b Form) int {
	pairA, partA := a.Place()
	pairB, partB := b.Place()
	rank := map[Part]int{Source: -1, Mixed: 1}
	return cmp.Or(cmp.Compare(rank[partA], rank[partB]), cmp.Compare(pairA, pairB),
		cmp.Compare(slices.Index(Parts, partA), slices.Index(Parts, partB)))
}

// Protocol is a named, frozen set of measuring rules. A figure's signature contains the rules, not the name.
type Protocol struct {
	Name   string
	Reader string // how the label is found in an answer: a key of read.Readers

	// InvalidIsClass treats answers without a label, including empty ones, as a class of their own: two of them are
	// consistent. Otherwise, only pairs of two valid answers are scored.
	InvalidIsClass bool

	// Abstentions sets answers apart that give none in words (package abstention): like empty ones, they are not scored.
	// In older runs and the paper they are answers.
	Abstentions bool `json:",omitempty"`

	ROUGE ROUGE // how ROUGE splits texts into words

	// Questions formats rewritten BoolQ questions like the source's, in the tasks of Rules.Questions.
	Questions bool `json:"-"`

	// How a model is asked, unless the user chooses otherwise.
	Temperature   float64
	TopP          float64
	MaxTokens     int
	RewriteTokens int
	Samples       int
	System        string
}

// ROUGE is a way to split texts into words for ROUGE.
type ROUGE string

const (
	ROUGEUnicode ROUGE = "unicode" // Unicode words, and single characters of scripts without spaces
	ROUGEPapers  ROUGE = "papers"  // the packages of Ohmer et al. (2023): rouge_score, and rouge_chinese on jieba's words
)

const system = "You are a helpful assistant." // the code of Ohmer et al. 2023

// Protocols are the presets, the default first.
var Protocols = []Protocol{
	{Name: "crosstalk-1", Reader: "crosstalk-1", Abstentions: true, ROUGE: ROUGEUnicode,
		Temperature: 0.25, TopP: 1, MaxTokens: 256, RewriteTokens: 2048, Samples: 1, System: system},
	{Name: "ohmer-2023", Reader: "ohmer-2023", InvalidIsClass: true, ROUGE: ROUGEPapers, Questions: true,
		Temperature: 0.25, TopP: 1, MaxTokens: 256, RewriteTokens: 2048, Samples: 1, System: system},
}

// ProtocolNamed returns the preset with this name.
func ProtocolNamed(name string) (Protocol, error) {
	return crosstalk.Named("consistency protocol", name, Protocols, func(p Protocol) string { return p.Name })
}

// Options choose protocols.
type Options struct {
	Protocols []string `json:"protocols,omitempty"` // measured side by side; nil: the default
}

// Resolve returns the protocols, or a *crosstalk.OptionError.
func (o Options) Resolve() ([]Protocol, error) {
	return crosstalk.ProtocolsNamed(o.Protocols, Protocols[0].Name, ProtocolNamed)
}

// By lists the default columns for grouping figures: none besides task, pair and part.
var By []string

// ByClass in by adds figures for each class of answers: labelShare and transition.
const ByClass = "class"

// Rules are the settings that figures depend on besides the answers.
type Rules struct {
	Protocol
	Classes   map[string][]string // by task
	Free      string              // name of the comparer of free answers
	Quality   string              // name of the external scorer
	Languages string              // name of the identifier that flags wrong languages
	Rewrites  string              // the source of rewritten instructions, and their reviewers
	Review    string              // review of answers
	Questions map[string]string   `json:",omitempty"` // by task: the field whose rewritten question is formatted
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
	invalid := "apart"
	if r.InvalidIsClass {
		invalid = "class"
	}
	reading := []string{"read:" + r.Reader, "invalid:" + invalid, "review:" + cmp.Or(r.Review, "none")}
	if len(r.Classes[labels["task"]]) == 0 {
		reading = []string{"free:" + cmp.Or(r.Free, "-")}
	}
	if r.Abstentions {
		reading = append(reading, "no-answer:apart")
	}
	target := Sense(labels["pair"]).Target()
	quality := "bleu:" + flat(translation.TokenizerFor(target).Signature())
	switch measure {
	case Rewriting:
		fields = append(fields, "lid:"+cmp.Or(r.Languages, "none"))
	case BLEU, itemBLEU:
		fields = append(fields, quality)
	case ROUGE1, ROUGE2, ROUGEL:
		fields = append(fields, "rouge:"+flat(r.rouge(target).Signature()))
	case Quality:
		fields = append(fields, "scorer:"+r.Quality)
	case consistencyBLEU50, bleuConsistency, bleuAccuracy:
		fields = append(append(fields, reading...), quality)
	default:
		fields = append(fields, reading...)
	}
	if field := r.Questions[labels["task"]]; field != "" {
		fields = append(fields, field+":sentence-case")
	}
	return estimate.Signature(labels, append(fields, "rewrites:"+cmp.Or(r.Rewrites, "-"))...)
}

// flat prepares a signature for use within another.
func flat(signature string) string { return strings.ReplaceAll(signature, "|", ",") }

// rouge returns the protocol's ROUGE for texts in a language.
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
