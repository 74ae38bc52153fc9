// Command build measures what a newcomer pays: a build of the command with
// nothing cached, the standard library included, and the start of the program.
//
//	go run ./bench/build            an empty build cache
//	go run ./bench/build -fresh     an empty module cache too: downloads
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

func main() {
	fresh := flag.Bool("fresh", false, "download all modules too")
	starts := flag.Int("starts", 20, "how often to start the program")
	flag.Parse()
	if err := measure(*fresh, *starts); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

func measure(fresh bool, starts int) error {
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
	build.Env, build.Stderr = env, os.Stderr
	began := time.Now()
	if err := build.Run(); err != nil {
		return err
	}
	info, err := os.Stat(binary)
	if err != nil {
		return err
	}
	cpu := build.ProcessState.UserTime() + build.ProcessState.SystemTime()
	fmt.Printf("cold build   %.0f s wall, %.0f CPU s, binary %.1f MB\n", time.Since(began).Seconds(), cpu.Seconds(), float64(info.Size())/1e6)
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
