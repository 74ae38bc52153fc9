package leakage

import (
	"math"

	"crosstalk"
)

// Options choose protocols and override their rules; the zero value of each
// field overrides nothing.
type Options struct {
	Protocols []string // measured side by side; nil: the default
	Post      string   // how answers are trimmed
	Round     *int     // decimals of similarities, 0 to 15, or Exact
	Tie       *float64 // similarities that differ by at most this are a tie
	Counts    bool     // also of answers to the test alone
	Windows   string   // parts of answers that are scored too: Sentences or NoWindows
}

// NoWindows is the value of Options.Windows that scores only whole answers.
const NoWindows = "none"

// Resolve returns the protocols with the overrides applied, or a
// *crosstalk.OptionError.
func (o Options) Resolve() ([]Protocol, error) {
	return crosstalk.ProtocolsNamed(o.Protocols, Protocols[0].Name, o.resolve)
}

func (o Options) resolve(name string) (Protocol, error) {
	p, err := ProtocolNamed(name)
	if err != nil {
		return p, err
	}
	if o.Post != "" {
		if p.Post, err = ParsePost(o.Post); err != nil {
			return p, err
		}
	}
	if o.Round != nil {
		if *o.Round < Exact || *o.Round > 15 {
			return p, crosstalk.BadOption("round", " is %d; expected -1 to 15", *o.Round)
		}
		p.Round = *o.Round
	}
	if o.Tie != nil {
		if !(*o.Tie >= 0) || math.IsInf(*o.Tie, 0) {
			return p, crosstalk.BadOption("tie", " is %g; expected 0 or more", *o.Tie)
		}
		p.Tie = *o.Tie
	}
	p.Counts = p.Counts || o.Counts
	switch o.Windows {
	case "":
	case NoWindows:
		p.Windows = ""
	case Sentences:
		p.Windows = Sentences
	default:
		return p, crosstalk.BadOption("windows", " is %q; expected %s or %s", o.Windows, Sentences, NoWindows)
	}
	return p, nil
}
