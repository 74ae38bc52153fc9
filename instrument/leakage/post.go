package leakage

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Post says what is cut off an answer before it is scored.
type Post string

const (
	None         Post = "none"          // nothing (Smilga's notebook)
	Period       Post = "period"        // all after the first period
	PromptPeriod Post = "prompt-period" // the prompt, wherever the answer repeats it, then all after the first period (Gonen et al. 2024, section 4)
	Stop         Post = "stop"          // all after the first . ! or ? (Smilga 2025)
	Sentence     Post = "sentence"      // a repeated prompt at the start, then all after the first sentence; knows initials, abbreviations and decimals
)

// Posts are all ways of post-processing.
var Posts = []Post{None, Period, PromptPeriod, Stop, Sentence}

// ParsePost reads the name of a way of post-processing.
func ParsePost(name string) (Post, error) {
	if !slices.Contains(Posts, Post(name)) {
		return "", fmt.Errorf("post-processing %q is unknown: choose one of %v", name, Posts)
	}
	return Post(name), nil
}

// Instruction is what may stand before a prompt without being part of it.
const Instruction = "Complete the sentence:"

// apply returns the part of answer that is scored. prompt is the prompt as
// the item has it. The result has no white space around it.
func (p Post) apply(answer, prompt string) string {
	bare := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(prompt), Instruction))
	switch p {
	case Period:
		answer = cutAfter(answer, ".")
	case PromptPeriod:
		if bare != "" {
			answer = strings.ReplaceAll(answer, Instruction+" "+bare, "")
			answer = strings.ReplaceAll(answer, bare, "")
		}
		answer = cutAfter(answer, ".")
	case Stop:
		answer = cutAfter(answer, ".!?")
	case Sentence:
		answer = strings.TrimSpace(answer)
		for _, repeated := range []string{Instruction, bare} {
			if rest, ok := cutPrefixFold(answer, repeated); ok {
				answer = strings.TrimSpace(rest)
			}
		}
		answer = firstSentence(strings.TrimLeft(answer, ".…,:;- \t\n"))
	}
	return strings.TrimSpace(answer)
}

// cutAfter cuts s behind the first of the marks.
func cutAfter(s, marks string) string {
	if i := strings.IndexAny(s, marks); i >= 0 {
		return s[:i+1]
	}
	return s
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if prefix == "" || len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// Abbreviations whose period ends no sentence.
var abbreviations = map[string]bool{
	"mr": true, "mrs": true, "ms": true, "dr": true, "prof": true, "st": true, "mt": true, "jr": true, "sr": true,
	"vs": true, "etc": true, "no": true, "e.g": true, "i.e": true, "approx": true, "inc": true, "ltd": true, "co": true,
}

// firstSentence cuts s behind its first sentence: at a line break, at a
// Chinese, Japanese or Hindi full stop, or at . ! ? … before white space, a
// closing mark or the end, unless the period belongs to an initial, an
// abbreviation or an ellipsis that goes on in lower case.
func firstSentence(s string) string {
	for i, r := range s {
		end := i + utf8.RuneLen(r)
		if r == utf8.RuneError {
			continue
		}
		switch r {
		case '\n':
			return s[:i]
		case '。', '！', '？', '।', '؟':
			return s[:end]
		case '.', '!', '?', '…':
			next, size := utf8.DecodeRuneInString(s[end:])
			switch {
			case next == '.' || next == '!' || next == '?':
				continue // the last of a run decides
			case size > 0 && !unicode.IsSpace(next) && !unicode.In(next, unicode.Pe, unicode.Pf, unicode.Po):
				continue
			case r == '.' && size > 0 && isAbbreviation(s[:i]):
				continue
			}
			if following := strings.TrimLeft(s[end:], " "); r == '…' || r == '.' && strings.HasSuffix(s[:i], "..") {
				if c, _ := utf8.DecodeRuneInString(following); unicode.IsLower(c) {
					continue
				}
			}
			return s[:end]
		}
	}
	return s
}

// isAbbreviation reports whether before, the text up to a period, ends with an
// initial or an abbreviation.
func isAbbreviation(before string) bool {
	word := before[strings.LastIndexFunc(before, func(r rune) bool { return unicode.IsSpace(r) || r == '(' || r == '"' })+1:]
	if abbreviations[strings.ToLower(word)] {
		return true
	}
	last, size := utf8.DecodeLastRuneInString(word)
	if !unicode.IsUpper(last) {
		return false
	}
	rest := word[:len(word)-size]
	return rest == "" || strings.HasSuffix(rest, ".") // "J" of J. K., the second letter of P.E.
}

// remove cuts every occurrence of the words out of text, as whole words and in
// any case, with a possessive 's. Stories repeat the child's name, and the name
// is the concept (Gonen et al. 2024, section 5).
func remove(text string, words []string) string {
	for _, w := range words {
		if w = strings.TrimSpace(w); w == "" {
			continue
		}
		// A match takes the marks around the word with it, so that of two words
		// side by side the second is found only the next time.
		for before := ""; before != text; {
			before, text = text, wordPattern(w).ReplaceAllString(text, "$1$2")
		}
	}
	if len(words) > 0 {
		text = strings.Join(strings.Fields(text), " ")
	}
	return text
}

var patterns sync.Map // word -> *regexp.Regexp

func wordPattern(word string) *regexp.Regexp {
	if p, ok := patterns.Load(word); ok {
		return p.(*regexp.Regexp)
	}
	var b strings.Builder
	for i, part := range strings.Fields(word) {
		if i > 0 {
			b.WriteString(`\s+`)
		}
		b.WriteString(regexp.QuoteMeta(part))
	}
	p := regexp.MustCompile(`(?i)(^|[^\pL\pN])` + b.String() + `(?:['’]s)?([^\pL\pN]|$)`)
	patterns.Store(word, p)
	return p
}
