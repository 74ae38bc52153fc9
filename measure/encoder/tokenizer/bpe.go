package tokenizer

import (
	"cmp"
	"container/heap"
	"unicode/utf8"
)

// bpe joins neighbouring symbols of a word by the earliest learnt merge until none applies (Sennrich et al. 2016).
type bpe struct {
	vocab   map[string]int32
	merges  map[[2]int32]merge
	unknown int32 // -1: unknown characters are dropped
	fuse    bool  // adjacent unknowns are one
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
	wasUnknown := false
	for len(word) > 0 {
		_, n := utf8.DecodeRuneInString(word)
		id, ok := m.vocab[word[:n]]
		word = word[n:]
		if !ok {
			if id = m.unknown; id < 0 || wasUnknown && m.fuse {
				continue
			}
		}
		wasUnknown = !ok
		list = append(list, symbol{id, len(list) - 1, len(list) + 1})
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
