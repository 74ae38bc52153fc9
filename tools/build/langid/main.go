// Langid makes lid.ftz, the language identifier that package embedded embeds:
//
//	apt-get install fasttext=0.9.2+ds-1+b1 dpkg
//	go -C tools run ./build/langid -work /tmp/lid
//
// It downloads the Debian packages that packages.txt names, in the versions that it names, takes translated text out of
// them, trains a fastText model with the fasttext tool on one thread, and quantises it. The same versions give the same
// bytes; SHA-256 sums are printed and stand in README.md. The text stays in the work directory.
//
// Versions that the mirrors no longer carry are in Debian's snapshot archive; put them into the debs folder of the work
// directory.
package main

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"log"
	"maps"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"crosstalk/tools/internal/corpus"
)

//go:embed packages.txt
var packageList string

func main() {
	log.SetFlags(log.Ltime)
	work := flag.String("work", "", "work `directory`, kept")
	out := flag.String("out", "../measure/langid/embedded/lid.ftz", "`file` to write, relative to the folder tools")
	flag.Parse()
	if *work == "" {
		log.Fatal("-work is missing: a directory for packages and text, about 1 GB")
	}
	if err := build(*work, *out); err != nil {
		log.Fatal(err)
	}
}

func build(work, out string) error {
	for _, name := range []string{"fasttext", "apt-get", "dpkg-deb"} {
		if _, err := exec.LookPath(name); err != nil {
			return fmt.Errorf("on Debian, apt-get install fasttext=0.9.2+ds-1+b1 dpkg: %w", err)
		}
	}
	debs, err := download(filepath.Join(work, "debs"))
	if err != nil {
		return err
	}
	log.Print("read ", len(debs), " packages")
	texts := corpus.Texts{}
	for _, deb := range debs {
		if err := corpus.ReadPackage(deb, texts.Add); err != nil {
			return err
		}
	}
	texts.Purge()

	train := filepath.Join(work, "train.txt")
	log.Print("write ", train)
	if err := writeTraining(train, texts); err != nil {
		return err
	}
	model := filepath.Join(work, "lid")
	log.Print("train")
	if err := tool("supervised -input " + train + " -output " + model + " " + training); err != nil {
		return err
	}
	log.Print("quantise")
	if err := tool("quantize -input " + train + " -output " + model + " " + quantisation); err != nil {
		return err
	}
	data, err := os.ReadFile(model + ".ftz")
	if err != nil {
		return err
	}
	if err := os.WriteFile(out, data, 0o644); err != nil {
		return err
	}
	log.Printf("wrote %s: %d bytes, SHA-256 %x", out, len(data), sha256.Sum256(data))
	return nil
}

// Chosen on the held-out origins; see the README of package embedded.
const (
	training = "-loss softmax -dim 16 -minn 1 -maxn 4 -minCount 300 -bucket 1000000" +
		" -epoch 3 -lr 0.5 -thread 1 -verbose 0"
	quantisation = "-qnorm -cutoff 55000 -retrain -epoch 1 -lr 0.2 -thread 1 -verbose 0"
)

func tool(args string) error {
	cmd := exec.Command("fasttext", strings.Fields(args)...)
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

// download fetches the packages that are not yet there and returns their files in the order of the list.
func download(dir string) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	var files []string
	for line := range strings.Lines(packageList) {
		name, version, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok {
			continue
		}
		file := filepath.Join(dir, name+"_"+strings.ReplaceAll(url.PathEscape(version), ":", "%3a")+"_all.deb")
		if _, err := os.Stat(file); err != nil {
			cmd := exec.Command("apt-get", "-qq", "download", name+"="+version)
			cmd.Dir, cmd.Stderr = dir, os.Stderr
			if err := cmd.Run(); err != nil {
				return nil, fmt.Errorf("apt-get download %s=%s: %w", name, version, err)
			}
		}
		files = append(files, file)
	}
	return files, nil
}

// writeTraining writes the training lines.
func writeTraining(path string, texts corpus.Texts) error {
	s := &sampler{rng: rand.New(rand.NewPCG(1, 176))}
	englishText := shuffled(texts["en"])
	for _, x := range englishText {
		if words := strings.Fields(normalise(x.text)); len(words) > 2 && !corpus.HeldOut[x.origin] {
			s.english = append(s.english, words)
		}
	}
	var lines []string
	for _, language := range slices.Sorted(maps.Keys(texts)) {
		all := shuffled(texts[language])
		n := len(lines)
		lines = append(lines, s.lines(language, all)...)
		log.Printf("%s: %d sentences, %d training lines", language, len(all), len(lines)-n)
	}
	s.rng.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })

	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	w := bufio.NewWriter(io.MultiWriter(f, sum))
	for _, line := range lines {
		w.WriteString(line)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	log.Printf("%d lines, SHA-256 %x", len(lines), sum.Sum(nil))
	return f.Close()
}

type sentence struct {
	text, origin string
	order        uint64
}

// shuffled returns the sentences in an order that depends on
// nothing but themselves, so that a change of one leaves the others in place.
func shuffled(texts map[string]string) []sentence {
	all := make([]sentence, 0, len(texts))
	for text, origin := range texts {
		h := fnv.New64a()
		h.Write([]byte(text))
		all = append(all, sentence{text, origin, h.Sum64()})
	}
	slices.SortFunc(all, func(a, b sentence) int {
		return cmp.Or(cmp.Compare(a.order, b.order), cmp.Compare(a.text, b.text))
	})
	return all
}

// Of a language's lines at most this share is from one origin while others
// have more, and a sentence is seen at most so many times.
const (
	originShare = 0.4
	repeats     = 4
)

// sampler makes training lines, the same each time.
type sampler struct {
	rng     *rand.Rand
	english [][]string // for mixing: words of sentences
}

// lines returns the training lines of a language, labelled.
func (s *sampler) lines(language string, all []sentence) []string {
	want := target(language)
	taken := map[string]int{}
	var picked, rest []string
	for _, x := range all {
		switch {
		case corpus.HeldOut[x.origin]:
		case taken[x.origin] < int(originShare*float64(want)):
			taken[x.origin]++
			picked = append(picked, x.text)
		default:
			rest = append(rest, x.text)
		}
	}
	picked = append(picked, rest[:min(len(rest), max(want-len(picked), 0))]...)
	s.rng.Shuffle(len(picked), func(i, j int) { picked[i], picked[j] = picked[j], picked[i] })

	lines := make([]string, 0, want)
	for i := range min(want, repeats*len(picked)) {
		line := s.view(picked[i%len(picked)], language)
		if corpus.Scripts[language] != nil && s.chance(0.12) {
			line = s.mix(line, language)
		}
		if s.chance(0.06) {
			line = string("123456789"[s.rng.IntN(9)]) + " " + line
		}
		lines = append(lines, "__label__"+language+" "+line+"\n")
	}
	return lines
}

func (s *sampler) chance(p float64) bool { return s.rng.Float64() < p }

// span picks at random where to begin and how much to take of n.
func (s *sampler) span(n, least, most int) (from, to int) {
	k := least + s.rng.IntN(max(min(most, n)-least, 0)+1)
	k = min(k, n)
	from = s.rng.IntN(n - k + 1)
	return from, from + k
}

// view is a sentence, or a part of it, as a line of an answer may look.
func (s *sampler) view(text, language string) string {
	if !s.chance(0.1) {
		text = normalise(text)
	}
	if corpus.Unspaced[language] {
		runes := []rune(text)
		if len(runes) > 8 && s.chance(0.5) {
			from, to := s.span(len(runes), 6, 40)
			runes = runes[from:to]
		}
		return string(runes)
	}
	words := strings.Fields(text)
	if len(words) > 4 && s.chance(0.5) {
		from, to := s.span(len(words), 3, 12)
		words = words[from:to]
	}
	text = strings.Join(words, " ")
	switch p := s.rng.Float64(); {
	case p < 0.15:
		return strings.ToLower(text)
	case p < 0.18:
		return strings.ToUpper(text)
	case p < 0.23:
		return titleCase(text)
	}
	return text
}

// mix puts a few English words into a line of another script, where they do not change its language.
func (s *sampler) mix(line, language string) string {
	words, separator := units(line, language)
	phrase := s.english[s.rng.IntN(len(s.english))]
	from, to := s.span(len(phrase), 1, min(8, max(len(words)/2, 1)))
	foreign := strings.Join(phrase[from:to], " ")
	if s.chance(0.3) {
		foreign = titleCase(foreign)
	}
	at := 0
	switch p := s.rng.Float64(); {
	case p < 0.3:
		at = len(words)
	case p < 0.6:
		at = s.rng.IntN(len(words) + 1)
	}
	return strings.TrimSpace(strings.Join(words[:at], separator) + " " +
		foreign + " " + strings.Join(words[at:], separator))
}

// units cuts a line into words, or into pairs of characters where the language
// puts no space between words, and returns what to join them with.
func units(line, language string) (words []string, separator string) {
	if !corpus.Unspaced[language] {
		return strings.Fields(line), " "
	}
	for pair := range slices.Chunk([]rune(line), 2) {
		words = append(words, string(pair))
	}
	return words, ""
}

func titleCase(s string) string {
	first := true
	return strings.Map(func(r rune) rune {
		defer func() { first = r == ' ' }()
		if first {
			return unicode.ToUpper(r)
		}
		return r
	}, s)
}

// normalise does to a line what the confusion protocols do before they look at its language.
func normalise(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r < 0x80 && (unicode.IsPunct(r) || unicode.IsSymbol(r)), r == '،':
			return -1
		case r == '—':
			return ' '
		}
		return r
	}, s)
	return strings.Join(strings.Fields(s), " ")
}

// targets are how many training lines languages get. After English, the first are what the Language Confusion Benchmark
// asks for; their neighbours are there to be told apart from them, the others to be recognised at all. The last are so
// close to a language of the benchmark that software's texts do not tell the two apart in talk of daily life; a line is
// then taken for that language.
var targets = map[int]string{
	180_000: "en",
	70_000:  "ar de es fr hi id it ja ko pt ru tr vi zh",
	12_000: `af az be bg ca cs da el eo et eu fa fi he hr hu lt lv mk mr ne nl no pl ro sk sl sq sr sv sw tl
		uk ur`,
	5_000: "am as bn br cy ga gd gu hy is ka kk km kn ml my or pa si ta te th uz",
	3_000: "ast gl ms oc",
}

func target(language string) int {
	for lines, languages := range targets {
		if slices.Contains(strings.Fields(languages), language) {
			return lines
		}
	}
	return 0
}
