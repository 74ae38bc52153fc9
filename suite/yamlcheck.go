package suite

import (
	"fmt"
	"unicode/utf8"

	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

const (
	maxYAML  = 4 << 20
	maxDepth = 16  // a suite needs 5
	maxKeys  = 100 // per map; a suite needs 10, and the reader's time is quadratic in it
)

// checkYAML refuses, before parsing, text on which the reader would spend
// unbounded memory or time, and the parts of YAML that suites do not need.
func checkYAML(name string, text []byte) error {
	if len(text) > maxYAML {
		return fmt.Errorf("%s: is larger than %d MiB", name, maxYAML>>20)
	}
	line := 1
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == '\n' {
			line++
		}
		if r == utf8.RuneError && size == 1 || r == 0 {
			return fmt.Errorf("%s:%d: is not valid UTF-8: save the file as UTF-8", name, line)
		}
		i += size
	}
	depth, entries, keys := 0, 0, 0 // open brackets; "- - -" in one line; since a map began
	begun := false
	var last token.Position
	for _, t := range lexer.Tokenize(string(text)) {
		refuse := func(what string) error { return fmt.Errorf("%s:%d: %s", name, t.Position.Line, what) }
		if t.Position.Line != last.Line {
			entries = 0
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
			keys = 0
		case token.MappingValueType:
			keys++
		case token.SequenceEndType, token.MappingEndType:
			depth--
			if depth < 0 {
				return refuse("unexpected closing bracket")
			}
		case token.SequenceEntryType, token.MappingKeyType:
			keys = 0
			if entries++; t.PreviousType() == t.Type && t.Position.Column <= last.Column {
				return fmt.Errorf("%s:%d: an entry is empty", name, last.Line)
			}
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			return refuse("anchors and aliases are not supported: write the value out")
		case token.TagType:
			return refuse("tags are not supported: write the value without " + t.Value)
		case token.DocumentHeaderType:
			if begun {
				return refuse("a second document begins here; expected one suite per file")
			}
		}
		if depth > maxDepth || entries > maxDepth || t.Position.IndentNum > 20*maxDepth {
			return refuse("is nested too deeply")
		}
		if keys > maxKeys {
			return refuse("a map has too many keys")
		}
		begun = begun || t.Type != token.CommentType && t.Type != token.DirectiveType
		last = *t.Position
	}
	return nil
}
