package guard

import (
	"cmp"
	"slices"
)

// disjoint joins spans that overlap: a word may begin with a mark before its line's first letter, and a sentence may
// have words that were found alone. Lines go before words, and what counts before what is excused.
func (c *check) disjoint() {
	all := slices.Concat(c.spans, c.excused)
	slices.SortStableFunc(all, byStart)
	c.spans, c.excused = c.spans[:0], c.excused[:0]
	for i := 0; i < len(all); {
		s, end := all[i], all[i].End
		for i++; i < len(all) && all[i].Start < end; i++ {
			other := all[i]
			end = max(end, other.End)
			if other.Kind == Line && s.Kind == Word || other.Kind == s.Kind && other.Excuse == "" && s.Excuse != "" {
				s, other = other, s
			}
			s.Start, s.P = min(s.Start, other.Start), max(s.P, other.P)
		}
		s.End = end
		if s.Excuse == "" {
			c.spans = append(c.spans, s)
		} else {
			c.excused = append(c.excused, s)
		}
	}
}

// allMasks returns the masked parts in order, with the thoughts. Code may have a thought in it, and is one part then.
func (c *check) allMasks() (masks []Mask) {
	all := slices.Concat(c.hidden, c.masked)
	slices.SortFunc(all, func(a, b Mask) int { return cmp.Compare(a.Start, b.Start) })
	end := 0
	for _, m := range all {
		if m.Start = max(m.Start, end); m.Start < m.End {
			masks, end = append(masks, m), m.End
		}
	}
	return masks
}
