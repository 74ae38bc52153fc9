package confusion

import "crosstalk"

// Options choose protocols and override their rules; the zero value of each
// field overrides nothing.
type Options struct {
	Protocols []string // measured side by side; nil: the default
	Threshold *float64 // probability that a line needs, from 0 to below 1
	MinWords  *int     // lines of fewer words are not checked
	Latin     string   // one of Latins
	Kana      bool     // let kana decide between Japanese and Chinese
}

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
	if o.Threshold != nil {
		if !(*o.Threshold >= 0 && *o.Threshold < 1) {
			return p, crosstalk.BadOption("threshold", " is %g; expected a probability from 0 to below 1", *o.Threshold)
		}
		p.Threshold = *o.Threshold
	}
	if o.MinWords != nil {
		if *o.MinWords < 1 {
			return p, crosstalk.BadOption("min-words", " is %d; expected 1 or more", *o.MinWords)
		}
		p.MinWords = *o.MinWords
	}
	if o.Latin != "" {
		if p.Latin, err = ParseLatin(o.Latin); err != nil {
			return p, crosstalk.BadOption("latin", ": %w", err)
		}
	}
	p.Kana = o.Kana
	return p, nil
}
