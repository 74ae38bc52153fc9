// Words measures how well crosstalk finds foreign words, and judges whole replies, on reference data:
//
//	go -C tools run ./bench/words [-half a|b|all] [-only words|replies|streams] [-data DIR] [-own DIR]
//		[-list false|missed|misnamed|beside|late] [-baselines=false]
//
// The data are ../shared/data/words (answers with foreign words at known places) and ../shared/data/replies. Both are
// split into halves by a hash of the answer that an item is made from: settings were chosen on half a alone. The
// threshold of the words is the one that gives one false run per 1,000 words on half a; package words has it built in,
// rounded.
package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
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
	data, own, list string
	halves          []string
	baselines       bool
}

func main() {
	log.SetFlags(0)
	var o options
	flag.StringVar(&o.data, "data", "../../shared/data", "`folder` of the reference data, relative to the folder tools")
	flag.StringVar(&o.own, "own", "", "`folder` of NTREX-128: make data from it and measure on these alone")
	half := flag.String("half", "all", "`half` to report: a, b or all (both, one after the other)")
	flag.StringVar(&o.list, "list", "", "list `what` check gets wrong instead of figures: false, missed, misnamed, beside or late")
	flag.BoolVar(&o.baselines, "baselines", true, "measure lid.176 and lingua-go as well, which takes a minute")
	only := flag.String("only", "", "measure one `part` alone: words, replies or streams")
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
	}{{"words", wordTables}, {"replies", replyTables}, {"streams", streamTables}} {
		if *only != "" && *only != part.name || o.own != "" && part.name != "words" {
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

// readLines decodes a file of JSON Lines, packed if its name ends in .gz.
func readLines[T any](path string) (all []T, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<24)
	for n := 1; lines.Scan(); n++ {
		var x T
		if err := json.Unmarshal(lines.Bytes(), &x); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		all = append(all, x)
	}
	return all, lines.Err()
}
