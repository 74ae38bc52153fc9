package main

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"crosstalk/measure/langid/words"
	"crosstalk/measure/langid/words/levels"
)

// A gram is a sequence of letters, hashed from its last to its first letter.
type gram struct {
	count   float64     // how often it occurs
	after   float64     // how often a letter follows it
	kinds   float64     // how many different letters follow it
	length  int         // letters
	context levels.Hash // the gram without its last letter
	lower   levels.Hash // the gram without its first letter
}

// letters makes the two columns of a language's letter model from its words: the share of a letter after the letters
// before it, and the rest that a context leaves for letters that it was not seen with (Witten and Bell 1991). Of
// sequences longer than two letters it keeps the most telling ones.
func letters(list []word, most int) (shares, rests levels.Column) {
	grams := map[levels.Hash]*gram{}
	for _, w := range list {
		rs := []rune("^" + w.text + "$") // between the marks of its ends, as package words has them
		n := weight(w.frequency)
		for i := 1; i < len(rs); i++ {
			var lower levels.Hash
			for length := 1; length <= words.Order && length <= i+1; length++ {
				from := i + 1 - length
				h := reversed(rs[from : i+1])
				g := grams[h]
				if g == nil {
					g = &gram{length: length, context: reversed(rs[from:i]), lower: lower}
					grams[h] = g
					context(grams, g.context).kinds++
				}
				g.count += n
				context(grams, g.context).after += n
				lower = h
			}
		}
	}
	share := map[levels.Hash]float64{}
	sorted := slices.SortedFunc(maps.Keys(grams), func(a, b levels.Hash) int {
		return cmp.Or(cmp.Compare(grams[a].length, grams[b].length), cmp.Compare(a, b))
	})
	gain := map[levels.Hash]float64{}
	for _, h := range sorted {
		g := grams[h]
		if g.count == 0 {
			continue
		}
		lower := 1.0 / 20_000
		if g.length > 1 {
			lower = share[g.lower]
		}
		c := grams[g.context]
		share[h] = (g.count + c.kinds*lower) / (c.after + c.kinds)
		backed := lower * c.kinds / (c.after + c.kinds)
		gain[h] = g.count * math.Log(share[h]/backed)
	}
	slices.SortStableFunc(sorted, func(a, b levels.Hash) int {
		short := func(h levels.Hash) int { return min(grams[h].length, 3) }
		return cmp.Or(cmp.Compare(short(a), short(b)), cmp.Compare(gain[b], gain[a]))
	})
	shares, rests = levels.Column{}, levels.Column{}
	for _, h := range sorted {
		g := grams[h]
		if g.count == 0 || g.length > 1 && g.count < 2 {
			continue
		}
		if len(shares) == most {
			break
		}
		shares[h.Sum()] = uint8(levelOf(share[h]))
		c := grams[g.context]
		rests[g.context.Sum()] = uint8(levelOf(c.kinds / (c.after + c.kinds)))
	}
	return shares, rests
}

func context(grams map[levels.Hash]*gram, h levels.Hash) *gram {
	g := grams[h]
	if g == nil {
		g = &gram{}
		grams[h] = g
	}
	return g
}

func reversed(rs []rune) (h levels.Hash) {
	for i := len(rs) - 1; i >= 0; i-- {
		h = h.Add(rs[i])
	}
	return h
}
