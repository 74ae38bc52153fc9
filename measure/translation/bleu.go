// Package translation scores translations and paraphrases against references: BLEU (Papineni et al. 2002) with the
// tokenizers, smoothing and figures of sacreBLEU (Post 2018), and ROUGE-1, -2 and -L (Lin 2004).
//
// BLEU of a corpus is a function of counts summed over its segments. Stats gives the counts of one segment, Add sums
// them and Score turns them into the figure, so a corpus can be streamed, split over machines or resampled without its
// texts.
//
// BLEU ranges from 0 to 100, ROUGE from 0 to 1. A score without segments is NaN. Text is UTF-8; an invalid byte counts
// as U+FFFD or as itself, never as an error. All functions may be called concurrently.
package translation

import "math"

const order = 4 // the length of the longest n-grams

// BLEUStats are the sufficient statistics of BLEU with one reference. A corpus's are the sum over its segments.
type BLEUStats struct {
	Segments int
	SysLen   int        // words of the hypotheses
	RefLen   int        // words of the references
	Counts   [order]int // matched n-grams, n from 1
	Totals   [order]int // n-grams of the hypotheses, n from 1
}

// Add adds the statistics of further segments, which must have been counted with the same tokenizer.
func (s *BLEUStats) Add(o BLEUStats) {
	s.Segments += o.Segments
	s.SysLen += o.SysLen
	s.RefLen += o.RefLen
	for n := range s.Counts {
		s.Counts[n] += o.Counts[n]
		s.Totals[n] += o.Totals[n]
	}
}

// Stats counts one segment.
func (t Tokenizer) Stats(hyp, ref string) BLEUStats {
	sc := scratch{words: map[string]uint32{}, ngrams: map[uint64]uint32{}, left: []int32{0}}
	symbols := sc.symbols(t, hyp)
	words := sc.symbols(t, ref)
	sc.count(words)
	stats := BLEUStats{Segments: 1, SysLen: len(symbols), RefLen: len(words)}
	sc.match(symbols, &stats.Counts)
	for n := range stats.Totals {
		stats.Totals[n] = max(len(symbols)-n, 0)
	}
	return stats
}

// Signature is sacreBLEU's signature of a score. Its version refers to the rules of sacreBLEU 2; tok:zh implies the
// faults described at that tokenizer's character table.
func (t Tokenizer) Signature() string {
	return "nrefs:1|case:mixed|eff:no|tok:" + string(t) + "|smooth:exp|version:2"
}

// Score computes BLEU as sacreBLEU 2 does by default, to the precision of exp and log: the formula of Papineni et al.
// (2002, section 2.3) with n-grams of up to four words; case counts, and the orders without a match have 1/2, 1/4, ...
// of a match in turn (Chen and Cherry 2014, method 3). A hypothesis of fewer than four words scores 0 whatever it says.
func (s BLEUStats) Score() float64 {
	switch {
	case s.Segments == 0:
		return math.NaN()
	case s.Counts == [order]int{}: // no smoothing applies
		return 0
	}
	logs, half := 0.0, 1.0
	for n, count := range s.Counts {
		matched := float64(count)
		if count == 0 {
			half *= 2
			matched = 1 / half
		}
		if s.Totals[n] == 0 {
			return 0
		}
		logs += math.Log(100 * matched / float64(s.Totals[n]))
	}
	brevity := 1.0
	if s.SysLen < s.RefLen {
		brevity = math.Exp(1 - float64(s.RefLen)/float64(s.SysLen))
	}
	return brevity * math.Exp(logs/order)
}

// scratch counts the n-grams of a segment. Those of its reference form a trie: one is known by the number of its first
// n-1 words and its last word, which makes a key of 64 bits without loss.
type scratch struct {
	rewriter
	words  map[string]uint32
	ngrams map[uint64]uint32 // their numbers, from 1
	left   []int32           // by n-gram: how many matches the reference still allows
}

func (sc *scratch) symbols(t Tokenizer, line string) (symbols []uint32) {
	for word := range fields(sc.rewrite(t, line)) {
		n, known := sc.words[string(word)]
		if !known {
			n = uint32(len(sc.words))
			sc.words[string(word)] = n
		}
		symbols = append(symbols, n)
	}
	return symbols
}

// count sets how many matches of each n-gram the reference allows: as many as it has occurrences (Papineni et al. 2002,
// section 2.1: modified precision).
func (sc *scratch) count(ref []uint32) {
	for start := range ref {
		id := uint32(0)
		for _, symbol := range ref[start:min(start+order, len(ref))] {
			key := uint64(id)<<32 | uint64(symbol)
			if id = sc.ngrams[key]; id == 0 {
				id = uint32(len(sc.left))
				sc.ngrams[key] = id
				sc.left = append(sc.left, 0)
			}
			sc.left[id]++
		}
	}
}

// match adds to matches[n-1] how many n-grams of hyp the reference allows, and uses these up.
func (sc *scratch) match(hyp []uint32, matches *[order]int) {
	for start := range hyp {
		id := uint32(0)
		for n, symbol := range hyp[start:min(start+order, len(hyp))] {
			if id = sc.ngrams[uint64(id)<<32|uint64(symbol)]; id == 0 {
				break // no longer n-gram from here is in the reference either
			}
			if sc.left[id] > 0 {
				sc.left[id]--
				matches[n]++
			}
		}
	}
}
