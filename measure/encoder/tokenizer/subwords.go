package tokenizer

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
	"sort"
	"unicode/utf8"
)

// bpe joins neighbouring symbols of a word by the earliest learnt merge until none applies (Sennrich et al. 2016).
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

// candidate is a merge of the symbol at and its next one, valid while they still are the pair it was found for.
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

// unigram finds the segmentation whose pieces have the largest sum of log probabilities (Kudo 2018, by the algorithm of
// Viterbi).
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

// prefixes calls visit with the pieces that begin s, shortest first. It narrows the sorted list byte by byte.
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
	// best[i] is the best way to segment word[:i]: where its last piece begins.
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
		for to > 0 && best[to].id == u.unknown { // adjacent unknowns are one
			to = best[to].from
		}
		ids = append(ids, u.unknown)
	}
	slices.Reverse(ids[first:])
	return ids
}
