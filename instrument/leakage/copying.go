package leakage

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"crosstalk"
	"crosstalk/internal/gloss/lexicon"
)

// Lengths of what counts as copied: words that carry meaning, in a row, and characters in scripts without spaces.
const (
	copiedWords      = 3
	copiedCharacters = 6
)

// byWords is the judge of copying, in the column of similarities.
const byWords = "3-grams"

// copyable are the n-grams of a test's carrier that occur neither in the prompt nor in the control's carrier, so
// that an answer can only have them from the carrier or by chance.
type copyable struct {
	n     int
	grams map[string]bool
	stops bool // whether the stop words of English are left out
}

// copyableOf returns the n-grams of a context. Those of English are of words that are no stop words.
func copyableOf(c *crosstalk.Context, language string) copyable {
	g := copyable{n: copiedWords, grams: map[string]bool{}, stops: language == "en" || strings.HasPrefix(language, "en-")}
	words := g.words(c.Test.String())
	characters := 0
	for _, w := range words {
		if w.character {
			characters++
		}
	}
	if 2*characters > len(words) {
		g.n = copiedCharacters
	}
	for _, gram := range g.of(words) {
		g.grams[gram.text] = true
	}
	for _, text := range []string{c.Prompt, c.Control.String()} {
		for _, gram := range g.of(g.words(text)) {
			delete(g.grams, gram.text)
		}
	}
	return g
}

// in returns where a text has one of the n-grams. Overlapping ones are one.
func (g copyable) in(text string) (found []gram) {
	for _, one := range g.of(g.words(text)) {
		if !g.grams[one.text] {
			continue
		}
		if last := len(found) - 1; last >= 0 && one.start < found[last].end {
			found[last].end = one.end
			continue
		}
		found = append(found, one)
	}
	return found
}

// word is a word of a text, or a character of a script without spaces.
type word struct {
	text       string // in lower case
	start, end int    // bytes
	character  bool
}

type gram struct {
	text       string
	start, end int // bytes, from its first word to its last
}

func (g copyable) words(text string) (list []word) {
	start := -1
	add := func(end int) {
		if start >= 0 {
			if w := strings.ToLower(text[start:end]); !g.stops || !lexicon.StopWord(w) {
				list = append(list, word{w, start, end, false})
			}
			start = -1
		}
	}
	for i, r := range text {
		switch {
		case unicode.In(r, unspaced...):
			add(i)
			list = append(list, word{string(r), i, i + utf8.RuneLen(r), true})
		case isWord(r):
			if start < 0 {
				start = i
			}
		default:
			add(i)
		}
	}
	add(len(text))
	return list
}

func (g copyable) of(words []word) (grams []gram) {
	for i := g.n; i <= len(words); i++ {
		part := words[i-g.n : i]
		texts := make([]string, g.n)
		for k, w := range part {
			texts[k] = w.text
		}
		grams = append(grams, gram{strings.Join(texts, " "), part[0].start, part[g.n-1].end})
	}
	return grams
}

// copying returns the observations of what a pair of answers copies: the test's answer, the control's, and their
// difference. whole is the observation of the pair, without a similarity.
func (in *Instrument) copying(
	item crosstalk.Item, whole crosstalk.Observation, test, control *crosstalk.Answer,
) []crosstalk.Observation {
	o := whole
	o.Condition, o.Measure = with(in.Condition, SimilarityColumn, byWords), MeasureCopied
	g := copyableOf(item.Pair.Context, item.Labels[LanguageColumn])
	o.AddText(crosstalk.Given, Carried, item.Pair.Context.Test.String())
	ofControl, difference := o, o
	ofControl.Measure, difference.Measure = MeasureControlCopied, MeasureCopying
	if o.NotScored == NoText { // text that is cut before the comparison can be copied
		o.NotScored = ""
	}
	if o.NotScored == "" && len(g.grams) == 0 {
		o.NotScored = NothingToCopy
	}
	if ofControl.NotScored, difference.NotScored = o.NotScored, o.NotScored; o.NotScored != "" {
		return []crosstalk.Observation{o, ofControl, difference}
	}
	a, b := len(g.in(in.answered(item, *test))) > 0, len(g.in(in.answered(item, *control))) > 0
	o.Value, o.Finding = share(a), NotCopied
	ofControl.Value, difference.Value = share(b), share(a)-share(b)
	if a {
		o.Finding = Copied
		shown := o.Text(Test)
		for _, found := range g.in(shown) {
			o.Spans = append(o.Spans, spanIn(shown, found.start, found.end, 0))
		}
	}
	return []crosstalk.Observation{o, ofControl, difference}
}

func share(b bool) crosstalk.Value {
	if b {
		return 1
	}
	return 0
}
