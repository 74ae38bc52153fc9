//go:build unix

// Command segment measures the segmenters: time to load, memory, and lines per
// second; for Chinese beside Debian's python3-jieba, for Japanese beside MeCab
// with UniDic, pass by pass in one run. The words must be the same.
//
//	apt-get install python3-jieba mecab unidic-mecab
//	go -C tools run ./bench/segment [-passes 7] [-zh FILE] [-ja FILE]
//
// A file holds JSON Lines with a field "line" and may be gzipped, as the
// reference data zh_tokens and ja_tokens. Without one the lines are our own test
// vectors.
package main

import (
	"bufio"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"crosstalk/measure/segment"
	"crosstalk/measure/segment/japanese"
	"crosstalk/measure/segment/jieba"
	"crosstalk/measure/wordlist"
	"crosstalk/tools/internal/bench"
)

//go:embed jieba.py
var script string

func main() {
	log.SetFlags(0)
	passes := flag.Int("passes", 7, "passes over the lines")
	zh := flag.String("zh", "../measure/segment/jieba/testdata/lcut.jsonl", "Chinese lines")
	ja := flag.String("ja", "../measure/segment/japanese/testdata/wakati.jsonl", "Japanese lines")
	flag.Parse()
	chinese, japaneseLines := read(*zh), read(*ja)

	var list *wordlist.List
	load("word list", func() { list = wordlist.English() })
	load("jieba", jieba.Load)
	load("japanese", japanese.Load)
	runtime.KeepAlive(list)

	peer := start(chinese)
	ours, theirs := make([]float64, *passes), make([]float64, *passes)
	for i := range *passes {
		seconds, words := pass(jieba.Segmenter{}, chinese)
		answer := peer.ask()
		if int(answer["words"]) != words {
			log.Fatalf("jieba: %d words, python3-jieba: %.0f", words, answer["words"])
		}
		ours[i], theirs[i] = seconds, answer["seconds"]
	}
	n := float64(len(chinese))
	fmt.Printf("jieba: %.0f lines/s; python3-jieba: %.0f lines/s; ratio %.1f (median of %d passes over %d lines)\n",
		n/bench.Median(ours), n/bench.Median(theirs), bench.Median(theirs)/bench.Median(ours), *passes, len(chinese))
	peer.end()

	for i := range *passes {
		seconds, words := pass(japanese.Segmenter{}, japaneseLines)
		ours[i] = seconds
		var different int
		theirs[i], different = mecab(japaneseLines)
		if different > 0 {
			log.Fatalf("japanese: %d words, of %d lines %d are not as MeCab's", words, len(japaneseLines), different)
		}
	}
	n = float64(len(japaneseLines))
	fmt.Printf("japanese: %.0f lines/s; mecab, its start included: %.0f lines/s; ratio %.1f (median of %d passes over %d lines)\n",
		n/bench.Median(ours), n/bench.Median(theirs), bench.Median(theirs)/bench.Median(ours), *passes, len(japaneseLines))
	fmt.Printf("process peak %.0f MB\n", bench.Peak())
}

// mecab returns how long MeCab takes, and how many lines have other words.
func mecab(lines []string) (seconds float64, different int) {
	c := exec.Command("mecab", "-d", "/var/lib/mecab/dic/unidic", "-O", "wakati", "-b", "1000000")
	c.Stdin = strings.NewReader(strings.Join(lines, "\n") + "\n")
	c.Stderr = os.Stderr
	start := time.Now()
	out, err := c.Output()
	seconds = time.Since(start).Seconds()
	bench.Check(err)
	split := strings.Split(string(out), "\n")
	for i, line := range lines {
		if !slices.Equal(segment.Words(japanese.Segmenter{}, line), segment.Words(segment.Space{}, split[i])) {
			different++
		}
	}
	return seconds, different
}

// load prints what reading a table takes: time, live memory, and the peak of
// the process so far.
func load(name string, read func()) {
	before := heap()
	start := time.Now()
	read()
	took := time.Since(start)
	fmt.Printf("%s: loaded in %.3f s, %.1f MB live; process peak so far %.0f MB\n",
		name, took.Seconds(), float64(heap()-before)/1e6, bench.Peak())
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func pass(s segment.Segmenter, lines []string) (seconds float64, words int) {
	start := time.Now()
	var buffer []string
	for _, line := range lines {
		buffer = s.AppendWords(buffer[:0], line)
		words += len(buffer)
	}
	return time.Since(start).Seconds(), words
}

// A process is the running peer.
type process struct {
	in  io.WriteCloser
	out *json.Decoder
}

func start(lines []string) *process {
	dir, err := os.MkdirTemp("", "jieba")
	bench.Check(err)
	defer os.RemoveAll(dir) // jieba keeps its cache there, used before the first answer
	c := exec.Command("python3", "-c", script, dir)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	bench.Check(err)
	out, err := c.StdoutPipe()
	bench.Check(err)
	bench.Check(c.Start())
	bench.Check(json.NewEncoder(in).Encode(lines))
	p := &process{in, json.NewDecoder(out)}
	var hello struct {
		Load    float64
		Version string
	}
	bench.Check(p.out.Decode(&hello))
	fmt.Printf("python3-jieba %s: loaded in %.3f s\n", hello.Version, hello.Load)
	return p
}

func (p *process) ask() map[string]float64 {
	_, err := fmt.Fprintln(p.in)
	bench.Check(err)
	var answer map[string]float64
	bench.Check(p.out.Decode(&answer))
	return answer
}

func (p *process) end() {
	bench.Check(p.in.Close())
	var answer map[string]float64
	bench.Check(p.out.Decode(&answer))
	fmt.Printf("python3-jieba: process peak %.0f MB\n", answer["peak"]/1024)
}

func read(path string) []string {
	f, err := os.Open(path)
	bench.Check(err)
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		r, err = gzip.NewReader(f)
		bench.Check(err)
	}
	var lines []string
	for scanner := bufio.NewScanner(r); scanner.Scan(); {
		var record struct{ Line string }
		pair := []any{&record.Line, nil} // as in the test vectors
		if text := scanner.Bytes(); json.Unmarshal(text, &record) == nil || json.Unmarshal(text, &pair) == nil {
			lines = append(lines, record.Line)
		}
	}
	if len(lines) == 0 {
		log.Fatalf("%s: no lines; want JSON Lines with a field \"line\"", path)
	}
	return lines
}
