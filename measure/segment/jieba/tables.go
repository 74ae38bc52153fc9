package jieba

import (
	_ "embed"

	"crosstalk/measure/segment/internal/triefile"
)

//go:embed tables.bin.gz
var packed []byte

const (
	firstHan, lastHan = 0x4E00, 0x9FD5
	hanCount          = lastHan - firstHan + 1
	never             = -3.14e100 // jieba's logarithm of zero
)

// A tableSet is the dictionary and the hidden Markov model.
type tableSet struct {
	// Dictionary. Characters are known by their labels, 0 up, by falling frequency.
	ascii   [128]int32 // label, -1 if in no word
	han     [hanCount]int32
	trie    triefile.Trie
	word    []uint16  // of each node: 1 + place in logProb, 0 if the node ends no word
	logProb []float64 // of words; the first is an unknown character's

	// Model: log probabilities, by state.
	begin [4]float64
	trans [4][4]float64 // from, to
	emit  [hanCount][4]float64
}

// labelOf returns the label of a character in a block.
func (t *tableSet) labelOf(r rune) int32 {
	if r < 128 {
		return t.ascii[r]
	}
	return t.han[r-firstHan]
}

// child returns the child of a node with that label, 0 if there is none.
func (t *tableSet) child(node, label int32) int32 {
	if label < 0 {
		return 0
	}
	return t.trie.Child(node, uint16(label))
}

// isWord reports whether the labels spell a word.
func (t *tableSet) isWord(labels []int32) bool {
	node := int32(0)
	for _, label := range labels {
		if node = t.child(node, label); node == 0 {
			return false
		}
	}
	return t.word[node] > 0
}

// readTables unpacks the embedded tables; their format is described in build/main.go.
func readTables() *tableSet {
	r := reader{triefile.Open("jieba", packed, 1)}
	t := new(tableSet)
	r.dictionary(t)
	r.model(t)
	return t
}

type reader struct{ triefile.Reader }

func (r *reader) floats() []float64 {
	all := make([]float64, r.Uint())
	for i := range all {
		all[i] = r.Float()
	}
	return all
}

func (r *reader) dictionary(t *tableSet) {
	for i := range t.ascii {
		t.ascii[i] = -1
	}
	for i := range t.han {
		t.han[i] = -1
	}
	chars := r.Uint()
	for label := range int32(chars) {
		if c := r.Int() + firstHan; c < len(t.ascii) {
			t.ascii[c] = label
		} else {
			t.han[c-firstHan] = label
		}
	}
	t.logProb = r.floats()

	t.trie = r.Trie(chars)
	t.word = make([]uint16, t.trie.Nodes())
	for i := range t.word[1:] {
		t.word[1+i] = uint16(r.Uint())
	}
}

func (r *reader) model(t *tableSet) {
	for s := range t.begin {
		t.begin[s] = r.Float()
	}
	for from := range t.trans {
		for to := range t.trans[from] {
			t.trans[from][to] = r.Float()
		}
	}
	probs := r.floats()
	for s := range t.begin {
		for i := range t.emit {
			t.emit[i][s] = never
			if place := r.Uint(); place > 0 {
				t.emit[i][s] = probs[place-1]
			}
		}
	}
}
