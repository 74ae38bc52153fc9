package consistency

import (
	"fmt"
	"slices"
	"strings"
)

// Protocol is a named, frozen set of measuring rules. Each rule is also an
// option of its own; a figure's signature states the rules, not the name.
type Protocol struct {
	Name   string
	Reader string // how a label is found in an answer: a name in read.Readers

	// InvalidIsClass takes answers without a label, empty ones among them, as a
	// class of their own: two of them are consistent. Else only pairs of two
	// valid answers are scored.
	InvalidIsClass bool

	ROUGE ROUGE // how ROUGE cuts texts into words

	// How a model is asked, unless the user says otherwise.
	Temperature   float64
	TopP          float64
	MaxTokens     int
	RewriteTokens int
	System        string
}

// ROUGE names a way to cut texts into words for ROUGE.
type ROUGE string

// The ways.
const (
	ROUGEUnicode ROUGE = "unicode" // Unicode words, and single characters of scripts without spaces
	ROUGEPapers  ROUGE = "papers"  // the packages of Ohmer et al. (2023): rouge_score, and rouge_chinese on jieba's words
)

const system = "You are a helpful assistant." // Ohmer et al. 2023, section 4

// Protocols are the presets, the default first.
var Protocols = []Protocol{
	{Name: "crosstalk-1", Reader: "crosstalk-1", ROUGE: ROUGEUnicode,
		Temperature: 0.25, TopP: 1, MaxTokens: 256, RewriteTokens: 2048, System: system},
	{Name: "ohmer-2023", Reader: "ohmer-2023", InvalidIsClass: true, ROUGE: ROUGEPapers,
		Temperature: 0.25, TopP: 1, MaxTokens: 256, RewriteTokens: 2048, System: system},
}

// ProtocolNamed returns the preset of that name.
func ProtocolNamed(name string) (Protocol, error) {
	names := make([]string, len(Protocols))
	for i, p := range Protocols {
		names[i] = p.Name
	}
	if i := slices.Index(names, name); i >= 0 {
		return Protocols[i], nil
	}
	return Protocol{}, fmt.Errorf("consistency has no protocol %q: choose one of %s", name, strings.Join(names, ", "))
}
