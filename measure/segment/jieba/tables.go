package jieba

import (
	"bytes"
	_ "embed"
	"encoding/binary"
	"io"
	"math"

	"github.com/klauspost/compress/gzip"
)

//go:embed tables.bin.gz
var packed []byte

const (
	firstHan, lastHan = 0x4E00, 0x9FD5
	hanCount          = lastHan - firstHan + 1
	never             = -3.14e100 // jieba's logarithm of zero
)

// A tableSet is the dictionary, as a trie whose nodes are numbered level by
// level with 0 the root, and the hidden Markov model.
type tableSet struct {
	// Dictionary. Characters are known by their labels, 0 up, by falling
	// frequency; the children of node n are the nodes first[n] to first[n+1].
	ascii   [128]int32 // label, -1 if in no word
	han     [hanCount]int32
	top     []int32 // child of the root by label, 0 if there is none
	first   []int32
	label   []uint16
	word    []uint16  // 1 + place in logProb, 0 if the node ends no word
	logProb []float64 // of words; the first is that of an unknown character

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
	if node == 0 {
		return t.top[label]
	}
	for low, high := t.first[node], t.first[node+1]; low < high; {
		mid := (low + high) / 2
		switch at := int32(t.label[mid]); {
		case at == label:
			return mid
		case at < label:
			low = mid + 1
		default:
			high = mid
		}
	}
	return 0
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

// readTables unpacks the embedded tables; their format is described in
// build/main.go.
func readTables() *tableSet {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic("jieba: embedded tables: " + err.Error())
	}
	data, err := io.ReadAll(z)
	if err != nil {
		panic("jieba: embedded tables: " + err.Error())
	}
	r := reader(data)
	if r.uint() != 1 {
		panic("jieba: embedded tables: unknown format")
	}
	t := new(tableSet)
	r.dictionary(t)
	r.model(t)
	return t
}

// A reader takes values off the front of the unpacked tables.
type reader []byte

func (r *reader) uint() int {
	v, n := binary.Uvarint(*r)
	*r = (*r)[n:]
	return int(v)
}

func (r *reader) int() int {
	v, n := binary.Varint(*r)
	*r = (*r)[n:]
	return int(v)
}

func (r *reader) float() float64 {
	v := math.Float64frombits(binary.LittleEndian.Uint64(*r))
	*r = (*r)[8:]
	return v
}

func (r *reader) floats() []float64 {
	all := make([]float64, r.uint())
	for i := range all {
		all[i] = r.float()
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
	chars := int32(r.uint())
	for label := range chars {
		if c := r.int() + firstHan; c < len(t.ascii) {
			t.ascii[c] = label
		} else {
			t.han[c-firstHan] = label
		}
	}
	t.logProb = r.floats()

	nodes := r.uint()
	t.first = make([]int32, nodes+1)
	t.label = make([]uint16, nodes)
	t.word = make([]uint16, nodes)
	t.first[0] = 1
	for i := range nodes {
		t.first[i+1] = t.first[i] + int32(r.uint())
	}
	for i := range nodes {
		last := 0
		for child := t.first[i]; child < t.first[i+1]; child++ {
			last += r.uint()
			t.label[child] = uint16(last)
		}
	}
	for i := 1; i < nodes; i++ {
		t.word[i] = uint16(r.uint())
	}
	t.top = make([]int32, chars)
	for child := t.first[0]; child < t.first[1]; child++ {
		t.top[t.label[child]] = child
	}
}

func (r *reader) model(t *tableSet) {
	for s := range t.begin {
		t.begin[s] = r.float()
	}
	for from := range t.trans {
		for to := range t.trans[from] {
			t.trans[from][to] = r.float()
		}
	}
	probs := r.floats()
	for s := range t.begin {
		for i := range t.emit {
			t.emit[i][s] = never
			if place := r.uint(); place > 0 {
				t.emit[i][s] = probs[place-1]
			}
		}
	}
}
