package fasttext

import "math"

// The reference rounds these at one step or two; here and there the last bit differs.
func exp(x float32) float32  { return float32(math.Exp(float64(x))) }
func logp(p float32) float32 { return float32(math.Log(float64(p) + 1e-5)) }
func isNaN(x float32) bool   { return x != x }

// put ranks a label by the logarithm of its probability. Of equal ones the last is best.
func (s *state) put(score float32, label int32) {
	if score >= s.best.score {
		s.best = ranked{score, label}
	}
	if s.all {
		s.list = append(s.list, s.labelled(score, label))
	}
}

// softmax ranks the labels by their products with the hidden vector; none where one is not a number.
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
	hopeless := math.Inf(-1) // less than this, with logp's 1e-5, is worse than the best: its logarithm is not taken
	for i, p := range s.scores {
		if p /= sum; float64(p)+1e-5 >= hopeless || s.all {
			s.put(logp(p), int32(i))
			hopeless = math.Exp(float64(s.best.score)) * (1 - 1e-5) // more than rounding takes
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

const unbuilt = int64(1e15) // more than any count

func newTree(d *decoder, counts []int64) *tree {
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

// descend ranks the labels below node, which has that score, as far as they may be the best. It reports
// whether all products were numbers.
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
