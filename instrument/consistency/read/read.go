// Package read finds the label in what a model answered to a classification
// task, and strips the quotation marks that models put around a rewritten text.
//
// A Reader is a pure function of the answer and the labels of the task, in the order the task declares them. Labels
// are compared in lower case and returned as declared. Everything counts in code points.
package read

import "crosstalk/measure/pytext"

// A Reader finds the label in an answer.
type Reader func(answer string, labels []string) Reading

// Readers by the name of their protocol.
var Readers = map[string]Reader{
	"ohmer-2023":  Ohmer2023,
	"crosstalk-1": Crosstalk1,
}

// A Reading is the result of a reader.
type Reading struct {
	Label      string // as declared; "" if no label was found
	Rule       string // the rule that decided, found or not
	Confidence Confidence
}

// Confidence is how far a reading can be trusted without review.
type Confidence int

const (
	None Confidence = iota // no label
	Low                    // a label, but the answer may mean another: review it
	High                   // a label where answers have them
	Full                   // the answer is the label
)

func (c Confidence) String() string { return [...]string{"none", "low", "high", "full"}[c] }

// A label is declared in one spelling and looked for in lower case.
type label struct{ declared, lower string }

// lowered prepares labels, leaving out empty ones, which would be everywhere.
func lowered(labels []string) []label {
	out := make([]label, 0, len(labels))
	for _, l := range labels {
		if l != "" {
			out = append(out, label{l, pytext.Lower(l)})
		}
	}
	return out
}
