package jieba

import "unicode/utf8"

// A state of the hidden Markov model is the place of a character in its word. The order follows the letters B, E, M,
// S, by which jieba breaks ties: of two equally probable states the later one wins.
type state = uint8

const (
	stateB state = iota // begins a word of several characters
	stateE              // ends it
	stateM              // stands in its middle
	stateS              // is a word by itself
)

// before lists the states that may come before each state, later letter first.
var before = [4][2]state{
	stateB: {stateS, stateE},
	stateE: {stateM, stateB},
	stateM: {stateM, stateB},
	stateS: {stateS, stateE},
}

// viterbi splits a run of Han characters along the most probable sequence of states (jieba's finalseg).
func (c *cutter) viterbi(dst []string, run string) []string {
	const size = 3 // bytes of each character in UTF-8
	n := len(run) / size
	c.back = append(c.back[:0], make([][4]state, n)...)
	var logProb [4]float64
	for i := range n {
		r, _ := utf8.DecodeRuneInString(run[i*size:])
		emit := &c.emit[r-firstHan]
		last := logProb
		for s := range logProb {
			if i == 0 {
				logProb[s] = c.begin[s] + emit[s]
				continue
			}
			first, second := before[s][0], before[s][1]
			p := last[first] + c.trans[first][s] + emit[s]
			q := last[second] + c.trans[second][s] + emit[s]
			if p >= q {
				logProb[s], c.back[i][s] = p, first
			} else {
				logProb[s], c.back[i][s] = q, second
			}
		}
	}

	// Walk back from the last character, which ends a word, and turn the links
	// into the path: path[i] is kept in back[i][0].
	at := stateE
	if logProb[stateS] >= logProb[stateE] {
		at = stateS
	}
	for i := n - 1; i >= 0; i-- {
		at, c.back[i][0] = c.back[i][at], at
	}
	from := 0
	for i := range n {
		switch c.back[i][0] {
		case stateE, stateS:
			dst = append(dst, run[from*size:(i+1)*size])
			from = i + 1
		}
	}
	return dst
}
