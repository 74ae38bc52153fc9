package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A word of a list with its relative frequency.
type word struct {
	text      string
	frequency float64
}

// readList reads a word list of wordfreq: a gzip file of MessagePack with a list of lists, of which number n has the
// words of frequency 10^(-n/100). The file must have the given SHA-256 sum.
func readList(path, sum string) ([]word, error) {
	packed, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if got := sha256.Sum256(packed); hex.EncodeToString(got[:]) != sum {
		return nil, fmt.Errorf("%s: SHA-256 is %x, expected %s: check out the release that the builder names", path, got, sum)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	words, err := unpackList(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return words, nil
}

func unpackList(data []byte) (words []word, err error) {
	r := packReader{data: string(data)}
	defer func() {
		if e := recover(); e != nil {
			words, err = nil, fmt.Errorf("byte %d: %v", r.at, e)
		}
	}()
	levels := r.length(0x90, 0xdc)
	for range 2 * r.length(0x80, 0xde) { // the header: format and version
		r.skip()
	}
	for level := range levels - 1 {
		for range r.length(0x90, 0xdc) {
			words = append(words, word{r.text(), math.Pow(10, -float64(level)/100)})
		}
	}
	return words, nil
}

// packReader reads what wordfreq uses of MessagePack. It panics at the end of the data and at other types.
type packReader struct {
	data string
	at   int
}

func (r *packReader) number(size int) (n int) {
	for range size {
		n = n<<8 | int(r.data[r.at])
		r.at++
	}
	return n
}

// length reads the head of an array or map: short has its length in four bits, long announces two or four bytes.
func (r *packReader) length(short, long int) int {
	switch head := r.number(1); {
	case head&0xf0 == short:
		return head & 0xf
	case head == long:
		return r.number(2)
	case head == long+1:
		return r.number(4)
	default:
		panic(fmt.Sprintf("unexpected type %#x", head))
	}
}

func (r *packReader) text() string {
	n := 0
	switch head := r.number(1); {
	case head&0xe0 == 0xa0:
		n = head & 0x1f
	case head == 0xd9:
		n = r.number(1)
	case head == 0xda:
		n = r.number(2)
	default:
		panic(fmt.Sprintf("unexpected type %#x, expected text", head))
	}
	r.at += n
	return r.data[r.at-n : r.at]
}

// skip passes a short text or number of the header.
func (r *packReader) skip() {
	if r.data[r.at] < 0x80 {
		r.at++
		return
	}
	r.text()
}

// keep returns the words that are written in the scripts alone, at most n, the most frequent first.
func keep(words []word, scripts []*unicode.RangeTable, n int) []word {
	var kept []word
	for _, w := range words {
		if len(kept) < n && utf8.RuneCountInString(w.text) <= 30 && written(w.text, scripts) {
			kept = append(kept, w)
		}
	}
	return kept
}

func written(w string, scripts []*unicode.RangeTable) bool {
	return strings.IndexFunc(w, func(r rune) bool {
		return !unicode.In(r, scripts...) && !unicode.IsMark(r) && r != '\'' && r != 'ー' && r != '\u200c' && r != '\u200d'
	}) < 0 && strings.IndexFunc(w, unicode.IsLetter) >= 0
}
