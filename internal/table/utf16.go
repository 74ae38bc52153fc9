package table

import (
	"bufio"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// toUTF8 converts UTF-16, in which spreadsheet programs save "Unicode text". It has a byte order mark, or its first
// character, which is ASCII in every format of text here, has a zero byte. Other content is returned as it is. What is
// not UTF-16 becomes bytes that are not UTF-8, which every format refuses with their line.
func toUTF8(in *bufio.Reader) *bufio.Reader {
	var order unicode.Endianness
	switch start, _ := in.Peek(2); {
	case len(start) < 2:
		return in
	case start[0] == 0xfe && start[1] == 0xff || start[0] == 0 && start[1] != 0:
		order = unicode.BigEndian
	case start[0] == 0xff && start[1] == 0xfe || start[0] != 0 && start[1] == 0:
		order = unicode.LittleEndian
	default:
		return in
	}
	decoder := unicode.UTF16(order, unicode.IgnoreBOM).NewDecoder()
	return bufio.NewReaderSize(transform.NewReader(in, transform.Chain(decoder, unreplaced{})), 1<<16)
}

// unreplaced makes U+FFFD, which stands for what could not be decoded, bytes that are not UTF-8.
type unreplaced struct{ transform.NopResetter }

// Transform implements transform.Transformer, of whole characters.
func (unreplaced) Transform(dst, src []byte, _ bool) (nDst, nSrc int, err error) {
	for nSrc < len(src) {
		r, size := utf8.DecodeRune(src[nSrc:])
		if len(dst)-nDst < size {
			return nDst, nSrc, transform.ErrShortDst
		}
		text := src[nSrc : nSrc+size]
		if r == utf8.RuneError {
			text = []byte("\xff\xff\xff")
		}
		nDst, nSrc = nDst+copy(dst[nDst:], text), nSrc+size
	}
	return nDst, nSrc, nil
}
