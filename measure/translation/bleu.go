package translation

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// BLEU computes BLEU as sacreBLEU 2 does by default, to the precision of exp and log: n-grams of up to four words, case
// counts, and the orders without a match have 1/2, 1/4, ... of a match in turn (Chen and Cherry 2014, method 3).
type BLEU struct {
	Tokenize Tokenizer // default 13a

	// EffectiveOrder leaves out the orders for which the hypothesis is too short to have an n-gram. Without it, which
	// is sacreBLEU's default, a hypothesis of fewer than four words scores 0 whatever it says.
	EffectiveOrder bool
}

// order is the length of the longest n-grams.
const order = 4

// BLEUStats are the sufficient statistics of BLEU: those of a corpus are the sum of those of its segments.
type BLEUStats struct {
	Segments int
	NRefs    int   // references of each segment, -1 if segments differ
	SysLen   int   // words of the hypotheses
	RefLen   int   // words of the references closest in length
	Counts   []int // matched n-grams, n from 1
	Totals   []int // n-grams of the hypotheses, n from 1
}

// Add adds the statistics of further segments, which must have been counted with the same tokenizer.
func (s *BLEUStats) Add(o BLEUStats) {
	if o.Segments == 0 {
		return
	}
	if s.Segments == 0 {
		s.NRefs, s.Counts, s.Totals = o.NRefs, make([]int, order), make([]int, order)
	}
	if s.NRefs != o.NRefs {
		s.NRefs = -1
	}
	s.Segments += o.Segments
	s.SysLen += o.SysLen
	s.RefLen += o.RefLen
	for n := range s.Counts {
		s.Counts[n] += o.Counts[n]
		s.Totals[n] += o.Totals[n]
	}
}

// BLEUScore is a BLEU figure with its inputs.
type BLEUScore struct {
	BLEUStats
	Score      float64   // 0 to 100; NaN without segments
	Precisions []float64 // smoothed, 0 to 100, n from 1
	BP         float64   // brevity penalty, 0 to 1
}

// Corpus scores hypothesis i against the references refs[0][i], refs[1][i], ... An empty reference counts as missing; a
// segment needs at least one.
func (b BLEU) Corpus(hyps []string, refs ...[]string) (BLEUScore, error) {
	if err := b.Tokenize.check(); err != nil {
		return BLEUScore{}, err
	}
	if len(refs) == 0 {
		return BLEUScore{}, errors.New("translation: no references given")
	}
	for k, set := range refs {
		if len(set) != len(hyps) {
			return BLEUScore{}, fmt.Errorf("translation: %d hypotheses but %d references in set %d",
				len(hyps), len(set), k+1)
		}
	}
	sc := scratches.Get().(*scratch)
	defer sc.release()
	var sum BLEUStats
	one := newStats()
	segment := make([]string, len(refs))
	for i, hyp := range hyps {
		for k := range refs {
			segment[k] = refs[k][i]
		}
		if err := b.count(sc, &one, hyp, segment); err != nil {
			return BLEUScore{}, fmt.Errorf("translation: segment %d of %d: %w", i+1, len(hyps), err)
		}
		sum.Add(one)
	}
	return b.score(sum), nil
}

// Sentence scores one hypothesis as a separate corpus.
func (b BLEU) Sentence(hyp string, refs ...string) (BLEUScore, error) {
	stats, err := b.Stats(hyp, refs...)
	if err != nil {
		return BLEUScore{}, err
	}
	return b.score(stats), nil
}

// Stats counts one segment. It fails if an option is wrong or if no reference has a character.
func (b BLEU) Stats(hyp string, refs ...string) (BLEUStats, error) {
	if err := b.Tokenize.check(); err != nil {
		return BLEUStats{}, err
	}
	sc := scratches.Get().(*scratch)
	defer sc.release()
	stats := newStats()
	if err := b.count(sc, &stats, hyp, refs); err != nil {
		return BLEUStats{}, fmt.Errorf("translation: %w", err)
	}
	return stats, nil
}

// Score computes the figure from statistics.
func (b BLEU) Score(stats BLEUStats) (BLEUScore, error) {
	if n := len(stats.Counts); stats.Segments > 0 && (n != order || len(stats.Totals) != order) {
		return BLEUScore{}, fmt.Errorf("translation: BLEU statistics of order %d, expected %d", n, order)
	}
	return b.score(stats), nil
}

// Signature is sacreBLEU's signature of a score with this number of references per segment (BLEUStats.NRefs). Its
// version refers to the rules of sacreBLEU 2; tok:zh implies the faults described at that tokenizer's character table.
func (b BLEU) Signature(nrefs int) string {
	references, effective := strconv.Itoa(nrefs), "no"
	if nrefs < 0 {
		references = "var"
	}
	if b.EffectiveOrder {
		effective = "yes"
	}
	return fmt.Sprintf("nrefs:%s|case:mixed|eff:%s|tok:%s|smooth:exp|version:2",
		references, effective, b.Tokenize.orDefault())
}

func newStats() BLEUStats { return BLEUStats{Counts: make([]int, order), Totals: make([]int, order)} }

// count sets stats, made by newStats, to the statistics of one segment.
func (b BLEU) count(sc *scratch, stats *BLEUStats, hyp string, refs []string) error {
	sc.words.reset()
	sc.ngrams.reset()
	sc.hyp = b.symbols(sc, sc.hyp[:0], hyp)
	clear(stats.Counts)
	*stats = BLEUStats{Segments: 1, SysLen: len(sc.hyp), RefLen: -1, Counts: stats.Counts, Totals: stats.Totals}
	for _, ref := range refs {
		if ref == "" {
			continue
		}
		sc.ref = b.symbols(sc, sc.ref[:0], ref)
		sc.ngrams.count(sc.ref, order)
		stats.NRefs++
		stats.RefLen = closer(stats.SysLen, stats.RefLen, len(sc.ref))
	}
	if stats.NRefs == 0 {
		return errors.New("no reference, or only empty ones")
	}
	sc.ngrams.match(sc.hyp, stats.Counts)
	for n := range stats.Totals {
		stats.Totals[n] = max(len(sc.hyp)-n, 0)
	}
	return nil
}

// closer returns the reference length, old (-1 if none) or new, that is closer to the length of the hypothesis; the
// shorter one in a tie.
func closer(hyp, old, new int) int {
	dOld, dNew := max(hyp-old, old-hyp), max(hyp-new, new-hyp)
	if old < 0 || dNew < dOld || dNew == dOld && new < old {
		return new
	}
	return old
}

// symbols appends the words of line, as numbers, to dst.
func (b BLEU) symbols(sc *scratch, dst []uint32, line string) []uint32 {
	for word := range fields(sc.rewrite(b.Tokenize, line)) {
		dst = append(dst, sc.words.number(word))
	}
	return dst
}

// score is the formula of Papineni et al. (2002, section 2.3) with sacreBLEU's smoothing and treatment of empty orders.
func (b BLEU) score(stats BLEUStats) BLEUScore {
	s := BLEUScore{BLEUStats: stats, Precisions: make([]float64, order), BP: 1}
	if stats.Segments == 0 {
		s.Score, s.BP = math.NaN(), math.NaN()
		for n := range s.Precisions {
			s.Precisions[n] = math.NaN()
		}
		return s
	}
	if stats.SysLen == 0 && stats.RefLen > 0 {
		s.BP = 0
	} else if stats.SysLen < stats.RefLen {
		s.BP = math.Exp(1 - float64(stats.RefLen)/float64(stats.SysLen))
	}
	// Without a single match no smoothing applies.
	if !slices.ContainsFunc(stats.Counts, func(n int) bool { return n > 0 }) {
		return s
	}
	orders, half := order, 1.0
	for n := range s.Precisions {
		count, total := float64(stats.Counts[n]), float64(stats.Totals[n])
		if total == 0 {
			break
		}
		if b.EffectiveOrder {
			orders = n + 1
		}
		if count == 0 {
			half *= 2
			count = 1 / half
		}
		s.Precisions[n] = 100 * count / total
	}
	sum := 0.0
	for _, p := range s.Precisions[:orders] {
		sum += math.Log(p) // -Inf for a precision of 0, and the score is 0
	}
	s.Score = s.BP * math.Exp(sum/float64(orders))
	return s
}
