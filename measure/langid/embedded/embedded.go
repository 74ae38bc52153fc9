// Package embedded is a language identifier for machines without downloads: a
// quantised fastText model of our own, less than 1 MB, for 75 languages.
//
// It was trained on the translated text of LibreOffice, Firefox and Chromium, WordNet's glosses and novels in the
// public domain. README.md describes the training, the accuracy and how to rebuild it; NOTICE has the licences.
//
// It has the labels of lid.176 and aims for the same scale of probabilities, but its decisions differ: figures
// obtained with it do not follow a published protocol that names lid.176.
package embedded

import (
	"bytes"
	_ "embed"
	"sync"

	"crosstalk/measure/langid/fasttext"
)

//go:embed lid.ftz
var model []byte

// Identifier returns the embedded model. The first call loads it, which takes about 10 ms; later ones share it.
func Identifier() *fasttext.Model { return identifier() }

var identifier = sync.OnceValue(func() *fasttext.Model {
	m, err := fasttext.Read(bytes.NewReader(model), int64(len(model)), "embedded")
	if err != nil {
		panic("embedded language identifier: " + err.Error()) // the build is broken
	}
	return m
})
