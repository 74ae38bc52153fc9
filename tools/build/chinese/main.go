// Chinese makes characters.txt, which package chinese embeds, from the character tables of OpenCC (Apache-2.0), as its
// public repository has them:
//
//	git clone https://github.com/BYVoid/OpenCC /tmp/OpenCC
//	git -C /tmp/OpenCC checkout 5249273a3e5606852f088c9a8b23522145d94f78
//	go -C tools run ./build/chinese -in /tmp/OpenCC/data/dictionary
//
// Both tables are checked against their SHA-256 sums. The result has three lines: characters that only simplified text
// has, characters that only traditional text has, and the simplified form of each of the latter.
package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"crosstalk/tools/internal/builder"
)

var command = builder.Builder{
	Source:  "the character tables of OpenCC",
	Install: "git clone https://github.com/BYVoid/OpenCC /tmp/OpenCC",
	In:      "/tmp/OpenCC/data/dictionary",
	Out:     "../measure/langid/chinese/characters.txt",
	Build:   build,
}

func main() { command.Main() }

const (
	toTraditional = "a0ca1601c70648cf48b33c3c6210ccbecc5c7eead4b4c3daf76587ba2c03582b"
	toSimplified  = "737c21c66f55a419dd6956cb3089476cdefc5a36877452631617696df1e5d925"
)

func build(in string, notes io.Writer) ([]byte, error) {
	traditional, err := readTable(filepath.Join(in, "STCharacters.txt"), toTraditional)
	if err != nil {
		return nil, err
	}
	simplified, err := readTable(filepath.Join(in, "TSCharacters.txt"), toSimplified)
	if err != nil {
		return nil, err
	}
	var onlySimplified, onlyTraditional, forms strings.Builder
	for _, s := range slices.Sorted(maps.Keys(traditional)) {
		// A character that is its own traditional form, as 后 is, is in both.
		if _, both := simplified[s]; !both && !slices.Contains(traditional[s], s) && common(s) {
			onlySimplified.WriteRune(s)
		}
	}
	for _, t := range slices.Sorted(maps.Keys(simplified)) {
		s := simplified[t][0]
		if _, both := traditional[t]; !both && s != t && !slices.Contains(simplified[t], t) && common(t) && common(s) {
			onlyTraditional.WriteRune(t)
			forms.WriteRune(s)
		}
	}
	fmt.Fprintf(notes, "%d simplified and %d traditional characters\n",
		utf8.RuneCountInString(onlySimplified.String()), utf8.RuneCountInString(onlyTraditional.String()))
	return []byte(onlySimplified.String() + "\n" + onlyTraditional.String() + "\n" + forms.String() + "\n"), nil
}

// common reports whether r is in the first block of Chinese characters; the others are of scholars and names.
func common(r rune) bool { return r >= 0x4e00 && r <= 0x9fff }

// readTable reads lines of a character, a tab and the characters that it becomes.
func readTable(path, sum string) (map[rune][]rune, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(data)); got != sum {
		return nil, fmt.Errorf("%s: SHA-256 is %s, expected %s: check out the commit that the builder names", path, got, sum)
	}
	table := map[rune][]rune{}
	for line := range strings.Lines(string(data)) {
		key, values, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok || strings.HasPrefix(key, "#") || utf8.RuneCountInString(key) != 1 {
			continue
		}
		k, _ := utf8.DecodeRuneInString(key)
		for _, v := range strings.Fields(values) {
			r, _ := utf8.DecodeRuneInString(v)
			table[k] = append(table[k], r)
		}
	}
	return table, nil
}
