package fasttext

import (
	"math"
	"math/bits"
	"strings"
	"unicode/utf8"
)

const (
	labelPrefix = "__label__"
	endOfLine   = "</s>"
	spaces      = " \n\r\t\v\f\x00"
	longWord    = 64 // bytes; the n-grams of longer words are not kept in memory
)

// dictionary maps a line to rows of the input matrix: first those of the words, then one for each bucket of n-grams.
type dictionary struct {
	entries    []string // words, then labels
	words      int32
	wordNgrams int
	bucket     int32
	minn, maxn int
	pruned     pruning

	slots      []slot  // open addressing of entries
	reciprocal uint64  // of bucket, for modulo
	known      []int32 // rows of words
	spans      []span  // by word: range of its rows in known, if there
}

type slot struct {
	hash  uint32
	entry int32 // -1: free
}

type span struct{ from, to int32 }

// FNV-1a over signed bytes: the reference's first models were hashed on machines with a signed char.
const fnvOffset, fnvPrime = uint32(2166136261), uint32(16777619)

func hashByte(h uint32, c byte) uint32 { return (h ^ uint32(int32(int8(c)))) * fnvPrime }

func hash[T string | []byte](s T) uint32 {
	h := fnvOffset
	for i := 0; i < len(s); i++ {
		h = hashByte(h, s[i])
	}
	return h
}

// index builds the hash table of entries. Of equal entries, the last one is found.
func (d *dictionary) index() {
	size := 1 << bits.Len(uint(len(d.entries))*3/2)
	d.slots = make([]slot, size)
	for i := range d.slots {
		d.slots[i].entry = -1
	}
	for i, e := range d.entries {
		h := hash(e)
		at := int(h) & (size - 1)
		for d.slots[at].entry >= 0 && d.entries[d.slots[at].entry] != e {
			at = (at + 1) & (size - 1)
		}
		d.slots[at] = slot{h, int32(i)}
	}
	if d.bucket > 0 {
		d.reciprocal = math.MaxUint64/uint64(d.bucket) + 1
	}
}

// find returns the entry of a word with that hash, or -1.
func (d *dictionary) find(word string, h uint32) int32 {
	mask := len(d.slots) - 1
	for at := int(h) & mask; ; at = (at + 1) & mask {
		s := d.slots[at]
		if s.entry < 0 || s.hash == h && d.entries[s.entry] == word {
			return s.entry
		}
	}
}

// precompute stores the rows of the words, in at most limit bytes.
func (d *dictionary) precompute(limit int64) {
	limit = min(limit, math.MaxInt32)
	if d.maxn <= 0 {
		return
	}
	d.spans = make([]span, d.words)
	var buf []byte
	for i, w := range d.entries[:d.words] {
		if len(w) > longWord || 4*int64(len(d.known)+(longWord+2)*d.maxn) > limit {
			continue
		}
		from := len(d.known)
		d.known = d.wordRows(d.known, &buf, w, int32(i))
		d.spans[i] = span{int32(from), int32(len(d.known))}
	}
}

// wordRows appends the rows of an entry and of its character n-grams.
func (d *dictionary) wordRows(rows []int32, buf *[]byte, word string, entry int32) []int32 {
	if entry >= 0 {
		rows = append(rows, entry)
	}
	if word == endOfLine {
		return rows
	}
	*buf = append(append(append((*buf)[:0], '<'), word...), '>')
	return d.subwords(rows, *buf)
}

// subwords appends the rows of the n-grams of minn to maxn characters of <word>, without the single < and >.
func (d *dictionary) subwords(rows []int32, word []byte) []int32 {
	from := len(rows)
	for i := range word {
		if !utf8.RuneStart(word[i]) {
			continue
		}
		h := fnvOffset
		for j, n := i, 1; j < len(word) && n <= d.maxn; n++ {
			h = hashByte(h, word[j])
			for j++; j < len(word) && !utf8.RuneStart(word[j]); j++ {
				h = hashByte(h, word[j])
			}
			if n >= d.minn && (n > 1 || i > 0 && j < len(word)) {
				// h modulo bucket (Lemire, Kaser and Kurz 2019, "Faster remainder by direct computation")
				rest, _ := bits.Mul64(d.reciprocal*uint64(h), uint64(d.bucket))
				rows = d.pruned.sift(rows, int32(rest))
			}
		}
	}
	return d.pruned.resolve(rows, from, d.words)
}

// line appends the rows of a line of text: words with their character
// n-grams, the end of the line, word n-grams. hashes and word are scratch.
func (d *dictionary) line(rows, hashes []int32, buf *[]byte, text string) ([]int32, []int32) {
	for word := ""; word != endOfLine; {
		word, text = nextWord(text)
		h := hash(word)
		entry := d.find(word, h)
		switch {
		case entry >= d.words, entry < 0 && strings.HasPrefix(word, labelPrefix):
			continue
		case entry >= 0 && d.spans != nil && d.spans[entry].to > 0:
			s := d.spans[entry]
			rows = append(rows, d.known[s.from:s.to]...)
		default:
			rows = d.wordRows(rows, buf, word, entry)
		}
		hashes = append(hashes, int32(h))
	}
	from := len(rows)
	for i, first := range hashes {
		h := uint64(first)
		for j := i + 1; j < len(hashes) && j < i+d.wordNgrams; j++ {
			h = h*116049371 + uint64(hashes[j])
			rows = d.pruned.sift(rows, int32(h%uint64(d.bucket)))
		}
	}
	return d.pruned.resolve(rows, from, d.words), hashes
}

// nextWord returns the first word of text, or endOfLine, and the rest.
func nextWord(text string) (word, rest string) {
	i := 0
	for i < len(text) && isSpace(text[i]) {
		i++
	}
	if i == len(text) {
		return endOfLine, ""
	}
	j := i
	for j < len(text) && !isSpace(text[j]) {
		j++
	}
	return text[i:j], text[j:]
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' || c == 0 }

// pruning maps the buckets of the n-grams that quantisation kept to rows. It dropped most n-grams of a text, and
// which ones is a coin toss to the branch predictor, so a line is looked up in two steps: sift keeps, without a
// branch, those that may have a row, and resolve finds the rows.
type pruning struct {
	all    bool       // no n-gram was dropped
	filter []uint64   // one bit set, of 20 or more, for each n-gram kept
	slots  []gramSlot // open addressing
	shift  uint       // of a hash, to get a slot
	last   int32      // row
}

type gramSlot struct{ gram, row int32 } // row -1: free

func gramHash(gram int32) uint64 { return uint64(gram) * 0x9E3779B97F4A7C15 }

func (p *pruning) init(n int64) {
	width := max(bits.Len64(uint64(n)*4/3), 4) // keep a quarter of the slots free
	p.shift = uint(64 - width)
	p.slots = make([]gramSlot, 1<<width)
	for i := range p.slots {
		p.slots[i].row = -1
	}
	p.filter = make([]uint64, len(p.slots)*16/64)
	p.last = -1
}

// bit returns the position of an n-gram in the filter.
func (p *pruning) bit(gram int32) uint64 { return gramHash(gram) >> ((p.shift - 4) & 63) }

// slot returns the slot in which an n-gram is or would be.
func (p *pruning) slot(gram int32) uint64 {
	at := gramHash(gram) >> (p.shift & 63)
	for p.slots[at].row >= 0 && p.slots[at].gram != gram {
		at = (at + 1) & uint64(len(p.slots)-1)
	}
	return at
}

// put maps gram to row; of equal n-grams, the last counts.
func (p *pruning) put(gram, row int32) {
	p.slots[p.slot(gram)] = gramSlot{gram, row}
	bit := p.bit(gram)
	p.filter[bit/64] |= 1 << (bit % 64)
	p.last = max(p.last, row)
}

// sift appends gram unless it certainly has no row.
func (p *pruning) sift(grams []int32, gram int32) []int32 {
	grams = append(grams, gram)
	if p.all {
		return grams
	}
	bit := p.bit(gram)
	kept := p.filter[bit/64] >> (bit % 64) & 1
	return grams[:len(grams)-1+int(kept)]
}

// resolve replaces the n-grams in rows[from:] by their rows, after those of the words, and drops those without a row.
func (p *pruning) resolve(rows []int32, from int, words int32) []int32 {
	grams := rows[from:]
	if p.all {
		for i := range grams {
			grams[i] += words
		}
		return rows
	}
	rows = rows[:from]
	for _, g := range grams {
		if s := p.slots[p.slot(g)]; s.row >= 0 {
			rows = append(rows, words+s.row)
		}
	}
	return rows
}
