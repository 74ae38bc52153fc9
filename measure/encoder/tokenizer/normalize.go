package tokenizer

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"

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

// charMap is SentencePiece's compiled table of replacements: a double-array trie (Aoe 1989) from UTF-8 to places in a
// list of strings that end in NUL.
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

// lookup returns the replacement of the shortest key that begins s.
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

// normalize replaces grapheme clusters, or else their characters. A cluster of less than six bytes gives way as a whole
// even if only its beginning is a key: so does the Rust library, and models are trained with it.
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
