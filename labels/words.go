package labels

import (
	"maps"
	"math"

	"crosstalk/instrument"
	"crosstalk/instrument/confusion"
	"crosstalk/run"
)

// ReadWords reads what the instrument says of the words of a run's answers, so
// that Correct has figures of words. It reads nothing for other questions than
// that about the language of answers.
func (s *Sheet) ReadWords(path string) error {
	if s.Question.Name != Language {
		return nil
	}
	s.words = map[int]float64{}
	for o, err := range run.ReadObservations(path) {
		if err != nil {
			return err
		}
		if o.Measure != confusion.WPR {
			continue
		}
		condition := maps.Clone(o.Condition)
		delete(condition, instrument.Named(s.Question.Instrument).Judge)
		i, known := s.At[key(s.Question.Name, o.Item, o.Sample, o.Variant, condition, 0)]
		if !known {
			continue
		}
		switch {
		case o.Value.Defined():
			s.words[i] = float64(o.Value)
		case o.NotScored == confusion.LineError:
			s.words[i] = 0
		}
	}
	return nil
}

// MarkedWords reports whether people marked words in any answer. If not, nobody
// knows whether they were asked to.
func (s *Sheet) MarkedWords(labels []Label) bool {
	for _, l := range s.own(labels) {
		if len(l.Words) > 0 {
			return true
		}
	}
	return false
}

// wordTargets are the figures of words: of answers that pass the check of lines,
// and of those that pass that of words too. LCPR is the harmonic mean of LPR and
// WPR in the languages that have both.
func (s *Sheet) wordTargets(labels []Label) (list []target) {
	if s.words == nil || !s.MarkedWords(labels) {
		return nil
	}
	given := s.passes(labels)
	share := func(means []float64) float64 { return means[1] / means[0] }
	harmonic := func(means []float64) float64 {
		lines, words := means[0], share(means)
		return 2 * lines * words / (lines + words)
	}
	for _, t := range []struct {
		name string
		of   func([]float64) float64
	}{{confusion.WPR, share}, {confusion.LCPR, harmonic}} {
		list = append(list, target{t.name, t.of, func(i int, j Judged) (values, labels []float64, ok bool) {
			right, known := s.words[i]
			if !known {
				return nil, nil, false
			}
			return []float64{j.Value, j.Value * right}, given[i][:], true
		}})
	}
	return list
}

// passes are the shares of the annotators of each unit, of those who can tell,
// who say that it has no wrong line, and no wrong line or word.
func (s *Sheet) passes(labels []Label) [][2]float64 {
	list, n := make([][2]float64, len(s.Units)), make([]float64, len(s.Units))
	for _, l := range labels {
		i, known := s.At[l.Key()]
		right := s.Question.value(l.Label)
		if !known || math.IsNaN(right) {
			continue
		}
		n[i]++
		list[i][0] += right
		if len(l.Words) == 0 {
			list[i][1] += right
		}
	}
	for i := range list {
		for k := range list[i] {
			list[i][k] /= n[i] // NaN without labels
		}
	}
	return list
}
