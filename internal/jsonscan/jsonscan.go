// Package jsonscan reads ordinary JSON several times as fast as encoding/json, and leaves unusual JSON to it.
package jsonscan

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"
)

// Scanner reads one value from its start to its end.
type Scanner struct {
	Rest []byte // not read yet
	OK   bool   // so far nothing has to be left to encoding/json
}

// New returns a scanner for a text.
func New(text []byte) Scanner { return Scanner{text, true} }

// Done reports whether everything has been read.
func (s *Scanner) Done() bool { return s.OK && len(s.space()) == 0 }

// Fail leaves the whole value to encoding/json.
func (s *Scanner) Fail() { s.OK, s.Rest = false, nil }

// At reports whether the next character is c.
func (s *Scanner) At(c byte) bool {
	rest := s.space()
	return len(rest) > 0 && rest[0] == c
}

// Next consumes c if it is the next character, and reports whether it did.
func (s *Scanner) Next(c byte) bool {
	if s.At(c) {
		s.Rest = s.Rest[1:]
		return true
	}
	return false
}

// space skips white space.
func (s *Scanner) space() []byte {
	if len(s.Rest) > 0 && s.Rest[0] <= ' ' {
		s.Rest = bytes.TrimLeft(s.Rest, " \t\r\n")
	}
	return s.Rest
}

// Want consumes c; anything else fails.
func (s *Scanner) Want(c byte) {
	if !s.Next(c) {
		s.Fail()
	}
}

// Fields calls field with the name of each field of an object; it must read the value.
func (s *Scanner) Fields(field func(name []byte)) {
	s.Want('{')
	if s.Next('}') {
		return
	}
	for s.OK {
		name := s.Plain()
		s.Want(':')
		if s.OK {
			field(name)
		}
		if !s.Next(',') {
			s.Want('}')
			return
		}
	}
}

// Distinct is like Fields, for a struct: field returns a bit for each name. Repeated names are left to encoding/json.
func (s *Scanner) Distinct(field func(name []byte) (bit int)) {
	seen := 0
	s.Fields(func(name []byte) {
		bit := field(name)
		if seen&bit != 0 {
			s.Fail()
		}
		seen |= bit
	})
}

// Elements calls element for each element of a list; it must read the element.
func (s *Scanner) Elements(element func()) {
	s.Want('[')
	if s.Next(']') {
		return
	}
	for s.OK {
		element()
		if !s.Next(',') {
			s.Want(']')
			return
		}
	}
}

// Plain reads a string without escapes.
func (s *Scanner) Plain() []byte {
	s.Want('"')
	for i, c := range s.Rest {
		switch {
		case c == '"':
			text := s.Rest[:i]
			s.Rest = s.Rest[i+1:]
			return text
		case c == '\\' || c < ' ' || c >= utf8.RuneSelf:
			s.Fail()
			return nil
		}
	}
	s.Fail()
	return nil
}

// Text reads any string.
func (s *Scanner) Text() (decoded string) {
	quoted := s.Quoted()
	if !s.OK {
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
		s.Fail()
	}
	return decoded
}

// Quoted consumes a string and returns it as written, with its quotes.
func (s *Scanner) Quoted() (quoted []byte) {
	end := -1
	if s.At('"') {
		end = endOfString(s.Rest)
	}
	if end < 0 {
		s.Fail()
		return nil
	}
	quoted, s.Rest = s.Rest[:end], s.Rest[end:]
	return quoted
}

// endOfString returns the end of the string that starts b, or -1.
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

// Raw consumes the next value, an object or a list, and returns it undecoded.
func (s *Scanner) Raw() []byte {
	depth := 0
	s.space()
	for i := 0; i < len(s.Rest); i++ {
		switch s.Rest[i] {
		case '"':
			end := endOfString(s.Rest[i:])
			if end < 0 {
				s.Fail()
				return nil
			}
			i += end - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				raw := s.Rest[:i+1]
				s.Rest = s.Rest[i+1:]
				return raw
			}
		}
		if depth <= 0 {
			break
		}
	}
	s.Fail()
	return nil
}

// Number consumes a number and returns its text.
func (s *Scanner) Number() []byte {
	rest := s.space()
	n := 0
	for n < len(rest) && rest[n] > ' ' && rest[n] != ',' && rest[n] != '}' && rest[n] != ']' {
		n++
	}
	s.Rest = rest[n:]
	return rest[:n]
}

// natural returns the number if text has neither sign, point nor exponent and is small enough to be exact.
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

// Float reads a number.
func (s *Scanner) Float() float64 {
	text := s.Number()
	if n, ok := natural(text); ok {
		return float64(n)
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil || !json.Valid(text) { // JSON has no 01, 1. or +1
		s.Fail()
	}
	return v
}

// Int reads a whole number.
func (s *Scanner) Int() int {
	text := s.Number()
	if n, ok := natural(text); ok && int64(int(n)) == n {
		return int(n)
	}
	v, err := strconv.Atoi(string(text))
	if err != nil || !json.Valid(text) {
		s.Fail()
	}
	return v
}
