package confusion

import (
	"crosstalk"
	"crosstalk/measure/estimate"
	"fmt"
	"slices"
	"strconv"
)

// Protocol is a named, frozen set of measuring rules. Each rule is also a separate
// option; a figure's signature states the rules, not the name.
type Protocol struct {
	Name      string
	MinWords  int     // lines of fewer words are not checked
	Threshold float64 // a line has a language if its probability exceeds this
	Kana      bool    // kana decide between Japanese and Chinese, which identifiers confuse
	Latin     Latin   // word check of languages in Latin script

	// AllAnswers counts an answer without a checked line as correct. Otherwise it is
	// unchecked and excluded from all denominators.
	AllAnswers bool

	// EmptyIsOne gives a (language, source) cell without data the rate 1.
	// Otherwise the cell is undefined and excluded from averages.
	EmptyIsOne bool

	// PerToken gives every token the same weight in Entropy and NucleusSize, as in
	// the paper (section 4.3). Otherwise every answer has the same weight.
	PerToken bool `json:",omitempty"`

	// How a model is asked, unless the user says otherwise.
	Temperature float64
	TopP        float64
	MaxTokens   int
	Samples     int
}

// asked are the settings of requests in the paper.
func asked(p Protocol) Protocol {
	p.Temperature, p.TopP, p.MaxTokens, p.Samples = 0.3, 0.75, 100, 1
	return p
}

// Latin is the treatment of letters of other scripts in answers that should be in
// a language of Latin script.
type Latin string

const (
	LatinOff   Latin = "off"   // not checked
	LatinApart Latin = "apart" // word errors in a separate figure (LatinWPR)
	LatinInWPR Latin = "wpr"   // word errors like any other (Marchisio et al. 2024, section 3.2)
)

// Latins are all values of Latin.
var Latins = []Latin{LatinOff, LatinApart, LatinInWPR}

// ParseLatin reads a value of Latin.
func ParseLatin(name string) (Latin, error) {
	if !slices.Contains(Latins, Latin(name)) {
		return "", crosstalk.UnknownName("word check", name, Latins)
	}
	return Latin(name), nil
}

// Protocols are the presets, the default first: ours, that of the paper, and
// that of the script published with it.
var Protocols = []Protocol{
	asked(Protocol{Name: "crosstalk-1", MinWords: 5, Threshold: 0.3, Latin: LatinApart}),
	asked(Protocol{Name: "lcb-paper", MinWords: 5, Threshold: 0.3, Latin: LatinInWPR, AllAnswers: true, PerToken: true}),
	asked(Protocol{Name: "lcb-script", MinWords: 5, Threshold: 0.3, Latin: LatinOff, EmptyIsOne: true, PerToken: true}),
}

// ProtocolNamed returns the preset of that name.
func ProtocolNamed(name string) (Protocol, error) {
	names := make([]string, len(Protocols))
	for i, p := range Protocols {
		if p.Name == name {
			return p, nil
		}
		names[i] = p.Name
	}
	return Protocol{}, crosstalk.UnknownName("confusion protocol", name, names)
}

// lineFields and wordFields are the protocol's parts of a signature.
func (p Protocol) lineFields() []string {
	fields := []string{"threshold:" + strconv.FormatFloat(p.Threshold, 'g', -1, 64), fmt.Sprintf("words:%d+", p.MinWords)}
	if p.Kana {
		fields = append(fields, "kana")
	}
	if p.AllAnswers {
		fields = append(fields, "unchecked:right")
	}
	if p.EmptyIsOne {
		fields = append(fields, "undefined:1")
	}
	return fields
}

func (p Protocol) wordFields(list string) []string {
	fields := []string{"list:" + list}
	if p.Latin == LatinInWPR {
		fields = append(fields, "latin")
	}
	return fields
}

// By are the columns of averages, and the default columns for grouping figures.
var By = []string{"language", "source"}

// Rules are everything that determines the figures of given answers.
type Rules struct {
	Protocol
	Identifier string // its name
	Words      string // the name of the English list
	Candidates int    `json:",omitempty"` // asked for at each token; 0: none
}

// Rules returns the instrument's rules.
func (in *Instrument) Rules() Rules {
	return Rules{in.Protocol, in.Identifier.Name(), in.Words.Name(), in.Prompting.Logprobs}
}

func (r Rules) signature(measure string, g *estimate.Group[*sum], suites crosstalk.SuiteIDs) string {
	fields := append([]string{measure, "suite:" + suites.Of(g.Labels), "lid:" + r.Identifier}, r.lineFields()...)
	fields = append(fields, "segment:"+Segmenters)
	switch {
	case isUncertainty(measure):
		fields = append(append(fields, r.wordFields(r.Words)...), fmt.Sprintf("top:%d", r.Candidates), g.Labels["distribution"])
		if r.PerToken {
			fields = append(fields, "mean:tokens")
		}
		if measure == NucleusSize {
			fields = append(fields, fmt.Sprintf("p=%g", g.Sum.cells[cellKey{measure: measure}].topP))
		}
	case measure == WPR || measure == LCPR:
		fields = append(fields, r.wordFields(r.Words)...)
	}
	return estimate.Signature(g.Labels, fields...)
}
