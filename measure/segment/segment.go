// Package segment splits text into words.
//
// Space serves languages that are written with spaces. The packages below it, jieba for Chinese and japanese for
// Japanese, carry their own dictionaries, which are read into memory at the first use and not before.
package segment

import "crosstalk/measure/pytext"

// A Segmenter splits text into words.
//
// AppendWords appends the words of text to dst, in the order of the text, and returns the extended slice. Every word is
// a non-empty substring of text, and no two overlap; what a segmenter leaves out (white space, say) it documents. An
// empty text has no words. Bytes that are not UTF-8 are kept as they are and stand for one character each. Any text is
// accepted: there are no errors. A Segmenter is safe for concurrent use.
type Segmenter interface {
	AppendWords(dst []string, text string) []string
}

// Words returns the words of text, nil where there are none.
func Words(s Segmenter, text string) []string { return s.AppendWords(nil, text) }

// Space splits at white space, as pytext.IsSpace defines it, and leaves it out. Its
// words equal those of Python's str.split without arguments.
type Space struct{}

// AppendWords implements Segmenter.
func (Space) AppendWords(dst []string, text string) []string {
	return append(dst, pytext.Fields(text)...)
}
