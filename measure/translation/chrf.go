package translation

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"crosstalk/measure/pytext"
)

// CHRF computes the character n-gram F-score chrF (Popović 2015) and, with word
// n-grams, chrF++ (Popović 2017), as sacreBLEU 2 does. The zero value is chrF2,
// its default; WordOrder 2 gives chrF2++.
type CHRF struct {
	CharOrder  int  // longest character n-gram, up to 100; 0 means 6
	WordOrder  int  // longest word n-gram, up to 100; 0 for chrF, 2 for chrF++
	Beta       int  // weight of recall against precision; 0 means 2
	Lowercase  bool // compare in lower case
	Whitespace bool // keep white space in the character n-grams

	// EpsSmoothing averages the F-scores of all orders, with 1e-16 for an
	// order without n-grams, as chrF++.py, NLTK and Moses do. Without it,
	// precision and recall are averaged over the orders that both texts have.
	EpsSmoothing bool
}

// CHRFStats are the sufficient statistics of chrF: those of a corpus are the
// sum of those of its segments. The slices go over character orders from 1,
// then word orders from 1.
type CHRFStats struct {
	Segments int
	NRefs    int   // references of each segment, -1 if segments differ
	Hyp      []int // n-grams of the hypothesis; 0 where the reference has none
	Ref      []int // n-grams of the reference
	Match    []int // n-grams in both
}

// Add adds the statistics of further segments, which must have been counted
// with the same options; it panics if their n-gram orders differ.
func (s *CHRFStats) Add(o CHRFStats) {
	if o.Segments == 0 {
		return
	}
	if s.Segments == 0 {
		n := len(o.Hyp)
		s.NRefs, s.Hyp, s.Ref, s.Match = o.NRefs, make([]int, n), make([]int, n), make([]int, n)
	}
	if len(s.Hyp) != len(o.Hyp) {
		panic(fmt.Sprintf("translation: adding chrF statistics of %d orders to %d orders", len(o.Hyp), len(s.Hyp)))
	}
	if s.NRefs != o.NRefs {
		s.NRefs = -1
	}
	s.Segments += o.Segments
	for n := range s.Hyp {
		s.Hyp[n] += o.Hyp[n]
		s.Ref[n] += o.Ref[n]
		s.Match[n] += o.Match[n]
	}
}

// CHRFScore is a chrF figure with its inputs.
type CHRFScore struct {
	CHRFStats
	Name  string  // "chrF2", "chrF2++", ...
	Score float64 // 0 to 100; NaN without segments
}

// String shows the score as sacreBLEU prints it.
func (s CHRFScore) String() string { return fmt.Sprintf("%s = %.2f", s.Name, s.Score) }

// Corpus scores hypothesis i against the references refs[0][i], refs[1][i], ...
// With several references, each segment uses the one that gives the highest
// score. An empty reference counts as missing; a segment needs at least one.
func (c CHRF) Corpus(hyps []string, refs ...[]string) (CHRFScore, error) {
	if err := c.check(); err != nil {
		return CHRFScore{}, err
	}
	if err := checkLengths(hyps, refs); err != nil {
		return CHRFScore{}, err
	}
	sc := scratches.Get().(*scratch)
	defer sc.release()
	var sum CHRFStats
	segment := make([]string, len(refs))
	for i, hyp := range hyps {
		for k := range refs {
			segment[k] = refs[k][i]
		}
		one, err := c.count(sc, hyp, segment)
		if err != nil {
			return CHRFScore{}, fmt.Errorf("translation: segment %d of %d: %w", i+1, len(hyps), err)
		}
		sum.Add(one)
	}
	return c.Score(sum)
}

// Sentence scores one hypothesis as a separate corpus.
func (c CHRF) Sentence(hyp string, refs ...string) (CHRFScore, error) {
	stats, err := c.Stats(hyp, refs...)
	if err != nil {
		return CHRFScore{}, err
	}
	return c.Score(stats)
}

// Stats counts one segment. It fails if an option is wrong or if no reference
// has a character.
func (c CHRF) Stats(hyp string, refs ...string) (CHRFStats, error) {
	if err := c.check(); err != nil {
		return CHRFStats{}, err
	}
	sc := scratches.Get().(*scratch)
	defer sc.release()
	stats, err := c.count(sc, hyp, refs)
	if err != nil {
		return CHRFStats{}, fmt.Errorf("translation: %w", err)
	}
	return stats, nil
}

// Score computes the figure from statistics, which must come from the same
// options.
func (c CHRF) Score(stats CHRFStats) (CHRFScore, error) {
	if err := c.check(); err != nil {
		return CHRFScore{}, err
	}
	orders := c.charOrder() + c.WordOrder
	s := CHRFScore{CHRFStats: stats, Name: fmt.Sprintf("chrF%d%s", c.beta(), strings.Repeat("+", c.WordOrder)), Score: math.NaN()}
	if stats.Segments == 0 {
		return s, nil
	}
	if len(stats.Hyp) != orders || len(stats.Ref) != orders || len(stats.Match) != orders {
		return CHRFScore{}, fmt.Errorf("translation: chrF statistics of %d orders, expected %d", len(stats.Hyp), orders)
	}
	s.Score = c.fScore(stats)
	return s, nil
}

// Signature is sacreBLEU's signature of a score with this number of references
// per segment (CHRFStats.NRefs). Its version refers to the rules of sacreBLEU
// 2.
func (c CHRF) Signature(nrefs int) string {
	return fmt.Sprintf("nrefs:%s|case:%s|eff:%s|nc:%d|nw:%d|space:%s|version:2",
		nrefsName(nrefs), caseName(c.Lowercase), yesNo(!c.EpsSmoothing), c.charOrder(), c.WordOrder, yesNo(c.Whitespace))
}

func (c CHRF) check() error {
	if err := checkOrder("chrF character", c.CharOrder); err != nil {
		return err
	}
	if err := checkOrder("chrF word", c.WordOrder); err != nil {
		return err
	}
	if c.Beta < 0 {
		return fmt.Errorf("translation: chrF beta %d; expected at least 0 (0 means 2)", c.Beta)
	}
	return nil
}

func (c CHRF) charOrder() int {
	if c.CharOrder == 0 {
		return 6
	}
	return c.CharOrder
}

func (c CHRF) beta() int {
	if c.Beta == 0 {
		return 2
	}
	return c.Beta
}

// count counts one segment against its best reference.
func (c CHRF) count(sc *scratch, hyp string, refs []string) (CHRFStats, error) {
	if c.Lowercase {
		hyp = pytext.Lower(hyp)
	}
	var best CHRFStats
	nrefs, bestScore := 0, -1.0
	for _, ref := range refs {
		if ref == "" {
			continue
		}
		if c.Lowercase {
			ref = pytext.Lower(ref)
		}
		nrefs++
		stats := c.compare(sc, hyp, ref)
		if score := c.fScore(stats); score > bestScore {
			best, bestScore = stats, score
		}
	}
	if nrefs == 0 {
		return CHRFStats{}, errNoReference
	}
	best.NRefs = nrefs
	return best, nil
}

// compare counts the n-grams of one hypothesis and one reference.
func (c CHRF) compare(sc *scratch, hyp, ref string) CHRFStats {
	chars, orders := c.charOrder(), c.charOrder()+c.WordOrder
	s := CHRFStats{Segments: 1, Hyp: make([]int, orders), Ref: make([]int, orders), Match: make([]int, orders)}
	orderRange := func(from, to int) {
		sc.ngrams.reset()
		sc.ngrams.count(sc.ref, to-from)
		sc.ngrams.match(sc.hyp, s.Match[from:to])
		for n := range to - from {
			if s.Ref[from+n] = max(len(sc.ref)-n, 0); s.Ref[from+n] > 0 {
				s.Hyp[from+n] = max(len(sc.hyp)-n, 0)
			}
		}
	}
	sc.hyp, sc.ref = c.characters(sc.hyp[:0], hyp), c.characters(sc.ref[:0], ref)
	orderRange(0, chars)
	if c.WordOrder > 0 {
		sc.words.reset()
		sc.hyp, sc.ref = chrfWords(sc, sc.hyp[:0], hyp), chrfWords(sc, sc.ref[:0], ref)
		orderRange(chars, orders)
	}
	return s
}

func (c CHRF) characters(dst []uint32, text string) []uint32 {
	for _, r := range text {
		if c.Whitespace || !pytext.IsSpace(r) {
			dst = append(dst, uint32(r))
		}
	}
	return dst
}

// chrfWords appends the words of text, as numbers, to dst. A word of several
// characters loses one ASCII punctuation mark: the last character if it is
// one, else the first. So "(hi)" becomes "(hi" and ")".
func chrfWords(sc *scratch, dst []uint32, text string) []uint32 {
	for word := range fields([]byte(text)) {
		first, last := word[0], word[len(word)-1]
		switch {
		case utf8.RuneCount(word) == 1:
			dst = append(dst, sc.words.number(word))
		case asciiPunctuation(last):
			dst = append(dst, sc.words.number(word[:len(word)-1]), sc.words.number(word[len(word)-1:]))
		case asciiPunctuation(first):
			dst = append(dst, sc.words.number(word[:1]), sc.words.number(word[1:]))
		default:
			dst = append(dst, sc.words.number(word))
		}
	}
	return dst
}

func asciiPunctuation(c byte) bool {
	return '!' <= c && c <= '/' || ':' <= c && c <= '@' || '[' <= c && c <= '`' || '{' <= c && c <= '~'
}

// fScore is Popović (2015), section 2, with sacreBLEU's two ways to treat
// orders for which a text is too short.
func (c CHRF) fScore(s CHRFStats) float64 {
	const eps = 1e-16
	factor := float64(c.beta()) * float64(c.beta())
	var sum, precision, recall float64
	effective := 0
	for n := range s.Hyp {
		p, r := eps, eps
		if s.Hyp[n] > 0 {
			p = float64(s.Match[n]) / float64(s.Hyp[n])
		}
		if s.Ref[n] > 0 {
			r = float64(s.Match[n]) / float64(s.Ref[n])
		}
		if d := factor*p + r; d > 0 {
			sum += (1 + factor) * p * r / d
		} else {
			sum += eps
		}
		if s.Hyp[n] > 0 && s.Ref[n] > 0 {
			precision += p
			recall += r
			effective++
		}
	}
	if c.EpsSmoothing {
		return 100 * sum / float64(len(s.Hyp))
	}
	if precision+recall == 0 {
		return 0
	}
	precision /= float64(effective)
	recall /= float64(effective)
	return 100 * ((1 + factor) * precision * recall / (factor*precision + recall))
}
