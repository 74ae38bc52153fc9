package consistency

import (
	"maps"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/measure/segment"
	"crosstalk/measure/segment/jieba"
	"crosstalk/measure/similarity"
	"crosstalk/measure/translation"
)

// Rewritten has the texts of an item in another sense.
type Rewritten struct {
	Texts   []string // the task's fields, for prompts; nil if there are none
	Outputs []string // the model's raw answers, if any
	Flags   []string // reasons to doubt them
	Answers []crosstalk.Key
}

// describe adds a rewriting to an observation that depends on it.
func (r Rewritten) describe(o *crosstalk.Observation, source []string) {
	o.AddText(crosstalk.Given, SourceInput, strings.Join(source, "\n"))
	if r.Texts != nil {
		o.AddText(crosstalk.Given, InputText, strings.Join(r.Texts, "\n"))
	}
	addFact(o, FlagsText, strings.Join(r.Flags, ", "))
	o.Answers = append(o.Answers, r.Answers...)
}

func (s *scoring) scoreRewritten() error {
	for _, sense := range slices.Sorted(maps.Keys(s.rewritten)) {
		r := s.rewritten[sense]
		o := s.observation(Rewriting, string(sense), "", 0)
		source := s.item.Input.Texts[string(sense.Origin())]
		r.describe(&o, source)
		switch {
		case r.Texts == nil:
			o.NotScored = NoRewriting
		case len(source) == 0:
			o.NotScored = NoSource // flags compare with it
		case len(r.Flags) > 0:
			o.Value, o.Finding = 0, Flagged
		default:
			o.Value = 1
		}
		s.observations = append(s.observations, o)
		if err := s.scoreQuality(sense, r); err != nil {
			return err
		}
	}
	return nil
}

// scoreQuality compares rewritten inputs with human ones in the same language. The
// value of an item is the mean over its texts (Ohmer et al. 2023, section 4.3).
func (s *scoring) scoreQuality(sense Sense, r Rewritten) error {
	reference := s.item.Input.Texts[sense.Target()]
	if len(r.Texts) == 0 || len(reference) != len(r.Texts) {
		return nil
	}
	bleu, rouge := bleuFor(string(sense)), s.Protocol.rouge(sense.Target())
	var sum translation.BLEUStats
	figures := map[string]float64{}
	n := float64(len(r.Texts))
	for i, text := range r.Texts {
		if reference[i] == "" {
			return nil // it cannot judge the rewriting
		}
		stats := bleu.Stats(text, reference[i])
		sum.Add(stats)
		figures[ItemBLEU] += stats.Score() / 100 / n
		overlap := rouge.Score(text, reference[i])
		if s.Protocol.ROUGE == ROUGEPapers && rouge.Signature() == translation.ROUGEChinese.Signature() {
			overlap = rouge.ScoreWords(segment.Words(jieba.Segmenter{}, text), segment.Words(jieba.Segmenter{}, reference[i]))
		}
		figures[ROUGE1] += overlap.ROUGE1 / n
		figures[ROUGE2] += overlap.ROUGE2 / n
		figures[ROUGEL] += overlap.ROUGEL / n
	}
	s.bleu[sense] = figures[ItemBLEU]
	figures[ItemBLEU] = min(figures[ItemBLEU], 1) // exp and log can give 100.00000000000004 for equal texts
	measures := []string{ItemBLEU, ROUGE1, ROUGE2, ROUGEL}
	if s.Quality != nil {
		pairs := make([]similarity.Pair, len(r.Texts))
		for i := range pairs {
			pairs[i] = similarity.Pair{A: r.Texts[i], B: reference[i]}
			if source := s.item.Input.Texts[string(sense.Origin())]; i < len(source) {
				pairs[i].Source = source[i]
			}
		}
		scores, err := s.Quality.Scores(s.ctx, pairs)
		if err != nil {
			return err
		}
		for _, score := range scores {
			figures[Quality] += score / n
		}
		measures = append(measures, Quality)
	}
	for _, measure := range measures {
		o := s.observation(measure, string(sense), "", 0)
		o.Answers = r.Answers
		if f := crosstalk.Value(figures[measure]); f.Defined() {
			o.Value = f
		} else {
			o.NotScored = Undefined
		}
		if measure == ItemBLEU {
			o.Numbers = bleuNumbers(sum)
			o.AddText(crosstalk.Given, InputText, strings.Join(r.Texts, "\n"))
			o.AddText(crosstalk.Given, Reference, strings.Join(reference, "\n"))
		}
		s.observations = append(s.observations, o)
	}
	return nil
}

// BLEU of many items is a function of the sums of their counts, which observations carry.
var bleuNames = [...]string{"matches_1", "matches_2", "matches_3", "matches_4",
	"ngrams_1", "ngrams_2", "ngrams_3", "ngrams_4", "words", "reference_words", "texts"}

func bleuNumbers(b translation.BLEUStats) map[string]float64 {
	numbers := map[string]float64{}
	for i, n := range slices.Concat(b.Counts[:], b.Totals[:], []int{b.SysLen, b.RefLen, b.Segments}) {
		numbers[bleuNames[i]] = float64(n)
	}
	return numbers
}

func bleuStats(numbers map[string]float64) translation.BLEUStats {
	at := func(i int) int { return int(numbers[bleuNames[i]]) }
	return translation.BLEUStats{Counts: [...]int{at(0), at(1), at(2), at(3)},
		Totals: [...]int{at(4), at(5), at(6), at(7)}, SysLen: at(8), RefLen: at(9), Segments: at(10)}
}
