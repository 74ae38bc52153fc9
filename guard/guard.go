// Package guard judges whether a model's answer is in the language that it should be in, and which parts are not.
//
// It judges prose: code, addresses, numbers, quotations, names and the like are masked. Where the letters do not say
// enough, the verdict is CannotTell.
package guard

import (
	"fmt"
	"strings"

	"crosstalk"
	"crosstalk/measure/langid"
	"crosstalk/measure/langid/embedded"
	"crosstalk/measure/langid/words"
	"crosstalk/measure/prose"

	"golang.org/x/text/language"
)

// A Verdict says whether a text is in the expected language.
type Verdict string

// Verdicts.
const (
	Right      Verdict = "right"
	Wrong      Verdict = "wrong"       // it, or a part of it, is in another language
	CannotTell Verdict = "cannot_tell" // too little prose, or prose that could be in either language
)

// A Judgement of a text. Offsets are bytes of the text, End not included.
type Judgement struct {
	Verdict   Verdict      `json:"verdict"`
	Language  string       `json:"language"`             // that most of the prose is in, empty if that cannot be told
	P         float64      `json:"p"`                    // probability that the verdict is true; 0.5 if it cannot be told
	Risk      float64      `json:"risk"`                 // probability that the text, or a part, is in another language
	Judged    Level        `json:"judged,omitempty"`     // how closely; empty if there is nothing to judge
	NotJudged string       `json:"not_judged,omitempty"` // what was not, and why: words, or the text
	Units     int          `json:"units"`                // lines, or groups of short ones, that were judged
	Unclear   int          `json:"unclear"`              // units whose language cannot be told
	Spans     []Span       `json:"spans"`                // the parts in another language
	Masked    []prose.Span `json:"masked"`               // the parts that were not judged
	Parts     []Part       `json:"-"`                    // what was judged, in order of the first lines
	Mix       Mix          `json:"-"`
}

// A Level says what of a text was judged, and so what a verdict of Right means.
type Level string

// Levels. Whole lines are judged at each of them, and so are words in another script than the expected language's.
const (
	ByWords  Level = "words"  // each word, by how frequent it is in the expected language and in others
	ByScript Level = "script" // each word by its script alone, which few languages but the expected one have: Korean
	ByLines  Level = "lines"  // no single words of the expected language's script, for want of a model
)

// Kinds of spans.
const (
	Line = "line" // a whole line or cell
	Word = "word" // words within one
)

// A Span is a part in another language than expected. One without an excuse makes the verdict Wrong: its Risk is at
// least the threshold.
type Span struct {
	Start    int        `json:"start"`
	End      int        `json:"end"`
	Language string     `json:"language"` // BCP 47: "en", "zh-Hans", "sr-Latn"
	Kind     string     `json:"kind"`     // Line or Word
	P        float64    `json:"p"`        // that it is in another language
	Risk     float64    `json:"risk"`     // that it is a confusion: by P, and less with an excuse
	Excuse   prose.Kind `json:"excuse,omitempty"`
}

// Excuses: why a part in another language is not a confusion, or may not be one. prose.Quote is another.
const (
	Gloss   prose.Kind = "gloss"   // a translation: beside parentheses or in them, or in a list
	Mention prose.Kind = "mention" // in or below a line that names their language
	Name    prose.Kind = "name"    // of a person, place, product
	Loan    prose.Kind = "loan"    // used in many languages: "online"
	Doubt   prose.Kind = "doubt"   // the words' probability is below Certain, or not far enough above it for several
)

// A Checker judges texts. It is safe for concurrent use.
type Checker struct {
	// Identifier judges lines of languages without a model of words; nil: the embedded one. If it has a method Labels,
	// its languages can be judged besides Languages.
	Identifier langid.Identifier

	// Threshold is the least Risk of a span that makes the verdict Wrong, above 0 and at most 1; 0: Warn.
	Threshold float64

	prompt string // what the user wrote, in lower case: see Request.Of
}

// Rules names what decides about a verdict besides the identifier: the rules, the models of words and the threshold. It
// changes whenever they do.
func (k Checker) Rules() string {
	return "guard-11+" + words.Name() + k.thresholdName()
}

func (k Checker) identifier() langid.Identifier {
	if k.Identifier == nil {
		return embedded.Identifier()
	}
	return k.Identifier
}

// Check judges a text that should be in a language: a BCP 47 tag such as "ko", "pt-BR" or "zh-Hant". A script or region
// decides between simplified and traditional Chinese, a script between the two of Serbian; other regions do not count.
// An error means that the tag is not a language that can be judged.
func (k Checker) Check(text, tag string) (Judgement, error) {
	e, err := k.expect(tag)
	if err != nil {
		return Judgement{}, err
	}
	c := newCheck(k.identifier(), text, e)
	c.threshold, c.prompt = k.threshold(), k.prompt
	c.judge()
	j := c.result()
	c.analysis.Free()
	return j, nil
}

// CheckLanguage returns an error for a language that cannot be judged. User and the empty one are fine.
func (k Checker) CheckLanguage(language string) error {
	if language == "" || language == User {
		return nil
	}
	if _, err := k.expect(language); err != nil {
		return crosstalk.BadOption("language", ": %w", err)
	}
	return nil
}

// Check judges a text as Checker.Check does, with the embedded identifier.
func Check(text, tag string) (Judgement, error) { return Checker{}.Check(text, tag) }

// expected describes the language that a tag asks for.
type expected struct {
	base   string // ISO 639
	script string // "Hans", "Hant", "Latn" or "Cyrl" where the tag asks for one: see langid.Script
	name   string // of base in judgements
}

// longestTag is the longest tag of a language, in bytes.
const longestTag = 100

func (k Checker) expect(tag string) (expected, error) {
	if len(tag) > longestTag {
		return expected{}, fmt.Errorf("the tag of a language has %d bytes; expected one such as ko, pt-BR or zh-Hant",
			len(tag))
	}
	t, err := language.Parse(strings.ReplaceAll(tag, "_", "-"))
	if err != nil || tag == "" {
		return expected{}, fmt.Errorf("unknown language %q; expected a BCP 47 tag such as ko, pt-BR or zh-Hant", tag)
	}
	if t == language.Und {
		return expected{}, fmt.Errorf("tag %q names no language; expected one such as ko, pt-BR or zh-Hant", tag)
	}
	base, _ := t.Base()
	label, known := k.label(base.String())
	if !known {
		return expected{}, fmt.Errorf("language %q cannot be judged; expected one of: %s",
			tag, strings.Join(Languages(), " "))
	}
	return expected{label, langid.Script(t), label}, nil
}
