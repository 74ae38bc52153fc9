//go:build unix

// Confusion measures crosstalk score confusion: wall and processor seconds and peak memory for a file of recorded
// answers, and for a stream of generated ones whose length does not show in the memory.
//
//	go -C tools run ./bench/confusion [-passes 5] FILE...
//	go -C tools run ./bench/confusion -rows 10000000
//
// The reference data has files of some 6,500 answers. Each pass is a process of its own; files take turns. The
// generated answers come through a pipe, in 15 languages, each with an id of its own.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"crosstalk/tools/internal/bench"
)

func main() {
	passes := flag.Int("passes", 5, "passes over the files")
	rows := flag.Int("rows", 0, "rows of the stream, after one of a tenth")
	flag.Parse()
	dir, err := os.MkdirTemp("", "confusion")
	bench.Check(err)
	defer os.RemoveAll(dir)
	program, err := bench.Program(dir)
	bench.Check(err)
	args := []string{"score", "confusion", "--protocol", "lcb-script", "--format", "json", "--quiet"}
	costs := map[string][]bench.Cost{}
	for range *passes {
		for _, file := range flag.Args() {
			costs[file] = append(costs[file], measure(program, append(args, file)))
		}
	}
	for _, file := range flag.Args() {
		fmt.Printf("%s: %v (median of %d)\n", filepath.Base(file), bench.MedianCost(costs[file]), *passes)
	}
	for _, n := range []int{*rows / 10, *rows} {
		if n == 0 {
			continue
		}
		pipe := filepath.Join(dir, fmt.Sprintf("stream-%d.csv", n))
		bench.Check(syscall.Mkfifo(pipe, 0o600))
		go generate(pipe, n)
		c := measure(program, append(args, pipe))
		fmt.Printf("%d rows: %v, %.0f rows per CPU second\n", n, c, float64(n)/c.CPU)
	}
}

func measure(program string, args []string) bench.Cost {
	c := exec.Command(program, args...)
	c.Stderr = os.Stderr
	cost, err := bench.Run(c)
	bench.Check(err)
	return cost
}

func generate(path string, rows int) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	bench.Check(err)
	w := bufio.NewWriterSize(f, 1<<16)
	sentences := bench.Sentences()
	fmt.Fprintln(w, "id,model,task,source,language,completion")
	for i := range rows {
		s, other := sentences[i%len(sentences)], sentences[i%7]
		answer := s.Text
		if i%10 == 0 {
			answer += "\n" + other.Text
		}
		fmt.Fprintf(w, "%d,m,monolingual,s%d,%s,\"%s\"\n", i, i%3, s.Language, answer)
	}
	bench.Check(w.Flush())
	bench.Check(f.Close())
}
