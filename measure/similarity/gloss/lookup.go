package gloss

import (
	"strings"

	"crosstalk/internal/gloss/lexicon"
)

// Lemmas returns how a text is read: of its words in order, without stop words, the entries of WordNet whose vectors
// represent each, their words joined by "_"; "" for a word without a vector. A multiword entry comes before those of
// the words inside it.
func (v *Vectors) Lemmas(text string) (lemmas []string) {
	v.read(lexicon.Fold(text), func(id int32, _ float64) {
		lemmas = append(lemmas, "")
		if id >= 0 {
			lemmas[len(lemmas)-1] = v.lexicon.Lemma(id)
		}
	})
	return lemmas
}

// read calls found for each entry of a folded text, with its weight there: positive, at most 1. The id is -1 for a word
// without an entry.
func (v *Vectors) read(folded string, found func(id int32, weight float64)) {
	const (
		longest       = 4 // words of a multiword entry
		multiword     = 0.8
		insideOfOne   = 0.6
		initialBuffer = 8
	)
	tokens := lexicon.Tokens(folded)
	var buffer [initialBuffer]int32
	for len(tokens) > 0 {
		id, n := int32(0), 0
		if !lexicon.Stop(tokens[0]) {
			id, n = v.lexicon.Multiword(tokens, longest)
		}
		share := 1.0
		if n > 0 {
			found(id, float64(multiword*v.weight[v.frequency[id]]))
			share = insideOfOne
		}
		n = max(n, 1)
		for _, token := range tokens[:n] {
			if lexicon.Stop(token) {
				continue
			}
			ids := v.lookUp(buffer[:0], token)
			if len(ids) == 0 {
				found(-1, 0)
			}
			for _, id := range ids {
				found(id, share*v.weight[v.frequency[id]]/float64(len(ids)))
			}
		}
		tokens = tokens[n:]
	}
}

// lookUp appends to dst the entries of a token. It tries, in order: the dictionary forms, the token written solid
// ("icecream", "e-mail"), endings of derivation and British spelling, the parts of a hyphenated token, the most
// frequent division into two entries ("dogfood"), and the longest beginning that is an entry.
func (v *Vectors) lookUp(dst []int32, token string) []int32 {
	const maxToken = 80 // bytes: no entry is longer, and the work stays bounded
	start := len(dst)
	if dst = v.lexicon.Lemmas(dst, token); len(dst) > start {
		return dst
	}
	if len(token) <= maxToken {
		key := solid(token)
		if id, ok := v.lexicon.Find(key); ok {
			return append(dst, id)
		}
		if id, ok := v.solid[key]; ok {
			return append(dst, id)
		}
		if id, ok := v.derived(token); ok {
			return append(dst, id)
		}
	}
	if strings.Contains(token, "-") {
		for part := range strings.SplitSeq(token, "-") {
			if !lexicon.Stop(part) {
				dst = v.lookUp(dst, part)
			}
		}
		return dst
	}
	if len(token) < 6 || len(token) > maxToken {
		return dst
	}
	if left, right, ok := v.divide(token); ok {
		return append(dst, left, right)
	}
	for i := len(token) - 1; i > 3; i-- {
		if id, ok := v.first(token[:i]); ok {
			return append(dst, id)
		}
	}
	return dst
}

const joints = "-_'" // the characters between the parts of a lemma or token

func solid(word string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(joints, r) {
			return -1
		}
		return r
	}, word)
}

// derivations are endings and their replacements in the entry that a word is derived from, or spelt like.
var derivations = []struct{ ending, other string }{
	{"iness", "y"}, {"ness", ""}, {"ally", "al"}, {"ally", ""}, {"ily", "y"}, {"bly", "ble"}, {"ly", ""}, {"ly", "le"},
	{"isation", "ization"}, {"ise", "ize"}, {"ised", "ize"}, {"ising", "ize"}, {"ey", "y"}, {"tt", "t"},
}

func (v *Vectors) derived(token string) (id int32, ok bool) {
	for _, d := range derivations {
		if stem, cut := strings.CutSuffix(token, d.ending); cut && len(stem) >= 3 {
			if id, ok := v.lexicon.Find(stem + d.other); ok {
				return id, true
			}
		}
	}
	return 0, false
}

// divide returns the division of a token into two entries of at least three letters whose rarer one is the most
// frequent.
func (v *Vectors) divide(token string) (left, right int32, ok bool) {
	best := -1
	for i := 3; i <= len(token)-3; i++ {
		if l, found := v.first(token[:i]); found {
			r, found := v.first(token[i:])
			if f := int(min(v.frequency[l], v.frequency[r])); found && f > best {
				left, right, best = l, r, f
			}
		}
	}
	return left, right, best >= 0
}

func (v *Vectors) first(word string) (id int32, ok bool) {
	var buffer [8]int32
	ids := v.lexicon.Lemmas(buffer[:0], word)
	if len(ids) == 0 {
		return 0, false
	}
	return ids[0], true
}
