package gloss

import (
	"math"
	"slices"
	"strings"
	"sync"

	"crosstalk/internal/gloss/lexicon"
	"crosstalk/internal/gloss/vectorfile"
)

type text struct {
	items    []item
	weight   float64 // sum of the items' weights
	scale    float64 // 1 / length of the weighted sum of the items' unit vectors
	trigrams trigrams
}

// item is a lemma of a text.
type item struct {
	row    int32
	sum    int     // of the codes
	scale  float64 // 1 / length of the vector; 0 for the zero vector
	weight float64
}

// Preparing a text needs some 20 times its bytes, so at most two long ones are compared at a time.
const long = 64 << 10 // bytes

var longOnes = make(chan struct{}, 2)

// turn waits until texts of that many bytes may be compared; done is to be called when they are.
func turn(bytes int) (done func()) {
	if bytes <= long {
		return func() {}
	}
	longOnes <- struct{}{}
	return func() { <-longOnes }
}

func (v *Vectors) text(s string) *text {
	if t := v.cache.get(s); t != nil {
		return t
	}
	t := v.prepare(s)
	v.cache.put(s, t)
	return t
}

func (v *Vectors) prepare(s string) *text {
	folded := lexicon.Fold(s)
	t := &text{}
	var sum [vectorfile.Dim]float64
	v.read(folded, func(id int32, weight float64) {
		if id < 0 {
			return
		}
		const zero = vectorfile.Zero
		i, row := item{row: id, weight: weight}, v.row(id)
		for _, c := range row {
			i.sum += int(c&15) + int(c>>4)
		}
		if square := dot(row, row) - 2*zero*i.sum + zero*zero*vectorfile.Dim; square > 0 {
			i.scale = 1 / math.Sqrt(float64(square))
		}
		t.items = append(t.items, i)
		t.weight += weight
		addRow(&sum, row, float64(weight*i.scale))
	})
	square := 0.0
	for _, x := range sum {
		square += float64(x * x)
	}
	if square > 0 {
		t.scale = 1 / math.Sqrt(square)
	}
	t.trigrams = newTrigrams(folded)
	return t
}

func addRow(sum *[vectorfile.Dim]float64, row []byte, a float64) {
	for i, c := range row {
		sum[2*i] += float64(a * float64(int(c&15)-vectorfile.Zero))
		sum[2*i+1] += float64(a * float64(int(c>>4)-vectorfile.Zero))
	}
}

// trigrams are the character trigrams of a text's words, with a space before, between and after them.
type trigrams struct {
	sorted []uint16 // base-37 numbers of space, 0-9, a-z; with repetitions
	length float64  // of the vector of their counts
}

func newTrigrams(folded string) trigrams {
	const base = 37
	t := trigrams{sorted: make([]uint16, 0, len(folded)+2)}
	var last [2]uint16 // the two characters before; both spaces at the start
	add := func(c uint16) {
		if c == 0 && last[1] == 0 {
			return // spaces are one
		}
		if len(t.sorted) > 0 || last[1] != 0 {
			t.sorted = append(t.sorted, (last[0]*base+last[1])*base+c)
		}
		last = [2]uint16{last[1], c}
	}
	for i := range len(folded) {
		switch c := folded[i]; {
		case '0' <= c && c <= '9':
			add(1 + uint16(c-'0'))
		case 'a' <= c && c <= 'z':
			add(11 + uint16(c-'a'))
		default:
			add(0)
		}
	}
	add(0)
	slices.Sort(t.sorted)
	squares := 0
	for s := t.sorted; len(s) > 0; {
		n := run(s)
		squares += n * n
		s = s[n:]
	}
	t.length = math.Sqrt(float64(squares))
	return t
}

// run returns how often the first of s is repeated at its head.
func run(s []uint16) int {
	n := 1
	for n < len(s) && s[n] == s[0] {
		n++
	}
	return n
}

// cosine returns the cosine of the counts of trigrams, 0 if there are none.
func (t trigrams) cosine(u trigrams) float64 {
	sum := 0
	for a, b := t.sorted, u.sorted; len(a) > 0 && len(b) > 0; {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			n, m := run(a), run(b)
			sum += n * m
			a, b = a[n:], b[m:]
		}
	}
	if sum == 0 {
		return 0
	}
	return min(1, float64(sum)/(t.length*u.length))
}

// cache keeps prepared texts, because concepts and answers to control prompts recur. It has two generations: when the
// young one is full it becomes the old one, and texts still in use are carried over.
type cache struct {
	mutex      sync.Mutex
	young, old map[string]*text
}

const (
	generation = 2048 // maximum number of texts
	maxCached  = 1024 // maximum bytes per text
)

func (c *cache) get(s string) *text {
	if len(s) > maxCached {
		return nil
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if t := c.young[s]; t != nil {
		return t
	}
	t := c.old[s]
	if t != nil {
		c.add(s, t)
	}
	return t
}

func (c *cache) put(s string, t *text) {
	if len(s) > maxCached {
		return
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.add(strings.Clone(s), t) // s may be a part of something large
}

func (c *cache) add(s string, t *text) {
	if len(c.young) >= generation || c.young == nil {
		c.old, c.young = c.young, make(map[string]*text, generation)
	}
	c.young[s] = t
}

// Lemmas returns how a text is read: of its words in order, without stop words, the entries of WordNet whose vectors
// represent each, their words joined by "_"; "" for a word without a vector. A multiword entry comes before its words'.
func (v *Vectors) Lemmas(text string) (lemmas []string) {
	v.read(lexicon.Fold(text), func(id int32, _ float64) {
		lemmas = append(lemmas, "")
		if id >= 0 {
			lemmas[len(lemmas)-1] = v.lexicon.Lemma(id)
		}
	})
	return lemmas
}

// read calls found for each entry of a folded text, with its weight in (0, 1]. The id is -1 without an entry.
func (v *Vectors) read(folded string, found func(id int32, weight float64)) {
	const (
		longest       = 4 // words of a multiword entry
		multiword     = 0.8
		insideOfOne   = 0.6
		initialBuffer = 8
	)
	tokens := lexicon.Tokens(folded)
	var buffer [initialBuffer]int32
	for len(tokens) > 0 {
		id, n := int32(0), 0
		if !lexicon.Stop(tokens[0]) {
			id, n = v.lexicon.Multiword(tokens, longest)
		}
		share := 1.0
		if n > 0 {
			found(id, float64(multiword*v.weight[v.frequency[id]]))
			share = insideOfOne
		}
		n = max(n, 1)
		for _, token := range tokens[:n] {
			if lexicon.Stop(token) {
				continue
			}
			ids := v.lookUp(buffer[:0], token)
			if len(ids) == 0 {
				found(-1, 0)
			}
			for _, id := range ids {
				found(id, share*v.weight[v.frequency[id]]/float64(len(ids)))
			}
		}
		tokens = tokens[n:]
	}
}

// lookUp appends to dst the entries of a token. It tries, in order: the dictionary forms, the token written solid
// ("icecream", "e-mail"), endings of derivation and British spelling, the parts of a hyphenated token, the most
// frequent division into two entries ("dogfood"), and the longest beginning that is an entry.
func (v *Vectors) lookUp(dst []int32, token string) []int32 {
	const maxToken = 80 // bytes: no entry is longer, and the work stays bounded
	start := len(dst)
	if dst = v.lexicon.Lemmas(dst, token); len(dst) > start {
		return dst
	}
	if len(token) <= maxToken {
		key := solid(token)
		if id, ok := v.lexicon.Find(key); ok {
			return append(dst, id)
		}
		if id, ok := v.solid[key]; ok {
			return append(dst, id)
		}
		if id, ok := v.derived(token); ok {
			return append(dst, id)
		}
	}
	if strings.Contains(token, "-") {
		for part := range strings.SplitSeq(token, "-") {
			if !lexicon.Stop(part) {
				dst = v.lookUp(dst, part)
			}
		}
		return dst
	}
	if len(token) < 6 || len(token) > maxToken {
		return dst
	}
	if left, right, ok := v.divide(token); ok {
		return append(dst, left, right)
	}
	for i := len(token) - 1; i > 3; i-- {
		if id, ok := v.first(token[:i]); ok {
			return append(dst, id)
		}
	}
	return dst
}

const joints = "-_'" // the characters between the parts of a lemma or token

func solid(word string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(joints, r) {
			return -1
		}
		return r
	}, word)
}

// derivations are endings and their replacements in the entry that a word is derived from, or spelt like.
var derivations = []struct{ ending, other string }{
	{"iness", "y"}, {"ness", ""}, {"ally", "al"}, {"ally", ""}, {"ily", "y"}, {"bly", "ble"}, {"ly", ""}, {"ly", "le"},
	{"isation", "ization"}, {"ise", "ize"}, {"ised", "ize"}, {"ising", "ize"}, {"ey", "y"}, {"tt", "t"},
}

func (v *Vectors) derived(token string) (id int32, ok bool) {
	for _, d := range derivations {
		if stem, cut := strings.CutSuffix(token, d.ending); cut && len(stem) >= 3 {
			if id, ok := v.lexicon.Find(stem + d.other); ok {
				return id, true
			}
		}
	}
	return 0, false
}

// divide is the division of a token into two entries of three letters or more whose rarer one is the most frequent.
func (v *Vectors) divide(token string) (left, right int32, ok bool) {
	best := -1
	for i := 3; i <= len(token)-3; i++ {
		if l, found := v.first(token[:i]); found {
			r, found := v.first(token[i:])
			if f := int(min(v.frequency[l], v.frequency[r])); found && f > best {
				left, right, best = l, r, f
			}
		}
	}
	return left, right, best >= 0
}

func (v *Vectors) first(word string) (id int32, ok bool) {
	var buffer [8]int32
	ids := v.lexicon.Lemmas(buffer[:0], word)
	if len(ids) == 0 {
		return 0, false
	}
	return ids[0], true
}
