package gloss

import (
	"fmt"
	"strings"
	"testing"

	"crosstalk/internal/gloss/lexicon"
	"crosstalk/internal/testing/golden"
)

// How texts are read, with the weights of their entries, and how similar each is to others, to the last digit: scores
// of a version are equal on every machine. See testdata/sheet.txt; -update writes it anew.
func TestSheet(t *testing.T) {
	v := open(t)
	texts := []string{"", "the", "of course", "xqzzt", "a1 b2", v.lexicon.Lemma(0), v.lexicon.Lemma(int32(v.lexicon.Len()) - 1),
		"The Statue of Liberty is in New York City.", "credit cards", "credit card", "red credit card red", "ice cream man's ice-cream",
		"icecream E-Mail e-mails", "well-known-x", "-the-", "dog-the-cat", "rock 'n' roll's", "o'clock", "Down’s syndrome", "mother-in-law in law",
		"happiness gloominess oddness", "happily finally basically probably gently quickly", "organisation organise organised organising",
		"grey gluey carburett", "oxness lly", "dragonhouse dogfood catdog", "dogzzz dogzz dogzzzz", strings.Repeat("dogs", 20), strings.Repeat("dogs", 21),
		strings.Repeat("x-", 60) + "dog", "unhappinesses churches ran better geese", "1234 42nd 3.5", "crème brûlée Straße", "日本 dog", "dog\x00cat\xff"}
	for _, x := range ourTriples {
		texts = append(texts, x[:]...)
	}
	var b strings.Builder
	for i, text := range texts {
		fmt.Fprintf(&b, "%.60q:", text)
		v.read(lexicon.Fold(text), func(id int32, weight float64) { fmt.Fprintf(&b, " %d*%v", id, weight) })
		fmt.Fprintf(&b, " %.300q", v.Lemmas(text))
		p := v.prepare(text)
		fmt.Fprintf(&b, " of weight %v, scale %v, %d trigrams of length %v\n ", p.weight, p.scale, len(p.trigrams.sorted), p.trigrams.length)
		for _, step := range []int{0, 1, 2, 7, 19} {
			score, ok := v.Similarity(text, texts[(i+step)%len(texts)])
			fmt.Fprintf(&b, " %v %t,", score, ok)
		}
		fmt.Fprintln(&b)
	}
	score, ok := v.Similarity(strings.Join(texts, " "), "She bought fresh bread and honey at the market, and 40 others did.")
	fmt.Fprintln(&b, "all:", score, ok)
	golden.Check(t, "testdata/sheet.txt", b.String())
}
