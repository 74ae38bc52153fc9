package settle

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"crosstalk"
	"crosstalk/model/thoughts"
)

// endToken is the token that ends an answer, which most servers count.
const endToken = 1

// atStop cuts an answer at the first stop sequence. A server that knows the
// sequences has done it; some models refuse them, and some gateways drop them.
func atStop(a *crosstalk.Answer, sequences []string) {
	at := -1
	for _, s := range sequences {
		if i := strings.Index(a.Text, s); s != "" && i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	if at >= 0 {
		cut(a, at)
		a.Finish, a.Reason = crosstalk.FinishStop, string(crosstalk.FinishStop)
	}
}

// atLimit cuts a visible answer that is longer than limit tokens, as the server
// would have cut it had the model not had room for thoughts.
//
// Where log probabilities give the answer's tokens, the cut is exact. Else the number of visible tokens is what usage
// says, without the reasoning tokens, or, where usage does not tell them apart, the share that the answer has of all
// that was written; and the same share of the answer's characters is kept, back to the end of a word in scripts that
// separate words. The error is that of taking tokens for equally long: a few characters in a text of one kind.
func atLimit(a *crosstalk.Answer, limit int, thought bool) {
	if spelled(a.Logprobs) == a.Text && len(a.Logprobs) > 0 {
		if len(a.Logprobs) > limit {
			cut(a, whole(a.Text, len(spelled(a.Logprobs[:limit]))))
			a.Logprobs = a.Logprobs[:limit]
			a.Finish, a.Reason = crosstalk.FinishLength, string(crosstalk.FinishLength)
		}
		return
	}
	n := visibleTokens(*a, thought)
	if a.Finish != crosstalk.FinishLength {
		n -= endToken
	}
	if n <= float64(limit) {
		return
	}
	cut(a, boundary(a.Text, float64(limit)/n))
	a.Finish, a.Reason = crosstalk.FinishLength, string(crosstalk.FinishLength)
}

// visibleTokens is how many tokens the answer has without its thoughts.
func visibleTokens(a crosstalk.Answer, thought bool) float64 {
	said, completion := guess(a.Text), float64(a.Usage.Completion)
	switch {
	case completion == 0:
		return said
	case a.Usage.Reasoning > 0:
		return completion - float64(a.Usage.Reasoning)
	case a.Reasoning != "":
		return completion * said / (said + guess(a.Reasoning))
	case thought: // billed together and not shown
		return min(said, completion)
	}
	return completion
}

// guess is about how many tokens a text has: a token for four ASCII characters,
// for each character of a script without spaces, or for two of any other.
func guess(text string) float64 {
	n := 0.0
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
			n += 0.25
		case unspaced(r):
			n++
		default:
			n += 0.5
		}
	}
	return n
}

// boundary is where a text ends of which a share in (0, 1) of the characters is
// kept: not inside a word, unless that is the only one.
func boundary(text string, share float64) int {
	keep := int(float64(utf8.RuneCountInString(text)) * share)
	at := 0
	for range keep {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	end := at
	for end > 0 {
		before, size := utf8.DecodeLastRuneInString(text[:end])
		after, _ := utf8.DecodeRuneInString(text[end:])
		if !joined(before, after) {
			break
		}
		end -= size
	}
	if end = len(strings.TrimRightFunc(text[:end], unicode.IsSpace)); end == 0 {
		return at
	}
	return end
}

// joined reports whether a text that is cut between two characters is cut inside a word or a character.
func joined(before, after rune) bool {
	return unicode.IsMark(after) || wordly(before) && wordly(after) && !unspaced(before) && !unspaced(after)
}

func wordly(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer,
		unicode.Myanmar)
}

// cut ends an answer at a byte, its log probabilities with it.
func cut(a *crosstalk.Answer, at int) {
	a.Text = a.Text[:at]
	from := 0
	for i, l := range a.Logprobs {
		if from >= at {
			a.Logprobs = a.Logprobs[:i]
			return
		}
		from += len(bytesOf(l))
	}
}

// whole is at, or the start of the character that it is inside of.
func whole(text string, at int) int {
	for at < len(text) && at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

func bytesOf(l crosstalk.TokenLogprob) string {
	if l.Bytes != nil {
		return string(l.Bytes)
	}
	return l.Token
}

func spelled(tokens []crosstalk.TokenLogprob) string {
	var b strings.Builder
	for _, l := range tokens {
		b.WriteString(bytesOf(l))
	}
	return b.String()
}

// visible keeps the tokens of the visible answer. Text is what the server gave as the answer: the tokens may spell
// thoughts before it, as vLLM's do, and text may contain thoughts itself. A token that a marker and the answer share
// is left out. None are kept if the tokens do not spell the text.
func visible(tokens []crosstalk.TokenLogprob, text string) (kept []crosstalk.TokenLogprob) {
	all := spelled(tokens)
	base := -1
	at := 0
	for _, l := range tokens { // the last place where the text begins with a token
		if strings.HasPrefix(all[at:], text) {
			base = at
		}
		at += len(bytesOf(l))
	}
	if base < 0 {
		base = strings.LastIndex(all, text)
	}
	if base < 0 || strings.TrimSpace(text) == "" {
		return nil
	}
	at = -base
	parts := thoughts.Parts(text)
	for _, l := range tokens {
		for len(parts) > 0 && at >= parts[0].End {
			parts = parts[1:]
		}
		if len(parts) > 0 && at >= parts[0].Start && parts[0].Kind == thoughts.Answer {
			kept = append(kept, l)
		}
		at += len(bytesOf(l))
	}
	return kept
}
