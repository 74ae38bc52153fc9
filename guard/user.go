package guard

import (
	"slices"
	"strings"
	"unicode"

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

// UserLanguage returns the language that the answer to a user's messages, the oldest first, should be in: that of the
// last message that tells one, a tag with the script of Chinese where the characters tell it. It is "" if none of the
// messages tells a language, a later one is in another, or one asks for an answer in another.
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
	if tag == "" {
		return ""
	}
	base, _, _ := strings.Cut(tag, "-")
	for i, m := range messages {
		if slices.ContainsFunc(asksFor(m, base, letters(m) < brief), func(l string) bool { return l != base }) {
			return ""
		}
		if i > from {
			if j, err := k.Check(m, tag); err == nil && j.Verdict == Wrong {
				return ""
			}
		}
	}
	return tag
}

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
