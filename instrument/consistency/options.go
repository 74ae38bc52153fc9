package consistency

import "crosstalk"

// Options choose protocols.
type Options struct {
	Protocols []string // measured side by side; nil: the default
}

// Resolve returns the protocols, or a *crosstalk.OptionError.
func (o Options) Resolve() ([]Protocol, error) {
	return crosstalk.ProtocolsNamed(o.Protocols, Protocols[0].Name, ProtocolNamed)
}
