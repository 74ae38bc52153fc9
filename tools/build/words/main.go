// Words makes words.bin, the model that package words embeds, from the word lists of wordfreq (Robyn Speer; CC BY-SA
// 4.0) and the Turkish dictionary of Zemberek (Ahmet A. Akın and Mehmet D. Akın; Apache-2.0), as their public
// repositories have them:
//
//	git clone https://github.com/rspeer/wordfreq /tmp/wordlists/wordfreq
//	git -C /tmp/wordlists/wordfreq checkout 912caf64b657478d1dff1138efdc078947d54bb1
//	git clone https://github.com/ahmetaa/zemberek-nlp /tmp/wordlists/zemberek-nlp
//	git -C /tmp/wordlists/zemberek-nlp checkout ae2fbe31438dda4dddc674a2a8991d518984d392
//	go -C tools run ./build/words -in /tmp/wordlists
//
// Every list is checked against its SHA-256 sum in lists.txt. The model has frequencies of hashed words, and of letter
// sequences: no list can be read back from it.
package main

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"unicode"
	"unicode/utf8"

	"crosstalk/measure/langid/words"
	"crosstalk/measure/langid/words/levels"
	"crosstalk/tools/internal/builder"
	"crosstalk/tools/internal/corpus"
)

//go:embed lists.txt
var listSums string

var command = builder.Builder{
	Source:  "the word lists of wordfreq and Zemberek",
	Install: "measure/langid/words/README.md says how",
	In:      "/tmp/wordlists",
	Out:     "../measure/langid/words/words.bin",
	Build:   build,
}

func main() { command.Main() }

// How many words of a list the model has, and how many letter sequences.
var (
	mostWords = map[string]int{"latin": 130_000, "north": 55_000, "east": 55_000, "south": 35_000, "far": 30_000,
		"cyrillic": 60_000, "balkan": 45_000, "arabic": 30_000, "han": 100_000, "indic": 5_000}
	mostGrams = map[string]int{"latin": 70_000, "north": 14_000, "east": 14_000, "south": 11_000, "far": 11_000,
		"cyrillic": 15_000, "balkan": 10_000, "arabic": 15_000, "indic": 2_500}
)

func build(in string, notes io.Writer) ([]byte, error) {
	texts, err := readPackages(in)
	if err != nil {
		return nil, err
	}
	var file []byte
	var first [][]word // lists of the script's first group
	for n, g := range words.Groups {
		lists := make([][]word, len(g.Languages))
		for i, language := range g.Languages {
			list, source, err := readWords(in, language, texts)
			if err != nil {
				return nil, err
			}
			scripts := g.Scripts
			if language == "zh" {
				scripts = []*unicode.RangeTable{unicode.Han} // kana is not Chinese, whatever the list says
			}
			lists[i] = keep(list, scripts, mostWords[g.Name])
			fmt.Fprintf(notes, "%s: %d words of %s\n", language, len(lists[i]), source)
		}
		before := len(file)
		if g.Name == "han" {
			file = levels.Write(file, characters(lists))
		} else {
			if n == 0 || g.Scripts[0] != words.Groups[n-1].Scripts[0] {
				clean(lists, lists, g.Languages, notes)
				first = slices.Clone(lists)
			} else {
				clean(lists, first, g.Languages, notes)
			}
			for i, language := range g.Languages {
				if g.Scripts[0] == unicode.Latin && sourceOf(language) == "" && language != "af" { // af has "water", too
					lists[i] = untranslated(lists[i], first[slices.Index(words.Groups[0].Languages, "en")])
				}
			}
			stems := slices.Clone(lists)
			for i, language := range g.Languages {
				if dictionaries[language] != "" {
					added, err := dictionary(lists[i], in, language)
					if err != nil {
						return nil, err
					}
					fmt.Fprintf(notes, "%s: %d words of a dictionary\n", language, len(added))
					lists[i] = append(lists[i], added...)
				}
			}
			table := make([]levels.Column, len(lists))
			for i, list := range lists {
				table[i] = levels.Column{}
				for _, w := range list {
					h := levels.Text(w.text).Sum()
					if old, ok := table[i][h]; !ok || levelOf(w.frequency) < int(old) {
						table[i][h] = uint8(levelOf(w.frequency))
					}
				}
			}
			for i, language := range g.Languages {
				if words.Inflected[language] {
					for _, e := range endings(stems[i]) {
						table[i][levels.Text(words.Ending(e.text)).Sum()] = uint8(levelOf(e.frequency))
					}
				}
			}
			file = levels.Write(file, table)
			fmt.Fprintf(notes, "%s: %d bytes of words\n", g.Name, len(file)-before)
			shares, rests := make([]levels.Column, len(lists)), make([]levels.Column, len(lists))
			for i, list := range lists {
				shares[i], rests[i] = letters(list, mostGrams[g.Name])
			}
			file = levels.Write(file, append(shares, rests...))
		}
		fmt.Fprintf(notes, "%s: %d bytes\n", g.Name, len(file)-before)
	}
	return identified(file), nil
}

// identified returns a file with what identifies it in front: the first bytes of its SHA-256 sum.
func identified(file []byte) []byte {
	sum := sha256.Sum256(file)
	return append(sum[:4:4], file...)
}

// levelOf returns the level of a share p, from 0 for 1 to 254 for 10^-25.4 or less: its negative decibels.
func levelOf(p float64) int {
	return int(min(254, max(0, math.Round(-10*math.Log10(p)))))
}

// listed gives the names of languages whose lists are called otherwise.
var listed = map[string]string{"no": "nb", "tl": "fil", "hr": "sh", "sr": "sh"}

// sourceOf returns the name of a language's list, the large one if there is one, "" if there is none.
func sourceOf(language string) string {
	for _, size := range []string{"large_", "small_"} {
		if name := size + cmp.Or(listed[language], language); sumOf(name) != "" {
			return name
		}
	}
	return ""
}

// readWords returns the words of a language, the most frequent first, and what they are from: the large list of
// wordfreq, the small one, or texts.
func readWords(in, language string, texts corpus.Texts) (list []word, source string, err error) {
	if source = sourceOf(language); source != "" {
		list, err = readList(filepath.Join(in, "wordfreq/wordfreq/data", source+".msgpack.gz"), sumOf(source))
		if language == "sr" {
			list = inCyrillic(list)
		}
		return list, source, err
	}
	list = count(texts[language])
	if list == nil {
		return nil, "", fmt.Errorf("there is neither a list nor text of %s", language)
	}
	return list, "texts", nil
}

// mostMixed limits the share of other languages in a list. If it seems larger, the languages are so similar that
// their function words do not tell.
const mostMixed = 0.01

// clean takes out of each list what others put into it, which may be the same lists: the texts of language A have a
// share of language B in them, which B's function words tell, and so B's other words are in A's list at that share of
// their frequency.
func clean(lists, others [][]word, names []string, notes io.Writer) {
	frequencies := func(lists [][]word) []map[string]float64 {
		all := make([]map[string]float64, len(lists))
		for i, list := range lists {
			all[i] = map[string]float64{}
			for _, w := range list {
				all[i][w.text] = w.frequency
			}
		}
		return all
	}
	frequency := frequencies(others)
	shares := make([][]float64, len(lists))
	for a, own := range frequencies(lists) {
		shares[a] = make([]float64, len(others))
		for b, other := range others {
			if &lists[a][0] == &other[0] {
				continue
			}
			if x := mixed(own, other); x <= mostMixed || len(lists) == len(others) && &lists[0][0] == &others[0][0] {
				shares[a][b] = x
			}
		}
	}
	others = slices.Clone(others)
	for a := range lists {
		kept := lists[a][:0:0]
		for _, w := range lists[a] {
			foreign := 0.0
			for b := range others {
				foreign += shares[a][b] * frequency[b][w.text]
			}
			likely := 15.0 // times the estimate, of which a rare word is a loan rather than a quotation
			if names[a] == "en" {
				likely = 6 // the sources of English are cleaner, and it borrows more
			}
			own := w.frequency - 2*foreign
			if own < 0.1*w.frequency || w.frequency < 1e-5 && w.frequency < likely*foreign {
				continue
			}
			kept = append(kept, word{w.text, own})
		}
		fmt.Fprintf(notes, "%s: %d words are other languages': shares %.5f\n", names[a], len(lists[a])-len(kept), shares[a])
		lists[a] = kept
	}
}

// mixed estimates the share of a language's text in that of another, of the frequencies given: the lower quartile of
// the ratio over the language's most frequent words, since some are words of both.
func mixed(other map[string]float64, list []word) float64 {
	var ratios []float64
	for _, w := range list[:60] {
		ratios = append(ratios, other[w.text]/w.frequency)
	}
	slices.Sort(ratios)
	return ratios[15]
}

// Weight of a word of that frequency among a list's words, for the statistics of letters: these are for words that
// no list has, which are more like a list's rare words than like its frequent ones.
func weight(frequency float64) float64 { return 1 + math.Log2(1+frequency*1e7) }

// A gram is a sequence of letters, hashed from its last to its first letter.
type gram struct {
	count   float64     // how often it occurs
	after   float64     // how often a letter follows it
	kinds   float64     // how many different letters follow it
	length  int         // letters
	context levels.Hash // the gram without its last letter
	lower   levels.Hash // the gram without its first letter
}

// letters makes the two columns of a language's letter model from its words: the share of a letter after the letters
// before it, and the rest that a context leaves for letters that it was not seen with (Witten and Bell 1991). Of
// sequences longer than two letters it keeps the most telling ones.
func letters(list []word, most int) (shares, rests levels.Column) {
	grams := map[levels.Hash]*gram{}
	for _, w := range list {
		rs := []rune("^" + w.text + "$") // between the marks of its ends, as package words has them
		n := weight(w.frequency)
		for i := 1; i < len(rs); i++ {
			var lower levels.Hash
			for length := 1; length <= words.Order && length <= i+1; length++ {
				from := i + 1 - length
				h := reversed(rs[from : i+1])
				g := grams[h]
				if g == nil {
					g = &gram{length: length, context: reversed(rs[from:i]), lower: lower}
					grams[h] = g
					context(grams, g.context).kinds++
				}
				g.count += n
				context(grams, g.context).after += n
				lower = h
			}
		}
	}
	share := map[levels.Hash]float64{}
	sorted := slices.SortedFunc(maps.Keys(grams), func(a, b levels.Hash) int {
		return cmp.Or(cmp.Compare(grams[a].length, grams[b].length), cmp.Compare(a, b))
	})
	gain := map[levels.Hash]float64{}
	for _, h := range sorted {
		g := grams[h]
		if g.count == 0 {
			continue
		}
		lower := 1.0 / 20_000
		if g.length > 1 {
			lower = share[g.lower]
		}
		c := grams[g.context]
		share[h] = (g.count + c.kinds*lower) / (c.after + c.kinds)
		backed := lower * c.kinds / (c.after + c.kinds)
		gain[h] = g.count * math.Log(share[h]/backed)
	}
	slices.SortStableFunc(sorted, func(a, b levels.Hash) int {
		short := func(h levels.Hash) int { return min(grams[h].length, 3) }
		return cmp.Or(cmp.Compare(short(a), short(b)), cmp.Compare(gain[b], gain[a]))
	})
	shares, rests = levels.Column{}, levels.Column{}
	for _, h := range sorted {
		g := grams[h]
		if g.count == 0 || g.length > 1 && g.count < 2 {
			continue
		}
		if len(shares) == most {
			break
		}
		shares[h.Sum()] = uint8(levelOf(share[h]))
		c := grams[g.context]
		rests[g.context.Sum()] = uint8(levelOf(c.kinds / (c.after + c.kinds)))
	}
	return shares, rests
}

func context(grams map[levels.Hash]*gram, h levels.Hash) *gram {
	g := grams[h]
	if g == nil {
		g = &gram{}
		grams[h] = g
	}
	return g
}

func reversed(rs []rune) (h levels.Hash) {
	for i := len(rs) - 1; i >= 0; i-- {
		h = h.Add(rs[i])
	}
	return h
}

// Limits of endings.
const (
	shortestStem  = 3    // letters
	longestEnding = 10   // letters
	frequentStem  = 3e-5 // share from which a list has a stem's usual forms
	leastStems    = 20   // that an ending must have
)

// endings returns the endings that a language's words take, and how frequent a word with one is beside its stem: the
// mean over the list's frequent words, most of which lack a form with it.
func endings(list []word) []word {
	frequency := map[string]float64{}
	frequent := 0.0
	for _, w := range list {
		frequency[w.text] = w.frequency
		if w.frequency >= frequentStem {
			frequent++
		}
	}
	stems, sums := map[string]int{}, map[string]float64{}
	var order []string
	for _, w := range list {
		for at, letters := len(w.text), 0; at > 0 && letters < longestEnding; letters++ {
			_, n := utf8.DecodeLastRuneInString(w.text[:at])
			at -= n
			stem, ok := frequency[w.text[:at]]
			if !ok || utf8.RuneCountInString(w.text[:at]) < shortestStem {
				continue
			}
			ending := w.text[at:]
			if stems[ending]++; stems[ending] == leastStems {
				order = append(order, ending)
			}
			if stem >= frequentStem {
				sums[ending] += math.Min(1, w.frequency/stem)
			}
		}
	}
	var all []word
	for _, ending := range order {
		if sums[ending] > 0 {
			all = append(all, word{ending, sums[ending] / frequent})
		}
	}
	return all
}

// characters makes the columns of languages without spaces: each language's words, then the share of words that begin
// in a certain way, of each language.
func characters(lists [][]word) []levels.Column {
	n := len(lists)
	table := make([]levels.Column, 2*n)
	for i, list := range lists {
		table[i], table[n+i] = levels.Column{}, levels.Column{}
		total := 0.0
		for _, w := range list {
			total += w.frequency
		}
		begin := map[uint32]float64{}
		for _, w := range list {
			var h levels.Hash
			for _, r := range w.text {
				h = h.Add(r)
				begin[h.Sum()] += w.frequency / total
			}
			table[i][h.Sum()] = uint8(levelOf(w.frequency / total))
		}
		for h, p := range begin {
			if own, ok := table[i][h]; !ok || levelOf(p) != int(own) {
				table[n+i][h] = uint8(levelOf(p))
			}
		}
	}
	return table
}
