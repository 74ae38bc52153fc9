package translation

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"crosstalk/measure/pytext"
)

// A Tokenizer names one of sacreBLEU's rules to split a segment into the words that BLEU counts. The empty name means
// 13a.
type Tokenizer string

const (
	Tokenize13a  Tokenizer = "13a"  // mteval-v13a.pl, for languages that put spaces between words
	TokenizeZh   Tokenizer = "zh"   // every Chinese character a word, the rest as 13a
	TokenizeChar Tokenizer = "char" // every character a word
)

var tokenizers = []Tokenizer{Tokenize13a, TokenizeZh, TokenizeChar}

// TokenizerFor returns the customary tokenizer for an ISO 639-1 language code (a region or script after it is ignored):
// zh for Chinese, char for the other languages that write no spaces between words, 13a for the rest.
func TokenizerFor(lang string) Tokenizer {
	lang, _, _ = strings.Cut(strings.ReplaceAll(strings.ToLower(lang), "_", "-"), "-")
	switch lang {
	case "zh":
		return TokenizeZh
	case "ja", "th", "lo", "km", "my", "bo":
		return TokenizeChar
	}
	return Tokenize13a
}

func (t Tokenizer) orDefault() Tokenizer {
	if t == "" {
		return Tokenize13a
	}
	return t
}

func (t Tokenizer) check() error {
	if !slices.Contains(tokenizers, t.orDefault()) {
		return fmt.Errorf("translation: unknown tokenizer %q; choose one of: 13a, zh, char", string(t))
	}
	return nil
}

// Tokenize splits a segment into words. It fails only if t is unknown.
func (t Tokenizer) Tokenize(line string) ([]string, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	var r rewriter
	var words []string
	for word := range fields(r.rewrite(t, line)) {
		words = append(words, string(word))
	}
	return words, nil
}

// A rewriter inserts white space between the words of a line. It reuses its buffers: the result of rewrite is valid
// until the next call.
type rewriter struct{ a, b []byte }

// rewrite spaces out line as tokenizer t, which must be known, prescribes. White space at the end is cut first, as
// sacreBLEU does for every tokenizer.
func (r *rewriter) rewrite(t Tokenizer, line string) []byte {
	line = pytext.TrimRightSpace(line)
	switch t {
	case TokenizeZh:
		return r.rewriteZh(line)
	case TokenizeChar:
		return r.rewriteChar(line)
	}
	return r.rewrite13a(line)
}

// rewriteChar is sacreBLEU's char tokenizer.
func (r *rewriter) rewriteChar(line string) []byte {
	r.a = r.a[:0]
	for len(line) > 0 {
		_, n := utf8.DecodeRuneInString(line)
		r.a = append(append(r.a, line[:n]...), ' ')
		line = line[n:]
	}
	return r.a
}

// fields yields the runs of text between white space, as str.split cuts them.
func fields(text []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		start := -1 // of the current word
		for i := 0; i < len(text); {
			space, n := asciiSpace[text[i]], 1
			if text[i] >= utf8.RuneSelf {
				var c rune
				c, n = utf8.DecodeRune(text[i:])
				space = pytext.IsSpace(c)
			}
			if space && start >= 0 {
				if !yield(text[start:i]) {
					return
				}
				start = -1
			} else if !space && start < 0 {
				start = i
			}
			i += n
		}
		if start >= 0 {
			yield(text[start:])
		}
	}
}

var asciiSpace = func() (t [256]bool) {
	for c := range rune(utf8.RuneSelf) {
		t[c] = pytext.IsSpace(c)
	}
	return t
}()
