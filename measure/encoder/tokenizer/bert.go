package tokenizer

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// bertNormalizer cleans text as BERT's basic tokenizer does.
type bertNormalizer struct {
	Clean   bool  `json:"clean_text"`
	Chinese bool  `json:"handle_chinese_chars"`
	Strip   *bool `json:"strip_accents"` // nil: as Lower
	Lower   bool  `json:"lowercase"`
}

// override applies explicit settings of tokenizer_config.json.
func (n *bertNormalizer) override(c config) {
	if c.Lower != nil {
		n.Lower = *c.Lower
	}
	if c.Strip != nil {
		n.Strip = c.Strip
	}
	if c.Chinese != nil {
		n.Chinese = *c.Chinese
	}
}

func (n *bertNormalizer) normalize(text string) string {
	var b strings.Builder
	b.Grow(len(text) + len(text)/8)
	ascii := true
	for _, r := range text {
		switch {
		case n.Clean && (r == 0 || r == utf8.RuneError || isControl(r)):
		case n.Clean && unicode.IsSpace(r):
			b.WriteByte(' ')
		case n.Chinese && isChinese(r):
			b.WriteByte(' ')
			b.WriteRune(r)
			b.WriteByte(' ')
			ascii = false
		default:
			b.WriteRune(r)
			ascii = ascii && r < utf8.RuneSelf
		}
	}
	text = b.String()
	if strip := n.Strip; !ascii && (strip != nil && *strip || strip == nil && n.Lower) {
		text = remove(norm.NFD.String(text), unicode.Mn)
	}
	if n.Lower {
		text = lower(text)
	}
	return text
}

// isControl reports whether BERT drops r: controls but tab and line ends, format characters and private use.
func isControl(r rune) bool {
	return r != '\t' && r != '\n' && r != '\r' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co)
}

// isChinese reports whether BERT makes r a separate word. The table follows the Rust library, which leaves out
// U+2B820 to U+2B91F.
func isChinese(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF || r >= 0x3400 && r <= 0x4DBF || r >= 0x20000 && r <= 0x2A6DF ||
		r >= 0x2A700 && r <= 0x2B81F || r >= 0x2B920 && r <= 0x2CEAF || r >= 0xF900 && r <= 0xFAFF ||
		r >= 0x2F800 && r <= 0x2FA1F
}

// lower maps each character alone, so that a final sigma is like any other.
func lower(s string) string {
	if strings.ContainsRune(s, 'İ') { // the one letter whose lower case is two
		s = strings.ReplaceAll(s, "İ", "i\u0307")
	}
	return strings.Map(unicode.ToLower, s)
}

func remove(s string, table *unicode.RangeTable) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(table, r) {
			return -1
		}
		return r
	}, s)
}

// splitBERT splits at white space and makes each punctuation mark a word.
func splitBERT(text string, words []string) []string {
	from := 0
	cut := func(to int) {
		if from < to {
			words = append(words, text[from:to])
		}
	}
	for i, r := range text {
		space := unicode.IsSpace(r)
		if !space && !isPunctuation(r) {
			continue
		}
		cut(i)
		from = i + utf8.RuneLen(r)
		if !space {
			words = append(words, text[i:from])
		}
	}
	cut(len(text))
	return words
}

// isPunctuation counts all ASCII symbols, and category P beyond.
func isPunctuation(r rune) bool {
	if r < utf8.RuneSelf {
		return r > ' ' && r < 0x7F && !('0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z')
	}
	return unicode.Is(unicode.P, r)
}

// newBERT makes the tokenizer of a BERT that has only a vocab.txt, one token a line, its number being its id.
func newBERT(vocab string, c config) (*Tokenizer, error) {
	w := &wordPiece{vocab: map[string]int32{}, prefix: "##", maxChars: 100}
	for i, line := range strings.Split(strings.TrimSuffix(vocab, "\n"), "\n") {
		w.vocab[strings.TrimSuffix(line, "\r")] = int32(i)
	}
	n := &bertNormalizer{Clean: true, Chinese: true, Lower: true}
	n.override(c)
	t := &Tokenizer{normalize: n.normalize, split: each(splitBERT), model: w}
	add := func(given token, standard string, needed bool) (int32, error) {
		name := cmp.Or(string(given), standard)
		id, ok := w.vocab[name]
		if ok {
			t.added = append(t.added, addedToken{ID: id, Content: name})
		} else if needed {
			return 0, fmt.Errorf("the vocabulary has no token %q", name)
		}
		return id, nil
	}
	unknown, err1 := add(c.UNK, "[UNK]", true)
	cls, err2 := add(c.CLS, "[CLS]", true)
	sep, err3 := add(c.SEP, "[SEP]", true)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	add(c.PAD, "[PAD]", false)
	add(c.Mask, "[MASK]", false)
	w.unknown, t.before, t.after = unknown, []int32{cls}, []int32{sep}
	sortAdded(t.added)
	return t, nil
}

// wordPiece cuts off the longest piece of the vocabulary that begins the rest of a word, again and again; the pieces
// after the first carry a prefix.
type wordPiece struct {
	vocab    map[string]int32
	unknown  int32
	prefix   string
	maxChars int // a longer word is unknown
}

func (w *wordPiece) encode(ids []int32, word string) []int32 {
	if utf8.RuneCountInString(word) > w.maxChars {
		return append(ids, w.unknown)
	}
	first, prefix := len(ids), ""
	for word != "" {
		n := len(word)
		id, ok := w.vocab[prefix+word]
		for !ok && n > 0 {
			_, last := utf8.DecodeLastRuneInString(word[:n])
			if n -= last; n > 0 {
				id, ok = w.vocab[prefix+word[:n]]
			}
		}
		if !ok {
			return append(ids[:first], w.unknown)
		}
		ids = append(ids, id)
		word, prefix = word[n:], w.prefix
	}
	return ids
}
