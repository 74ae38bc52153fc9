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
	"crypto/sha256"
	_ "embed"
	"flag"
	"fmt"
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
