// Package fasttext reads supervised models of fastText (Joulin et al. 2016, "Bag of Tricks for Efficient Text
// Classification", and "FastText.zip") and predicts with them, in Go alone.
//
// It reads the files that versions 0.1 to 0.9.2 of the tool write (.bin and .ftz), for models with softmax or
// hierarchical softmax, dense or quantised as the tool does by default. Predictions equal those of the C++ tool: it
// sums in single precision and in the same order, and its visible quirks are kept.
//
//   - A line is closed by the end-of-sentence token </s>, which is a word of
//     most models, so even an empty line can have a prediction. A literal </s>
//     ends the line early. Words that start with __label__ are ignored.
//   - Bytes are hashed as signed ones, and word n-grams from signed 32-bit
//     hashes.
//   - A probability p is reported as exp(log(p+1e-5)), so it can exceed 1 by
//     1e-5. Hierarchical softmax does this at each node of its tree, and drops
//     labels below 1e-5.
//
// A model file may come from anywhere: counts are checked against the size of the file before memory is allocated for
// them, and a damaged file is an error.
package fasttext

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"crosstalk/measure/langid"
)

// Model is a supervised fastText model. It is immutable and safe for concurrent use. It is a langid.Identifier if its
// labels are language codes.
type Model struct {
	name   string
	dict   dictionary
	input  matrix
	output matrix
	tree   *tree     // of hierarchical softmax; nil: softmax
	labels []string  // without the prefix __label__
	states sync.Pool // of *state
}

var _ langid.Identifier = (*Model)(nil)

// Prediction is a label of a text, without the prefix __label__, and its probability, in [0, 1+1e-5].
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
	in := bufio.NewReaderSize(io.TeeReader(io.LimitReader(r, size), sum), 1<<16)
	d := &decoder{r: in, left: size, size: size}
	m, err := d.model()
	if err != nil {
		return nil, fmt.Errorf("fastText model: %w", err)
	}
	m.name = name + "@" + hex.EncodeToString(sum.Sum(nil))[:8]
	m.states.New = func() any {
		return &state{Model: m, hidden: make([]float32, m.input.cols), scores: make([]float32, len(m.labels))}
	}
	return m, nil
}

// Name returns the name of the file and the start of its SHA-256.
func (m *Model) Name() string { return m.name }

// Labels lists the labels in the model's order, without the prefix __label__.
func (m *Model) Labels() []string { return append([]string(nil), m.labels...) }

// Identify returns the most probable label. A text without a word gives the zero Guess, although Predict may rank
// labels for it. It allocates nothing after the first texts of similar length.
func (m *Model) Identify(text string) langid.Guess {
	if strings.Trim(text, spaces) == "" {
		return langid.Guess{}
	}
	s := m.predict(text, false)
	defer m.states.Put(s)
	if s.best.label < 0 {
		return langid.Guess{}
	}
	p := s.labelled(s.best.score, s.best.label)
	return langid.Guess{Language: p.Label, Probability: p.Probability}
}

// Predict returns the labels of text, most probable first; none if the model contains no part of it. All of text is
// one line: line breaks count as spaces.
func (m *Model) Predict(text string) []Prediction {
	s := m.predict(text, true)
	defer m.states.Put(s)
	list := s.list
	s.list = nil
	slices.SortStableFunc(list, func(a, b Prediction) int { return cmp.Compare(b.Probability, a.Probability) })
	return list
}

type state struct {
	*Model
	rows   []int32 // of the input matrix, for words, subwords and word n-grams
	hashes []int32 // of words
	word   []byte  // <word>
	hidden []float32
	scores []float32 // of labels; unused by hierarchical softmax
	best   ranked
	all    bool         // rank all labels
	list   []Prediction // of all labels
}

type ranked struct {
	score float32 // logarithm of the probability
	label int32   // -1: none
}

func (m *Model) predict(text string, all bool) *state {
	s := m.states.Get().(*state)
	s.all, s.best = all, ranked{float32(math.Inf(-1)), -1}
	s.rows, s.hashes = m.dict.line(s.rows[:0], s.hashes[:0], &s.word, text)
	if len(s.rows) == 0 {
		return s
	}
	m.input.mean(s.hidden, s.rows)
	if m.tree == nil {
		s.softmax()
	} else if !s.descend(2*m.tree.labels-2, 0) {
		s.best.label, s.list = -1, nil
	}
	return s
}

func (s *state) labelled(score float32, label int32) Prediction {
	return Prediction{s.labels[label], exp(score)}
}

// The reference rounds these once or twice; occasionally the last bit differs.
func exp(x float32) float32  { return float32(math.Exp(float64(x))) }
func logp(p float32) float32 { return float32(math.Log(float64(p) + 1e-5)) }
func isNaN(x float32) bool   { return x != x }

// put ranks a label by the logarithm of its probability. Of equally probable ones, the last is best.
func (s *state) put(score float32, label int32) {
	if score >= s.best.score {
		s.best = ranked{score, label}
	}
	if s.all {
		s.list = append(s.list, s.labelled(score, label))
	}
}

// softmax ranks the labels by their products with the hidden vector; none if a product is not a number.
func (s *state) softmax() {
	top := float32(math.Inf(-1))
	for i := range s.scores {
		s.scores[i] = s.output.dot(i, s.hidden)
		top = max(top, s.scores[i])
	}
	var sum float32
	for i, x := range s.scores {
		s.scores[i] = exp(x - top)
		sum += s.scores[i]
	}
	if isNaN(sum) {
		return
	}
	hopeless := math.Inf(-1) // below this, even with logp's 1e-5, a label is not the best: skip its logarithm
	for i, p := range s.scores {
		if p /= sum; float64(p)+1e-5 >= hopeless || s.all {
			s.put(logp(p), int32(i))
			hopeless = math.Exp(float64(s.best.score)) * (1 - 1e-5) // leave a margin for rounding
		}
	}
}

// tree is the Huffman tree of hierarchical softmax (Goodman 2001; Joulin et al. 2016,
// section 2.1). Its nodes are the labels, then the inner nodes, the root last.
type tree struct {
	labels int
	left   []int32 // of inner nodes
	right  []int32
}

func newTree(d *decoder, counts []int64) *tree {
	const unbuilt = int64(1e15) // more than any count
	labels := len(counts)
	t := &tree{labels: labels, left: make([]int32, labels-1), right: make([]int32, labels-1)}
	nodes := make([]int64, 2*labels-1)
	for i := range nodes {
		nodes[i] = unbuilt
	}
	for i, c := range counts {
		if c < 0 || c >= unbuilt/int64(labels) {
			d.fail("label %d has count %d, expected at least 0 and less than %d", i, c, unbuilt/int64(labels))
			return nil
		}
		nodes[i] = c
	}
	leaf, inner := labels-1, labels
	next := func() int {
		if leaf >= 0 && nodes[leaf] < nodes[inner] {
			leaf--
			return leaf + 1
		}
		inner++
		return inner - 1
	}
	for i := labels; i < len(nodes); i++ {
		l, r := next(), next()
		t.left[i-labels], t.right[i-labels] = int32(l), int32(r)
		nodes[i] = nodes[l] + nodes[r]
	}
	return t
}

// least is the score below which hierarchical softmax drops labels.
var least = logp(0)

// descend ranks the labels below node, which has this score, if they may be the best. It reports whether all products
// were numbers.
func (s *state) descend(node int, score float32) bool {
	t := s.tree
	if score < least || !s.all && score < s.best.score {
		return true
	}
	if node < t.labels {
		s.put(score, int32(node))
		return true
	}
	x := s.output.dot(node-t.labels, s.hidden)
	if isNaN(x) {
		return false
	}
	p := float32(1 / float64(1+exp(-x)))
	return s.descend(int(t.left[node-t.labels]), score+logp(1-p)) &&
		s.descend(int(t.right[node-t.labels]), score+logp(p))
}
