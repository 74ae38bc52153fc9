package leakage

import (
	"slices"
	"strings"
	"unicode"

	"crosstalk/measure/translation"

	"golang.org/x/text/unicode/norm"
)

// withoutPrompt cuts the sentences off the start of an answer that repeat its prompt, and a sentence of the prompt that
// the answer goes on from. Weak models repeat a prompt more often than they continue it, and a repeated sentence is as
// close to the concept as the prompt itself. It returns "" if the answer has nothing else, and the answer as it is if
// it repeats nothing.
func withoutPrompt(answer, prompt, prefix, concept string) string {
	if !strings.ContainsFunc(answer, isWord) {
		return answer
	}
	bare := bareOf(prompt)
	text := cutPrompt(answer, bare, prefix)
	asked := sentencesAsked(bare)
	if asked.run(words(text)) {
		return ""
	}
	for strings.ContainsFunc(text, isWord) {
		n := sentenceLength(text)
		if !asked.repeated(words(text[:n]), words(concept)) {
			break
		}
		text = strings.TrimLeftFunc(text[n:], quoting)
	}
	for _, s := range asked {
		bare := strings.TrimRightFunc(s.text, func(r rune) bool { return !isWord(r) })
		text = strings.TrimLeftFunc(cutRepeated(text, bare), leading)
	}
	switch {
	case !strings.ContainsFunc(text, isWord):
		return ""
	case slices.Equal(words(text), words(answer)):
		return answer
	}
	return text
}

// promptSentences are the sentences of a prompt. The last one is what the model is asked to continue or to answer.
type promptSentences []struct {
	text  string
	words []string
}

func sentencesAsked(prompt string) (list promptSentences) {
	for _, s := range sentences(prompt) {
		if w := words(s); len(w) > 0 {
			list = append(list, struct {
				text  string
				words []string
			}{s, w})
		}
	}
	return list
}

// ownWords is the share of its words that a sentence may have of its own and still repeat one of the prompt: one in
// five, as when a model changes a word of a short sentence.
const ownWords = 0.2

// repeated reports whether a sentence of an answer is nearly one of the prompt: at least four in five of its words are,
// in this order, more than half of the words of one sentence. (They are the precision and the recall of ROUGE-L, of
// words or, in scripts without spaces, characters.) To repeat the last sentence, it must have no other word: answers
// take its words up. Nothing but the concept is no repetition but a leak.
func (p promptSentences) repeated(sentence, concept []string) bool {
	if within(sentence, concept) {
		return false
	}
	for i, s := range p {
		own := ownWords
		if i == len(p)-1 {
			own = 0
		}
		shared := float64(translation.LongestCommonSubsequence(sentence, s.words))
		if shared >= (1-own)*float64(len(sentence)) && 2*shared > float64(len(s.words)) {
			return true
		}
	}
	return false
}

// run reports whether a whole answer is words of the prompt in a row, across the end of a sentence: an answer that was
// cut ends like that.
func (p promptSentences) run(answer []string) bool {
	var all []string
	ends := map[int]bool{}
	for _, s := range p {
		all = append(all, s.words...)
		ends[len(all)] = true
	}
	n := len(answer)
	for at := 0; at+n <= len(all); at++ {
		if !slices.Equal(all[at:at+n], answer) {
			continue
		}
		for i := at + 1; i < at+n; i++ {
			if ends[i] {
				return true
			}
		}
	}
	return false
}

// within reports whether all words are among others.
func within(words, others []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(others, w) })
}

// words returns the words of a text in lower case, and single characters of scripts without spaces.
func words(text string) []string { return translation.UnicodeWords(norm.NFKC.String(text)) }

// sentenceLength returns the length of a text's first sentence, with closing marks after its stop.
func sentenceLength(text string) int {
	end := len(firstSentence(text))
	for _, r := range text[end:] {
		if !unicode.In(r, unicode.Pe, unicode.Pf) && r != '"' && r != '\'' {
			break
		}
		end += len(string(r))
	}
	return max(end, 1)
}
