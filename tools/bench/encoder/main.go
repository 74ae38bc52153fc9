//go:build unix

// Encoder measures measure/encoder beside ONNX Runtime on random models of
// MiniLM's and DistilBERT's shape, run in turns in one process each:
//
//	npm install --prefix /tmp/ort onnxruntime-node
//	go -C tools run ./bench/encoder -ort /tmp/ort -threads 1
//
// Every round gives one ratio, peer over ours (more is better for us); the
// median is printed with the range. ONNX Runtime gets its best case: the fused
// graph, length-sorted batches of 32 (and once unsorted), and no pooling, which
// ours includes. Without -ort only ours is measured.
//
//	go -C tools run ./bench/encoder -pairs 15000
//
// scores the pairs of a leakage run with MiniLM's shape, beside encoding the
// distinct texts once, and tells the peak of memory.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"crosstalk/internal/randmodel"
	"crosstalk/measure/encoder"
	"crosstalk/tools/internal/bench"
)

func main() {
	log.SetFlags(0)
	modules := flag.String("ort", "", "folder in which onnxruntime-node is installed")
	threads := flag.Int("threads", 1, "threads of either side")
	rounds := flag.Int("rounds", 5, "rounds of each comparison")
	texts := flag.Int("texts", 2000, "texts of 4 to 40 tokens")
	batch := flag.Int("batch", 32, "texts in a batch of ONNX Runtime")
	pairs := flag.Int("pairs", 0, "score that many pairs instead")
	scorer := flag.String("scorer", "sbert", "what scores the pairs, sbert or bertscore")
	write := flag.String("write", "", "only write MiniLM's shape to this folder")
	flag.Parse()
	runtime.GOMAXPROCS(*threads)
	dir, err := os.MkdirTemp("", "encoder")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	switch {
	case *write != "":
		err = randmodel.New(shapes["minilm"], 1).Write(*write, 1)
	case *pairs > 0:
		err = scorePairs(os.Stdout, dir, *scorer, *pairs)
	default:
		for _, name := range []string{"minilm", "distilbert"} {
			if err = compare(os.Stdout, dir, name, *modules, *threads, *rounds, *texts, *batch); err != nil {
				break
			}
		}
	}
	if err != nil {
		log.Print(err)
	}
}

var shapes = map[string]randmodel.Shape{
	"minilm":     {Layers: 6, Hidden: 384, Heads: 12, Inner: 1536, Vocab: 30522, Positions: 512},
	"distilbert": {Layers: 6, Hidden: 768, Heads: 12, Inner: 3072, Vocab: 30522, Positions: 512},
}

// workload is texts as token ids, lengths uniform from 4 to 40.
func workload(n, vocab int) [][]int32 {
	rng := rand.New(rand.NewPCG(2, 3))
	texts := make([][]int32, n)
	for i := range texts {
		texts[i] = make([]int32, 4+rng.IntN(37))
		for j := range texts[i] {
			texts[i][j] = int32(1000 + rng.IntN(vocab-1000))
		}
	}
	return texts
}

// times of one run over the workload, in seconds.
type times struct{ Wall, CPU float64 }

func compare(w io.Writer, dir, name, modules string, threads, rounds, texts, batch int) error {
	random := randmodel.New(shapes[name], 1)
	work := workload(texts, random.Vocab)
	if err := random.Write(dir, 1); err != nil {
		return err
	}
	m, err := encoder.Load(dir)
	if err != nil {
		return err
	}
	var peer *ort
	if modules != "" {
		if err := writeONNX(filepath.Join(dir, "model.onnx"), random); err != nil {
			return err
		}
		if peer, err = start(dir, modules, threads, work); err != nil {
			return err
		}
		defer peer.stop()
		if err := peer.agrees(m, work[0]); err != nil {
			return err
		}
	}

	tokens := 0
	for _, ids := range work {
		tokens += len(ids)
	}
	fmt.Fprintf(w, "%s, %d thread(s), %d texts, %d tokens, medians of %d rounds\n", name, threads, texts, tokens, rounds)
	for _, sorted := range []bool{true, false} {
		ours, theirs := map[string][]times{}, []times{}
		kernels := encoder.Kernels()[1:]
		if len(kernels) == 0 {
			kernels = encoder.Kernels()
		}
		for range rounds {
			for _, k := range kernels {
				if err := m.UseKernel(k); err != nil {
					return err
				}
				t, err := run(m, work)
				if err != nil {
					return err
				}
				ours[k] = append(ours[k], t)
			}
			if peer != nil {
				t, err := peer.run(texts, batch, sorted)
				if err != nil {
					return err
				}
				theirs = append(theirs, t)
			}
		}
		order := map[bool]string{true: "sorted", false: "unsorted"}[sorted]
		for _, k := range kernels {
			fmt.Fprintf(w, "  %-8s %-9s %7.0f tokens/CPU s", order, k, float64(tokens)/median(ours[k], times.cpu))
			if peer != nil {
				fmt.Fprintf(w, "   ONNX Runtime %7.0f   ratio CPU %s wall %s",
					float64(tokens)/median(theirs, times.cpu), ratios(theirs, ours[k], times.cpu), ratios(theirs, ours[k], times.wall))
			}
			fmt.Fprintln(w)
		}
		if peer == nil {
			break
		}
	}
	return nil
}

func (t times) cpu() float64  { return t.CPU }
func (t times) wall() float64 { return t.Wall }

func median(all []times, of func(times) float64) float64 {
	var x []float64
	for _, t := range all {
		x = append(x, of(t))
	}
	return bench.Median(x)
}

// ratios formats the median and the range of theirs over ours, round by round.
func ratios(theirs, ours []times, of func(times) float64) string {
	var x []float64
	for i := range ours {
		x = append(x, of(theirs[i])/of(ours[i]))
	}
	return fmt.Sprintf("%.2f (%.2f-%.2f)", bench.Median(x), slices.Min(x), slices.Max(x))
}

// run encodes and pools the workload once.
func run(m *encoder.Model, work [][]int32) (times, error) {
	pooled := make([][]float32, len(work))
	before, begin := bench.CPU().Seconds(), time.Now()
	err := m.Encode(context.Background(), work, m.Layers, func(i int, hidden []float32) {
		pooled[i] = encoder.Mean(hidden, m.Hidden)
		encoder.Normalize(pooled[i])
	})
	return times{time.Since(begin).Seconds(), bench.CPU().Seconds() - before}, err
}

// ort is a process that runs ONNX Runtime on command.
type ort struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func start(dir, modules string, threads int, work [][]int32) (*ort, error) {
	b, err := json.Marshal(work)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "workload.json")
	if err := os.WriteFile(file, b, 0o644); err != nil {
		return nil, err
	}
	_, source, _, _ := runtime.Caller(0)
	cmd := exec.Command("node", filepath.Join(filepath.Dir(source), "ort.mjs"), modules, filepath.Join(dir, "model.onnx"), file, strconv.Itoa(threads))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &ort{cmd, in, bufio.NewReader(out)}, cmd.Start()
}

func (o *ort) stop() {
	o.in.Close()
	o.cmd.Wait()
}

func (o *ort) ask(command map[string]any, answer any) error {
	if err := json.NewEncoder(o.in).Encode(command); err != nil {
		return err
	}
	line, err := o.out.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("ONNX Runtime: %w", err)
	}
	return json.Unmarshal(line, answer)
}

func (o *ort) run(texts, batch int, sorted bool) (t times, err error) {
	err = o.ask(map[string]any{"texts": texts, "batch": batch, "sorted": sorted}, &t)
	return t, err
}

// agrees compares the hidden states of one text, lest the two sides compute
// different things.
func (o *ort) agrees(m *encoder.Model, ids []int32) error {
	var theirs []float32
	if err := o.ask(map[string]any{"check": true}, &theirs); err != nil {
		return err
	}
	worst := 0.0
	err := m.Encode(context.Background(), [][]int32{ids}, m.Layers, func(_ int, hidden []float32) {
		for i, v := range hidden {
			worst = max(worst, math.Abs(float64(v-theirs[i])))
		}
	})
	if err == nil && !(worst < 5e-5) {
		err = fmt.Errorf("hidden states differ by %v", worst)
	}
	return err
}
