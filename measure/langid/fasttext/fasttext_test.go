package fasttext

import (
	"bufio"
	"bytes"
	"crosstalk/internal/testing/shared"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
)

// near allows for the six digits that the tool prints.
func near(got float32, printed string) bool {
	want, err := strconv.ParseFloat(printed, 64)
	digit := math.Pow(10, math.Floor(math.Log10(want))-5)
	return err == nil && math.Abs(float64(got)-want) <= 2e-6*min(want, 1)+digit/2
}

func lines(t testing.TB, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}

// TestTool compares both losses and kinds of matrices with what the C++ tool
// predicts: labels and probabilities. Labels of the same probability may come in another order.
func TestTool(t *testing.T) {
	models, _ := filepath.Glob("testdata/*.[bf][it][nz]")
	if len(models) < 4 {
		t.Fatalf("found %d models in testdata, expected 4", len(models))
	}
	texts := lines(t, "testdata/lines.txt")
	for _, path := range models {
		t.Run(filepath.Base(path), func(t *testing.T) {
			m, err := Load(path)
			if err != nil {
				t.Fatal(err)
			}
			want := lines(t, strings.TrimSuffix(path, filepath.Ext(path))+".txt")
			var header string
			for strings.HasPrefix(want[0], "# ") {
				header, want = want[0], want[1:]
			}
			options := strings.Fields(header)
			k, _ := strconv.Atoi(options[3])
			threshold, _ := strconv.ParseFloat(options[4], 32)
			if len(want) != len(texts) {
				t.Fatalf("%d recorded predictions, expected %d", len(want), len(texts))
			}
			predictions := 0
			for i, text := range texts {
				got := above(m.Predict(text), k, float32(threshold))
				fields := strings.Fields(want[i])
				if g := m.Identify(text); threshold == 0 && g.Language != "" &&
					(labelPrefix+g.Language != fields[0] || g.Probability != got[0].Probability) {
					t.Errorf("line %d %q: identified as %v, the tool has %s", i+1, text, g, want[i])
				}
				if len(fields) != 2*len(got) {
					t.Errorf("line %d %q: %v, the tool has %s", i+1, text, got, want[i])
					continue
				}
				for j, p := range got {
					predictions++
					tied := j > 0 && fields[2*j+1] == fields[2*j-1] || 2*j+3 < len(fields) && fields[2*j+1] == fields[2*j+3]
					if labelPrefix+p.Label != fields[2*j] && !tied || !near(p.Probability, fields[2*j+1]) {
						t.Errorf("line %d %q: rank %d is %v, the tool has %s", i+1, text, j, p, want[i])
						break
					}
				}
			}
			if predictions < 80 {
				t.Errorf("only %d predictions compared", predictions)
			}
		})
	}
}

// above returns the first k of the predictions, all of them if k is -1, that have a probability of at least threshold.
func above(all []Prediction, k int, threshold float32) []Prediction {
	all = slices.DeleteFunc(all, func(p Prediction) bool { return p.Probability < threshold+1e-5 })
	if k >= 0 {
		all = all[:min(k, len(all))]
	}
	return all
}

func TestLID176(t *testing.T) {
	m, err := Load(shared.File(t, "lid/lid.176.ftz"))
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Name(); got != "lid.176.ftz@8f3472cf" {
		t.Errorf("name %s", got)
	}
	if got := len(m.Labels()); got != 176 {
		t.Errorf("%d labels", got)
	}
	texts := lines(t, shared.File(t, "lid/ft_lines.txt"))
	expected := lines(t, shared.File(t, "lid/ft_expected.jsonl"))
	if len(texts) != 3000 || len(expected) != 3000 {
		t.Fatalf("%d lines, %d expected, want 3000 of each", len(texts), len(expected))
	}
	for i, text := range texts {
		var want struct {
			Label       string      `json:"cli_label"`
			Probability string      `json:"cli_prob"`
			Exact       string      `json:"py_prob"`
			Top         [][2]string `json:"top3"`
		}
		if err := json.Unmarshal([]byte(expected[i]), &want); err != nil {
			t.Fatalf("line %d of ft_expected.jsonl: %v", i+1, err)
		}
		if want.Top == nil { // not UTF-8: only the command line predicts
			want.Top = [][2]string{{want.Label, want.Probability}}
		}
		got := above(m.Predict(text), len(want.Top), -1)
		if len(got) != len(want.Top) || want.Label != want.Top[0][0] {
			t.Errorf("line %d %q: %v, the tool has %v", i+1, text, got, want.Top)
			continue
		}
		for j, p := range got {
			tied := j > 0 && want.Top[j][1] == want.Top[j-1][1]
			if p.Label != want.Top[j][0] && !tied || !near(p.Probability, want.Top[j][1]) {
				t.Errorf("line %d %q: rank %d is %v, the tool has %v", i+1, text, j, p, want.Top[j])
			}
		}
		if w, err := strconv.ParseFloat(want.Exact, 64); err == nil && math.Abs(float64(got[0].Probability)-w) > 2e-6 {
			t.Errorf("line %d %q: probability %v, the tool's library has %v", i+1, text, got[0].Probability, w)
		}
		if g := m.Identify(text); strings.Trim(text, spaces) != "" &&
			(g.Language != want.Label || g.Probability != got[0].Probability) {
			t.Errorf("line %d %q: identified as %v, expected %s", i+1, text, g, want.Label)
		}
	}
}

func TestIdentifyNothing(t *testing.T) {
	m, err := Load("testdata/softmax.bin")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", " ", "\t\n\v \x00", "\r", "\f"} {
		if g := m.Identify(text); g.Language != "" || g.Probability != 0 {
			t.Errorf("%q identified as %v", text, g)
		}
	}
	for _, text := range []string{"agda </s> abba", "agda </s>", "agda\n</s> __label__L0"} {
		if got := m.Identify(text); got != m.Identify("agda") {
			t.Errorf("%q: the end of the line is ignored: %v", text, got)
		}
	}
	if g := m.Identify("agda\nagda"); g != m.Identify("agda agda") || g.Language == "" {
		t.Errorf("a line break is no space: %v", g)
	}
}

func TestConcurrentUse(t *testing.T) {
	m, err := Load("testdata/pruned-hs.ftz")
	if err != nil {
		t.Fatal(err)
	}
	texts := lines(t, "testdata/lines.txt")
	want := make([]float32, len(texts))
	for i, text := range texts {
		want[i] = m.Identify(text).Probability
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for range 20 {
				for i, text := range texts {
					if got := m.Identify(text).Probability; got != want[i] {
						t.Errorf("line %d: probability %v, alone %v", i+1, got, want[i])
						return
					}
				}
			}
		})
	}
	wait.Wait()
}

func TestNoAllocation(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector makes pools forget at random")
	}
	texts := lines(t, "testdata/lines.txt")
	for _, name := range []string{"softmax.bin", "pruned-hs.ftz"} {
		m, err := Load("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		n := testing.AllocsPerRun(20, func() {
			for _, text := range texts {
				m.Identify(text)
			}
		})
		// The pool may be emptied by a garbage collection.
		if n >= float64(len(texts))/10 {
			t.Errorf("%s: %v allocations for %d texts", name, n, len(texts))
		}
	}
}

func read(data []byte) (*Model, error) {
	return Read(bytes.NewReader(data), int64(len(data)), "test")
}

func testModel(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestDamage(t *testing.T) {
	whole := testModel(t, "pruned-hs.ftz")
	put := func(at int, bytes ...byte) []byte {
		data := append([]byte(nil), whole...)
		copy(data[at:], bytes)
		return data
	}
	nan := []byte{0, 0, 0xc0, 0x7f}
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "ends after 0 bytes"},
		{"text", []byte("hello, world"), "not a model of fastText"},
		{"version", put(4, 13), "version 13, expected at most 12"},
		{"dim", put(8, 0), "dim 0"},
		{"word n-grams", put(28, 0, 0, 1), "expected at most 255"},
		{"loss", put(32, 9), "loss 9"},
		{"loss of one versus all", put(32, 4), "loss 4, expected 1 (hs) or 3 (softmax)"},
		{"unsupervised", put(36, 1), "model kind 1"},
		{"bucket", put(40, 0, 0, 0, 0), "bucket 0"},
		{"maxn", put(48, 0, 1), "expected at most 255"},
		{"entries", put(64, 255, 255, 255, 127), "dictionary of 2147483647 entries"},
		{"pruned", put(84, 255, 255, 255, 255, 127, 0), "pruned n-grams: 549755813887 of 8 bytes each"},
		{"last number", append(put(0)[:len(whole)-4], nan...), "expected a finite one"},
		{"trailing byte", append(put(0), 0), "1 bytes follow the model"},
	} {
		_, err := read(c.data)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, expected %q", c.name, err, c.want)
		}
	}
	for n := 0; n < len(whole); n += 1 + n/50 {
		_, err := read(whole[:n])
		if err == nil {
			t.Fatalf("cut to %d of %d bytes: no error", n, len(whole))
		}
		if at := fmt.Sprintf("ends after %d bytes", n); strings.Contains(err.Error(), "ends after") && !strings.Contains(err.Error(), at) {
			t.Errorf("cut to %d bytes: %v", n, err)
		}
	}
	if _, err := Read(bytes.NewReader(whole[:5000]), int64(len(whole)), "short"); err == nil {
		t.Error("a reader shorter than announced: no error")
	}
	broken := errors.New("broken")
	r := io.MultiReader(bytes.NewReader(whole[:99]), iotest.ErrReader(broken))
	if _, err := Read(r, int64(len(whole)), "broken"); err == nil || err.Error() != "fastText model: broken" {
		t.Errorf("a reader that fails: %v", err)
	}
	if _, err := Load(t.TempDir()); err == nil || !strings.HasSuffix(err.Error(), ": not a regular file, expected a fastText model") {
		t.Errorf("a directory: %v", err)
	}
	if _, err := Load("testdata/none.bin"); !os.IsNotExist(err) {
		t.Errorf("a missing file: %v", err)
	}
}

// tryDamaged reads what may be a damaged model. It may be an error or another
// model, which must predict.
func tryDamaged(t *testing.T, data []byte) {
	m, err := read(data)
	if err != nil {
		return
	}
	for _, text := range []string{"", "agda abba", "あ日 \xff </s>", "__label__L1 x"} {
		if got := m.Predict(text); len(got) > len(m.Labels()) {
			t.Errorf("%d predictions of %d labels", len(got), len(m.Labels()))
		}
	}
}

func TestFlippedBytes(t *testing.T) {
	models, _ := filepath.Glob("testdata/*.[bf][it][nz]")
	for _, path := range models {
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		data := make([]byte, len(whole))
		rng := rand.New(rand.NewPCG(3, uint64(len(whole))))
		for i := range 250 {
			copy(data, whole)
			at := i // the header, then anywhere
			if i >= 150 {
				at = rng.IntN(len(data))
			}
			data[at] = byte(rng.IntN(256))
			tryDamaged(t, data)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"words.bin", "pruned-hs.ftz"} {
		f.Add(testModel(f, name))
	}
	f.Fuzz(tryDamaged)
}

// Memory that a file can claim is in proportion to its size.
func TestMemory(t *testing.T) {
	for _, name := range []string{"pruned-hs.ftz", "softmax.bin"} {
		data := testModel(t, name)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := read(data); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > uint64(20*len(data)+1<<17) {
			t.Errorf("%s: %d bytes for a file of %d", name, got, len(data))
		}
	}
}

func BenchmarkIdentify(b *testing.B) {
	m, err := Load(shared.File(b, "lid/lid.176.ftz"))
	if err != nil {
		b.Fatal(err)
	}
	f, err := os.Open(shared.File(b, "lid/ft_lines.txt"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	var texts []string
	for s := bufio.NewScanner(f); s.Scan(); {
		texts = append(texts, s.Text())
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		m.Identify(texts[i%len(texts)])
	}
}
