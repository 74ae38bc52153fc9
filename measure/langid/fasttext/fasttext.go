// Package fasttext reads supervised models of fastText (Joulin et al. 2016,
// "Bag of Tricks for Efficient Text Classification", and "FastText.zip") and
// predicts with them, in Go alone.
//
// It reads the files that the tool's versions 0.1 to 0.9.2 write (.bin and
// .ftz), with any of the four losses and with quantised or dense matrices.
// Predictions equal the C++ tool's: sums are taken in single precision
// and in its order, and its quirks are kept where they can be seen.
//
//   - A line is closed by the end-of-sentence token </s>, which is a word of
//     most models, so even an empty line can have a prediction. A literal </s>
//     ends the line early. Words that start with __label__ are ignored.
//   - Bytes are hashed as signed ones, and word n-grams from signed 32-bit
//     hashes.
//   - A probability p is reported as exp(log(p+1e-5)), so it can exceed 1 by
//     1e-5. Hierarchical softmax does this at each node of its tree, and drops
//     labels below 1e-5.
//   - One-versus-all and negative sampling read the logistic function from a
//     table of 512 steps on [-8, 8]; labels are scored independently, and ties
//     are common.
//
// A model file may come from anywhere: counts are checked against the size of
// the file before memory is set aside for them, and a damaged file is an error.
package fasttext

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"crosstalk/measure/langid"
)

// Model is a supervised fastText model. It does not change after it is read
// and is safe for concurrent use. It is a langid.Identifier if its labels are
// language codes.
type Model struct {
	name   string
	dict   dictionary
	input  input
	output output
	loss   loss
	labels []string  // without the prefix __label__
	states sync.Pool // of *state
}

var _ langid.Identifier = (*Model)(nil)

// Prediction is one label of a text, without the prefix __label__, and its
// probability: in [0, 1+1e-5].
type Prediction struct {
	Label       string
	Probability float32
}

// Load reads the model in the named file.
func Load(path string) (*Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file, expected a fastText model", path)
	}
	m, err := Read(f, info.Size(), filepath.Base(path))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// Read reads a model of size bytes from r. The model is called name, an @ and
// the first eight hexadecimal digits of the SHA-256 of the bytes.
func Read(r io.Reader, size int64, name string) (*Model, error) {
	sum := sha256.New()
	d := &decoder{
		r:    bufio.NewReaderSize(io.TeeReader(io.LimitReader(r, size), sum), 1<<16),
		left: size,
		size: size,
	}
	m, err := d.model()
	if err != nil {
		return nil, fmt.Errorf("fastText model: %w", err)
	}
	m.name = name + "@" + hex.EncodeToString(sum.Sum(nil))[:8]
	m.states.New = func() any { return m.newState() }
	return m, nil
}

// Name is the name of the file and the start of its SHA-256.
func (m *Model) Name() string { return m.name }

// Labels lists the labels in the model's order, without the prefix __label__.
func (m *Model) Labels() []string { return append([]string(nil), m.labels...) }

// Identify returns the most probable label. A text without a word gives the
// zero Guess, though Predict may rank labels for it.
func (m *Model) Identify(text string) langid.Guess {
	if strings.Trim(text, spaces) == "" {
		return langid.Guess{}
	}
	var best [1]Prediction
	if len(m.Predict(best[:0], text, 1, 0)) == 0 {
		return langid.Guess{}
	}
	return langid.Guess{Language: best[0].Label, Probability: best[0].Probability}
}

// Predict appends to dst the k most probable labels of text whose probability
// is at least threshold, most probable first, and returns the longer slice.
// With k < 1 every label is ranked. All of text is one line: line breaks count
// as spaces. It appends nothing if the model knows no part of the text.
//
// Predict allocates nothing once dst has room and texts as long were seen.
func (m *Model) Predict(dst []Prediction, text string, k int, threshold float32) []Prediction {
	if k < 1 || k > len(m.labels) {
		k = len(m.labels)
	}
	s := m.states.Get().(*state)
	defer m.states.Put(s)

	s.rows, s.hashes = m.dict.line(s.rows[:0], s.hashes[:0], &s.word, text)
	if len(s.rows) == 0 {
		return dst
	}
	m.input.mean(s.hidden, s.rows)
	s.best = ranking{items: s.best.items[:0], k: k}
	m.loss.rank(s, m.output, threshold)
	for _, b := range s.best.sorted() {
		dst = append(dst, Prediction{m.labels[b.label], exp(b.score)})
	}
	return dst
}

// state is the memory of one prediction.
type state struct {
	rows   []int32 // of the input matrix, for words, subwords and word n-grams
	hashes []int32 // of words
	word   []byte  // <word>
	hidden []float32
	scores []float32 // of labels; unused by hierarchical softmax
	best   ranking
}

func (m *Model) newState() *state {
	return &state{hidden: make([]float32, m.input.dim()), scores: make([]float32, len(m.labels))}
}
