package strictyaml

import (
	"fmt"
	"unicode/utf8"

	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// check refuses, before parsing, text on which the reader would spend unbounded
// memory or time, and the parts of YAML that no file needs.
func check(name string, text []byte, l Limits) error {
	if len(text) > l.Bytes {
		return TooLarge(name, l.Bytes)
	}
	if err := checkText(name, text); err != nil {
		return err
	}
	if err := checkBrackets(name, text, l.Depth); err != nil {
		return err
	}
	depth, entries := 0, 0 // open brackets; "- - -" in one line
	begun := false
	keys := keyCounter{flow: []int{0}}
	var last token.Position
	for _, t := range lexer.Tokenize(string(text)) {
		refuse := func(what string) error { return fmt.Errorf("%s:%d: %s", name, t.Position.Line, what) }
		if t.Position.Line != last.Line {
			entries = 0
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
			keys.open()
		case token.MappingValueType:
			column := t.Position.Column
			if t.Prev != nil {
				column = t.Prev.Position.Column
			}
			keys.key(column)
		case token.SequenceEndType, token.MappingEndType:
			depth--
			keys.close()
			if depth < 0 {
				return refuse("unexpected closing bracket")
			}
		case token.SequenceEntryType, token.MappingKeyType:
			keys.entry(t.Position.Column)
			if entries++; t.PreviousType() == t.Type && t.Position.Column <= last.Column {
				return fmt.Errorf("%s:%d: an entry is empty", name, last.Line)
			}
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			return refuse("anchors and aliases are not supported: write the value out")
		case token.TagType:
			return refuse("tags are not supported: write the value without " + shown(t.Value))
		case token.DocumentHeaderType:
			if begun {
				return refuse("a second document begins here; expected one " + l.One + " per file")
			}
		}
		if depth > l.Depth || entries > l.Depth || t.Position.IndentNum > 20*l.Depth {
			return refuse(tooDeep)
		}
		if keys.most > l.Keys {
			return refuse("a map has too many keys")
		}
		begun = begun || t.Type != token.CommentType && t.Type != token.DirectiveType
		last = *t.Position
	}
	return nil
}

const tooDeep = "is nested too deeply"

func checkText(name string, text []byte) error {
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
	return nil
}

// checkBrackets refuses a long row of opening brackets and dashes without making a token of each. Text between them
// ends the row, so no sensible text, quoted or not, is refused.
func checkBrackets(name string, text []byte, depth int) error {
	line, row := 1, 0
	for _, b := range text {
		switch b {
		case '[', '{':
			row++
		case ' ', '\t', '\r':
		case '\n':
			line++
		default:
			row = 0
		}
		if row > 100*depth {
			return fmt.Errorf("%s:%d: %s", name, line, tooDeep)
		}
	}
	return nil
}

// keyCounter counts the keys of each map that is open at the time.
type keyCounter struct {
	most  int
	flow  []int // of maps and lists in brackets; the first stands for those without
	block []column
}

type column struct{ at, keys int }

func (k *keyCounter) open() { k.flow = append(k.flow, 0) }

func (k *keyCounter) close() {
	if len(k.flow) > 1 {
		k.flow = k.flow[:len(k.flow)-1]
	}
}

// key counts a key that starts in a column.
func (k *keyCounter) key(at int) {
	if n := len(k.flow); n > 1 {
		k.flow[n-1]++
		k.most = max(k.most, k.flow[n-1])
		return
	}
	k.entry(at)
	if n := len(k.block); n == 0 || k.block[n-1].at < at {
		k.block = append(k.block, column{at: at})
	}
	last := &k.block[len(k.block)-1]
	last.keys++
	k.most = max(k.most, last.keys)
}

// entry ends the maps that are further to the right.
func (k *keyCounter) entry(at int) {
	for n := len(k.block); n > 0 && len(k.flow) == 1 && k.block[n-1].at > at; n-- {
		k.block = k.block[:n-1]
	}
}
