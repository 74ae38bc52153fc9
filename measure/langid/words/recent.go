package words

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
)

// weighed holds the weights of the models of an alphabet for a word.
type weighed struct {
	word string
	p    []float64       // probability in each language of the script
	logs []float64       // of these
	row  [maxGroup]uint8 // of the lists: see levels.Row

	mean, top, third float64 // of the probabilities; the largest and the third largest

	listed bool // a list has it
	loan   bool // most lists have it
	native bool // it is so much of one language that it is hardly a name
}

// recent remembers the words that were weighed last: most words of a text are frequent ones. A word's hash gives its
// place. It is safe for concurrent use.
type recent [1 << 16]atomic.Pointer[weighed]

// longestRemembered is the length in bytes of the longest words that are remembered.
const longestRemembered = 40

var seed = maphash.MakeSeed()

// weigh returns what the alphabet says of a word in lower case.
func (a *alphabet) weigh(word string) *weighed {
	if len(word) > longestRemembered {
		w := a.probabilities(word)
		return &w
	}
	at := &a.recent[maphash.String(seed, word)%uint64(len(a.recent))]
	if w := at.Load(); w != nil && w.word == word {
		return w
	}
	w := a.probabilities(word)
	w.word = strings.Clone(word) // the text may be long
	at.Store(&w)
	return &w
}
