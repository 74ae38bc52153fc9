package encoder

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The same weights as PyTorch and safetensors files store them give the same bits.
func TestFormatsAgree(t *testing.T) {
	const golden = "torchfile/testdata"
	load := func(from, to string) (*Model, error) {
		dir := t.TempDir()
		for from, to := range map[string]string{"config.json": "config.json", from: to} {
			b, err := os.ReadFile(filepath.Join(golden, from))
			if err != nil {
				t.Fatal(err)
			}
			mustWrite(t, filepath.Join(dir, to), b)
		}
		return Load(dir)
	}
	seqs := [][]int32{{1, 2, 3}, {4}, {10, 9, 8, 7, 6, 5, 4, 3, 2, 1}}
	safe, err := load("model.safetensors", "model.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, name := range []string{"zip.bin", "old.bin"} {
		m, err := load(name, "pytorch_model.bin")
		if err != nil {
			t.Fatal(err)
		}
		for layer := 0; layer <= safe.Layers; layer++ {
			want := encode(t, safe, seqs, layer)
			for i, got := range encode(t, m, seqs, layer) {
				for j, v := range got {
					compared++
					if math.Float32bits(v) != math.Float32bits(want[i][j]) || v == 0 || v-v != 0 {
						t.Fatalf("%s, layer %d, sequence %d: value %d is %v, want %v", name, layer, i, j, v, want[i][j])
					}
				}
			}
		}
	}
	if compared != 2*3*14*8 {
		t.Errorf("%d values compared", compared)
	}
	// A file is read for what it is, not for its name.
	if _, err := load("zip.bin", "model.safetensors"); err == nil || !strings.Contains(err.Error(), "model.safetensors: not a valid safetensors file") {
		t.Error(err)
	}
	if _, err := load("model.safetensors", "pytorch_model.bin"); err == nil || !strings.Contains(err.Error(), "pytorch_model.bin: not a file of tensors from torch.save") {
		t.Error(err)
	}
}
