package crosstalk

import (
	"fmt"
	"strconv"
)

// Judge judges whether texts are in an expected language, and which parts are not. It is safe for concurrent use.
// guard.Checker is one.
type Judge interface {
	// Judge judges a text in an expected language, a BCP 47 tag such as "ko" or "zh-Hant". A text without prose has no
	// parts. An error means that the tag is not a language that can be judged.
	Judge(text, tag string) (Judged, error)
	// Rules identifies what decides a verdict, besides an identifier of languages. It changes whenever that does.
	Rules() string
}

// Judged is what a Judge found in a text. Spans are bytes of the text, without their lines and texts.
type Judged struct {
	Parts  []JudgedPart // what was judged, in order of first lines
	Wrong  []Span       // lines in another language, in order
	Words  []Span       // words in another language within other lines, in order
	Masked []Span       // what is no fault, whatever its language, with the reason: code, names, quotations

	// Runs are the offsets where runs of another language begin. A run has one or several spans, with only words between
	// them that both languages have.
	Runs []int
	Mix  Mix
}

// JudgedPart is a part of a text that was judged as a whole: a line, or several short ones of a form.
type JudgedPart struct {
	Lines   []Span
	Unclear bool    // the language of the lines cannot be told
	Right   bool    // it is the expected one; single words in another language do not matter
	P       float64 // probability of that
}

// Mix describes how the languages of a text's words alternate. It leaves out excused words, except doubtful ones, which
// count as the expected language, and words of parts in an unknown language.
type Mix struct {
	Words    int    // characters in Chinese and Japanese
	Own      int    // words in the expected language
	Switches int    // changes of language between successive words
	First    string // BCP 47 tag of most words of the first line; empty if no line's is known
	FirstOwn bool   // that is the expected language
}

// Thresholds of the risk that a part of a text is in another language, for different uses. docs/check.md has their
// precision and recall.
const (
	Observe = 0.1  // for looking at answers: they may be wrong
	Warn    = 0.5  // the default: more likely wrong than not
	Block   = 0.95 // for blocking answers: they are hardly ever right
)

// Thresholds are the thresholds by name.
var Thresholds = map[string]float64{"observe": Observe, "warn": Warn, "block": Block}

// ParseThreshold parses a threshold: observe, warn or block, or a probability above 0 and at most 1.
func ParseThreshold(text string) (float64, error) {
	if risk, ok := Thresholds[text]; ok {
		return risk, nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x > 0 && x <= 1) {
		return 0, fmt.Errorf("found %q; expected observe, warn, block, or a probability above 0 and at most 1", text)
	}
	return x, nil
}
