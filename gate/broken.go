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

// Broken is an item that the reference answered without a fault and the run with one.
type Broken struct{ Item, Before, After, Found string }

const (
	mostBroken    = 3
	mostFaulty    = 10000 // limit on answers with a fault that are searched for broken ones
	longestQuoted = 300   // characters of an answer
)

// brokenOf returns the first broken answers of a run, none if a run has no observations.
func brokenOf(before, after string) ([]Broken, error) {
	var faulty []Broken
	places := map[string]int{}
	err := faults(after, func(o crosstalk.Observation, found string) bool {
		if _, again := places[keyOf(o)]; found != "" && !again {
			places[keyOf(o)] = len(faulty)
			faulty = append(faulty, Broken{Item: o.Item, After: quoted(o), Found: found})
		}
		return len(faulty) < mostFaulty
	})
	if err != nil || len(faulty) == 0 {
		return nil, err
	}
	var broken []int
	err = faults(before, func(o crosstalk.Observation, found string) bool {
		if at, is := places[keyOf(o)]; is && found == "" && faulty[at].Before == "" && o.NotScored == "" {
			faulty[at].Before = quoted(o)
			broken = append(broken, at)
		}
		return true
	})
	slices.Sort(broken)
	list := make([]Broken, 0, mostBroken)
	for _, at := range broken[:min(len(broken), mostBroken)] {
		list = append(list, faulty[at])
	}
	return list, err
}

// faults calls each with a run's observations of any fault, and the finding, until it returns false.
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

// keyOf is equal for answers to one item asked in the same way, whatever the model and its settings.
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
