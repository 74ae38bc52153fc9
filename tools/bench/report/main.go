//go:build unix

// Report measures crosstalk report: wall and processor seconds, peak memory and
// the size of the page, for runs of recorded answers.
//
//	go -C tools run ./bench/report [-passes 3] [-lid FILE] FILE...
//
// Each file of recorded answers (score confusion) becomes a run first. The
// reference data has files of some 6,500 answers. Each pass is a process of its
// own; runs take turns.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"crosstalk/tools/internal/bench"
)

func main() {
	passes := flag.Int("passes", 3, "passes over the runs")
	lid := flag.String("lid", "", "fastText model (default: the embedded one)")
	flag.Parse()
	dir, err := os.MkdirTemp("", "report")
	bench.Check(err)
	defer os.RemoveAll(dir)
	program, err := bench.Program(dir)
	bench.Check(err)
	for i, file := range flag.Args() {
		args := []string{"score", "confusion", file, "--quiet", "--out", run(dir, i)}
		if *lid != "" {
			args = append(args, "--lid", *lid)
		}
		command(program, args...)
	}
	for pass := range *passes {
		for i, file := range flag.Args() {
			cost := command(program, "report", run(dir, i), "--quiet")
			page, err := os.Stat(filepath.Join(run(dir, i), "report.html"))
			bench.Check(err)
			fmt.Printf("pass %d, %s: %v, page of %.2f MB\n", pass+1, filepath.Base(file), cost, float64(page.Size())/1e6)
		}
	}
}

func run(dir string, i int) string { return filepath.Join(dir, "run"+strconv.Itoa(i)) }

func command(program string, args ...string) bench.Cost {
	c := exec.Command(program, args...)
	c.Stderr = os.Stderr
	cost, err := bench.Run(c)
	bench.Check(err)
	return cost
}
