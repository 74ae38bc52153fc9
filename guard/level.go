package guard

import "crosstalk/measure/langid/words"

// A Level says what of a text was judged, and so what a verdict of Right means.
type Level string

// Levels. Whole lines are judged at each of them, and so are words in another script than the expected language's.
const (
	ByWords  Level = "words"  // each word, by how frequent it is in the expected language and in others
	ByScript Level = "script" // each word by its script alone, which few languages but the expected one have: Korean
	ByLines  Level = "lines"  // in the expected language's script no single words, since there is no model of them: Dutch
)

// level says what was judged: lines only if one was long enough for the identifier.
func (c *check) level() Level {
	switch alone := words.ByScript(c.want.base); {
	case words.Supports(c.want.base) && !alone:
		return ByWords
	case alone || !c.asked:
		return ByScript
	}
	return ByLines
}
