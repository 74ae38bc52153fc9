// Command build makes english.txt.gz, the list that package wordlist embeds,
// from the words of Debian's package wamerican: those that the check uses, in
// the order of their bytes. Run it by go generate.
package main

import (
	"bytes"
	"compress/gzip"
	"flag"
	"log"
	"os"
	"slices"
	"strings"

	"crosstalk/measure/wordlist"
)

func main() {
	log.SetFlags(0)
	in := flag.String("in", "/usr/share/dict/american-english", "list of one word per line")
	out := flag.String("out", "english.txt.gz", "file to write")
	flag.Parse()
	data, err := build(*in)
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(*out, data, 0o644); err != nil {
		log.Fatal(err)
	}
}

func build(path string) ([]byte, error) {
	source, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	words := strings.Fields(string(source))
	words = slices.DeleteFunc(words, func(w string) bool { return !wordlist.Uses(w) })
	slices.Sort(words)
	words = slices.Compact(words)

	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	z.Write([]byte(strings.Join(words, "\n") + "\n"))
	z.Close()
	return packed.Bytes(), nil
}
