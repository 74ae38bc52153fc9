package tokenizer

import (
	"cmp"
	"container/heap"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// bertNormalizer cleans text like BERT's basic tokenizer.
type bertNormalizer struct {
	Clean   bool  `json:"clean_text"`
	Chinese bool  `json:"handle_chinese_chars"`
	Strip   *bool `json:"strip_accents"` // nil: same as Lower
	Lower   bool  `json:"lowercase"`
}

// override applies explicit settings of tokenizer_config.json.
func (n *bertNormalizer) override(c config) {
	if c.Lower != nil {
		n.Lower = *c.Lower
	}
	if c.Strip != nil {
		n.Strip = c.Strip
	}
	if c.Chinese != nil {
		n.Chinese = *c.Chinese
	}
}

func (n *bertNormalizer) normalize(text string) string {
	var b strings.Builder
	b.Grow(len(text) + len(text)/8)
	ascii := true
	for _, r := range text {
		switch {
		case n.Clean && (r == 0 || r == utf8.RuneError || isControl(r)):
		case n.Clean && unicode.IsSpace(r):
			b.WriteByte(' ')
		case n.Chinese && isChinese(r):
			b.WriteByte(' ')
			b.WriteRune(r)
			b.WriteByte(' ')
			ascii = false
		default:
			b.WriteRune(r)
			ascii = ascii && r < utf8.RuneSelf
		}
	}
	text = b.String()
	if strip := n.Strip; !ascii && (strip != nil && *strip || strip == nil && n.Lower) {
		text = remove(norm.NFD.String(text), unicode.Mn)
	}
	if n.Lower {
		text = lower(text)
	}
	return text
}

// isControl reports whether BERT drops r: control characters except tab and line ends, format characters and private
// use.
func isControl(r rune) bool {
	return r != '\t' && r != '\n' && r != '\r' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co)
}

// isChinese reports whether BERT treats r as a separate word: as in the Rust library, without U+2B820 to U+2B91F.
func isChinese(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF || r >= 0x3400 && r <= 0x4DBF || r >= 0x20000 && r <= 0x2A6DF ||
		r >= 0x2A700 && r <= 0x2B81F || r >= 0x2B920 && r <= 0x2CEAF || r >= 0xF900 && r <= 0xFAFF ||
		r >= 0x2F800 && r <= 0x2FA1F
}

// lower maps each character separately, so that it treats a final sigma like any other.
func lower(s string) string {
	if strings.ContainsRune(s, 'İ') { // the only letter with two lower-case characters
		s = strings.ReplaceAll(s, "İ", "i\u0307")
	}
	return strings.Map(unicode.ToLower, s)
}

func remove(s string, table *unicode.RangeTable) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(table, r) {
			return -1
		}
		return r
	}, s)
}

// splitBERT splits at white space and makes each punctuation mark a word.
func splitBERT(text string, words []string) []string {
	from := 0
	cut := func(to int) {
		if from < to {
			words = append(words, text[from:to])
		}
	}
	for i, r := range text {
		space := unicode.IsSpace(r)
		if !space && !isPunctuation(r) {
			continue
		}
		cut(i)
		from = i + utf8.RuneLen(r)
		if !space {
			words = append(words, text[i:from])
		}
	}
	cut(len(text))
	return words
}

// isPunctuation reports whether r is an ASCII symbol, or of category P beyond ASCII.
func isPunctuation(r rune) bool {
	if r < utf8.RuneSelf {
		return r > ' ' && r < 0x7F && !('0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z')
	}
	return unicode.Is(unicode.P, r)
}

// newBERT returns the tokenizer of a BERT that only has a vocab.txt: one token per line, whose number is its id.
func newBERT(vocab string, c config) (*Tokenizer, error) {
	w := &wordPiece{vocab: map[string]int32{}, prefix: "##", maxChars: 100}
	for i, line := range strings.Split(strings.TrimSuffix(vocab, "\n"), "\n") {
		w.vocab[strings.TrimSuffix(line, "\r")] = int32(i)
	}
	n := &bertNormalizer{Clean: true, Chinese: true, Lower: true}
	n.override(c)
	t := &Tokenizer{normalize: n.normalize, split: each(splitBERT), model: w}
	add := func(given token, standard string, needed bool) (int32, error) {
		name := cmp.Or(string(given), standard)
		id, ok := w.vocab[name]
		if ok {
			t.added = append(t.added, addedToken{ID: id, Content: name})
		} else if needed {
			return 0, fmt.Errorf("the vocabulary has no token %q", name)
		}
		return id, nil
	}
	unknown, err1 := add(c.UNK, "[UNK]", true)
	cls, err2 := add(c.CLS, "[CLS]", true)
	sep, err3 := add(c.SEP, "[SEP]", true)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	add(c.PAD, "[PAD]", false)
	add(c.Mask, "[MASK]", false)
	w.unknown, t.before, t.after = unknown, []int32{cls}, []int32{sep}
	sortAdded(t.added)
	return t, nil
}

// wordPiece repeatedly cuts off the longest piece at the start of the rest of a word; later pieces carry a prefix.
type wordPiece struct {
	vocab    map[string]int32
	unknown  int32
	prefix   string
	maxChars int // a longer word is unknown
}

func (w *wordPiece) encode(ids []int32, word string) []int32 {
	if utf8.RuneCountInString(word) > w.maxChars {
		return append(ids, w.unknown)
	}
	first, prefix := len(ids), ""
	for word != "" {
		n := len(word)
		id, ok := w.vocab[prefix+word]
		for !ok && n > 0 {
			_, last := utf8.DecodeLastRuneInString(word[:n])
			if n -= last; n > 0 {
				id, ok = w.vocab[prefix+word[:n]]
			}
		}
		if !ok {
			return append(ids[:first], w.unknown)
		}
		ids = append(ids, id)
		word, prefix = word[n:], w.prefix
	}
	return ids
}

// bpe joins adjacent symbols of a word by the earliest learnt merge until none applies (Sennrich et al. 2016).
type bpe struct {
	vocab  map[string]int32 // characters that it lacks are dropped
	merges map[[2]int32]merge
}

type merge struct {
	rank int
	id   int32
}

// symbol is a piece of the word in a linked list; id < 0 marks a removed one.
type symbol struct {
	id         int32
	prev, next int
}

// candidate is a merge of the symbol at and the next one, valid while they are still the same pair.
type candidate struct {
	merge
	at   int
	pair [2]int32
}

type candidates []candidate

func (c candidates) Len() int { return len(c) }
func (c candidates) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(c[i].rank, c[j].rank), cmp.Compare(c[i].at, c[j].at)) < 0
}
func (c candidates) Swap(i, j int) { c[i], c[j] = c[j], c[i] }
func (c *candidates) Push(x any)   { *c = append(*c, x.(candidate)) }
func (c *candidates) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}

func (m *bpe) encode(ids []int32, word string) []int32 {
	var list []symbol
	for len(word) > 0 {
		_, n := utf8.DecodeRuneInString(word)
		if id, ok := m.vocab[word[:n]]; ok {
			list = append(list, symbol{id, len(list) - 1, len(list) + 1})
		}
		word = word[n:]
	}
	var queue candidates
	consider := func(at int) {
		if at < 0 || list[at].next >= len(list) {
			return
		}
		pair := [2]int32{list[at].id, list[list[at].next].id}
		if m, ok := m.merges[pair]; ok {
			heap.Push(&queue, candidate{m, at, pair})
		}
	}
	for i := range list {
		consider(i)
	}
	for len(queue) > 0 {
		c := heap.Pop(&queue).(candidate)
		left := &list[c.at]
		if left.id != c.pair[0] || left.next >= len(list) || list[left.next].id != c.pair[1] {
			continue
		}
		right := &list[left.next]
		right.id = -1
		left.id, left.next = c.id, right.next
		if left.next < len(list) {
			list[left.next].prev = c.at
		}
		consider(left.prev)
		consider(c.at)
	}
	for _, s := range list {
		if s.id >= 0 {
			ids = append(ids, s.id)
		}
	}
	return ids
}

// unigram finds the pieces with the largest sum of log probabilities (Kudo 2018), with the Viterbi algorithm.
type unigram struct {
	pieces  []piece // sorted by text
	score   []float64
	unknown int32
	penalty float64 // score of an unknown character
}

type piece struct {
	text string
	id   int32
}

func newUnigram(vocab []scored, unknown int) (*unigram, error) {
	if unknown < 0 || unknown >= len(vocab) {
		return nil, fmt.Errorf("unk_id %d of a vocabulary of %d", unknown, len(vocab))
	}
	u := &unigram{unknown: int32(unknown)}
	ids := map[string]int32{}
	lowest := 0.0
	for id, v := range vocab {
		ids[v.text] = int32(id)
		u.score = append(u.score, v.score)
		lowest = min(lowest, v.score)
	}
	u.penalty = lowest - 10
	for text, id := range ids {
		if text != "" {
			u.pieces = append(u.pieces, piece{text, id})
		}
	}
	slices.SortFunc(u.pieces, func(a, b piece) int { return cmp.Compare(a.text, b.text) })
	return u, nil
}

// prefixes calls visit with the pieces that are prefixes of s, shortest first. It narrows the sorted list byte by
// byte.
func (u *unigram) prefixes(s string, visit func(n int, id int32)) {
	list := u.pieces
	for n := 1; n <= len(s); n++ {
		b := s[n-1]
		lo := sort.Search(len(list), func(i int) bool { return len(list[i].text) >= n && list[i].text[n-1] >= b })
		list = list[lo:]
		hi := sort.Search(len(list), func(i int) bool { return list[i].text[n-1] > b })
		if list = list[:hi]; len(list) == 0 {
			return
		}
		if len(list[0].text) == n {
			visit(n, list[0].id)
		}
	}
}

func (u *unigram) encode(ids []int32, word string) []int32 {
	// best[i] is the best way to segment word[:i], by the start of its last piece.
	type step struct {
		score float64
		from  int
		id    int32
	}
	best := make([]step, len(word)+1)
	for i := 1; i <= len(word); i++ {
		best[i].from = -1
	}
	for at := 0; at < len(word); {
		reach := func(n int, id int32, score float64) {
			if s := &best[at+n]; s.from < 0 || best[at].score+score > s.score {
				*s = step{best[at].score + score, at, id}
			}
		}
		_, char := utf8.DecodeRuneInString(word[at:])
		single := false
		u.prefixes(word[at:], func(n int, id int32) {
			reach(n, id, u.score[id])
			single = single || n == char
		})
		if !single {
			reach(char, u.unknown, u.penalty)
		}
		at += char
	}
	first := len(ids)
	for to := len(word); to > 0; {
		s := best[to]
		if s.id != u.unknown {
			ids = append(ids, s.id)
			to = s.from
			continue
		}
		for to > 0 && best[to].id == u.unknown { // adjacent unknown pieces are merged
			to = best[to].from
		}
		ids = append(ids, u.unknown)
	}
	slices.Reverse(ids[first:])
	return ids
}
