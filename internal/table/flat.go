package table

import (
	"bytes"
	"encoding/json"
)

// flat reads an object whose values are strings and numbers as ParseObject does, in a
// quarter of the time: most objects are such, and there are millions. ok is false
// where it leaves the object to encoding/json: there is something else in it, or
// something wrong.
func (r *Row) flat(text []byte) (ok bool) {
	p := flatParser{text}
	if !p.next('{') {
		return false
	}
	for {
		name, ok := p.text()
		if !ok || r.Has(name) || !p.next(':') {
			return false
		}
		value, ok := p.value()
		if !ok {
			return false
		}
		r.Columns = append(r.Columns, name)
		r.Values[name] = value
		if !p.next(',') {
			return p.next('}') && len(p.left) == 0
		}
	}
}

// flatParser is what is left of an object.
type flatParser struct{ left []byte }

// next takes c, if it comes next, with the white space around it.
func (p *flatParser) next(c byte) bool {
	p.space()
	if len(p.left) == 0 || p.left[0] != c {
		return false
	}
	p.left = p.left[1:]
	p.space()
	return true
}

func (p *flatParser) space() { p.left = bytes.TrimLeft(p.left, " \t\r\n") }

// text takes a string.
func (p *flatParser) text() (s string, ok bool) {
	if len(p.left) == 0 || p.left[0] != '"' {
		return "", false
	}
	escaped := false
	for i := 1; i < len(p.left); i++ {
		switch c := p.left[i]; {
		case c == '"':
			raw := p.left[:i+1]
			p.left = p.left[i+1:]
			if escaped {
				return s, json.Unmarshal(raw, &s) == nil
			}
			return string(raw[1:i]), true
		case c == '\\':
			escaped = true
			i++ // which may be a quote
		case c < ' ':
			return "", false
		}
	}
	return "", false
}

// value takes a string or a number.
func (p *flatParser) value() (s string, ok bool) {
	if len(p.left) > 0 && p.left[0] == '"' {
		return p.text()
	}
	end := bytes.IndexAny(p.left, ",} \t\r\n")
	if end <= 0 || p.left[0] != '-' && (p.left[0] < '0' || p.left[0] > '9') || !json.Valid(p.left[:end]) {
		return "", false
	}
	s = string(p.left[:end])
	p.left = p.left[end:]
	return s, true
}
