package index

import (
	"cmp"
	"slices"
	"time"
)

// Order is an order of answers.
type Order string

// The orders.
const (
	ByNumber Order = ""
	Longest  Order = "longest"
	Shortest Order = "shortest"
	Doubtful Order = "doubtful" // the closest decisions first, unknown ones last
)

// Orders are all orders.
var Orders = []Order{ByNumber, Longest, Shortest, Doubtful}

// compare orders two answers, for slices.SortFunc.
func (o Order) compare(a, b Numbered) int {
	switch o {
	case Longest:
		return int(b.Length) - int(a.Length)
	case Shortest:
		return int(a.Length) - int(b.Length)
	case Doubtful:
		x, y := a.Doubt, b.Doubt
		switch {
		case x < y, x == x && y != y:
			return -1
		case x > y, x != x && y == y:
			return 1
		}
	}
	return 0
}

// ordered finds a page of answers in the query's order.
func (s *search) ordered() (p Page, err error) {
	list, err := s.facts()
	if err != nil {
		return p, err
	}
	slices.SortFunc(list, func(a, b Numbered) int { return cmp.Or(s.query.Order.compare(a, b), a.Number-b.Number) })
	p.Total = len(list)
	if slices.ContainsFunc(s.terms, func(t term) bool { return t.text != "" }) {
		p.Total = -1 // without the exact phrases
	}
	passed := 0
	for _, a := range list {
		if p.Cut = time.Since(s.begun) > patience; p.Cut {
			break
		}
		if ok, err := s.check(a.Number); err != nil {
			return p, err
		} else if !ok {
			continue
		}
		if passed++; passed <= s.query.Skip {
			continue
		}
		if p.Later = len(p.Numbers) == s.query.Limit; p.Later {
			break
		}
		p.Numbers = append(p.Numbers, a.Number)
	}
	p.Earlier = s.query.Skip > 0
	if len(p.Numbers) > 0 {
		p.First = s.query.Skip + 1
	}
	return p, nil
}
