package tokenizer

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"golang.org/x/text/unicode/norm"
)

// simple are the normalizers without settings.
var simple = map[string]func(string) string{"NFC": norm.NFC.String, "NFD": norm.NFD.String, "NFKC": norm.NFKC.String,
	"NFKD": norm.NFKD.String, "Lowercase": lower, "StripAccents": func(s string) string { return remove(s, unicode.M) }}

func parseNormalizer(raw json.RawMessage, c config) (func(string) string, error) {
	var n struct {
		Type    string
		Parts   []json.RawMessage `json:"normalizers"`
		Map     []byte            `json:"precompiled_charsmap"`
		Content string
		Pattern struct{ String, Regex string }
		Left    bool `json:"strip_left"`
		Right   bool `json:"strip_right"`
		bertNormalizer
	}
	if present, err := decodePart("normalizer", raw, &n); err != nil || !present {
		return same, err
	}
	if f, ok := simple[n.Type]; ok {
		return f, nil
	}
	switch n.Type {
	case "Sequence":
		return sequence(n.Parts, func(raw json.RawMessage) (func(string) string, error) { return parseNormalizer(raw, c) })
	case "BertNormalizer":
		n.override(c)
		return n.normalize, nil
	case "Precompiled":
		m, err := newCharMap(n.Map)
		return m.normalize, err
	case "Strip":
		return func(s string) string {
			if n.Left {
				s = strings.TrimLeftFunc(s, unicode.IsSpace)
			}
			if n.Right {
				s = strings.TrimRightFunc(s, unicode.IsSpace)
			}
			return s
		}, nil
	case "Replace":
		if n.Pattern.String != "" {
			return func(s string) string { return strings.ReplaceAll(s, n.Pattern.String, n.Content) }, nil
		}
		if n.Pattern.Regex == "" {
			return nil, errors.New("normalizer: Replace without a pattern")
		}
		re, err := regexp.Compile(n.Pattern.Regex)
		if err != nil {
			return nil, fmt.Errorf("normalizer: Replace: %w", err)
		}
		return func(s string) string { return re.ReplaceAllLiteralString(s, n.Content) }, nil
	}
	return nil, fmt.Errorf("normalizer %q is not supported", n.Type)
}

// charMap is SentencePiece's table of replacements: a double-array trie (Aoe 1989) from UTF-8 to offsets of texts.
type charMap struct {
	units []uint32
	texts string
}

func newCharMap(b []byte) (*charMap, error) {
	if len(b) < 4 {
		return nil, fmt.Errorf("normalizer: precompiled_charsmap has %d bytes", len(b))
	}
	size := binary.LittleEndian.Uint32(b)
	b = b[4:]
	if int64(size) > int64(len(b)) || size%4 != 0 {
		return nil, fmt.Errorf("normalizer: precompiled_charsmap has a trie of %d bytes in %d", size, len(b))
	}
	m := &charMap{make([]uint32, size/4), string(b[size:])}
	binary.Decode(b, binary.LittleEndian, m.units)
	return m, nil
}

// lookup returns the replacement of the shortest key that is a prefix of s.
func (m *charMap) lookup(s string) (string, bool) {
	unit := func(at uint32) uint32 {
		if int64(at) >= int64(len(m.units)) {
			return 1 << 31 // no label equals it
		}
		return m.units[at]
	}
	offset := func(u uint32) uint32 { return u >> 10 << (u & (1 << 9) >> 6) }
	at := offset(unit(0))
	for i := 0; i < len(s) && s[i] != 0; i++ {
		at ^= uint32(s[i])
		u := unit(at)
		if u&(1<<31|0xff) != uint32(s[i]) {
			return "", false
		}
		at ^= offset(u)
		if u>>8&1 == 1 { // a key ends here
			place := int64(unit(at) & (1<<31 - 1))
			if place >= int64(len(m.texts)) {
				return "", false
			}
			text, _, _ := strings.Cut(m.texts[place:], "\x00")
			return text, true
		}
	}
	return "", false
}

// normalize replaces grapheme clusters, or else their characters. A cluster of less than six bytes is replaced as a
// whole even if only its beginning is a key: the Rust library does so, and models are trained with it.
func (m *charMap) normalize(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	state := -1
	for s != "" {
		var cluster string
		cluster, s, _, state = uniseg.FirstGraphemeClusterInString(s, state)
		if len(cluster) < 6 {
			if text, ok := m.lookup(cluster); ok {
				b.WriteString(text)
				continue
			}
		}
		for _, r := range cluster {
			if text, ok := m.lookup(string(r)); ok {
				b.WriteString(text)
			} else {
				b.WriteRune(r)
			}
		}
	}
	return b.String()
}

// each turns a function that splits one word, and appends its parts, into a splitter of all words.
func each(split func(word string, parts []string) []string) func([]string) []string {
	return func(words []string) []string {
		var parts []string
		for _, w := range words {
			parts = split(w, parts)
		}
		return parts
	}
}

func parseSplitter(raw json.RawMessage) (func([]string) []string, error) {
	var p struct {
		Type        string
		Parts       []json.RawMessage `json:"pretokenizers"`
		Replacement string
		Scheme      string `json:"prepend_scheme"`
		Prefix      *bool  `json:"add_prefix_space"`
		Split       *bool
		Regex       *bool `json:"use_regex"`
	}
	if present, err := decodePart("pre_tokenizer", raw, &p); err != nil || !present {
		return same, err
	}
	yes := func(b *bool) bool { return b == nil || *b }
	switch p.Type {
	case "Sequence":
		return sequence(p.Parts, parseSplitter)
	case "BertPreTokenizer":
		return each(splitBERT), nil
	case "WhitespaceSplit":
		return each(func(w string, parts []string) []string {
			return append(parts, strings.FieldsFunc(w, unicode.IsSpace)...)
		}), nil
	case "Metaspace":
		m := metaspace{p.Replacement, p.Scheme == "always" || p.Scheme == "" && yes(p.Prefix), yes(p.Split)}
		switch {
		case !slices.Contains([]string{"always", "never", ""}, p.Scheme):
			return nil, fmt.Errorf("pre_tokenizer: Metaspace with prepend_scheme %q is not supported, "+
				"expected always or never", p.Scheme)
		case utf8.RuneCountInString(m.mark) != 1:
			return nil, fmt.Errorf("pre_tokenizer: Metaspace with replacement %q, expected one character", m.mark)
		}
		return each(m.apply), nil
	case "ByteLevel":
		b := byteLevel{prefix: yes(p.Prefix), words: yes(p.Regex)}
		return each(b.apply), nil
	}
	return nil, fmt.Errorf("pre_tokenizer %q is not supported", p.Type)
}

// metaspace writes spaces as a visible mark at the start of each word.
type metaspace struct {
	mark   string
	prefix bool // put a mark before the text
	split  bool // split before each mark
}

func (m metaspace) apply(text string, words []string) []string {
	text = strings.ReplaceAll(text, " ", m.mark)
	if m.prefix && text != "" && !strings.HasPrefix(text, m.mark) {
		text = m.mark + text
	}
	for text != "" {
		end := len(text)
		if m.split {
			_, n := utf8.DecodeRuneInString(text)
			if i := strings.Index(text[n:], m.mark); i >= 0 {
				end = n + i
			}
		}
		words = append(words, text[:end])
		text = text[end:]
	}
	return words
}

// byteLevel splits text into words like GPT-2, and writes each byte as a printable character.
type byteLevel struct {
	prefix bool // put a space before the text
	words  bool // split into words
}

func (b byteLevel) apply(text string, words []string) []string {
	if b.prefix && text != "" && text[0] != ' ' {
		text = " " + text
	}
	for text != "" {
		n := len(text)
		if b.words {
			n = gpt2Word(text)
		}
		var w strings.Builder
		for i := range n {
			w.WriteRune(visible[text[i]])
		}
		words = append(words, w.String())
		text = text[n:]
	}
	return words
}

// visible maps bytes to characters: printable Latin-1 to itself, others to U+0100 and up (Radford et al. 2019).
var visible = func() (v [256]rune) {
	next := rune(0x100)
	for b := range rune(256) {
		if b > ' ' && b < 0x7F || b > 0xA0 && b != 0xAD {
			v[b] = b
		} else {
			v[b] = next
			next++
		}
	}
	return v
}()

// gpt2Word returns the length of the first word of text, which is one of: an English clitic ('s 't 're 've 'm 'll 'd);
// letters, digits or other marks, with one space before them; white space, except its last character, which is left for
// the next word.
func gpt2Word(text string) int {
	for _, clitic := range []string{"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"} {
		if strings.HasPrefix(text, clitic) {
			return len(clitic)
		}
	}
	lead := 0
	if text[0] == ' ' {
		lead = 1
	}
	if r, _ := utf8.DecodeRuneInString(text[lead:]); lead < len(text) && !unicode.IsSpace(r) {
		kind := gpt2Kind(r)
		return lead + run(text[lead:], func(r rune) bool { return gpt2Kind(r) == kind })
	}
	n := run(text, unicode.IsSpace)
	if n < len(text) {
		if _, last := utf8.DecodeLastRuneInString(text[:n]); last < n {
			return n - last
		}
	}
	return n
}

func gpt2Kind(r rune) int {
	switch {
	case unicode.IsSpace(r):
		return 0
	case unicode.IsLetter(r):
		return 1
	case unicode.IsNumber(r):
		return 2
	}
	return 3
}

// run returns the length of the longest prefix of s whose characters all satisfy fits.
func run(s string, fits func(rune) bool) int {
	if i := strings.IndexFunc(s, func(r rune) bool { return !fits(r) }); i >= 0 {
		return i
	}
	return len(s)
}

// addedToken is a literal that is cut out of the text before splitting.
type addedToken struct {
	ID         int32
	Content    string
	SingleWord bool `json:"single_word"` // only between word boundaries
	LStrip     bool // includes the white space before it
	RStrip     bool // and after it
	Normalized bool // look for it in the normalised text
}

// sortAdded puts longer tokens first, because they take precedence over shorter ones.
func sortAdded(tokens []addedToken) {
	slices.SortStableFunc(tokens, func(a, b addedToken) int { return len(b.Content) - len(a.Content) })
}

// splitAdded calls visit with the parts of text in order: added tokens with their ids, and the nonempty text between
// them. It stops and returns false when visit returns false.
func splitAdded(text string, tokens []addedToken, visit func(part string, id int32, isAdded bool) bool) bool {
	var starts [256]bool
	for i := range tokens {
		starts[tokens[i].Content[0]] = true
	}
	from := 0
	for at := 0; at < len(text); {
		i := -1
		if starts[text[at]] {
			i = slices.IndexFunc(tokens, func(t addedToken) bool { return strings.HasPrefix(text[at:], t.Content) })
		}
		if i < 0 {
			at++
			continue
		}
		t := &tokens[i]
		begin, end := at, at+len(t.Content)
		at = end
		before, _ := utf8.DecodeLastRuneInString(text[:begin])
		if after, _ := utf8.DecodeRuneInString(text[end:]); t.SingleWord && (isWord(before) || isWord(after)) {
			continue
		}
		if t.LStrip {
			begin = max(from, len(strings.TrimRightFunc(text[:begin], unicode.IsSpace)))
		}
		if t.RStrip {
			end = len(text) - len(strings.TrimLeftFunc(text[end:], unicode.IsSpace))
			at = end
		}
		if from < begin && !visit(text[from:begin], 0, false) {
			return false
		}
		if !visit("", t.ID, true) {
			return false
		}
		from = end
	}
	return from >= len(text) || visit(text[from:], 0, false)
}

func isWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r) || unicode.Is(unicode.Pc, r)
}
