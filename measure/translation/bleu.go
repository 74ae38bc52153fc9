// Package translation scores translations and paraphrases against references: BLEU (Papineni et al. 2002) with the
// tokenizers, smoothing and figures of sacreBLEU (Post 2018), and ROUGE-1, -2 and -L (Lin 2004).
//
// Each metric is a struct of options whose zero value is the usual setting:
//
//	score, err := translation.BLEU{}.Corpus(hyps, refs)
//	score, err := translation.BLEU{Tokenize: translation.TokenizeZh}.Sentence(hyp, ref)
//	score := translation.ROUGEUnicode.Score(hyp, ref)
//
// BLEU of a corpus is a function of counts summed over its segments. Stats gives the counts of one segment, Add sums
// them and Score turns them into the figure, so a corpus can be streamed, split over machines or resampled without its
// texts.
//
// BLEU ranges from 0 to 100, ROUGE from 0 to 1. A score without segments is NaN. Text is UTF-8; an invalid byte counts
// as U+FFFD or as itself, never as an error. All methods may be called concurrently.
package translation

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
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

// BLEUStats are the sufficient statistics of BLEU. A corpus's are the sum over its segments.
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
	if len(refs) == 0 {
		return BLEUScore{}, errors.New("translation: no references given")
	}
	for k, set := range refs {
		if len(set) != len(hyps) {
			return BLEUScore{}, fmt.Errorf("translation: %d hypotheses but %d references in set %d",
				len(hyps), len(set), k+1)
		}
	}
	var sum BLEUStats
	segment := make([]string, len(refs))
	for i, hyp := range hyps {
		for k := range refs {
			segment[k] = refs[k][i]
		}
		one, err := b.count(hyp, segment)
		if err != nil {
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
	stats, err := b.count(hyp, refs)
	if err != nil {
		err = fmt.Errorf("translation: %w", err)
	}
	return stats, err
}

func (b BLEU) count(hyp string, refs []string) (BLEUStats, error) {
	if err := b.Tokenize.check(); err != nil {
		return BLEUStats{}, err
	}
	sc := scratches.Get().(*scratch)
	defer sc.release()
	sc.reset()
	symbols := b.symbols(sc, hyp)
	stats := BLEUStats{Segments: 1, SysLen: len(symbols), RefLen: -1}
	stats.Counts, stats.Totals = make([]int, order), make([]int, order)
	for _, ref := range refs {
		if ref == "" {
			continue
		}
		words := b.symbols(sc, ref)
		sc.count(words)
		stats.NRefs++
		stats.RefLen = closer(stats.SysLen, stats.RefLen, len(words))
	}
	if stats.NRefs == 0 {
		return BLEUStats{}, errors.New("no reference, or only empty ones")
	}
	sc.match(symbols, stats.Counts)
	for n := range stats.Totals {
		stats.Totals[n] = max(len(symbols)-n, 0)
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
		references, effective, cmp.Or(b.Tokenize, Tokenize13a))
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

// symbols returns the words of line as numbers.
func (b BLEU) symbols(sc *scratch, line string) (symbols []uint32) {
	for word := range fields(sc.rewrite(b.Tokenize, line)) {
		n, known := sc.words[string(word)]
		if !known {
			n = uint32(len(sc.words))
			sc.words[string(word)] = n
		}
		symbols = append(symbols, n)
	}
	return symbols
}

// score is the formula of Papineni et al. (2002, section 2.3) with sacreBLEU's smoothing and treatment of empty orders.
func (b BLEU) score(stats BLEUStats) BLEUScore {
	s := BLEUScore{BLEUStats: stats, Precisions: make([]float64, order), BP: 1}
	if nan := math.NaN(); stats.Segments == 0 {
		s.Score, s.BP, s.Precisions = nan, nan, slices.Repeat([]float64{nan}, order)
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

// scratch holds buffers for scoring a segment, kept for the next one. The n-grams of its references form a trie: one is
// known by the number of its first n-1 words and its last word, which makes a key of 64 bits without loss.
type scratch struct {
	rewriter
	words  map[string]uint32
	ngrams map[uint64]uint32 // their numbers, from 1
	left   []int32           // by n-gram: how many matches the references still allow
	here   []int32           // by n-gram: occurrences in the reference that is being counted
}

var scratches = sync.Pool{New: func() any { return &scratch{words: map[string]uint32{}, ngrams: map[uint64]uint32{}} }}

func (sc *scratch) reset() {
	clear(sc.words)
	clear(sc.ngrams)
	sc.left, sc.here = append(sc.left[:0], 0), append(sc.here[:0], 0)
}

// release returns sc to the pool unless a long segment made it large.
func (sc *scratch) release() {
	if len(sc.left) <= 1<<15 && cap(sc.a) <= 1<<16 {
		scratches.Put(sc)
	}
}

// count adds a reference: of each n-gram up to order, as many matches will be allowed as it has occurrences in the
// reference that has most of them (Papineni et al. 2002, section 2.1: modified precision).
func (sc *scratch) count(ref []uint32) {
	for start := range ref {
		id := uint32(0)
		for _, symbol := range ref[start:min(start+order, len(ref))] {
			key := uint64(id)<<32 | uint64(symbol)
			if id = sc.ngrams[key]; id == 0 {
				id = uint32(len(sc.left))
				sc.ngrams[key] = id
				sc.left, sc.here = append(sc.left, 0), append(sc.here, 0)
			}
			sc.here[id]++
		}
	}
	for id, n := range sc.here {
		sc.left[id] = max(sc.left[id], n)
		sc.here[id] = 0
	}
}

// match adds to matches[n-1] how many n-grams of hyp the references allow, and uses these up.
func (sc *scratch) match(hyp []uint32, matches []int) {
	for start := range hyp {
		id := uint32(0)
		for n, symbol := range hyp[start:min(start+order, len(hyp))] {
			if id = sc.ngrams[uint64(id)<<32|uint64(symbol)]; id == 0 {
				break // no longer n-gram from here is in a reference either
			}
			if sc.left[id] > 0 {
				sc.left[id]--
				matches[n]++
			}
		}
	}
}
