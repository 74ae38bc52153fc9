package run

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"

	"crosstalk"
)

// line is what a line of observations.jsonl contains.
type line struct {
	crosstalk.Observation
	Place *[2]int `json:"place"` // only of a shard
}

// parser reads lines as encoding/json does, several times as quickly where they
// are as Recorder writes them.
type parser struct {
	b  []byte // what is left of the line
	ok bool   // nothing has come that is left to encoding/json

	// known are the conditions and labels of earlier lines, by their text: there are few
	// different ones.
	known map[string]map[string]string

	values bool     // of details, only these texts are kept
	texts  []string // names
}

func newParser() *parser { return &parser{known: map[string]map[string]string{}} }

// ofValues returns a parser of observations that have no details but these texts.
func ofValues(texts []string) *parser {
	p := newParser()
	p.values, p.texts = true, texts
	return p
}

// mostMaps is how many different maps are kept.
const mostMaps = 1 << 12

// parse reads a line.
func (p *parser) parse(text []byte) (l line, err error) {
	p.b, p.ok = text, true
	if p.line(&l); p.ok && len(bytes.TrimSpace(p.b)) == 0 {
		return l, nil
	}
	l = line{}
	err = json.Unmarshal(text, &l)
	if p.values {
		l.Spans, l.Masked, l.Tokens, l.Answers = nil, nil, nil, nil
		l.Texts = slices.DeleteFunc(l.Texts, func(t crosstalk.NamedText) bool { return !slices.Contains(p.texts, t.Name) })
	}
	return l, err
}

func (p *parser) fail() { p.ok, p.b = false, nil }

// next reports whether the next byte is c, and takes it then.
func (p *parser) next(c byte) bool {
	if len(p.b) > 0 && p.b[0] == c {
		p.b = p.b[1:]
		return true
	}
	return false
}

func (p *parser) want(c byte) {
	if !p.next(c) {
		p.fail()
	}
}

// fields calls field with each name of an object, to read its value.
func (p *parser) fields(field func(name []byte)) {
	p.want('{')
	if p.next('}') {
		return
	}
	for p.ok {
		name := p.plain()
		p.want(':')
		if p.ok {
			field(name)
		}
		if !p.next(',') {
			p.want('}')
			return
		}
	}
}

// distinct is fields for the names of a struct: field returns a bit for each. One that
// comes twice is left to encoding/json, which merges the values.
func (p *parser) distinct(field func(name []byte) (bit int)) {
	seen := 0
	p.fields(func(name []byte) {
		bit := field(name)
		if seen&bit != 0 {
			p.fail()
		}
		seen |= bit
	})
}

// elements calls element for each element of a list, to read it.
func (p *parser) elements(element func()) {
	p.want('[')
	if p.next(']') {
		return
	}
	for p.ok {
		element()
		if !p.next(',') {
			p.want(']')
			return
		}
	}
}

// plain reads a string without escapes.
func (p *parser) plain() []byte {
	p.want('"')
	for i, c := range p.b {
		switch {
		case c == '"':
			s := p.b[:i]
			p.b = p.b[i+1:]
			return s
		case c == '\\' || c < ' ' || c >= utf8.RuneSelf:
			p.fail()
			return nil
		}
	}
	p.fail()
	return nil
}

// text reads any string.
func (p *parser) text() (decoded string) {
	quoted := p.quoted()
	if !p.ok {
		return ""
	}
	text := quoted[1 : len(quoted)-1]
	simple := bytes.IndexByte(text, '\\') < 0 && utf8.Valid(text)
	for _, c := range text {
		simple = simple && c >= ' '
	}
	if simple {
		return string(text)
	}
	if json.Unmarshal(quoted, &decoded) != nil {
		p.fail()
	}
	return decoded
}

// quoted takes a string as it is, with its quotes.
func (p *parser) quoted() (quoted []byte) {
	end := -1
	if len(p.b) > 0 && p.b[0] == '"' {
		end = endOfString(p.b)
	}
	if end < 0 {
		p.fail()
		return nil
	}
	quoted, p.b = p.b[:end], p.b[end:]
	return quoted
}

// endOfString is where the string at the start of b ends, -1 if it does not.
func endOfString(b []byte) int {
	for i := 1; ; i++ {
		quote := bytes.IndexByte(b[i:], '"')
		if quote < 0 {
			return -1
		}
		i += quote
		escapes := 0
		for b[i-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return i + 1
		}
	}
}

// raw takes the next value, an object or a list, as it is.
func (p *parser) raw() []byte {
	depth := 0
	for i := 0; i < len(p.b); i++ {
		switch p.b[i] {
		case '"':
			end := endOfString(p.b[i:])
			if end < 0 {
				p.fail()
				return nil
			}
			i += end - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				raw := p.b[:i+1]
				p.b = p.b[i+1:]
				return raw
			}
		}
		if depth <= 0 {
			break
		}
	}
	p.fail()
	return nil
}

// number takes the text of what should be a number.
func (p *parser) number() []byte {
	n := 0
	for n < len(p.b) && p.b[n] != ',' && p.b[n] != '}' && p.b[n] != ']' {
		n++
	}
	text := p.b[:n]
	p.b = p.b[n:]
	return text
}

// natural is the number that text is if it is one without sign, point and exponent,
// and small enough to be exact.
func natural(text []byte) (n int64, ok bool) {
	if len(text) == 0 || len(text) > 15 || text[0] == '0' && len(text) > 1 {
		return 0, false
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int64(c-'0')
	}
	return n, true
}

func (p *parser) float() float64 {
	text := p.number()
	if n, ok := natural(text); ok {
		return float64(n)
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil || !json.Valid(text) { // JSON has no 01, 1. and +1
		p.fail()
	}
	return v
}

func (p *parser) int() int {
	text := p.number()
	if n, ok := natural(text); ok && int64(int(n)) == n {
		return int(n)
	}
	v, err := strconv.Atoi(string(text))
	if err != nil || !json.Valid(text) {
		p.fail()
	}
	return v
}

func (p *parser) columns() map[string]string {
	text := p.b
	raw := p.raw()
	if !p.ok {
		return nil
	}
	if m, found := p.known[string(raw)]; found {
		return m
	}
	after := p.b
	p.b = text
	m := map[string]string{}
	p.fields(func(name []byte) { m[string(name)] = p.text() })
	if !p.ok || len(p.b) != len(after) {
		p.fail()
		return nil
	}
	if len(p.known) < mostMaps {
		p.known[string(raw)] = m
	}
	return m
}

// line reads all of a line.
func (p *parser) line(l *line) {
	p.distinct(func(name []byte) int { return p.field(l, string(name)) })
}

// field reads the value of a field, and returns the field's bit.
func (p *parser) field(l *line, name string) int {
	o := &l.Observation
	switch name {
	case "measure":
		o.Measure = p.text()
		return 1
	case "item":
		o.Item = p.text()
		return 1 << 1
	case "cluster":
		o.Cluster = p.text()
		return 1 << 2
	case "sample":
		o.Sample = p.int()
		return 1 << 3
	case "variant":
		o.Variant = p.text()
		return 1 << 4
	case "value":
		if bytes.HasPrefix(p.b, []byte("null")) {
			p.b, o.Value = p.b[4:], crosstalk.Undefined
		} else {
			o.Value = crosstalk.Value(p.float())
		}
		return 1 << 5
	case "not_scored":
		o.NotScored = p.text()
		return 1 << 6
	case "implied":
		if !bytes.HasPrefix(p.b, []byte("true")) {
			p.fail()
			return 0
		}
		p.b, o.Implied = p.b[4:], true
		return 1 << 7
	case "condition":
		o.Condition = p.columns()
		return 1 << 8
	case "labels":
		o.Labels = p.columns()
		return 1 << 9
	case "numbers":
		o.Numbers = map[string]float64{}
		p.fields(func(name []byte) { o.Numbers[string(name)] = p.float() })
		return 1 << 10
	case "texts":
		if !p.values {
			o.Texts = []crosstalk.NamedText{}
		} else if len(p.texts) == 0 {
			p.raw()
			return 1 << 11
		}
		p.elements(func() {
			if t := p.named(); !p.values || slices.Contains(p.texts, t.Name) {
				o.Texts = append(o.Texts, t)
			}
		})
		return 1 << 11
	case "finding":
		o.Finding = p.text()
		return 1 << 12
	case "spans":
		o.Spans = p.spans()
		return 1 << 13
	case "tokens":
		if raw := p.raw(); p.ok && !p.values && json.Unmarshal(raw, &o.Tokens) != nil {
			p.fail()
		}
		return 1 << 14
	case "answers":
		if p.values {
			p.raw()
			return 1 << 15
		}
		o.Answers = []crosstalk.Key{}
		p.elements(func() {
			var key crosstalk.Key
			text := p.plain()
			if len(text) != 2*len(key) {
				p.fail()
			} else if _, err := hex.Decode(key[:], text); err != nil {
				p.fail()
			}
			o.Answers = append(o.Answers, key)
		})
		return 1 << 15
	case "place":
		l.Place = new([2]int)
		p.want('[')
		l.Place[0] = p.int()
		p.want(',')
		l.Place[1] = p.int()
		p.want(']')
		return 1 << 16
	case "masked":
		o.Masked = p.spans()
		return 1 << 17
	}
	p.fail()
	return 0
}

// spans reads a list of spans, which few observations have.
func (p *parser) spans() (spans []crosstalk.Span) {
	if raw := p.raw(); p.ok && !p.values && json.Unmarshal(raw, &spans) != nil {
		p.fail()
	}
	return spans
}

func (p *parser) named() (t crosstalk.NamedText) {
	p.distinct(func(name []byte) int {
		switch string(name) {
		case "name":
			t.Name = p.text()
			return 1
		case "role":
			t.Role = crosstalk.Role(p.text())
			return 2
		case "text":
			if p.values && t.Name != "" && !slices.Contains(p.texts, t.Name) {
				p.quoted()
			} else {
				t.Text = p.text()
			}
			return 4
		}
		p.fail()
		return 0
	})
	return t
}
