package gate

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/instrument"
	"crosstalk/run"
)

// Broken is an answer with a fault to an item that the reference answered without one.
type Broken struct{ Item, Before, After, Found string }

const (
	mostBroken    = 3
	mostFaulty    = 10000 // answers with a fault among which broken ones are sought
	longestQuoted = 300   // characters of an answer
)

// brokenOf returns the first broken answers of a run. There are none where a run has no observations.
func brokenOf(before, after string) ([]Broken, error) {
	type answer struct {
		place int
		Broken
	}
	faulty := map[string]*answer{}
	err := faults(after, func(o crosstalk.Observation, found string) bool {
		if found != "" && faulty[keyOf(o)] == nil {
			faulty[keyOf(o)] = &answer{len(faulty), Broken{Item: o.Item, After: quoted(o), Found: found}}
		}
		return len(faulty) < mostFaulty
	})
	if err != nil || len(faulty) == 0 {
		return nil, err
	}
	var broken []*answer
	err = faults(before, func(o crosstalk.Observation, found string) bool {
		if a := faulty[keyOf(o)]; a != nil && found == "" && a.Before == "" && o.NotScored == "" {
			a.Before = quoted(o)
			broken = append(broken, a)
		}
		return true
	})
	slices.SortFunc(broken, func(a, b *answer) int { return a.place - b.place })
	list := make([]Broken, 0, mostBroken)
	for _, a := range broken[:min(len(broken), mostBroken)] {
		list = append(list, a.Broken)
	}
	return list, err
}

// faults calls each with a run's observations of any fault, and what was found, until it returns false.
func faults(path string, each func(o crosstalk.Observation, found string) bool) error {
	m, err := run.ReadManifest(path)
	if err != nil {
		return err
	}
	kind := instrument.Named(m.Plan.Instrument)
	for o, err := range run.ReadObservations(path) {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
		fault, decides := kind.Fault(o)
		if !decides {
			continue
		}
		found := ""
		if fault.Value == 1 {
			titles := kind.Finding(fault.Finding).Titles
			found = titles[len(titles)-1]
		}
		if !each(fault, found) {
			return nil
		}
	}
	return nil
}

// keyOf is the same for answers to one item, asked in the same way, whatever the model and its settings.
func keyOf(o crosstalk.Observation) string {
	return fmt.Sprintf("%q %q %d", o.Item, o.Variant, o.Sample)
}

func quoted(o crosstalk.Observation) string {
	text := ""
	for _, t := range o.Texts {
		if t.Role == crosstalk.Side {
			text = strings.Join(strings.Fields(t.Text), " ")
		}
	}
	if runes := []rune(text); len(runes) > longestQuoted {
		return string(runes[:longestQuoted-1]) + "…"
	}
	return text
}
