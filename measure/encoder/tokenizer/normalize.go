package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// simple are the normalizers without settings.
var simple = map[string]func(string) string{"NFC": norm.NFC.String, "NFD": norm.NFD.String, "NFKC": norm.NFKC.String,
	"NFKD": norm.NFKD.String, "Lowercase": lower, "StripAccents": func(s string) string { return remove(s, unicode.M) }}

// parseNormalizer reads a normalizer.
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
		return chain[string](nil), err
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
