package guard

import (
	"slices"
	"strings"
	"unicode"

	"crosstalk/internal/lazyregexp"
	"crosstalk/measure/langid/chinese"
	"crosstalk/measure/langid/words"
)

// Limits of the rule for a user's language.
const (
	LookBack    = 20      // messages of the user that are read, the last ones
	leastSaid   = 10      // letters of a message that tells its language
	leastSure   = 0.5     // probability of the identifier
	sureAlone   = 0.9     // the same, of little text in a language without a thorough model of words
	brief       = 20      // letters of a message that asks for an answer in another language by naming it
	longMessage = 8 << 10 // bytes that are read at each end of a message
)

// UserLanguage returns the language that the answer to a user's messages, the oldest first, should be in: the one that
// the last message plainly asks for ("answer in French", "translate to German"), or that of the last message that tells
// one, a tag with the script of Chinese where the characters tell it. It is "" if none of the messages tells a
// language, a later one is in another, or one asks for another language in other words, or before the last.
func (k Checker) UserLanguage(messages ...string) string {
	k.Threshold = Warn // a message may have names and loan words
	messages = slices.Clone(messages[max(0, len(messages)-LookBack):])
	tag, from := "", 0
	for i, m := range slices.Backward(messages) {
		messages[i] = bothEnds(m)
		if tag == "" {
			tag, from = k.languageOf(messages[i]), i
		}
	}
	base, _, _ := strings.Cut(tag, "-")
	for i, m := range messages {
		few := letters(m) < brief
		if slices.ContainsFunc(asksFor(m, base, few), func(l string) bool { return l != base }) {
			if i == len(messages)-1 {
				return commanded(m, base, few)
			}
			return ""
		}
		if i > from && tag != "" {
			if j, err := k.Check(m, tag); err == nil && j.Verdict == Wrong {
				return ""
			}
		}
	}
	return tag
}

// commanded returns the one language that a message commands an answer, or a translation, in: "" if that is not plain.
// What is asked ("How do you write that in Polish?") is answered in another language.
func commanded(message, said string, brief bool) (language string) {
	for _, sentence := range sentence().FindAllString(message, -1) {
		asked := asksFor(sentence, said, false)
		for _, l := range asked {
			switch {
			case l == "":
			case language != "" && l != language, strings.ContainsAny(sentence, "?？؟;") || !brief && !commands(sentence),
				l == "zh" && asked[0] == "", !slices.Contains(languages(), l): // in one of two scripts, perhaps
				return ""
			default:
				language = l
			}
		}
	}
	return language
}

// sentence matches what ends in a mark, or announces another sentence.
var sentence = lazyregexp.New(`[^.!?;:\n。！？؟：।]*[.!?;:\n。！？؟：।]?`)

// languageOf returns the language of a message, "" if it is short, the identifier is not sure, or Check does not find
// that the whole message is in that language.
func (k Checker) languageOf(message string) string {
	c := &check{text: message}
	c.masks = unquoted(c.parse())
	text := c.plain(c.blocks)
	if letters(text) < leastSaid {
		return ""
	}
	guess := k.identifier().Identify(text)
	if guess.Probability < leastSure ||
		guess.Probability < sureAlone && len(text) < littleText && !words.Thorough(guess.Language) {
		return ""
	}
	if j, err := k.Check(message, guess.Language); err == nil && j.Verdict != Right {
		return ""
	}
	if guess.Language == "zh" {
		simplified, traditional := chinese.Count(text)
		switch {
		case simplified > 3*traditional && simplified > 1:
			return "zh-Hans"
		case traditional > 3*simplified && traditional > 1:
			return "zh-Hant"
		}
	}
	return guess.Language
}

// letters counts the letters of a text. One of Chinese, Japanese, Korean and Thai says as much as three.
func letters(text string) (n int) {
	for _, r := range text {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai):
			n += 3
		case unicode.IsLetter(r):
			n++
		}
	}
	return n
}

// bothEnds shortens a long message: what the user wants is before or after what is pasted.
func bothEnds(message string) string {
	if len(message) <= 2*longMessage {
		return message
	}
	first, last := message[:longMessage], message[len(message)-longMessage:]
	return strings.ToValidUTF8(first, "") + "\n" + strings.ToValidUTF8(last, "")
}
