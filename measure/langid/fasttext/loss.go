package fasttext

import "math"

// loss turns the hidden vector of a state into scores of labels.
type loss interface {
	// rank puts the labels of at least that probability into s.best, scored
	// by the logarithm of their probability. It puts none where a product is
	// not a number.
	rank(s *state, out output, threshold float32)
}

// newLoss returns the loss of that number, for labels of those counts.
func newLoss(d *decoder, kind int32, counts []int64) loss {
	if d.err != nil {
		return nil
	}
	switch kind {
	case 1:
		return newHierarchicalSoftmax(d, counts)
	case 2, 4: // negative sampling, one versus all: alike but in training
		return newLogistic()
	case 3:
		return softmax{}
	}
	d.fail("loss %d, expected 1 (hs), 2 (ns), 3 (softmax) or 4 (ova)", kind)
	return nil
}

// The reference rounds these at one step or two; here and there the last bit
// differs.
func exp(x float32) float32  { return float32(math.Exp(float64(x))) }
func logp(p float32) float32 { return float32(math.Log(float64(p) + 1e-5)) }
func isNaN(x float32) bool   { return x != x }

type softmax struct{}

func (softmax) rank(s *state, out output, threshold float32) {
	top := float32(math.Inf(-1))
	for i := range s.scores {
		s.scores[i] = out.dot(i, s.hidden)
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
	for i := range s.scores {
		s.scores[i] /= sum
	}
	s.best.putAll(s.scores, threshold)
}

// logistic scores each label by itself.
type logistic struct{ table []float32 }

const (
	logisticSteps = 512
	logisticLimit = 8
)

func newLogistic() logistic {
	l := logistic{make([]float32, logisticSteps+1)}
	for i := range l.table {
		x := float32(i*2*logisticLimit)/logisticSteps - logisticLimit
		l.table[i] = float32(1 / (1 + float64(exp(-x))))
	}
	return l
}

func (l logistic) at(x float32) float32 {
	switch {
	case x < -logisticLimit:
		return 0
	case x > logisticLimit:
		return 1
	}
	return l.table[int((x+logisticLimit)*logisticSteps/logisticLimit/2)]
}

func (l logistic) rank(s *state, out output, threshold float32) {
	for i := range s.scores {
		x := out.dot(i, s.hidden)
		if isNaN(x) {
			return
		}
		s.scores[i] = l.at(x)
	}
	s.best.putAll(s.scores, threshold)
}

// hierarchicalSoftmax is a Huffman tree (Goodman 2001; Joulin et al. 2016,
// section 2.1). Its nodes are the labels, then the inner nodes, the root last.
type hierarchicalSoftmax struct {
	labels int
	left   []int32 // of inner nodes
	right  []int32
}

const unbuilt = int64(1e15) // more than any count

func newHierarchicalSoftmax(d *decoder, counts []int64) *hierarchicalSoftmax {
	labels := len(counts)
	t := &hierarchicalSoftmax{labels: labels, left: make([]int32, labels-1), right: make([]int32, labels-1)}
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

func (t *hierarchicalSoftmax) rank(s *state, out output, threshold float32) {
	if !t.descend(s, out, logp(threshold), 2*t.labels-2, 0) {
		s.best.items = s.best.items[:0]
	}
}

// descend visits the labels below node, which has that score. It reports
// whether all products were numbers.
func (t *hierarchicalSoftmax) descend(s *state, out output, least float32, node int, score float32) bool {
	if score < least || s.best.full() && score < s.best.least() {
		return true
	}
	if node < t.labels {
		s.best.put(score, int32(node))
		return true
	}
	x := out.dot(node-t.labels, s.hidden)
	if isNaN(x) {
		return false
	}
	p := float32(1 / float64(1+exp(-x)))
	return t.descend(s, out, least, int(t.left[node-t.labels]), score+logp(1-p)) &&
		t.descend(s, out, least, int(t.right[node-t.labels]), score+logp(p))
}
