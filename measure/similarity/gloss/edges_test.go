package gloss

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"
)

// What is just long enough to be cut or divided, and what is too short.
func TestShortWords(t *testing.T) {
	for text, want := range map[string]string{
		"oxness": "-", "foxness": "fox", "bearz": "-", "bearzz": "bear", "dogzzzz": "-", "dogs": "dog",
		"oxhouse": "-", "doghouse": "doghouse", "catdog": "cat dog", "catox": "-", "e-mail": "e-mail", "icecream": "icecream",
		strings.Repeat("x", 80) + "y": "-", "dogfood": "dog food",
	} {
		var got []string
		for _, lemma := range open(t).Lemmas(text) {
			got = append(got, cmp.Or(lemma, "-"))
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("Lemmas(%q)\n got %s\nwant %s", text, got, want)
		}
	}
}

// A multiword entry weighs 0.8 of what its frequency says, the words inside 0.6, and two entries of a word half each.
func TestWeights(t *testing.T) {
	v := open(t)
	total := 0.0
	for _, c := range v.frequency {
		total += math.Exp2(float64(c)/16) - 1
	}
	for _, c := range []int{0, 1, 100, 255} {
		if want := 0.002 / (0.002 + math.Exp2(float64(c)/16)/total); math.Abs(v.weight[c]-want) > 1e-12 {
			t.Errorf("code %d: %v, want %v", c, v.weight[c], want)
		}
	}
	for text, shares := range map[string][]float64{"credit card": {0.8, 0.6, 0.6}, "card": {1}, "catdog": {0.5, 0.5}} {
		var got []float64
		v.read(text, func(id int32, weight float64) { got = append(got, weight/v.weight[v.frequency[id]]) })
		if !slices.EqualFunc(got, shares, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }) {
			t.Errorf("%s: %v, want %v", text, got, shares)
		}
	}
}

// Trigrams are numbers of base 37: a space, ten digits and the letters.
func TestTrigramNumbers(t *testing.T) {
	const a, zero, nine, z = 11, 1, 10, 36
	for text, want := range map[string][]uint16{
		"a0":  {a*37 + zero, a*37*37 + zero*37},
		"9 z": {nine * 37, z * 37, nine*37*37 + z}, // _9_ _z_ 9_z
		":":   {},
		"/`{": {},
	} {
		got := newTrigrams(text).sorted
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// Texts up to 1 KiB are kept.
func TestLongestKept(t *testing.T) {
	var c cache
	for n, kept := range map[int]bool{maxCached: true, maxCached + 1: false} {
		s := strings.Repeat("x", n)
		if c.put(s, &text{}); (c.young[s] != nil) != kept || (c.get(s) != nil) != kept {
			t.Errorf("%d bytes are kept: %v", n, !kept)
		}
	}
	c.young[strings.Repeat("y", maxCached+1)] = &text{}
	if c.get(strings.Repeat("y", maxCached+1)) != nil {
		t.Error("a long text is looked for")
	}
}

// A word written solid is the most frequent entry that it can be, and the first of equally frequent ones.
func TestSolid(t *testing.T) {
	v := open(t)
	shared := 0
	for i := range int32(v.lexicon.Len()) {
		lemma := v.lexicon.Lemma(i)
		if !strings.ContainsAny(lemma, joints) {
			continue
		}
		found, ok := v.solid[solid(lemma)]
		if !ok || v.frequency[found] < v.frequency[i] || v.frequency[found] == v.frequency[i] && found > i {
			t.Errorf("%s is %s, which is not as frequent", lemma, v.lexicon.Lemma(found))
		}
		if ok && found != i {
			shared++
		}
	}
	if shared < 20 {
		t.Errorf("only %d are written as others are", shared)
	}
}

// bestDivision is the largest frequency of the rarer entry of a division.
func bestDivision(v *Vectors, token string) int {
	best := -1
	for i := 3; i <= len(token)-3; i++ {
		left, ok := v.first(token[:i])
		right, too := v.first(token[i:])
		if ok && too {
			best = max(best, int(min(v.frequency[left], v.frequency[right])))
		}
	}
	return best
}

// A token may be divided into rare entries, but the most frequent ones come first.
func TestRareDivision(t *testing.T) {
	v := open(t)
	for token, want := range map[string]string{"catsand": "cat sand"} {
		if left, right, _ := v.divide(token); v.lexicon.Lemma(left)+" "+v.lexicon.Lemma(right) != want {
			t.Errorf("%s: %s %s", token, v.lexicon.Lemma(left), v.lexicon.Lemma(right))
		}
	}
	for _, token := range []string{"seasonal", "carton", "penship", "woodsman", "hotelephone", "manager", "legendary", "plantation", "startrack"} {
		left, right, ok := v.divide(token)
		if got := int(min(v.frequency[left], v.frequency[right])); ok && got != bestDivision(v, token) {
			t.Errorf("%s: %s %s", token, v.lexicon.Lemma(left), v.lexicon.Lemma(right))
		}
	}
	divided, rare := 0, ""
	for i := range int32(v.lexicon.Len()) {
		lemma := v.lexicon.Lemma(i)
		if v.frequency[i] > 0 || len(lemma) < 5 || strings.ContainsAny(lemma, "-_'.0123456789") {
			continue
		}
		if left, right, ok := v.divide(rare + lemma); rare != "" && !ok {
			t.Errorf("%s%s is not divided", rare, lemma)
		} else if got := int(min(v.frequency[left], v.frequency[right])); ok && got != bestDivision(v, rare+lemma) {
			t.Errorf("%s%s is divided into entries of the frequency %d", rare, lemma, got)
		} else if ok && min(v.frequency[left], v.frequency[right]) == 0 {
			divided++
		}
		if rare = lemma; divided == 20 {
			return
		}
	}
	t.Errorf("%d tokens are divided into entries without occurrences", divided)
}
