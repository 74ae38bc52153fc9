package study

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"crosstalk/measure/langid/embedded"
	"crosstalk/measure/langid/fasttext"
	"crosstalk/study/similarities"
	"crosstalk/suite/datasets"
)

// embeddedIdentifier names the embedded identifier, as "" does.
const embeddedIdentifier = "embedded"

// OpenIdentifier opens a fastText model that identifies languages: a file, one
// that was fetched (lid.176, lid.176.ftz), or "" or "embedded", the embedded one.
func OpenIdentifier(name string) (*fasttext.Model, error) {
	if name == "" || name == embeddedIdentifier {
		return embedded.Identifier(), nil
	}
	file, err := identifierFile(name)
	if err != nil {
		return nil, err
	}
	return fasttext.Load(file)
}

// IsIdentifier reports whether OpenIdentifier would look for an identifier named so: embedded, published or a file.
func IsIdentifier(name string) bool {
	_, published := PublishedIdentifier(name)
	_, err := os.Stat(name)
	return published || name == embeddedIdentifier || err == nil
}

// NamesIdentifier reports whether only an identifier can be named so: embedded, published, or as fastText's files.
func NamesIdentifier(name string) bool {
	_, published := PublishedIdentifier(name)
	return published || name == embeddedIdentifier || strings.HasSuffix(name, ".bin") || strings.HasSuffix(name, ".ftz")
}

// PublishedIdentifier returns the published identifier of that name.
func PublishedIdentifier(name string) (datasets.Source, bool) {
	if name == "lid.176.bin" {
		name = "lid.176"
	}
	return datasets.Named(datasets.Model, name)
}

func identifierFile(name string) (string, error) {
	s, published := PublishedIdentifier(name)
	if _, err := os.Stat(name); err == nil || !published {
		return name, nil
	}
	dir, err := s.Find()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, s.Files[0].Name), nil
}

// CheckIdentifier loads a language identifier and tries it on a sentence. The rows are names and texts for people.
func CheckIdentifier(name string) (rows [][2]string, err error) {
	file, err := identifierFile(name)
	if err != nil {
		return nil, err
	}
	started := time.Now()
	m, err := OpenIdentifier(name)
	if err != nil {
		return nil, err
	}
	loaded := time.Since(started)
	if name == embeddedIdentifier {
		file = "in the program"
	}
	guess := m.Identify(similarities.Sentences[0])
	return [][2]string{
		{"model", m.Name()},
		{"file", file},
		{"identifies", fmt.Sprintf("%d languages; an English sentence as %s, probability %.4f",
			len(m.Labels()), guess.Language, guess.Probability)},
		{"time", fmt.Sprintf("%v to load", loaded.Round(time.Millisecond))},
	}, nil
}
