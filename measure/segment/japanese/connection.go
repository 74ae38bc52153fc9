package japanese

import "sync/atomic"

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

// A kind is what distinguishes words to their neighbours.
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

// stepsPerUnit is how many steps of weights are a unit of cost.
const stepsPerUnit = 256

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
