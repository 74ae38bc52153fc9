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

// parseNormalizer reads a normalizer.
func parseNormalizer(raw json.RawMessage, c config) (func(string) string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return func(s string) string { return s }, nil
	}
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
	if err := json.Unmarshal(raw, &n); err != nil {
		return nil, fmt.Errorf("normalizer: %w", err)
	}
	switch n.Type {
	case "Sequence":
		var all []func(string) string
		for _, raw := range n.Parts {
			f, err := parseNormalizer(raw, c)
			if err != nil {
				return nil, err
			}
			all = append(all, f)
		}
		return func(s string) string {
			for _, f := range all {
				s = f(s)
			}
			return s
		}, nil
	case "BertNormalizer":
		n.override(c)
		return n.normalize, nil
	case "Precompiled":
		m, err := newCharMap(n.Map)
		if err != nil {
			return nil, err
		}
		return m.normalize, nil
	case "NFC":
		return norm.NFC.String, nil
	case "NFD":
		return norm.NFD.String, nil
	case "NFKC":
		return norm.NFKC.String, nil
	case "NFKD":
		return norm.NFKD.String, nil
	case "Lowercase":
		return lower, nil
	case "StripAccents":
		return func(s string) string { return remove(s, unicode.M) }, nil
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
