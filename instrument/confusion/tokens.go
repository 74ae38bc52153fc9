package confusion

import (
	"strings"
	"unicode/utf8"

	"crosstalk"
	"crosstalk/measure/pytext"
)

// piece is the place of a token in the text: the bytes [start, end). Tokens that are not part of the text have
// none: a model's thoughts before it, its end, and everything after a token that cannot be found. A token that is a
// part of a character may be empty.
type piece struct{ start, end int }

var nowhere = piece{-1, -1}

func align(text string, tokens []crosstalk.TokenLogprob) []piece {
	pieces := make([]piece, len(tokens))
	var all strings.Builder
	for _, t := range tokens {
		all.WriteString(bytesOf(t))
	}
	from := 0
	if !strings.HasPrefix(all.String(), text) {
		from = strings.LastIndex(all.String(), text)
	}
	if from < 0 {
		alignOneByOne(text, tokens, pieces)
		return pieces
	}
	at := -from
	for i, t := range tokens {
		next := at + len(bytesOf(t))
		pieces[i] = piece{max(at, 0), min(next, len(text))}
		if at >= len(text) || next < 0 || next == 0 && at < 0 {
			pieces[i] = nowhere
		}
		at = next
	}
	return pieces
}

func bytesOf(t crosstalk.TokenLogprob) string {
	if t.Bytes != nil {
		return string(t.Bytes)
	}
	return t.Token
}

// alignOneByOne finds tokens that do not join to the text. The server may have cut off white space, and may not
// tell the bytes of tokens that are parts of characters: it writes U+FFFD instead (vLLM), so that the characters
// have to go to the first of them, or each byte as a character of Latin-1 (SGLang).
func alignOneByOne(text string, tokens []crosstalk.TokenLogprob, pieces []piece) {
	at, broken := 0, -1 // the first of the broken tokens that end where the next token begins
	for i, t := range tokens {
		token, room := bytesOf(t), 0
		switch {
		case broken >= 0:
			room = utf8.UTFMax * (i - broken)
		case at == 0 && !strings.HasPrefix(text, token):
			token = strings.TrimLeftFunc(token, pytext.IsSpace)
		}
		pieces[i] = piece{at, at}
		if token == "" {
			continue
		}
		gap := strings.Index(text[at:min(len(text), at+room+len(token))], token)
		if raw := latin1(token); gap < 0 && raw != "" && strings.HasPrefix(text[at:], raw) {
			token, gap = raw, 0
		}
		if gap < 0 && strings.ContainsRune(token, utf8.RuneError) {
			if broken < 0 {
				broken = i
			}
			continue
		}
		if gap < 0 {
			for ; i < len(pieces); i++ {
				pieces[i] = nowhere
			}
			return
		}
		if broken >= 0 {
			pieces[broken].end, broken = at+gap, -1
		}
		at += gap
		pieces[i] = piece{at, at + len(token)}
		at += len(token)
	}
	if broken >= 0 {
		pieces[broken].end = len(text)
	}
}

// latin1 is the bytes that a text of Latin-1 characters encodes, or "".
func latin1(s string) string {
	var b []byte
	for _, r := range s {
		if r > 0xFF {
			return ""
		}
		b = append(b, byte(r))
	}
	return string(b)
}
