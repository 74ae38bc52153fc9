// Wordlist makes english.txt.gz, the list that package wordlist embeds, from the words of Debian's package wamerican:
// those that the check uses, in the order of their bytes.
//
//	go generate crosstalk/measure/wordlist
package main

import (
	"io"
	"os"
	"slices"
	"strings"

	"crosstalk/measure/wordlist"
	"crosstalk/tools/internal/builder"
)

var command = builder.Builder{
	Source:  "the word list of wamerican",
	Install: "apt-get install wamerican",
	In:      "/usr/share/dict/american-english",
	Out:     "../measure/wordlist/english.txt.gz",
	Build:   build,
}

func main() { command.Main() }

func build(path string, _ io.Writer) ([]byte, error) {
	source, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	words := strings.Fields(string(source))
	words = slices.DeleteFunc(words, func(w string) bool { return !wordlist.Uses(w) })
	slices.Sort(words)
	words = slices.Compact(words)
	return builder.Compress([]byte(strings.Join(words, "\n") + "\n")), nil
}
