package encoder

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"crosstalk/internal/testing/randmodel"
)

func mustMkdir(t testing.TB, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
}

func mustWrite(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

const tiny = `{"model_type":"distilbert","dim":8,"hidden_dim":8,"n_heads":1,"n_layers":1,"vocab_size":9,"max_position_embeddings":5}`

func TestConfigErrors(t *testing.T) {
	for change, want := range map[[2]string]string{
		{`"distilbert"`, `"gpt2"`}:                             `model_type "gpt2" is not supported`,
		{`"dim":8`, `"dim":-8`}:                                "hidden size -8",
		{`"dim":8`, `"dim":1e18`}:                              "dim",
		{`"dim":8`, `"dim":1000000000000000000`}:               "config.json expects [9 1000000000000000000]",
		{`"n_heads":1`, `"n_heads":3`}:                         "with 3 heads",
		{`"n_heads":1`, `"n_heads":0`}:                         "with 0 heads",
		{`"n_heads":1`, `"n_heads":2`}:                         "with 2 heads",
		{`"n_layers":1`, `"n_layers":2000000000`}:              `"transformer.layer.1.attention.q_lin.weight" is missing`,
		{`"n_layers":1`, `"n_layers":0`}:                       "0 layers",
		{`"hidden_dim":8`, `"hidden_dim":4611686018427387904`}: "ffn.lin1",
		{`"hidden_dim":8`, `"hidden_dim":1`}:                   "1 intermediate values",
		{`"vocab_size":9`, `"vocab_size":1000000000000`}:       "word_embeddings",
		{`_embeddings":5`, `_embeddings":0`}:                   "max_position_embeddings 0",
		{`_embeddings":5`, `_embeddings":4`}:                   "position_embeddings",
		{`{`, `{"activation":"silu",`}:                         `activation "silu"`,
		{`{`, `{"position_embedding_type":"relative_key",`}:    "relative_key",
		{`{`, `{"is_decoder":true,`}:                           "is_decoder",
		{`{`, `{"pad_token_id":-1,`}:                           "pad_token_id -1",
		{`{`, `[`}:                                             "config.json",
	} {
		dir := t.TempDir()
		if err := randmodel.New(randmodel.Shape{Layers: 1, Hidden: 8, Heads: 1, Inner: 8, Vocab: 9, Positions: 5},
			1).Write(dir); err != nil {
			t.Fatal(err)
		}
		mustWrite(t, filepath.Join(dir, "config.json"), []byte(strings.Replace(tiny, change[0], change[1], 1)))
		_, err := Load(dir)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s -> %s: error %v, want one with %q", change[0], change[1], err, want)
		}
	}
}

func TestMissingFiles(t *testing.T) {
	dir := t.TempDir()
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "config.json") {
		t.Error(err)
	}
	mustWrite(t, filepath.Join(dir, "config.json"), []byte(tiny))
	if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), "no model.safetensors") {
		t.Error(err)
	}
}

// FuzzLoad changes one file of a good model at a time: every result is a model or an error, and memory stays within a
// small multiple of the file.
func FuzzLoad(f *testing.F) {
	good := f.TempDir()
	if err := randmodel.New(randmodel.Shape{Layers: 1, Hidden: 8, Heads: 1, Inner: 8, Vocab: 9, Positions: 5},
		1).Write(good); err != nil {
		f.Fatal(err)
	}
	weights, err := os.ReadFile(filepath.Join(good, "model.safetensors"))
	if err != nil {
		f.Fatal(err)
	}
	n := binary.LittleEndian.Uint64(weights)
	header := func(old, new string) []byte {
		h := bytes.Replace(weights[8:8+n], []byte(old), []byte(new), 1)
		return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(h))), h...), weights[8+n:]...)
	}
	f.Add([]byte(tiny), weights)
	f.Add([]byte(tiny), weights[:len(weights)-1])
	f.Add([]byte(tiny), append(bytes.Clone(weights), 0))
	f.Add([]byte(tiny), weights[:7])
	f.Add([]byte(tiny), weights[:8+n/2])
	f.Add([]byte(tiny), append(binary.LittleEndian.AppendUint64(nil, 1<<63), weights[8:]...))
	f.Add([]byte(tiny), append(binary.LittleEndian.AppendUint64(nil, 99_000_000), weights[8:]...))
	f.Add([]byte(tiny), header(`"F32"`, `"F16"`))
	f.Add([]byte(tiny), header(`"F32"`, `"I32"`))
	f.Add([]byte(tiny), header(`[9,8]`, `[9,8,1]`))
	f.Add([]byte(tiny), header(`[9,8]`, `[9223372036854775807,8]`))
	f.Add([]byte(tiny), header(`[9,8]`, `[-9,-8]`))
	f.Add([]byte(tiny), header(`"data_offsets":[`, `"data_offsets":[-`))
	f.Add([]byte(tiny), header(`"data_offsets":[`, `"data_offsets":[9`))
	f.Add([]byte(strings.Replace(tiny, `"dim":8`, `"dim":800000000000`, 1)), weights)
	f.Add([]byte(strings.Replace(tiny, `"n_layers":1`, `"n_layers":900000000000`, 1)), weights)
	f.Fuzz(func(t *testing.T, config, weights []byte) {
		dir := t.TempDir()
		mustWrite(t, filepath.Join(dir, "config.json"), config)
		mustWrite(t, filepath.Join(dir, "model.safetensors"), weights)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m, err := Load(dir)
		runtime.ReadMemStats(&after)
		if used, limit := after.TotalAlloc-before.TotalAlloc, uint64(200_000+40*(len(config)+len(weights))); used > limit {
			t.Errorf("%d bytes allocated for files of %d and %d", used, len(config), len(weights))
		}
		if err == nil {
			encode(t, m, [][]int32{{0}}, m.Layers)
		}
	})
}
