// Words measures how well crosstalk finds foreign words, and judges whole replies, on reference data:
//
//	go -C tools run ./bench/words [-half a|b|all] [-only words|replies|streams] [-data DIR] [-own DIR]
//
// The data are ../shared/data/words (answers with foreign words at known places) and ../shared/data/replies. Both are
// split into halves by a hash of the answer that an item is made from: settings were chosen on half a alone. The
// threshold of the words is the one that gives one false run per 1,000 words on half a; package words has it built in,
// rounded.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"log"
	"os"
)

// options are what the command is asked for.
type options struct {
	data, own, language string
	halves              []string
	peers               bool
}

var examples = flag.Bool("examples", false, "print what is flagged of the clean texts of the matrix")

func main() {
	log.SetFlags(0)
	var o options
	flag.StringVar(&o.data, "data", "../../shared/data", "`folder` of the reference data, relative to the folder tools")
	flag.StringVar(&o.own, "own", "", "`folder` of NTREX-128: make data from it and measure on these alone")
	half := flag.String("half", "all", "`half` to report: a, b or all (both, one after the other)")
	only := flag.String("only", "",
		"measure one `part` alone: words, replies, streams or, with -own, matrix, languages or risk")
	flag.StringVar(&o.language, "language", "", "of the matrix, these `languages` alone: nl,pl")
	flag.BoolVar(&o.peers, "peers", true, "measure lid.176 and lingua-go, too")
	flag.Parse()
	o.halves = []string{*half}
	if *half == "all" {
		o.halves = []string{"a", "b"}
	}
	if _, err := os.Stat(o.data); err != nil && o.own == "" {
		fmt.Printf("skipped: no reference data (%v)\n", err)
		return
	}
	for _, part := range []struct {
		name  string
		print func(options) error
	}{{"words", wordTables}, {"replies", replyTables}, {"streams", streamTables},
		{"matrix", matrix}, {"languages", languageTable}, {"risk", riskTables}} {
		needs := part.name == "matrix" || part.name == "languages" || part.name == "risk"
		if *only != "" && *only != part.name || needs && o.own == "" ||
			o.own != "" && part.name != cmp.Or(*only, "words") {
			continue
		}
		if err := part.print(o); err != nil {
			log.Fatal(err)
		}
	}
}

// halfOf says which half an item belongs to: the parity of the FNV-1a hash of its id.
func halfOf(id string) string {
	h := fnv.New32a()
	io.WriteString(h, id)
	if h.Sum32()&1 == 0 {
		return "a"
	}
	return "b"
}
