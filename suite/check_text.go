package suite

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"crosstalk/measure/langid"
	lid "crosstalk/measure/langid/embedded"
	"crosstalk/measure/similarity/gloss"

	"golang.org/x/text/unicode/norm"
)

// mentions reports whether the text contains the phrase in any case and inflection. language is the text's, BCP
// 47.
func mentions(text, phrase, language string) bool {
	if unspaced(phrase) {
		return strings.Contains(strings.ToLower(text), strings.ToLower(phrase))
	}
	phraseWords, textWords := wordsOf(phrase), wordsOf(text)
	if len(phraseWords) == 0 {
		return false
	}
	for i := range len(textWords) - len(phraseWords) + 1 {
		if slices.EqualFunc(textWords[i:i+len(phraseWords)], phraseWords,
			func(a, b string) bool { return inflected(a, b, language) }) {
			return true
		}
	}
	return false
}

// wordsOf returns the words of a text in lower case without accents.
func wordsOf(text string) []string {
	text = strings.NewReplacer("'s ", " ", "’s ", " ").Replace(strings.ToLower(text) + " ")
	text = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) && r < 0x0400 {
			return -1
		}
		return r
	}, norm.NFD.String(text))
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.In(r, unicode.L, unicode.M, unicode.N) })
}

// inflected reports whether two words are forms of one word, judged by spelling.
func inflected(a, b, language string) bool {
	switch {
	case a == b:
		return true
	case language == "" || language == "en" || strings.HasPrefix(language, "en-"):
		return englishStem(a) == englishStem(b) || lemma(a) != "" && lemma(a) == lemma(b)
	case strings.HasPrefix(language, "he") || strings.HasPrefix(language, "ar"):
		return withoutParticle(a) == withoutParticle(b)
	}
	x, y := []rune(a), []rune(b)
	shorter, longer := min(len(x), len(y)), max(len(x), len(y))
	same := 0
	for same < shorter && x[same] == y[same] {
		same++
	}
	if !unicode.Is(unicode.Latin, x[0]) { // only their endings may differ, as in Russian and Hindi
		return same == 3 && same == shorter && longer <= 5 || same >= 4 && same >= shorter-2 && longer-same <= 3
	}
	return same >= 4 && same == shorter && longer-same <= 3 ||
		same >= 3 && same == longer-1 && same == shorter-1 && isVowel(x[same]) && isVowel(y[same]) // gato, gata
}

// lemma returns the base form of an English word if gloss has just one: "mouse" for "mice"; else "".
func lemma(w string) string {
	v, err := gloss.Load()
	if err != nil {
		return ""
	}
	if forms := v.Lemmas(w); len(forms) == 1 {
		return forms[0]
	}
	return ""
}

// withoutArticle removes short words from the start: "mouse" for "a mouse".
func withoutArticle(text string) string {
	for {
		first, rest, more := strings.Cut(text, " ")
		if !more || utf8.RuneCountInString(first) > 3 {
			return text
		}
		text = rest
	}
}

func isVowel(r rune) bool { return strings.ContainsRune("aeiou", r) }

func englishStem(w string) string {
	for _, ending := range []struct{ from, to string }{{"ies", "y"}, {"ied", "y"}, {"sses", "ss"}, {"ches", "ch"},
		{"shes", "sh"}, {"xes", "x"},
		{"zes", "z"}, {"ss", "ss"}, {"us", "us"}, {"s", ""}, {"ing", ""}, {"ed", ""}} {
		stem, ok := strings.CutSuffix(w, ending.from)
		if !ok || len(stem) < 3 && ending.to == "" {
			continue
		}
		w = stem + ending.to
		if ending.from == "ing" || ending.from == "ed" {
			if n := len(w); w[n-1] == w[n-2] && !strings.ContainsRune("aeiouls", rune(w[n-1])) {
				w = w[:n-1]
			}
		}
		break
	}
	if len(w) > 3 {
		w = strings.TrimSuffix(w, "e")
	}
	return w
}

// withoutParticle removes Hebrew and Arabic articles, prepositions and conjunctions that are written as part of a
// word.
func withoutParticle(w string) string {
	for _, particle := range []string{"وال", "بال", "كال", "فال", "لل", "ال", "וה", "שה", "מה", "ה", "ב", "ל", "ו", "מ",
		"כ", "ש", "و", "ب", "ل", "ف", "ك"} {
		if rest, ok := strings.CutPrefix(w, particle); ok && utf8.RuneCountInString(rest) >= 3 {
			return rest
		}
	}
	return w
}

func unspaced(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer,
			unicode.Myanmar)
	})
}

// cutLast splits a text before its last sentence. In a text of one sentence, before is empty.
func cutLast(text string) (before, last string) {
	text = strings.TrimSpace(text)
	cut := 0
	for i, r := range text {
		end := i + utf8.RuneLen(r)
		switch r {
		case '.', '!', '?', '…', '؟', '।':
			if strings.HasPrefix(text[end:], " ") && end+1 < len(text) {
				cut = end
			}
		case '。', '！', '？', '\n':
			if end < len(text) {
				cut = end
			}
		}
	}
	return strings.TrimSpace(text[:cut]), strings.TrimSpace(text[cut:])
}

// nearDuplicates returns the pairs of texts, by index, that share nine tenths of their words; none if there are too
// many texts.
func nearDuplicates(texts []string) (pairs [][2]int) {
	const comparable, share = 3000, 0.9
	if len(texts) > comparable {
		return nil
	}
	sets := make([]map[string]bool, len(texts))
	for i, text := range texts {
		words := wordsOf
		if unspaced(text) {
			words = characterPairs
		}
		sets[i] = map[string]bool{}
		for _, word := range words(text) {
			sets[i][word] = true
		}
	}
	for j := range sets {
		for i := range j {
			a, b := sets[i], sets[j]
			if len(a) > len(b) {
				a, b = b, a
			}
			if len(a) == 0 || float64(len(a)) < share*float64(len(b)) {
				continue
			}
			both := 0
			for word := range a {
				if b[word] {
					both++
				}
			}
			if float64(both) >= share*float64(len(a)+len(b)-both) {
				pairs = append(pairs, [2]int{i, j})
			}
		}
	}
	return pairs
}

func characterPairs(text string) (pairs []string) {
	runes := []rune(text)
	for i := 1; i < len(runes); i++ {
		pairs = append(pairs, string(runes[i-1:i+1]))
	}
	return pairs
}

// otherLanguage reports whether a text is certainly not in the language, BCP 47, and returns its language. It is made
// for texts of several words: shorter ones pass, and so do languages that the embedded identifier does not know.
func otherLanguage(text, language string) (found string, other bool) {
	code, _, _ := langid.Parse(language)
	identifier := lid.Identifier()
	letters := 0
	for _, r := range text {
		if unicode.IsLetter(r) {
			letters++
		}
		if unspaced(string(r)) {
			letters += 2
		}
	}
	if letters < 20 || !slices.Contains(identifier.Labels(), code) {
		return "", false
	}
	guesses := identifier.Predict(text)
	if len(guesses) == 0 || guesses[0].Label == code || guesses[0].Probability < 0.9 {
		return "", false
	}
	related := func(group []string) bool {
		return slices.Contains(group, guesses[0].Label) && slices.Contains(group, code)
	}
	if slices.ContainsFunc(groups, related) {
		return "", false
	}
	for _, g := range guesses {
		if g.Label == code {
			return guesses[0].Label, g.Probability < 0.02
		}
	}
	return guesses[0].Label, true
}

// groups are languages so similar that a sentence of one is often identified as another.
var groups = [][]string{
	{"be", "bg", "mk", "ru", "sr", "uk"}, {"bs", "hr", "sl", "sr"}, {"cs", "sk"}, {"da", "nb", "nn", "no", "sv"},
	{"ast", "ca", "es", "gl", "pt"}, {"hi", "mr", "ne"}, {"id", "ms"}, {"wuu", "yue", "zh"},
}
