// Package wordlist provides word lists for the word check of language confusion: a word of the list inside an answer in
// another script is in the wrong language (Marchisio et al. 2024, section 2.2).
package wordlist

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
)

//go:generate go -C ../../tools run ./build/wordlist

// english has one word per line.
//
//go:embed english.txt.gz
var english []byte

// A List is an immutable set of words, safe for concurrent use.
type List struct {
	name  string
	words func() map[string]struct{}
}

// Name is short and printable, and differs between two lists of different content: "english" or the file's name, an @
// (neither for a list from Read), and the first eight hexadecimal digits of the SHA-256 of its text. It goes into the
// signature of every figure obtained with the list.
func (l *List) Name() string { return l.name }

// Contains reports whether word is in the list, exactly as written: case and accents count.
func (l *List) Contains(word string) bool {
	_, ok := l.words()[word]
	return ok
}

// Len returns the number of words.
func (l *List) Len() int { return len(l.words()) }

// English returns the embedded English list: Debian's american-english, 83,010
// words from SCOWL (see LICENSE.scowl). It is unpacked when a word is looked up.
func English() *List { return embedded }

var embedded = &List{"english@d48bd256", sync.OnceValue(func() map[string]struct{} { return readEnglish().words() })}

func readEnglish() *List {
	z, err := gzip.NewReader(bytes.NewReader(english))
	if err != nil {
		panic("wordlist: embedded list: " + err.Error())
	}
	list, err := Read(z)
	if err != nil {
		panic("wordlist: embedded list: " + err.Error())
	}
	return list
}

// Load reads the list in the named file, unpacked if the name ends in ".gz".
func Load(path string) (*List, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var r io.Reader = f
	name, packed := strings.CutSuffix(filepath.Base(path), ".gz")
	if packed {
		if r, err = gzip.NewReader(f); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	list, err := Read(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	list.name = name + "@" + list.name
	return list, nil
}

// maxLine is the longest line that Read accepts, in bytes.
const maxLine = 1 << 10

// Read reads a list of one word per line, in UTF-8. It skips blank lines and words that the check does not use: those
// with a capital, without letters, or of three characters or fewer. A line that is not a word, or a list without usable
// words, is an error; it names the line but not the file.
func Read(r io.Reader) (*List, error) {
	words := map[string]struct{}{}
	sum := sha256.New()
	lines := bufio.NewScanner(io.TeeReader(r, sum))
	lines.Buffer(nil, maxLine)
	n := 0
	for lines.Scan() {
		n++
		word := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\uFEFF"))
		switch {
		case !utf8.ValidString(word):
			return nil, fmt.Errorf("line %d: %q is not valid UTF-8; expected one word per line, in UTF-8", n, word)
		case strings.ContainsFunc(word, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }):
			return nil, fmt.Errorf("line %d: %q is not a word; expected one word per line", n, word)
		}
		if Uses(word) {
			words[word] = struct{}{}
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, fmt.Errorf("line %d: longer than %d bytes; expected one word per line", n+1, maxLine)
	} else if err != nil {
		return nil, fmt.Errorf("line %d: %w", n+1, err)
	}
	if len(words) == 0 {
		return nil, fmt.Errorf("%d lines without a lower-case word of more than 3 letters; expected at least one", n)
	}
	return &List{hex.EncodeToString(sum.Sum(nil))[:8], func() map[string]struct{} { return words }}, nil
}

// Uses reports whether the check uses a word: it is lower case as defined by
// Python's str.islower and has more than three characters.
func Uses(word string) bool {
	lower := false
	for _, r := range word {
		if r < utf8.RuneSelf { // without tables, for most words
			if 'A' <= r && r <= 'Z' {
				return false
			}
			lower = lower || 'a' <= r && r <= 'z'
			continue
		}
		if unicode.In(r, unicode.Upper, unicode.Other_Uppercase, unicode.Title) {
			return false
		}
		lower = lower || unicode.In(r, unicode.Lower, unicode.Other_Lowercase)
	}
	return lower && utf8.RuneCountInString(word) > 3
}
