package shard

import (
	"cmp"
	"container/heap"
)

// loads are the numbers of items that shards have, those with the fewest first.
type loads []load

type load struct{ shard, items int }

func newLoads(shards int) *loads {
	l := make(loads, shards)
	for i := range l {
		l[i].shard = i + 1
	}
	return &l
}

// add gives items to the shard with the fewest, the first of several, and returns which it is.
func (l *loads) add(items int) (shard int) {
	shard = (*l)[0].shard
	(*l)[0].items += items
	heap.Fix(l, 0)
	return shard
}

// Len implements heap.Interface, as do the following.
func (l loads) Len() int { return len(l) }

func (l loads) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(l[i].items, l[j].items), cmp.Compare(l[i].shard, l[j].shard)) < 0
}

func (l loads) Swap(i, j int) { l[i], l[j] = l[j], l[i] }

func (l *loads) Push(any) {}

func (l *loads) Pop() any { return nil }
