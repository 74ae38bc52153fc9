package table

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// toUTF8 converts UTF-16, in which spreadsheet programs save "Unicode text". It has a byte order mark, or its first
// character, which is ASCII in every format of text here, has a zero byte. Other content is returned as it is.
func toUTF8(in *bufio.Reader) *bufio.Reader {
	var order binary.ByteOrder
	switch start, _ := in.Peek(2); {
	case len(start) < 2:
		return in
	case start[0] == 0xfe && start[1] == 0xff || start[0] == 0 && start[1] != 0:
		order = binary.BigEndian
	case start[0] == 0xff && start[1] == 0xfe || start[0] != 0 && start[1] == 0:
		order = binary.LittleEndian
	default:
		return in
	}
	return bufio.NewReaderSize(&utf16Reader{in: in, order: order}, 1<<16)
}

// utf16Reader reads UTF-16 as UTF-8. What is not UTF-16 is an error, not U+FFFD.
type utf16Reader struct {
	in    *bufio.Reader
	order binary.ByteOrder
	rest  []byte // of a character that did not fit
	line  int    // breaks so far
	err   error  // after which nothing is read
}

// Read implements io.Reader.
func (u *utf16Reader) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if len(u.rest) == 0 {
			if n > 0 && u.in.Buffered() < 4 { // give what there is before waiting
				return n, nil
			}
			var r rune
			if u.err == nil {
				r, u.err = u.next()
			}
			if u.err != nil {
				return n, u.err
			}
			u.rest = utf8.AppendRune(u.rest[:0], r)
		}
		copied := copy(p[n:], u.rest)
		u.rest = u.rest[copied:]
		n += copied
	}
	return n, nil
}

func (u *utf16Reader) next() (rune, error) {
	first, err := u.unit()
	if err != nil {
		return 0, err
	}
	r := rune(first)
	if utf16.IsSurrogate(r) {
		second, err := u.unit()
		if err != nil && err != io.EOF {
			return 0, err
		}
		if r = utf16.DecodeRune(r, rune(second)); r == unicode.ReplacementChar {
			return 0, u.damaged("half of a character is missing")
		}
	}
	if r == '\n' {
		u.line++
	}
	return r, nil
}

func (u *utf16Reader) unit() (uint16, error) {
	var b [2]byte
	if _, err := io.ReadFull(u.in, b[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = u.damaged("it ends within a character")
		}
		return 0, err
	}
	return u.order.Uint16(b[:]), nil
}

func (u *utf16Reader) damaged(what string) error {
	return &utf16Error{u.line + 1, what}
}

// utf16Error is an error in a line, which the parser has not reached yet.
type utf16Error struct {
	line int
	what string
}

func (e *utf16Error) Error() string { return "is not valid UTF-16: " + e.what }
