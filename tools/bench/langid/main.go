//go:build unix

// Langid compares the speed of measure/langid/fasttext with that of the
// fasttext tool: lines per second on one core, loading included.
//
//	apt-get install fasttext
//	go -C tools build -o /tmp/langid ./bench/langid
//	/tmp/langid -model lid.176.ftz -lines lines.txt
//
// Each predictor runs in a process of its own, in turns, over the lines
// repeated to at least -n. The rate is by processor time, so that others on
// the machine matter less, and the median of the turns is given.
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"strings"

	"crosstalk/measure/langid/fasttext"
	"crosstalk/tools/internal/bench"
)

func main() {
	log.SetFlags(0)
	model := flag.String("model", "../../shared/data/lid/lid.176.ftz", "fastText `model`")
	lines := flag.String("lines", "../../shared/data/lid/ft_lines.txt", "`file` of lines to identify")
	least := flag.Int("n", 120_000, "repeat the lines to at least this `number`")
	turns := flag.Int("turns", 5, "`number` of turns")
	child := flag.Bool("child", false, "identify the lines and print their labels")
	flag.Parse()
	if *child {
		if err := predict(*model, *lines); err != nil {
			log.Fatal(err)
		}
		return
	}
	if err := compare(*model, *lines, *least, *turns); err != nil {
		log.Fatal(err)
	}
}

func predict(model, lines string) error {
	m, err := fasttext.Load(model)
	if err != nil {
		return err
	}
	f, err := os.Open(lines)
	if err != nil {
		return err
	}
	defer f.Close()
	out := bufio.NewWriter(os.Stdout)
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<24)
	var top []fasttext.Prediction
	for in.Scan() {
		top = m.Predict(top[:0], in.Text(), 1, 0)
		for _, p := range top {
			out.WriteString("__label__")
			out.WriteString(p.Label)
		}
		out.WriteByte('\n')
	}
	if err := in.Err(); err != nil {
		return err
	}
	return out.Flush()
}

func compare(model, lines string, least, turns int) error {
	text, err := os.ReadFile(lines)
	if err != nil {
		return err
	}
	n := bytes.Count(text, []byte("\n"))
	if n == 0 {
		return fmt.Errorf("%s: no lines", lines)
	}
	times := (least + n - 1) / n
	f, err := os.CreateTemp("", "lines")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	for range times {
		if _, err := f.Write(text); err != nil {
			return err
		}
	}
	if err := f.Close(); err != nil {
		return err
	}

	self, err := os.Executable()
	if err != nil {
		return err
	}
	var labels [2][]byte
	var rates [2][]float64
	for range turns {
		for i, args := range [][]string{
			{"fasttext", "predict", model, f.Name()},
			{self, "-child", "-model", model, "-lines", f.Name()},
		} {
			cmd := exec.Command(args[0], args[1:]...)
			cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
			cmd.Stderr = os.Stderr
			if labels[i], err = cmd.Output(); err != nil {
				return fmt.Errorf("%s: %w", strings.Join(args, " "), err)
			}
			cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			rates[i] = append(rates[i], float64(n*times)/cpu.Seconds())
		}
	}
	fmt.Printf("%d lines, %d turns, same labels: %v\n", n*times, turns, bytes.Equal(labels[0], labels[1]))
	tool, ours := bench.Median(rates[0]), bench.Median(rates[1])
	fmt.Printf("fasttext predict  %8.0f lines/s\n", tool)
	fmt.Printf("crosstalk         %8.0f lines/s  %.2f times\n", ours, ours/tool)
	return nil
}
