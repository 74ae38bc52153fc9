//go:build unix

// Confusion measures crosstalk score confusion: wall and processor seconds and peak memory for a file of recorded
// answers.
//
//	go -C tools run ./bench/confusion [-passes 5] FILE...
//
// The reference data has files of some 6,500 answers. Each pass is a process of its own, and the files alternate.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"crosstalk/tools/internal/bench"
)

func main() {
	passes := flag.Int("passes", 5, "passes over the files")
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
		fmt.Printf("%s: %v (median of %d)\n", filepath.Base(file), bench.Middle(costs[file]), *passes)
	}
}

func measure(program string, args []string) bench.Cost {
	c := exec.Command(program, args...)
	c.Stderr = os.Stderr
	cost, err := bench.Run(c)
	bench.Check(err)
	return cost
}
