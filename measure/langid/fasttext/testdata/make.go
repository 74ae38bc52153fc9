// Make trains the models in this folder with the fasttext tool on invented words, and records the tool's predictions.
//
//	apt-get install fasttext    # Debian 12: 0.9.2+ds-1+b1
//	go run make.go              # in this folder
//
// The same version writes the same bytes.
package main

import (
	"bytes"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

type variant struct {
	name     string
	labels   int
	train    string
	quantize string // none: a .bin
	predict  string // k and threshold
}

const common = " -thread 1 -verbose 0 "

var variants = []variant{
	{"softmax", 4, "-loss softmax -dim 9 -minn 2 -maxn 4 -bucket 300 -wordNgrams 2 -epoch 8 -lr 0.4", "", "-1 0.0"},
	{"hs", 7, "-loss hs -dim 8 -minn 1 -maxn 3 -bucket 400 -epoch 8 -lr 0.4", "", "3 0.001"},
	{"words", 3, "-loss softmax -dim 3 -minn 0 -maxn 0 -wordNgrams 1 -epoch 5", "", "1 0.5"},
	{"pruned-hs", 6, "-loss hs -dim 16 -minn 2 -maxn 4 -bucket 5000 -epoch 8 -lr 0.4", "-qnorm -cutoff 400", "4 0.0"},
}

func main() {
	log.SetFlags(0)
	out, err := exec.Command("dpkg-query", "-W", "-f", "${Version}", "fasttext").Output()
	if err != nil {
		log.Fatal("fasttext is not installed as a Debian package: ", err)
	}
	version := string(out)
	dir, err := os.MkdirTemp("", "fasttext")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	lines := testLines()
	write("lines.txt", lines)
	for _, v := range variants {
		train := filepath.Join(dir, "train.txt")
		model := filepath.Join(dir, v.name)
		write(train, trainingText(v.labels))
		run("supervised -input " + train + " -output " + model + common + v.train)
		file := v.name + ".bin"
		header := fmt.Sprintf("# Debian fasttext %s\n# supervised %s\n", version, v.train)
		if v.quantize != "" {
			run("quantize -input " + train + " -output " + model + common + v.quantize)
			file = v.name + ".ftz"
			header += "# quantize " + v.quantize + "\n"
		}
		data, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			log.Fatal(err)
		}
		write(file, data)
		got := run("predict-prob " + file + " lines.txt " + v.predict)
		header += "# predict-prob lines.txt " + v.predict + "\n"
		write(v.name+".txt", append([]byte(header), got...))
	}
}

func run(args string) []byte {
	cmd := exec.Command("fasttext", strings.Fields(args)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		log.Fatal("fasttext ", args, ": ", err)
	}
	return out
}

func write(name string, data []byte) {
	if err := os.WriteFile(name, data, 0o644); err != nil {
		log.Fatal(err)
	}
}

var alphabets = []string{"abdegiklmnorstu", "абвгдежиклмнопрст", "ابتثجحدرسعفقلمن", "あいうえおかきくけこ日本語", "àéîöüčšžñç", "कखगघचजतदनपमरलस"}

// word invents a word of the n-th language: each language has its own few syllables.
func word(rng *rand.Rand, n int) string {
	letters := []rune(alphabets[n%len(alphabets)])
	var b strings.Builder
	for range 1 + rng.IntN(3) {
		i := rng.IntN(6) * (n + 1)
		b.WriteRune(letters[i%len(letters)])
		b.WriteRune(letters[(i/3+n)%len(letters)])
	}
	return b.String()
}

func trainingText(labels int) []byte {
	rng := rand.New(rand.NewPCG(1, uint64(labels)))
	var b bytes.Buffer
	for i := range max(400, 4*labels) {
		n := i % labels
		fmt.Fprintf(&b, "__label__L%d", n)
		for range 2 + rng.IntN(6) {
			b.WriteString(" " + word(rng, n))
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// testLines lacks </s>: the tool would treat the text after it as a new line.
func testLines() []byte {
	rng := rand.New(rand.NewPCG(2, 2))
	var b bytes.Buffer
	for i := range 120 {
		for range 1 + rng.IntN(9) {
			b.WriteString(word(rng, i%7))
			b.WriteString([]string{" ", " ", " ", "  ", "\t", "\r", "\v", "\f", "\x00", "x "}[rng.IntN(10)])
		}
		if i%3 == 0 {
			b.WriteString(word(rng, i%5))
		}
		b.WriteByte('\n')
	}
	for _, line := range []string{
		"", " ", "\t \r", "__label__L1", "__label__L1 agda", "__label__none agda", "__label_ agda",
		"a", "あ", "\xff", "\xe3\x81", "\x80\x81", "a\xffb \xc3", "\u00a0", "a\u00a0b", "🙂 🙂🙂", "<", ">", "< >", "<>",
		strings.Repeat("a", 300), strings.Repeat("あ", 100), strings.Repeat("agda ", 300), "agda", "AGDA", "agda agda",
	} {
		b.WriteString(line + "\n")
	}
	return b.Bytes()
}
