package study

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"crosstalk"
)

// Round asks some items of the suite, by their numbers, under all conditions of a study of one protocol, in batches if
// the options say so. It returns when all of them are answered: for each item the observations under each condition. An
// item that a limit kept from being measured makes it an *IncompleteError. Nothing but answers is written, and asking
// the same items again asks nothing.
func (m *Measurement) Round(ctx context.Context, numbers []int) (map[int][][]crosstalk.Observation, error) {
	s := m.study
	if len(s.Protocols) != 1 || s.IsRecorded() {
		return nil, fmt.Errorf("rounds are of a study of one protocol that asks models")
	}
	if s.reviews != nil && !m.prepared {
		if err := s.reviews.prepare(ctx, m); err != nil {
			return nil, err
		}
	}
	m.prepared = true
	whole, places := s.part, s.places
	defer func() { s.part, s.places = whole, places }()
	s.places = slices.Sorted(slices.Values(numbers))
	s.part = s.Suite.Items.Numbered(s.places)
	f, err := s.count(ctx, m.budget.Prices, m.budget.Limits())
	if err != nil {
		return nil, err
	}
	s.counted = f.Each
	if err := m.askInBatches(ctx); err != nil {
		return nil, err
	}
	round := map[int][][]crosstalk.Observation{}
	for _, number := range numbers {
		round[number] = make([][]crosstalk.Observation, len(s.Protocols[0].Conditions))
	}
	for of, err := range s.source.observations(ctx, m, 0) {
		if err != nil {
			return nil, err
		}
		round[of.place.Item][of.place.Part] = of.observations
	}
	if m.result.Hopeless = m.Session.Hopeless(); m.result.NotMeasured > 0 {
		err = &IncompleteError{fmt.Errorf("%w; run the same command again to resume", m.result.Why())}
	}
	return round, err
}

// Batched reports whether requests are sent in batches.
func (m *Measurement) Batched() bool { return m.batch }

// Shuffled are the numbers of the items in an order that the seed draws, those of a cluster together if clusters.
func (s *Study) Shuffled(seed uint64, clusters bool) [][]int {
	var units [][]int
	of := map[string]int{}
	for i, item := range s.Suite.Items.All() {
		at, known := of[item.Cluster]
		if !clusters || item.Cluster == "" || !known {
			at = len(units)
			of[item.Cluster] = at
			units = append(units, nil)
		}
		units[at] = append(units[at], i)
	}
	r := rand.New(rand.NewPCG(seed, 0))
	r.Shuffle(len(units), func(i, j int) { units[i], units[j] = units[j], units[i] })
	return units
}
