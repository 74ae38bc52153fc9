//go:build unix

// Command translation times BLEU against Python's sacreBLEU on the PAWS-X
// translations of the reference data, side by side in one run: the two take
// turns, each on one core, and the ratio of the median processor times is
// printed.
//
//	go -C tools run ./bench/translation [-data DIR] [-python python3] [-rounds 7]
//
// Without an importable sacrebleu it prints our times alone and says so.
package main

import (
	"bufio"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"crosstalk/measure/translation"
	"crosstalk/tools/internal/bench"
)

//go:embed peer.py
var peerScript string

func main() {
	data := flag.String("data", "../../shared/data/multisense", "folder of the multisense reference data")
	python := flag.String("python", "python3", "Python that can import sacrebleu")
	rounds := flag.Int("rounds", 7, "timings of each")
	flag.Parse()
	if err := run(os.Stdout, *data, *python, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "bench/translation:", err)
		os.Exit(1)
	}
}

// A task is a corpus to score; its JSON is what the peer reads.
type task struct {
	Hyps     []string              `json:"hyps"`
	Refs     []string              `json:"refs"`
	Tokenize translation.Tokenizer `json:"tokenize"`
}

func run(out io.Writer, data, python string, rounds int) error {
	runtime.GOMAXPROCS(1)
	theirs, err := startPeer(python)
	if err != nil {
		fmt.Fprintf(out, "no sacreBLEU here, so no ratio: %v\n", err)
	} else {
		fmt.Fprintf(out, "sacreBLEU %s\n", theirs.version)
	}
	for _, pair := range []string{"en>de", "en>zh"} {
		t, err := readTask(data, pair)
		if err != nil {
			return err
		}
		if theirs != nil {
			if err := theirs.send(t); err != nil {
				return err
			}
		}
		for _, mode := range []string{"corpus", "sentence"} {
			var our, their []float64
			var ourScore, theirScore float64
			for range max(rounds, 1) {
				start := bench.CPU()
				if ourScore, err = score(t, mode); err != nil {
					return err
				}
				our = append(our, (bench.CPU() - start).Seconds())
				if theirs == nil {
					continue
				}
				var seconds float64
				if seconds, theirScore, err = theirs.score(mode); err != nil {
					return err
				}
				their = append(their, seconds)
			}
			fmt.Fprintf(out, "%s %-8s tok:%-3s %d segments: ours %7.2f ms", pair, mode, t.Tokenize, len(t.Hyps), 1000*bench.Median(our))
			if theirs != nil {
				fmt.Fprintf(out, ", sacreBLEU %8.2f ms, ratio %.1f (n=%d), scores %.12g and %.12g",
					1000*bench.Median(their), bench.Median(their)/bench.Median(our), len(our), ourScore, theirScore)
				if math.Abs(ourScore-theirScore) > 1e-9 {
					return fmt.Errorf("%s %s: scores differ", pair, mode)
				}
			}
			fmt.Fprintln(out)
		}
	}
	return nil
}

func score(t task, mode string) (float64, error) {
	b := translation.BLEU{Tokenize: t.Tokenize, EffectiveOrder: mode == "sentence"}
	if mode == "corpus" {
		s, err := b.Corpus(t.Hyps, t.Refs)
		return s.Score, err
	}
	sum := 0.0
	for i := range t.Hyps {
		s, err := b.Sentence(t.Hyps[i], t.Refs[i])
		if err != nil {
			return 0, err
		}
		sum += s.Score
	}
	return sum / float64(len(t.Hyps)), nil
}

// readTask reads the model's translations of a pair and the texts of its
// target language.
func readTask(data, pair string) (task, error) {
	lang := pair[len(pair)-2:]
	t := task{Tokenize: translation.TokenizerFor(lang)}
	err := readLines(filepath.Join(data, "paws-x.translations.jsonl.gz"), func(d *json.Decoder) error {
		var row struct {
			Tr map[string]struct{ Clean []string }
		}
		err := d.Decode(&row)
		t.Hyps = append(t.Hyps, row.Tr[pair].Clean...)
		return err
	})
	if err != nil {
		return t, err
	}
	return t, readLines(filepath.Join(data, "paws-x.source.jsonl.gz"), func(d *json.Decoder) error {
		var row struct{ Src map[string][]string }
		err := d.Decode(&row)
		t.Refs = append(t.Refs, row.Src[lang]...)
		return err
	})
}

func readLines(path string, row func(*json.Decoder) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for d := json.NewDecoder(z); d.More(); {
		if err := row(d); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return nil
}

// A peer is a running peer.py.
type peer struct {
	in      io.Writer
	out     *bufio.Scanner
	version string
}

func startPeer(python string) (*peer, error) {
	cmd := exec.Command(python, "-c", peerScript)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &peer{in: in, out: bufio.NewScanner(out)}
	if err := p.receive(&p.version); err != nil {
		return nil, fmt.Errorf("%s cannot import it", python)
	}
	return p, nil
}

func (p *peer) receive(answer any) error {
	if !p.out.Scan() {
		return errors.New("peer.py ended early")
	}
	return json.Unmarshal(p.out.Bytes(), answer)
}

func (p *peer) send(t task) error {
	line, err := json.Marshal(t)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.in, "%s\n", line)
	return err
}

func (p *peer) score(mode string) (seconds, score float64, err error) {
	if _, err := fmt.Fprintln(p.in, mode); err != nil {
		return 0, 0, err
	}
	var answer struct{ Seconds, Score float64 }
	err = p.receive(&answer)
	return answer.Seconds, answer.Score, err
}
