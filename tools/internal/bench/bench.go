//go:build unix

// Package bench builds crosstalk and measures what a program costs.
package bench

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// Tree returns the root of the main module. The current folder must be inside the module of the tools.
func Tree() (string, error) {
	var complaint bytes.Buffer
	c := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "crosstalk")
	c.Stderr = &complaint
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("no crosstalk module here (run go -C tools run ...): %w\n%s", err, complaint.Bytes())
	}
	return string(bytes.TrimSpace(out)), nil
}

// Program builds crosstalk into dir, with the main module's own dependencies, and returns the program's path.
func Program(dir string) (string, error) {
	tree, err := Tree()
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, "crosstalk")
	c := exec.Command("go", "build", "-o", program, "./cmd/crosstalk")
	c.Dir = tree
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build ./cmd/crosstalk: %w\n%s", err, out)
	}
	return program, nil
}

// Cost is the cost of a process and its children.
type Cost struct {
	Wall, CPU float64 // seconds; CPU is user and system
	Peak      float64 // MB (10^6 bytes), the highest resident set
}

func (c Cost) String() string {
	return fmt.Sprintf("%.2f s, %.2f CPU s, peak %.0f MB", c.Wall, c.CPU, c.Peak)
}

// Run runs a command to its end and returns its cost as reported by the kernel, like time -v.
func Run(c *exec.Cmd) (Cost, error) {
	start := time.Now()
	err := c.Run()
	wall := time.Since(start)
	if c.ProcessState == nil {
		return Cost{}, err
	}
	s := c.ProcessState
	return Cost{wall.Seconds(), (s.UserTime() + s.SystemTime()).Seconds(), megabytes(s.SysUsage().(*syscall.Rusage))}, err
}

// CPU is the time that this process has used on all processors, garbage collection included. Unlike the wall clock it
// does not count what other processes use.
func CPU() time.Duration {
	u := usage()
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Peak returns the highest resident set of this process so far, in MB (10^6 bytes).
func Peak() float64 { return megabytes(usage()) }

func usage() *syscall.Rusage {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // cannot fail for RUSAGE_SELF
	}
	return &u
}

// megabytes reads ru_maxrss, which is in bytes on macOS and in KiB elsewhere.
func megabytes(u *syscall.Rusage) float64 {
	if runtime.GOOS == "darwin" {
		return float64(u.Maxrss) / 1e6
	}
	return float64(u.Maxrss) * 1024 / 1e6
}

// Check ends a benchmark that cannot go on.
func Check(err error) {
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", filepath.Base(os.Args[0]), err)
		os.Exit(1)
	}
}

// ReadLines decodes a file of JSON Lines, unpacking it if its name ends in .gz.
func ReadLines[T any](path string) (all []T, err error) {
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
	for lines := json.NewDecoder(r); ; {
		var x T
		if err := lines.Decode(&x); err == io.EOF {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: value %d: %w", path, len(all)+1, err)
		}
		all = append(all, x)
	}
}

// Sentence is a sentence that is long enough to be checked.
type Sentence struct{ Language, Text string }

//go:embed sentences.txt
var sentences string

// Sentences returns one sentence in each of 15 languages.
func Sentences() (all []Sentence) {
	for line := range strings.Lines(sentences) {
		language, text, _ := strings.Cut(strings.TrimSpace(line), "\t")
		all = append(all, Sentence{language, text})
	}
	return all
}
