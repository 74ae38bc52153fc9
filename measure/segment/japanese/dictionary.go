package japanese

import (
	_ "embed"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"crosstalk/measure/segment/internal/triefile"
)

//go:embed unidic.bin.gz
var packed []byte

// A dictionary is UniDic in memory.
type dictionary struct {
	blocks     [blocks]block
	kinds      []kind
	categories []category
	category   [0x10000]uint8 // index in categories, by character

	label     map[rune]uint16 // of characters in the trie
	trie      triefile.Trie
	firstWord []int32 // the words of node n are words[firstWord[n]] to words[firstWord[n+1]]
	words     []word
}

// A word is a reading of a spelling.
type word struct {
	kind uint16
	cost int16
}

const textEnd = 0 // kind of the start and the end of a text

// A category of characters determines how they form words that the lexicon lacks.
type category struct {
	goesWith uint32 // bits shared with categories whose characters may follow
	always   bool   // even if the lexicon has words
	group    bool   // a run of them is a word
	length   int    // runs of up to this many are words
	words    []word // readings of such words
}

func (d *dictionary) categoryOf(r rune) *category {
	if int(r) >= len(d.category) {
		r = 0
	}
	return &d.categories[d.category[r]]
}

// decode returns the first character of text and its size. A byte that is not UTF-8 becomes U+0000, which no word
// contains.
func decode(text string) (rune, int) {
	r, size := utf8.DecodeRuneInString(text)
	if r == utf8.RuneError && size == 1 {
		r = 0
	}
	return r, size
}

// unidic decompresses the embedded dictionary; tools/build/unidic describes its format.
var unidic = sync.OnceValue(func() *dictionary {
	r := reader{triefile.Open("japanese", packed, 1)}
	if r.Uint() != blocks {
		panic("japanese: embedded dictionary: unknown format")
	}
	d := new(dictionary)
	for i := range d.blocks {
		r.block(&d.blocks[i])
	}
	d.kinds = make([]kind, r.Uint())
	for b := range blocks {
		for i := range d.kinds {
			d.kinds[i].row[b] = uint16(r.Uint())
		}
	}
	for b := range blocks {
		for i := range d.kinds {
			d.kinds[i].column[b] = uint16(r.Uint())
		}
	}
	r.characters(d)
	r.lexicon(d)
	return d
})

type reader struct{ triefile.Reader }

func (r *reader) block(b *block) {
	b.rows = make([]atomic.Pointer[[]int32], r.Uint())
	b.width = r.Uint()
	b.tables = make([]table, r.Uint())
	for i := range b.tables {
		t := &b.tables[i]
		t.weights = make([][]weight, 1+r.Uint())
		t.row = r.keys(len(b.rows))
		t.keys = 1 + r.Uint()
		t.column = r.keys(b.width)
		for key := 1; key < len(t.weights); key++ {
			weights := make([]weight, r.Uint())
			last := 0
			for i := range weights {
				last += r.Uint()
				weights[i] = weight{uint16(last), int32(r.Int())}
			}
			t.weights[key] = weights
		}
	}
}

func (r *reader) keys(n int) []uint16 {
	keys := make([]uint16, n)
	for i := range keys {
		keys[i] = uint16(r.Uint())
	}
	return keys
}

func (r *reader) characters(d *dictionary) {
	d.categories = make([]category, r.Uint())
	for i := range d.categories {
		c := &d.categories[i]
		c.goesWith = uint32(r.Uint())
		c.always, c.group, c.length = r.Uint() > 0, r.Uint() > 0, r.Uint()
		c.words = make([]word, r.Uint())
		for j := range c.words {
			c.words[j] = word{uint16(r.Uint()), int16(r.Int())}
		}
	}
	at := 0
	for range r.Uint() {
		n, category := r.Uint(), uint8(r.Uint())
		for range n {
			d.category[at] = category
			at++
		}
	}
}

func (r *reader) lexicon(d *dictionary) {
	chars := r.Uint()
	d.label = make(map[rune]uint16, chars)
	char := 0
	for label := range chars {
		char += r.Int()
		d.label[rune(char)] = uint16(label)
	}
	d.trie = r.Trie(chars)
	nodes := d.trie.Nodes()
	d.firstWord = make([]int32, nodes+1)
	for i := range nodes {
		d.firstWord[i+1] = d.firstWord[i] + int32(r.Uint())
	}
	d.words = make([]word, d.firstWord[nodes])
	for i := range d.words {
		d.words[i].kind = uint16(r.Uint())
	}
	for i := range d.words {
		d.words[i].cost = int16(r.Byte()) << 8
	}
	for i := range d.words {
		d.words[i].cost |= int16(r.Byte())
	}
}

// The cost of two adjacent words is a sum over blocks, by the property considered of the first word and of the
// second: accent, grammar or, for a few hundred words, their identity. In a block, the class of the first word
// selects the row, the class of the second the column; class 0 is for words that the block does not mention.
const (
	accent = iota
	grammarGrammar
	grammarWord
	wordGrammar
	wordWord
	blocks
)

// A kind is all of a word that affects its neighbours.
type kind struct {
	row    [blocks]uint16 // as the first word
	column [blocks]uint16 // as the second word
}

// A block computes its rows from weights on first use: all would take 56 MB, and three thousand lines use a fifth.
type block struct {
	width  int
	tables []table
	rows   []atomic.Pointer[[]int32]
}

// A table is the part of a template of features in a block: weights by keys. Each row and each column has a key, 0 if
// the template does not apply.
type table struct {
	row, column []uint16
	weights     [][]weight // by key of the row
	keys        int        // of the columns, 0 included
}

type weight struct {
	key   uint16 // of the column
	steps int32
}

// rows holds the rows of a first word. Most words have no weights of their own: the rows of the last two blocks would
// be zero and are omitted.
type rows struct {
	of     [blocks][]int32
	common bool
}

func (d *dictionary) rows(kind uint16) (r rows) {
	row := &d.kinds[kind].row
	r.common = row[wordGrammar] == 0 // then the last block has no row either
	for i := range d.blocks {
		if i < wordGrammar || !r.common {
			r.of[i] = d.blocks[i].row(row[i])
		}
	}
	return r
}

// cost returns the cost of a second word.
func (r *rows) cost(column *[blocks]uint16) int32 {
	const stepsPerUnit = 256 // of weights
	sum := r.of[accent][column[accent]] +
		r.of[grammarGrammar][column[grammarGrammar]] + r.of[grammarWord][column[grammarWord]]
	if !r.common {
		sum += r.of[wordGrammar][column[wordGrammar]] + r.of[wordWord][column[wordWord]]
	}
	return sum / stepsPerUnit
}

// row returns a row in steps.
func (b *block) row(i uint16) []int32 {
	if made := b.rows[i].Load(); made != nil {
		return *made
	}
	sums := make([]int32, b.width)
	byKey := make([]int32, b.width+1) // there are no more keys than columns
	for _, t := range b.tables {
		weights := t.weights[t.row[i]]
		if len(weights) == 0 {
			continue
		}
		clear(byKey[:t.keys])
		for _, w := range weights {
			byKey[w.key] = w.steps
		}
		for column, key := range t.column {
			sums[column] += byKey[key]
		}
	}
	b.rows[i].Store(&sums) // another goroutine may have computed the same
	return sums
}
