// Package langid names the language of a line of text.
//
// Its subpackages are identifiers: fasttext reads models of the fastText tool, such as lid.176; embedded is a small
// model of our own for machines without downloads.
package langid

// Guess is the result of an identifier for a text.
type Guess struct {
	// Language is the ISO 639-1 code if the language has one, otherwise its ISO 639-3 code, as lid.176 labels it:
	// "en", "zh", "yue". It is empty if the identifier has no guess.
	Language string

	// Probability is the identifier's own confidence in Language, from 0 to 1. fastText's can exceed 1 by up to
	// 1e-5. No identifier here is calibrated, and thresholds cannot be transferred between identifiers.
	Probability float32
}

// Identifier names the language of a line of text.
//
// An Identifier is safe for concurrent use and gives the same guess for the same text each time.
type Identifier interface {
	// Name is short, stable and printable, and differs between two identifiers that can disagree:
	// "lid.176.ftz@8f3472cf". It goes into the signature of every figure obtained with the identifier.
	Name() string

	// Identify returns the most probable language of text. Line breaks count as spaces. The text may be of any
	// length and need not be valid UTF-8. A text without a word (empty, or white space alone) gives the zero Guess.
	Identify(text string) Guess
}
