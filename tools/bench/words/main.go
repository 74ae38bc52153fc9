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
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"log"
	"os"
	"strings"
)

// options are what the command is asked for.
type options struct {
	data, own string
	halves    []string
	peers     []string // NAME=COMMAND, which reads texts and writes the tag of each on a line
}

func main() {
	log.SetFlags(0)
	var o options
	flag.StringVar(&o.data, "data", "../../shared/data", "`folder` of the reference data, relative to the folder tools")
	flag.StringVar(&o.own, "own", "", "`folder` of NTREX-128, for matrix, languages and risk")
	half := flag.String("half", "all", "`half` to report: a, b or all (both, one after the other)")
	only := flag.String("only", "",
		"measure one `part` alone: words, replies, streams or, with -own, matrix, languages, risk or peers")
	peers := flag.String("peers", "", "with peers: further identifiers, as NAME=`COMMAND`;NAME=COMMAND")
	flag.Parse()
	o.peers = strings.FieldsFunc(*peers, func(r rune) bool { return r == ';' })
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
		own   bool
		print func(options) error
	}{{"words", false, wordTables}, {"replies", false, replyTables}, {"streams", false, streamTables},
		{"matrix", true, matrix}, {"languages", true, languageTable}, {"risk", true, riskTables},
		{"peers", true, peerTables}} {
		if *only != "" && *only != part.name || part.own != (o.own != "") {
			continue
		}
		if err := part.print(o); err != nil {
			log.Fatal(err)
		}
	}
}

// halfOf says which half an item belongs to: the parity of the hash of its id.
func halfOf(id string) string { return string(rune('a' + hash32(id)&1)) }

// hash32 is FNV-1a.
func hash32(id string) uint32 {
	h := fnv.New32a()
	io.WriteString(h, id)
	return h.Sum32()
}
