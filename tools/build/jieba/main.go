// Jieba makes tables.bin.gz, the tables that package jieba embeds, from the dictionary and the hidden Markov model of
// jieba 0.42.1:
//
//	go generate crosstalk/measure/segment/jieba
//
// The stream, before compression, is a row of unsigned varints unless said otherwise:
//
//	format number 1
//	number of characters, then each, most frequent first, as the difference
//	  from U+4E00, zigzag; a character's place in this row is its label
//	number of log probabilities, then each as 8 bytes of a little-endian
//	  float64; the first is that of a character outside the dictionary
//	number of nodes of the dictionary's trie; the nodes stand level by level,
//	  the root first, the children of a node together in order of their labels
//	number of children of each node
//	label of each node but the root, as the difference from its left sibling's
//	for each node but the root 1 + the place of its log probability, 0 if it
//	  is only the beginning of words
//	start probabilities of the states B, E, M, S, and the 16 transitions, row
//	  by row, as 8 bytes each
//	number of emission log probabilities, then each as 8 bytes
//	for each state and each character U+4E00 to U+9FD5 1 + the place of its
//	  emission, 0 if it has none
package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"crosstalk/tools/internal/builder"
)

// The characters that jieba's accurate mode looks up in the dictionary; words with any other can never be found.
var lookedUp = regexp.MustCompile(`^[\x{4E00}-\x{9FD5}a-zA-Z0-9+#&._%-]+$`)

const (
	firstHan, lastHan = 0x4E00, 0x9FD5
	states            = "BEMS"
	never             = -3.14e100 // jieba's logarithm of zero
)

var command = builder.Builder{
	Source:  "jieba 0.42.1",
	Install: "apt-get install python3-jieba",
	In:      "/usr/lib/python3/dist-packages/jieba",
	Out:     "../measure/segment/jieba/tables.bin.gz",
	Build:   build,
}

func main() { command.Main() }

func build(dir string, _ io.Writer) ([]byte, error) {
	var w builder.Stream
	w.Uint(1)
	if err := addDictionary(&w, filepath.Join(dir, "dict.txt")); err != nil {
		return nil, err
	}
	if err := addModel(&w, filepath.Join(dir, "finalseg")); err != nil {
		return nil, err
	}
	return builder.Compress(w), nil
}

func addDictionary(w *builder.Stream, path string) error {
	words, total, err := readDictionary(path)
	if err != nil {
		return err
	}
	var root builder.Trie[int] // frequencies
	charCount, freqCount := map[rune]int{}, map[int]int{}
	for word, freq := range words {
		freqCount[freq]++
		for _, r := range word {
			charCount[r]++
		}
		root.At(word).Value = freq
	}

	chars := builder.ByCount(charCount)
	labels := map[rune]int{}
	w.Uint(len(chars))
	for i, r := range chars {
		labels[r] = i
		w.Int(int(r) - firstHan)
	}

	// jieba: log(freq) - log(total), and freq 1 for what it does not know.
	delete(freqCount, 1)
	freqs := append([]int{1}, builder.ByCount(freqCount)...)
	places := map[int]int{}
	w.Uint(len(freqs))
	for i, freq := range freqs {
		places[freq] = i
		w.Float(logInt(freq) - logInt(total))
	}

	var values builder.Stream
	nodes, counts, deltas := root.Write(labels, func(freq int) {
		place := 0
		if freq > 0 {
			place = 1 + places[freq]
		}
		values.Uint(place)
	})
	w.Uint(nodes)
	*w = slices.Concat(*w, counts, deltas, values[1:]) // the root is no word
	return nil
}

// readDictionary returns the words that can be looked up with their frequencies, and the sum of the frequencies of all
// lines, as jieba counts it.
func readDictionary(path string) (words map[string]int, total int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	words = map[string]int{}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		fields := strings.Split(strings.TrimSpace(lines.Text()), " ")
		if len(fields) < 2 {
			return nil, 0, fmt.Errorf("%s:%d: %q, want a word and its frequency", path, n, lines.Text())
		}
		freq, err := strconv.Atoi(fields[1])
		if err != nil || freq < 0 {
			return nil, 0, fmt.Errorf("%s:%d: frequency %q, want a whole number", path, n, fields[1])
		}
		total += freq
		if lookedUp.MatchString(fields[0]) {
			words[fields[0]] = freq
		}
	}
	return words, total, lines.Err()
}

func addModel(w *builder.Stream, dir string) error {
	start, err := readPython(filepath.Join(dir, "prob_start.py"))
	trans, wrong := readPython(filepath.Join(dir, "prob_trans.py"))
	emit, failed := readPython(filepath.Join(dir, "prob_emit.py"))
	if err := cmp.Or(err, wrong, failed); err != nil {
		return err
	}
	for _, state := range states {
		w.Float(start[string(state)])
	}
	for _, from := range states {
		for _, to := range states {
			p, ok := trans[string(from)+string(to)]
			if !ok {
				p = never
			}
			w.Float(p)
		}
	}
	count := map[float64]int{}
	for _, p := range emit {
		count[p]++
	}
	places := map[float64]int{}
	probs := builder.ByCount(count)
	w.Uint(len(probs))
	for i, p := range probs {
		places[p] = i
		w.Float(p)
	}
	for _, state := range states {
		for r := rune(firstHan); r <= lastHan; r++ {
			place := 0
			if p, ok := emit[string(state)+string(r)]; ok {
				place = 1 + places[p]
			}
			w.Uint(place)
		}
	}
	return nil
}

var pythonEntry = regexp.MustCompile(`'([^']+)': *(?:(-?[0-9.][0-9.e+-]*)|(\{))`)

// readPython reads a dictionary, or a dictionary of dictionaries, of floats from a Python source file; the keys of both
// depths are joined.
func readPython(path string) (map[string]float64, error) {
	source, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	entries := map[string]float64{}
	outer := ""
	for _, m := range pythonEntry.FindAllStringSubmatch(string(source), -1) {
		key, err := strconv.Unquote(`"` + m[1] + `"`)
		if err != nil {
			return nil, fmt.Errorf("%s: key %q: %w", path, m[1], err)
		}
		if m[3] != "" {
			outer = key
			continue
		}
		p, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			return nil, fmt.Errorf("%s: key %q: %w", path, m[1], err)
		}
		entries[outer+key] = p
	}
	if len(entries) == 0 {
		return nil, fmt.Errorf("%s: no probabilities, want a Python dictionary", path)
	}
	return entries, nil
}

// logInt returns the natural logarithm of n, correctly rounded. Ties between paths are decided by the last bit of sums
// of logarithms, and math.Log, which differs there from the C library's and between machines, would break them
// differently from jieba.
func logInt(n int) float64 {
	const prec = 300
	float := func(v float64) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(v) }
	// ln((1+z)/(1-z)) = 2 (z + z^3/3 + z^5/5 + ...)
	series := func(z *big.Float) *big.Float {
		sum, power, square := float(0), float(2), float(0).Mul(z, z)
		power.Mul(power, z)
		for k := 1.0; k < 300; k += 2 {
			sum.Add(sum, float(0).Quo(power, float(k)))
			power.Mul(power, square)
		}
		return sum
	}
	fraction := float(float64(n))
	exponent := fraction.MantExp(fraction) // fraction in [0.5, 1)
	z := float(0).Quo(float(0).Sub(fraction, float(1)), float(0).Add(fraction, float(1)))
	ln2 := series(float(0).Quo(float(1), float(3)))
	sum := series(z)
	sum.Add(sum, ln2.Mul(ln2, float(float64(exponent))))
	v, _ := sum.Float64()
	return v
}
