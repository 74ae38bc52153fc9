//go:build unix

// Coldbuild measures what a newcomer pays: a build of the command with
// nothing cached, the standard library included, and the start of the program.
//
//	go -C tools run ./bench/coldbuild            an empty build cache
//	go -C tools run ./bench/coldbuild -fresh     an empty module cache too: downloads
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"crosstalk/tools/internal/bench"
)

func main() {
	fresh := flag.Bool("fresh", false, "download all modules too")
	starts := flag.Int("starts", 20, "how often to start the program")
	flag.Parse()
	bench.Check(measure(*fresh, *starts))
}

func measure(fresh bool, starts int) error {
	tree, err := bench.Tree()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "crosstalk-build-")
	if err != nil {
		return err
	}
	defer func() {
		exec.Command("chmod", "-R", "u+w", dir).Run() // module caches are read-only
		os.RemoveAll(dir)
	}()
	env := append(os.Environ(), "GOCACHE="+filepath.Join(dir, "cache"))
	if fresh {
		env = append(env, "GOMODCACHE="+filepath.Join(dir, "modules"))
	}
	binary := filepath.Join(dir, "crosstalk")
	build := exec.Command("go", "build", "-o", binary, "./cmd/crosstalk")
	build.Dir, build.Env, build.Stderr = tree, env, os.Stderr
	cost, err := bench.Run(build)
	if err != nil {
		return err
	}
	info, err := os.Stat(binary)
	if err != nil {
		return err
	}
	fmt.Printf("cold build   %.0f s wall, %.0f CPU s, binary %.1f MB\n", cost.Wall, cost.CPU, float64(info.Size())/1e6)
	for _, args := range [][]string{{"--version"}, {"run", "leakage", "--quiet", "--out", filepath.Join(dir, "run")}} {
		times := make([]time.Duration, starts)
		for i := range times {
			began := time.Now()
			if err := exec.Command(binary, args...).Run(); err != nil {
				return fmt.Errorf("%v: %w", args, err)
			}
			times[i] = time.Since(began)
		}
		slices.Sort(times)
		fmt.Printf("%-12s median %v, slowest %v of %d\n", args[0], times[starts/2].Round(time.Millisecond), times[starts-1].Round(time.Millisecond), starts)
	}
	return nil
}
