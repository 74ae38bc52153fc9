// Package gloss measures the semantic similarity of short English texts offline, with static word vectors made from
// WordNet 3.0 and embedded in the program: 64,000 lemmas, 224 dimensions of 4 bits.
//
// The builder computes the vectors from random walks over the senses, relations and glosses of WordNet, the positive
// pointwise mutual information of the lemmas that walks start from and pass, and its singular vectors. Princeton's
// licence is in LICENSE.wordnet.
//
// It is the fallback without a network or an embedding model. It covers English, and the names that WordNet has.
package gloss

import (
	"cmp"
	_ "embed"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"
	"sync"

	"crosstalk/internal/gloss/lexicon"
	"crosstalk/internal/gloss/vectorfile"
)

//go:generate go -C ../../../tools run ./build/gloss

// Version numbers the vectors and the way texts are read and scored. Its scores are equal on every machine.
const Version = 1

//go:embed vectors.bin
var embedded []byte

// Vectors scores texts. It is safe for concurrent use.
type Vectors struct {
	lexicon   *lexicon.Lexicon
	frequency []uint8
	codes     []byte
	// weight is the smooth inverse frequency a/(a+p) of a lemma, by its coded frequency (Arora, Liang and Ma 2017,
	// section 3, with a = 0.002).
	weight [256]float64
	// solid maps lemmas without spaces, hyphens and apostrophes to the lemma. One that is the result goes first.
	solid map[string]int32
	cache cache
}

// Load returns the embedded vectors. The first call decodes them.
func Load() (*Vectors, error) { return load() }

var load = sync.OnceValues(func() (*Vectors, error) { return decode(embedded) })

func decode(data []byte) (*Vectors, error) {
	f, err := vectorfile.Decode(data)
	if err != nil {
		return nil, fmt.Errorf("gloss: %w", err)
	}
	v := &Vectors{lexicon: lexicon.New(f.Lemmas, f.POS), frequency: f.Frequency, codes: f.Codes, solid: map[string]int32{}}
	for _, e := range f.Exceptions {
		v.lexicon.AddException(e.POS, e.Form, e.Bases)
	}
	for i, lemma := range f.Lemmas {
		if !strings.ContainsAny(lemma, joints) {
			continue
		}
		key := solid(lemma)
		if other, ok := v.solid[key]; !ok || f.Frequency[i] > f.Frequency[other] {
			v.solid[key] = int32(i)
		}
	}
	const a = 0.002
	// A code c means 2^(c/16) - 1 occurrences. Square roots and products are exact everywhere, math.Exp2 is not.
	step := math.Sqrt(math.Sqrt(math.Sqrt(math.Sqrt(2))))
	var occurrences [256]float64
	for c, x := 0, 1.0; c < len(occurrences); c, x = c+1, float64(x*step) {
		occurrences[c] = x - 1
	}
	total := 0.0
	for _, c := range v.frequency {
		total += occurrences[c]
	}
	for c, n := range occurrences {
		v.weight[c] = a / (a + (n+1)/max(total, 1))
	}
	return v, nil
}

// Similarity returns the similarity of two texts: half the cosine of their mean vectors weighted by smooth inverse
// frequency, half the weighted mean over the lemmas of both of the cosine with the nearest lemma of the other, and 0.2
// the cosine of their counts of character trigrams. It lies between -1 and 1.2 (identical texts). It is symmetric.
//
// ok is false if a text has no lemma with a vector: the pair is not scored.
func (v *Vectors) Similarity(a, b string) (score float64, ok bool) {
	defer turn(len(a) + len(b))()
	x, y := v.text(a), v.text(b)
	if slices.CompareFunc(x.items, y.items, func(p, q item) int {
		return cmp.Or(cmp.Compare(p.row, q.row), cmp.Compare(p.weight, q.weight))
	}) > 0 {
		x, y = y, x // so that sums are taken in the same order
	}
	if len(x.items) == 0 { // or y's too
		return 0, false
	}
	cosine, alignment := v.compare(x, y)
	return (cosine+alignment)/2 + float64(0.2*x.trigrams.cosine(y.trigrams)), true
}

// compare returns the cosine of the weighted sums of two texts' vectors, and their soft alignment.
func (v *Vectors) compare(x, y *text) (cosine, alignment float64) {
	var buffer [32]float64
	nearest := buffer[:] // to each item of y
	if len(y.items) > len(nearest) {
		nearest = make([]float64, len(y.items))
	}
	nearest = nearest[:len(y.items)]
	for j := range nearest {
		nearest[j] = -1
	}
	recall, precision := 0.0, 0.0
	for _, p := range x.items {
		best, sum := -1.0, 0.0
		for j, q := range y.items {
			c := v.cosine(p, q)
			sum += float64(c * q.weight)
			best = max(best, c)
			nearest[j] = max(nearest[j], c)
		}
		cosine += float64(sum * p.weight)
		recall += float64(best * p.weight)
	}
	for j, q := range y.items {
		precision += float64(nearest[j] * q.weight)
	}
	cosine = max(-1, min(1, cosine*x.scale*y.scale))
	return cosine, (recall/x.weight + precision/y.weight) / 2
}

func (v *Vectors) cosine(p, q item) float64 {
	if p.row == q.row {
		return 1
	}
	const zero = vectorfile.Zero
	dot := dot(v.row(p.row), v.row(q.row)) - zero*(p.sum+q.sum) + zero*zero*vectorfile.Dim
	return float64(dot) * p.scale * q.scale
}

func (v *Vectors) row(id int32) []byte {
	return v.codes[int(id)*vectorfile.Stride : (int(id)+1)*vectorfile.Stride]
}

// dot returns the sum of the products of the codes of two rows.
//
// Four products take one multiplication. With codes a0..a3 in the 16-bit lanes of one word and b3..b0 in those of
// another, the top lane of the product is a0*b0 + a1*b1 + a2*b2 + a3*b3. No lane overflows in the sum over a row, as
// each of its 56 terms is at most 4 * 15 * 15.
func dot(a, b []byte) int {
	const lanes = 0x000f_000f_000f_000f
	sum := uint64(0)
	for i := 0; i+8 <= vectorfile.Stride; i += 8 {
		x := binary.LittleEndian.Uint64(a[i:])
		y := bits.ReverseBytes64(binary.LittleEndian.Uint64(b[i:])) // byte k of x meets byte 7-k
		sum += (x & lanes) * (y >> 8 & lanes)
		sum += (x >> 4 & lanes) * (y >> 12 & lanes)
		sum += (x >> 8 & lanes) * (y & lanes)
		sum += (x >> 12 & lanes) * (y >> 4 & lanes)
	}
	return int(sum >> 48)
}
