package translation

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"crosstalk/measure/pytext"
)

// Smoothing selects what BLEU does about an n-gram order without a match (Chen
// and Cherry 2014). The empty name means exp.
type Smoothing string

const (
	SmoothExp   Smoothing = "exp"   // their method 3, of mteval-v13a.pl: 1/2, 1/4, ... of a match for each such order in turn
	SmoothFloor Smoothing = "floor" // method 1: SmoothValue of a match
	SmoothAddK  Smoothing = "add-k" // method 2: SmoothValue added to matches and totals of orders above 1
	SmoothNone  Smoothing = "none"  // the score is 0
)

// Smoothings lists the valid names.
var Smoothings = []Smoothing{SmoothExp, SmoothFloor, SmoothAddK, SmoothNone}

// BLEU computes BLEU as sacreBLEU 2 does, to the precision of exp and log. The
// zero value is its default.
type BLEU struct {
	Tokenize    Tokenizer // default 13a
	Smooth      Smoothing // default exp
	SmoothValue float64   // for floor (default 0.1) and add-k (default 1); 0 means the default
	Lowercase   bool      // compare in lower case
	MaxOrder    int       // longest n-gram, up to 100; 0 means 4

	// EffectiveOrder leaves out the orders for which the hypothesis is too
	// short to have an n-gram. Without it, which is sacreBLEU's default, a
	// hypothesis of fewer than MaxOrder words scores 0 whatever it says.
	EffectiveOrder bool
}

// BLEUStats are the sufficient statistics of BLEU: those of a corpus are the
// sum of those of its segments.
type BLEUStats struct {
	Segments int
	NRefs    int   // references of each segment, -1 if segments differ
	SysLen   int   // words of the hypotheses
	RefLen   int   // words of the references closest in length
	Counts   []int // matched n-grams, n from 1
	Totals   []int // n-grams of the hypotheses, n from 1
}

// Add adds the statistics of further segments, which must have been counted
// with the same options; it panics if their n-gram orders differ.
func (s *BLEUStats) Add(o BLEUStats) {
	if o.Segments == 0 {
		return
	}
	if s.Segments == 0 {
		s.NRefs, s.Counts, s.Totals = o.NRefs, make([]int, len(o.Counts)), make([]int, len(o.Counts))
	}
	if len(s.Counts) != len(o.Counts) {
		panic(fmt.Sprintf("translation: adding BLEU statistics of order %d to order %d", len(o.Counts), len(s.Counts)))
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

// String shows the score as sacreBLEU prints it.
func (s BLEUScore) String() string {
	prec := make([]string, len(s.Precisions))
	for i, p := range s.Precisions {
		prec[i] = fmt.Sprintf("%.1f", p)
	}
	ratio := 0.0
	if s.RefLen > 0 {
		ratio = float64(s.SysLen) / float64(s.RefLen)
	}
	return fmt.Sprintf("BLEU = %.2f %s (BP = %.3f ratio = %.3f hyp_len = %d ref_len = %d)",
		s.Score, strings.Join(prec, "/"), s.BP, ratio, s.SysLen, s.RefLen)
}

// Corpus scores hypothesis i against the references refs[0][i], refs[1][i], ...
// An empty reference counts as missing; a segment needs at least one.
func (b BLEU) Corpus(hyps []string, refs ...[]string) (BLEUScore, error) {
	if err := b.check(); err != nil {
		return BLEUScore{}, err
	}
	if len(refs) == 0 {
		return BLEUScore{}, errors.New("translation: no references given")
	}
	for k, set := range refs {
		if len(set) != len(hyps) {
			return BLEUScore{}, fmt.Errorf("translation: %d hypotheses but %d references in set %d", len(hyps), len(set), k+1)
		}
	}
	sc := scratches.Get().(*scratch)
	defer sc.release()
	var sum BLEUStats
	one := b.newStats()
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

// Stats counts one segment. It fails if an option is wrong or if no reference
// has a character.
func (b BLEU) Stats(hyp string, refs ...string) (BLEUStats, error) {
	if err := b.check(); err != nil {
		return BLEUStats{}, err
	}
	sc := scratches.Get().(*scratch)
	defer sc.release()
	stats := b.newStats()
	if err := b.count(sc, &stats, hyp, refs); err != nil {
		return BLEUStats{}, fmt.Errorf("translation: %w", err)
	}
	return stats, nil
}

// Score computes the figure from statistics, which must come from the same
// options (order, tokenizer and case); smoothing may differ.
func (b BLEU) Score(stats BLEUStats) (BLEUScore, error) {
	if err := b.check(); err != nil {
		return BLEUScore{}, err
	}
	if stats.Segments > 0 && (len(stats.Counts) != b.order() || len(stats.Totals) != b.order()) {
		return BLEUScore{}, fmt.Errorf("translation: BLEU statistics of order %d, expected %d", len(stats.Counts), b.order())
	}
	return b.score(stats), nil
}

// Signature is sacreBLEU's signature of a score with this number of references
// per segment (BLEUStats.NRefs). Its version refers to the rules of sacreBLEU
// 2; tok:zh implies the faults described at that tokenizer's character table.
func (b BLEU) Signature(nrefs int) string {
	smooth := b.smooth()
	name := string(smooth)
	if smooth == SmoothFloor || smooth == SmoothAddK {
		name = fmt.Sprintf("%s[%.2f]", smooth, b.smoothValue())
	}
	references, letters, effective := strconv.Itoa(nrefs), "mixed", "no"
	if nrefs < 0 {
		references = "var"
	}
	if b.Lowercase {
		letters = "lc"
	}
	if b.EffectiveOrder {
		effective = "yes"
	}
	return fmt.Sprintf("nrefs:%s|case:%s|eff:%s|tok:%s|smooth:%s|version:2", references, letters, effective, b.Tokenize.orDefault(), name)
}

func (b BLEU) check() error {
	if err := b.Tokenize.check(); err != nil {
		return err
	}
	if !slices.Contains(Smoothings, b.smooth()) {
		return fmt.Errorf("translation: unknown smoothing %q; choose one of: %s", string(b.Smooth), list(Smoothings))
	}
	if !(b.SmoothValue >= 0) || math.IsInf(b.SmoothValue, 1) {
		return fmt.Errorf("translation: smoothing value %g; expected a finite number, at least 0", b.SmoothValue)
	}
	if b.MaxOrder < 0 || b.MaxOrder > 100 {
		return fmt.Errorf("translation: BLEU n-gram order %d; expected 1 to 100, or 0 for the default", b.MaxOrder)
	}
	return nil
}

func (b BLEU) order() int {
	if b.MaxOrder == 0 {
		return 4
	}
	return b.MaxOrder
}

func (b BLEU) smooth() Smoothing {
	if b.Smooth == "" {
		return SmoothExp
	}
	return b.Smooth
}

func (b BLEU) smoothValue() float64 {
	switch {
	case b.SmoothValue != 0:
		return b.SmoothValue
	case b.smooth() == SmoothFloor:
		return 0.1
	}
	return 1
}

func (b BLEU) newStats() BLEUStats {
	return BLEUStats{Counts: make([]int, b.order()), Totals: make([]int, b.order())}
}

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
		sc.ngrams.count(sc.ref, b.order())
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

// closer returns the reference length, old (-1 if none) or new, that is closer
// to the length of the hypothesis; the shorter one in a tie.
func closer(hyp, old, new int) int {
	dOld, dNew := max(hyp-old, old-hyp), max(hyp-new, new-hyp)
	if old < 0 || dNew < dOld || dNew == dOld && new < old {
		return new
	}
	return old
}

// symbols appends the words of line, as numbers, to dst.
func (b BLEU) symbols(sc *scratch, dst []uint32, line string) []uint32 {
	if b.Lowercase {
		line = pytext.Lower(line)
	}
	for word := range fields(sc.rewrite(b.Tokenize, line)) {
		dst = append(dst, sc.words.number(word))
	}
	return dst
}

// score is the formula of Papineni et al. (2002, section 2.3) with sacreBLEU's
// smoothing and treatment of empty orders.
func (b BLEU) score(stats BLEUStats) BLEUScore {
	s := BLEUScore{BLEUStats: stats, Precisions: make([]float64, b.order()), BP: 1}
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
	smooth, value, half := b.smooth(), b.smoothValue(), 1.0
	order := b.order()
	for n := range s.Precisions {
		count, total := float64(stats.Counts[n]), float64(stats.Totals[n])
		if smooth == SmoothAddK && n > 0 {
			count += value
			total += value
		}
		if total == 0 {
			break
		}
		if b.EffectiveOrder {
			order = n + 1
		}
		switch {
		case count > 0:
			s.Precisions[n] = 100 * count / total
		case smooth == SmoothExp:
			half *= 2
			s.Precisions[n] = 100 / (half * total)
		case smooth == SmoothFloor:
			s.Precisions[n] = 100 * value / total
		}
	}
	sum := 0.0
	for _, p := range s.Precisions[:order] {
		sum += math.Log(p) // -Inf for a precision of 0, and the score is 0
	}
	s.Score = s.BP * math.Exp(sum/float64(order))
	return s
}
