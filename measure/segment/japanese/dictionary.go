package japanese

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"io"
	"sync/atomic"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
)

//go:embed unidic.bin.gz
var packed []byte

// A dictionary is UniDic in memory. Words are found in a trie of characters,
// whose nodes are numbered level by level with 0 the root.
type dictionary struct {
	blocks     [blocks]block
	kinds      []kind
	categories []category
	category   [0x10000]uint8 // place in categories, by character

	label      map[rune]uint16
	top        []int32 // child of the root by label, 0 if there is none
	firstChild []int32 // the children of node n are the nodes firstChild[n] to firstChild[n+1]
	nodeLabel  []uint16
	firstWord  []int32 // the words of node n are words[firstWord[n]] to words[firstWord[n+1]]
	words      []word
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

// child returns the child of a node with that character, 0 if there is none.
func (d *dictionary) child(node int32, r rune) int32 {
	label, ok := d.label[r]
	if !ok {
		return 0
	}
	if node == 0 {
		return d.top[label]
	}
	for low, high := d.firstChild[node], d.firstChild[node+1]; low < high; {
		mid := (low + high) / 2
		switch at := d.nodeLabel[mid]; {
		case at == label:
			return mid
		case at < label:
			low = mid + 1
		default:
			high = mid
		}
	}
	return 0
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

// readDictionary unpacks the embedded dictionary; its format is described in
// build/main.go.
func readDictionary() *dictionary {
	r := reader(unpack())
	if r.uint() != 1 || r.uint() != blocks {
		panic("japanese: embedded dictionary: unknown format")
	}
	d := new(dictionary)
	for i := range d.blocks {
		r.block(&d.blocks[i])
	}
	r.kinds(d)
	r.characters(d)
	r.lexicon(d)
	return d
}

func unpack() []byte {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic("japanese: embedded dictionary: " + err.Error())
	}
	data := make([]byte, binary.LittleEndian.Uint32(packed[len(packed)-4:])) // gzip ends with the size
	if _, err := io.ReadFull(z, data); err != nil {
		panic("japanese: embedded dictionary: " + err.Error())
	}
	return data
}

// A reader takes values off the front of the unpacked stream.
type reader []byte

func (r *reader) byte() byte {
	v := (*r)[0]
	*r = (*r)[1:]
	return v
}

func (r *reader) uint() int {
	if v := (*r)[0]; v < 0x80 {
		*r = (*r)[1:]
		return int(v)
	}
	v, n := binary.Uvarint(*r)
	*r = (*r)[n:]
	return int(v)
}

func (r *reader) int() int {
	v := r.uint()
	return int(uint(v)>>1) ^ -(v & 1)
}

func (r *reader) block(b *block) {
	b.rows = make([]atomic.Pointer[[]int32], r.uint())
	b.width = r.uint()
	b.tables = make([]table, r.uint())
	for i := range b.tables {
		t := &b.tables[i]
		t.weights = make([][]weight, 1+r.uint())
		t.row = r.keys(len(b.rows))
		t.keys = 1 + r.uint()
		t.column = r.keys(b.width)
		for key := 1; key < len(t.weights); key++ {
			weights := make([]weight, r.uint())
			last := 0
			for i := range weights {
				last += r.uint()
				weights[i] = weight{uint16(last), int32(r.int())}
			}
			t.weights[key] = weights
		}
	}
}

func (r *reader) keys(n int) []uint16 {
	keys := make([]uint16, n)
	for i := range keys {
		keys[i] = uint16(r.uint())
	}
	return keys
}

func (r *reader) kinds(d *dictionary) {
	d.kinds = make([]kind, r.uint())
	for b := range blocks {
		for i := range d.kinds {
			d.kinds[i].row[b] = uint16(r.uint())
		}
	}
	for b := range blocks {
		for i := range d.kinds {
			d.kinds[i].column[b] = uint16(r.uint())
		}
	}
}

func (r *reader) characters(d *dictionary) {
	d.categories = make([]category, r.uint())
	for i := range d.categories {
		c := &d.categories[i]
		c.goesWith = uint32(r.uint())
		c.always, c.group, c.length = r.uint() > 0, r.uint() > 0, r.uint()
		c.words = make([]word, r.uint())
		for j := range c.words {
			c.words[j] = word{uint16(r.uint()), int16(r.int())}
		}
	}
	at := 0
	for range r.uint() {
		n, category := r.uint(), uint8(r.uint())
		for range n {
			d.category[at] = category
			at++
		}
	}
}

func (r *reader) lexicon(d *dictionary) {
	chars := r.uint()
	d.label = make(map[rune]uint16, chars)
	char := 0
	for label := range chars {
		char += r.int()
		d.label[rune(char)] = uint16(label)
	}
	nodes := r.uint()
	d.firstChild = make([]int32, nodes+1)
	d.nodeLabel = make([]uint16, nodes)
	d.firstWord = make([]int32, nodes+1)
	d.firstChild[0] = 1
	for i := range nodes {
		d.firstChild[i+1] = d.firstChild[i] + int32(r.uint())
	}
	for i := range nodes {
		last := 0
		for child := d.firstChild[i]; child < d.firstChild[i+1]; child++ {
			last += r.uint()
			d.nodeLabel[child] = uint16(last)
		}
	}
	for i := range nodes {
		d.firstWord[i+1] = d.firstWord[i] + int32(r.uint())
	}
	d.words = make([]word, d.firstWord[nodes])
	for i := range d.words {
		d.words[i].kind = uint16(r.uint())
	}
	for i := range d.words {
		d.words[i].cost = int16(r.byte()) << 8
	}
	for i := range d.words {
		d.words[i].cost |= int16(r.byte())
	}
	d.top = make([]int32, chars)
	for child := d.firstChild[0]; child < d.firstChild[1]; child++ {
		d.top[d.nodeLabel[child]] = child
	}
}
