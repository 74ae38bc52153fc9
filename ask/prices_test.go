package ask

import (
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestReadPrices(t *testing.T) {
	file := filepath.Join(t.TempDir(), "prices.yaml")
	const text = "\ufeff# November\nopenai/gpt-4o-mini: {input: 0.15, output: 0.60}\nembed:\n  input: 2e-2\n7b: {output: 1, input: 0}\n"
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	got, err := ReadPrices(file)
	want := Prices{"openai/gpt-4o-mini": {Input: 0.15, Output: 0.6}, "embed": {Input: 0.02}, "7b": {Output: 1}}
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	if err := os.WriteFile(file, make([]byte, priceLimits.Bytes+1), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadPrices(file); err == nil || err.Error() != file+": is larger than 1 MiB" {
		t.Error(err)
	}
}

func TestParsePricesErrors(t *testing.T) {
	for text, want := range map[string]string{
		"m: {input: 1, ouput: 2}":           "f:1: m: unknown field ouput; choose one of: input, output, batch",
		"m: {}":                             "f:1: m has no prices; expected a line like gpt-4o-mini: {input: 0.15, output: 0.60}",
		"a: {input: 1}\nm:\n":               "f:2: m has no prices; expected a line like gpt-4o-mini: {input: 0.15, output: 0.60}",
		"a: {input: 1}\nm:\n  output: -0.1": "f:3: m: output is -0.1; expected a number from 0",
		"m: {input: .nan}":                  "f:1: m: input is .nan; expected a number from 0",
		"m: {input: .inf}":                  "f:1: m: input is .inf; expected a number from 0",
		"m: {input: inf}":                   "f:1: m: input is inf; expected a number from 0",
		"m: {input: NaN}":                   "f:1: m: input is NaN; expected a number from 0",
		"m: {input: 1e999}":                 "f:1: m: input is 1e999; expected a number from 0",
		"m: {input: $1}":                    "f:1: m: input is $1; expected a number from 0",
		"m: {input: [1]}":                   "f:1: m: input is not a number; expected a number from 0",
		"m: {input: }":                      "f:1: m: input is empty; expected a number from 0",
		"m: 0.15":                           "f:1: expected a map of input and output, as in gpt-4o-mini: {input: 0.15, output: 0.60}",
		"# two\n- m":                        "f:2: expected a map of models, as in gpt-4o-mini: {input: 0.15, output: 0.60}",
		"m: {input: 1}\nn: {input: 1}\nm: {input: 2}": `f:3: duplicate key "m" (first used in line 1)`,
		"m: {input: 1, input: 2}":                     `f:1: duplicate key "input" (first used in line 1)`,
		"m: &a {input: 1}\nn: *a":                     "f:1: anchors and aliases are not supported: write the value out",
		"\"\\e[31m\": {x: 1}":                         "f:1: ␛[31m: unknown field x; choose one of: input, output, batch",
		"a: {input: 1}\n\x00":                         "f:2: is not valid UTF-8: save the file as UTF-8",
		strings.Repeat("[", 100_000):                  "f:1: is nested too deeply",
	} {
		if got, err := parsePrices("f", []byte(text)); err == nil || err.Error() != want {
			t.Errorf("%.60q: %v, %v\nwant %s", text, got, err, want)
		}
	}
}

func FuzzParsePrices(f *testing.F) {
	f.Add("gpt-4o-mini: {input: 0.15, output: 0.60}\nembed:\n  input: 2e-2\n")
	f.Add("m: {input: .nan}\n? [a]\n: b\n")
	f.Add("!\x1b ")
	f.Add("m: &a {input: 1, <<: *a}")
	f.Add(strings.Repeat("[{a: ", 50))
	f.Fuzz(func(t *testing.T, text string) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		prices, err := parsePrices("f", []byte(text))
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20+4096*uint64(len(text)) {
			t.Errorf("%d bytes took %d bytes of memory", len(text), used)
		}
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") || strings.ContainsAny(err.Error(), "\x00\x1b\n") {
				t.Errorf("the error is %q", err)
			}
			return
		}
		for model, p := range prices {
			for _, v := range []float64{p.Input, p.Output} {
				if !(v >= 0) || math.IsInf(v, 0) {
					t.Errorf("%s: a price is %v", model, v)
				}
			}
		}
	})
}

// A price list is at most one mebibyte long.
func TestLargePrices(t *testing.T) {
	list := "m: {input: 1} #"
	for size, want := range map[int]bool{1 << 20: true, 1<<20 + 1: false} {
		file := filepath.Join(t.TempDir(), "prices.yaml")
		if err := os.WriteFile(file, []byte(list+strings.Repeat("x", size-len(list))), 0o600); err != nil {
			t.Fatal(err)
		}
		if prices, err := ReadPrices(file); (err == nil) != want || (prices != nil) != want {
			t.Errorf("%d bytes: %v, %v", size, prices, err)
		}
	}
}
