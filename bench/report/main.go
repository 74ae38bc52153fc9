//go:build unix

// Report measures crosstalk report: wall and processor seconds, peak memory and
// the size of the page, for runs of recorded answers.
//
//	go run ./bench/report [-passes 3] [-lid FILE] FILE...
//
// Each file of recorded answers (score confusion) becomes a run first. The
// reference data has files of some 6,500 answers. Each pass is a process of its
// own; runs take turns.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

func main() {
	log.SetFlags(0)
	passes := flag.Int("passes", 3, "passes over the runs")
	lid := flag.String("lid", "", "fastText model (default: the embedded one)")
	flag.Parse()
	dir, err := os.MkdirTemp("", "report")
	check(err)
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "crosstalk")
	command("go", "build", "-o", program, "./cmd/crosstalk")
	for i, file := range flag.Args() {
		args := []string{"score", "confusion", file, "--quiet", "--out", run(dir, i)}
		if *lid != "" {
			args = append(args, "--lid", *lid)
		}
		command(program, args...)
	}
	for pass := range *passes {
		for i, file := range flag.Args() {
			start := time.Now()
			s := command(program, "report", run(dir, i), "--quiet")
			wall := time.Since(start)
			page, err := os.Stat(filepath.Join(run(dir, i), "report.html"))
			check(err)
			fmt.Printf("pass %d, %s: %.2f s, %.2f processor s, peak %.0f MB, page of %.2f MB\n", pass+1, filepath.Base(file), wall.Seconds(),
				(s.UserTime() + s.SystemTime()).Seconds(), float64(s.SysUsage().(*syscall.Rusage).Maxrss)/1024, float64(page.Size())/1e6)
		}
	}
}

func run(dir string, i int) string { return filepath.Join(dir, "run"+strconv.Itoa(i)) }

func command(name string, args ...string) *os.ProcessState {
	c := exec.Command(name, args...)
	c.Stderr = os.Stderr
	check(c.Run())
	return c.ProcessState
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
