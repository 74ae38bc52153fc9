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
	category   [0x10000]uint8 // place in categories, by character

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

const textEnd = 0 // kind of what comes before a text and after it

// A category of characters is how they make up words that the lexicon lacks.
type category struct {
	goesWith uint32 // bits that it has in common with others
	always   bool   // also where the lexicon has words
	group    bool   // a run of them is a word
	length   int    // up to this many are
	words    []word // what such a word is taken for
}

func (d *dictionary) categoryOf(r rune) *category {
	if int(r) >= len(d.category) {
		r = 0
	}
	return &d.categories[d.category[r]]
}

// decode returns the first character of text and its size. A byte that is not
// UTF-8 is U+0000, which is of no use in a word.
func decode(text string) (rune, int) {
	r, size := utf8.DecodeRuneInString(text)
	if r == utf8.RuneError && size == 1 {
		r = 0
	}
	return r, size
}

// unidic unpacks the embedded dictionary; its format is described in tools/build/unidic.
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

// The cost of two words in a row is a sum over blocks, by what they look at in the first word and in the second:
// accent, grammar, or, of a few hundred, which word it is. In a block the first word has the row and the second the
// column of its class; class 0 is for words that the block does not mention.
const (
	accent = iota
	grammarGrammar
	grammarWord
	wordGrammar
	wordWord
	blocks
)

// A kind is all that a word's neighbours see of it.
type kind struct {
	row    [blocks]uint16 // as first of two
	column [blocks]uint16 // as second
}

// A block makes its rows from weights when they are first asked for: all would
// be 56 MB, and three thousand lines use a fifth.
type block struct {
	width  int
	tables []table
	rows   []atomic.Pointer[[]int32]
}

// A table holds what a template of features adds to a block: weights by keys, of
// which each row and each column has one, 0 if the template has nothing to say.
type table struct {
	row, column []uint16
	weights     [][]weight // by key of the row
	keys        int        // of the columns, 0 included
}

type weight struct {
	key   uint16 // of the column
	steps int32
}

// rows holds the rows of a first word. Most words have no weights of their own:
// the rows of the last two blocks would be zero and are left out.
type rows struct {
	of     [blocks][]int32
	common bool
}

func (d *dictionary) rows(kind uint16) (r rows) {
	row := &d.kinds[kind].row
	r.common = row[wordGrammar] == 0 // which means that the last block has none either
	for i := range d.blocks {
		if i < wordGrammar || !r.common {
			r.of[i] = d.blocks[i].row(row[i])
		}
	}
	return r
}

// cost returns what a second word costs for being second.
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
	b.rows[i].Store(&sums) // another goroutine may have made the same
	return sums
}
