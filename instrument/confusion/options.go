package confusion

import (
	"slices"

	"crosstalk"
	"crosstalk/guard"
)

// Options choose protocols and override their rules; the zero value of each
// field overrides nothing.
type Options struct {
	Protocols []string // measured side by side; nil: the default
	Threshold string   // of parts in another language, for guard.ParseThreshold; "": the default
	Part      string   // of answers, one of Parts; "": Answer
}

// Resolve returns the protocols with the overrides applied, or a
// *crosstalk.OptionError.
func (o Options) Resolve() ([]Protocol, error) {
	list, err := crosstalk.ProtocolsNamed(o.Protocols, Protocols[0].Name, o.resolve)
	if err != nil {
		return nil, err
	}
	if _, err := crosstalk.Chosen("part", o.Part, Parts); err != nil && o.Part != "" {
		return nil, crosstalk.BadOption("part", ": %w", err)
	}
	if o.Threshold != "" && !slices.ContainsFunc(list, func(p Protocol) bool { return p.Prose }) {
		return nil, crosstalk.BadOption("threshold", " has no effect on the protocol %s; choose %s with --protocol",
			list[0].Name, Protocols[0].Name)
	}
	return list, nil
}

// OnlyProse reports whether none of the protocols identifies lines and looks words
// up in a list.
func OnlyProse(protocols []Protocol) bool {
	return !slices.ContainsFunc(protocols, func(p Protocol) bool { return !p.Prose })
}

// NotForProse is the error of an option that has no effect.
func NotForProse(option string) error {
	return crosstalk.BadOption(option,
		" has no effect on the protocol %s; choose another one with --protocol, such as lcb-paper", Protocols[0].Name)
}

func (o Options) resolve(name string) (Protocol, error) {
	p, err := ProtocolNamed(name)
	if err != nil {
		return p, err
	}
	if o.Threshold != "" && p.Prose {
		if p.Risk, err = guard.ParseThreshold(o.Threshold); err != nil {
			return p, crosstalk.BadOption("threshold", ": %w", err)
		}
	}
	return p, nil
}
