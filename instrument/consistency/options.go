package consistency

import "crosstalk"

// Options choose protocols and override their rules; the zero value of each
// field overrides nothing.
type Options struct {
	Protocols []string // measured side by side; nil: the default
	ROUGE     string   // how ROUGE cuts texts into words
}

// Resolve returns the protocols with the overrides applied, or a
// *crosstalk.OptionError.
func (o Options) Resolve() ([]Protocol, error) {
	return crosstalk.ProtocolsNamed(o.Protocols, Protocols[0].Name, o.resolve)
}

func (o Options) resolve(name string) (Protocol, error) {
	p, err := ProtocolNamed(name)
	switch rouge := ROUGE(o.ROUGE); rouge {
	case "":
	case ROUGEUnicode, ROUGEPapers:
		p.ROUGE = rouge
	default:
		return p, crosstalk.BadOption("rouge", " is %q; expected %s or %s", o.ROUGE, ROUGEUnicode, ROUGEPapers)
	}
	return p, err
}
