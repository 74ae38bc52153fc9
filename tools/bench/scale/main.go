// Scale measures what large measurements cost: wall clock and CPU time, and the peak memory of the command, which must
// not grow with the number of items.
//
//	go -C tools run ./bench/scale run -n 100000,300000
//	go -C tools run ./bench/scale run -n 1000000
//	go -C tools run ./bench/scale score -n 100000,300000,1000000
//	go -C tools run ./bench/scale read -n 100000,300000
//	go -C tools run ./bench/scale read -n 1000000
//	go -C tools run ./bench/scale processes -n 4000 -delay 50ms
//	go -C tools run ./bench/scale journal -n 1000000
//
// run asks n prompts, one answer each, of a local server that answers at once; score scores n recorded answers; read
// reports, compares and gates a run of n recorded answers. What is in -dir of an earlier measurement is not made again.
// processes asks n prompts from 1, 2, 3 and 4 shards at a
// time, of a server that answers after the delay and takes no more than 16 requests at a time from each process.
// journal fills a journal with n short answers, and saves, finds and counts some more. Each takes a few minutes on two
// quiet cores.
//
// The command is built first. CPU time and memory are those of its process, as the operating system counts them; the
// server and this program are not in them.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"crosstalk/tools/internal/bench"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 {
		log.Fatal("usage: scale run|score|read|processes|journal [flags]")
	}
	b := &measuring{}
	flags := flag.NewFlagSet("scale", flag.ExitOnError)
	n := flags.String("n", "", "numbers of prompts or answers")
	flags.DurationVar(&b.delay, "delay", 50*time.Millisecond, "of the server, for processes")
	flags.StringVar(&b.dir, "dir", "", "where files are made (default: a temporary directory)")
	flags.Parse(os.Args[2:])
	if err := b.measure(os.Args[1], *n); err != nil {
		log.Fatal(err)
	}
}

type measuring struct {
	crosstalk, dir string
	delay          time.Duration
}

func (b *measuring) measure(what, numbers string) error {
	measures := map[string]struct {
		f func(n int) error
		n string
	}{
		"run":       {b.run, "100000,300000,1000000"},
		"score":     {b.score, "100000,300000,1000000"},
		"read":      {b.read, "100000,300000,1000000"},
		"processes": {b.processes, "4000"},
		"journal":   {b.journal, "1000000"},
	}
	m, known := measures[what]
	if !known {
		return fmt.Errorf("unknown measurement %q; choose one of: run, score, read, processes, journal", what)
	}
	if numbers == "" {
		numbers = m.n
	}
	if b.dir == "" {
		temporary, err := os.MkdirTemp("", "scale")
		if err != nil {
			return err
		}
		defer os.RemoveAll(temporary)
		b.dir = temporary
	}
	var err error
	if b.crosstalk, err = bench.Program(b.dir); err != nil {
		return err
	}
	for _, text := range strings.Split(numbers, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return fmt.Errorf("-n has %q; expected numbers above 0, such as 100000,300000", text)
		}
		if err := m.f(n); err != nil {
			return err
		}
	}
	return nil
}

// command runs crosstalk with these arguments. An exit code that is not among ok is an error.
func (b *measuring) command(ok []int, args ...string) (bench.Cost, error) {
	var out strings.Builder
	c := exec.Command(b.crosstalk, args...)
	c.Dir = b.dir
	c.Env = append(os.Environ(), "CROSSTALK_API_KEY=none")
	c.Stderr, c.Stdout = &out, &out
	cost, err := bench.Run(c)
	var exit *exec.ExitError
	if errors.As(err, &exit) && slices.Contains(ok, exit.ExitCode()) {
		return cost, nil
	}
	if err != nil {
		text := out.String()
		return cost, fmt.Errorf("crosstalk %s: %w\n%s", strings.Join(args, " "), err, text[max(0, len(text)-2000):])
	}
	return cost, nil
}

// show runs a command and prints what it took.
func (b *measuring) show(what string, n int, ok []int, args ...string) error {
	cost, err := b.command(ok, args...)
	if err == nil {
		fmt.Printf("%-8s %8d: %v, %.0f/s\n", what, n, cost, float64(n)/cost.Wall)
	}
	return err
}

// run asks n prompts.
func (b *measuring) run(n int) error {
	server, err := serve(0)
	if err != nil {
		return err
	}
	defer server.Close()
	suite, err := b.suite(n)
	if err != nil {
		return err
	}
	return b.show("run", n, nil, asking(server.URL, suite, filepath.Join(b.dir, fmt.Sprint("run-", n)))...)
}

// asking are the arguments for a run.
func asking(url, suite, out string, more ...string) []string {
	return append([]string{"run", "confusion",
		"--model", "compatible:m", "--base-url", url + "/v1", "--suite", suite,
		"--out", out, "--quiet", "--format", "json"}, more...)
}

// score scores n recorded answers.
func (b *measuring) score(n int) error {
	args, _, err := b.scoring(n)
	if err != nil {
		return err
	}
	return b.show("score", n, nil, args...)
}

// scoring are the arguments for scoring n recorded answers, and the run.
func (b *measuring) scoring(n int) (args []string, out string, err error) {
	answers, err := b.answers(n)
	out = filepath.Join(b.dir, fmt.Sprint("score-", n))
	return []string{"score", "confusion", answers, "--out", out, "--quiet", "--format", "json"}, out, err
}

// read times the commands that read a run of n recorded answers, which it makes unless it is there.
func (b *measuring) read(n int) error {
	args, out, err := b.scoring(n)
	if err != nil {
		return err
	}
	if !made(out) {
		if _, err := b.command(nil, args...); err != nil {
			return err
		}
	}
	for _, command := range [][]string{
		{"report", out, "--by", "language", "--format", "json"},
		{"compare", out, out, "--format", "json"},
		{"gate", out, "--require", "lpr>=1%", "--by", "language"},
		{"status", out},
	} {
		if err := b.show(command[0], n, []int{1, 3, 4}, command...); err != nil {
			return err
		}
	}
	return nil
}

// made reports whether there is a finished run.
func made(run string) bool {
	_, err := os.Stat(filepath.Join(run, "estimates.json"))
	return err == nil
}

// processes asks n prompts for each process, of 1 to 4 at a time.
func (b *measuring) processes(n int) error {
	const concurrency = 16
	server, err := serve(b.delay)
	if err != nil {
		return err
	}
	defer server.Close()
	var one float64
	for count := 1; count <= 4; count++ {
		suite, err := b.suite(n * count)
		if err != nil {
			return err
		}
		all := filepath.Join(b.dir, fmt.Sprintf("processes-%d-of-%d", count, n))
		var group sync.WaitGroup
		errs := make([]error, count)
		server.began, server.ended = time.Time{}, time.Time{}
		started := time.Now()
		for i := range count {
			group.Go(func() {
				_, errs[i] = b.command(nil, asking(server.URL, suite, all,
					"--concurrency", fmt.Sprint(concurrency), "--shard", fmt.Sprintf("%d/%d", i+1, count))...)
			})
		}
		group.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
		wall := time.Since(started)
		rate := float64(n*count) / server.ended.Sub(server.began).Seconds() // without starting and scoring
		if count == 1 {
			one = rate
		}
		fmt.Printf("%d processes, %d prompts, %d at a time each, %v: %6.1f s, %7.1f/s while asking, %.3f of linear\n",
			count, n*count, concurrency, b.delay, wall.Seconds(), rate, rate/one/float64(count))
	}
	return nil
}

// suite writes a suite of n prompts in six languages as a table.
func (b *measuring) suite(n int) (string, error) {
	return b.table(fmt.Sprintf("suite-%d.jsonl", n), n, func(w *bufio.Writer, i int) {
		l := languages[i%len(languages)]
		fmt.Fprintf(w, `{"id":"p%d","language":%q,"prompt":%q}`+"\n", i, l.code, fmt.Sprintf("%s %d", l.prompt, i))
	})
}

// answers writes n recorded answers to such prompts.
func (b *measuring) answers(n int) (string, error) {
	return b.table(fmt.Sprintf("answers-%d.jsonl", n), n, func(w *bufio.Writer, i int) {
		l := languages[i%len(languages)]
		fmt.Fprintf(w, `{"id":"p%d","language":%q,"completion":%q,"model":"m"}`+"\n", i, l.code, reply(i))
	})
}

// table writes a file of n lines, unless it is there.
func (b *measuring) table(name string, n int, line func(w *bufio.Writer, i int)) (string, error) {
	path := filepath.Join(b.dir, name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	w := bufio.NewWriter(f)
	for i := range n {
		line(w, i)
	}
	return path, errors.Join(w.Flush(), f.Close())
}
