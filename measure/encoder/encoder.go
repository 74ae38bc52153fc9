// Package encoder runs transformer encoders of the BERT family (BERT, DistilBERT, RoBERTa, XLM-RoBERTa) from Hugging
// Face directories on the CPU: config.json and weights in F32, F16 or BF16 as safetensors or pytorch_model.bin, one
// file or shards. Arithmetic is float32.
//
// Sequences are laid end to end, so that no work goes into padding, and batched by length; each core computes whole
// batches. The result for a sequence does not depend, bit by bit, on the other sequences or on the number of cores.
//
// Sources: Devlin et al. 2019 (BERT), Sanh et al. 2019 (DistilBERT), Liu et al. 2019 (RoBERTa), Conneau et al. 2020
// (XLM-R), Vaswani et al. 2017 (attention).
package encoder

import (
	"fmt"
	"path/filepath"
	"runtime"

	"crosstalk/measure/encoder/checkpoint"
	"crosstalk/measure/encoder/internal/kernel"
)

// Model is an encoder with its weights in memory, as float32. It is safe for concurrent use; calls share one scratch
// memory for each core.
type Model struct {
	Config
	embeddings
	layers  []layer
	set     *kernel.Set
	scratch chan *scratch // as many as cores: a batch waits for one
}

// Load reads the model in dir. The error of a missing, damaged or unsupported file names the file and what was expected
// of it. Memory stays within a small multiple of the size of the files, whatever they claim.
func Load(dir string) (*Model, error) {
	config, err := readConfig(filepath.Join(dir, "config.json"))
	if err != nil {
		return nil, err
	}
	weights, err := checkpoint.Open(dir)
	if err != nil {
		return nil, err
	}
	defer weights.Close()
	m := &Model{Config: config, set: kernel.Best()}
	if err := m.load(weights.Tensors); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	cores := runtime.GOMAXPROCS(0)
	m.scratch = make(chan *scratch, cores)
	for range cores {
		m.scratch <- new(scratch)
	}
	return m, nil
}

// Kernels returns the names of the implementations of the inner loops that this machine can run, the fastest last:
// "portable", "avx2", "avx512".
func Kernels() []string {
	var names []string
	for _, s := range kernel.Sets() {
		names = append(names, s.Name)
	}
	return names
}

// UseKernel replaces the fastest kernel by the named one, for tests and comparisons. It must not be called while the
// model is in use.
func (m *Model) UseKernel(name string) error {
	for _, s := range kernel.Sets() {
		if s.Name == name {
			m.set = s
			return nil
		}
	}
	return fmt.Errorf("no kernel %q on this machine, expected one of %v", name, Kernels())
}
