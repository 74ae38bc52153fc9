package leakage

import "crosstalk"

// Options choose protocols and override their rules; the zero value of each
// field overrides nothing.
type Options struct {
	Protocols []string // measured side by side; nil: the default
	Post      string   // how answers are trimmed
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
		if p.Post, err = parsePost(o.Post); err != nil {
			return p, err
		}
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
