package tokenizer

import "unicode/utf8"

// wordPiece cuts off the longest piece of the vocabulary that begins the rest of a word, again and again; the pieces
// after the first carry a prefix.
type wordPiece struct {
	vocab    map[string]int32
	unknown  int32
	prefix   string
	maxChars int // a longer word is unknown
}

func (w *wordPiece) encode(ids []int32, word string) []int32 {
	if utf8.RuneCountInString(word) > w.maxChars {
		return append(ids, w.unknown)
	}
	var room [512]byte
	first := len(ids)
	for from := 0; from < len(word); {
		// rest is the piece to look up, with its prefix.
		rest := room[:0]
		if from > 0 {
			rest = append(rest, w.prefix...)
		}
		least := len(rest)
		rest = append(rest, word[from:]...)
		id, ok := w.vocab[string(rest)]
		for !ok && len(rest) > least {
			_, n := utf8.DecodeLastRune(rest)
			rest = rest[:len(rest)-n]
			if len(rest) > least {
				id, ok = w.vocab[string(rest)]
			}
		}
		if !ok {
			return append(ids[:first], w.unknown)
		}
		ids = append(ids, id)
		from += len(rest) - least
	}
	return ids
}
