// Gloss makes the vector file of package gloss from WordNet 3.0, which is Debian's package wordnet-base:
//
//	go generate crosstalk/measure/similarity/gloss      write the file
//	go -C tools run ./build/gloss -check                compare it with what would be written
//
// The same input gives the same bytes on every machine. It takes some minutes and about 3 GB of memory.
package main

import (
	"fmt"
	"io"
	"path/filepath"

	"crosstalk/internal/gloss/lexicon"
	"crosstalk/internal/gloss/vectorfile"
	"crosstalk/tools/internal/builder"

	"gonum.org/v1/gonum/mat"
)

var command = builder.Builder{
	Source:  "WordNet 3.0",
	Install: "apt-get install wordnet-base",
	In:      "/usr/share/wordnet",
	Out:     "../measure/similarity/gloss/vectors.bin",
	Build:   build,
}

func main() { command.Main() }

// build returns the content of the vector file.
func build(dir string, notes io.Writer) ([]byte, error) {
	files, err := readWordNet(dir)
	if err != nil {
		return nil, err
	}
	w, err := parseWordNet(files)
	if err != nil {
		return nil, err
	}
	glosses, occurrences := w.glosses()
	vocabulary := w.vocabulary(occurrences)
	graph := w.graph(glosses, occurrences)
	fmt.Fprintf(notes, "WordNet 3.0: %d lemmas, %d synsets, %d edges; %d lemmas get vectors\n",
		w.lexicon.Len(), len(w.synsets), len(graph.entries), len(vocabulary))

	information := ppmi(walk(graph, vocabulary, w.lexicon.Len()))
	fmt.Fprintf(notes, "random walks: %d pairs of lemmas\n", len(information.entries))

	vectors, err := embed(information, vectorfile.Dim, oversampling)
	if err != nil {
		return nil, err
	}
	f := w.file(vocabulary, occurrences)
	var rotated mat.Dense
	rotated.Mul(vectors, rotation(vectorfile.Dim))
	f.Codes = quantise(&rotated)
	content, err := f.Encode()
	fmt.Fprintf(notes, "%d irregular forms, %d bytes\n", len(f.Exceptions), len(content))
	return content, err
}

// file returns the vector file of a sorted vocabulary, but for its codes.
func (w *wordnet) file(vocabulary []int32, occurrences []int) *vectorfile.File {
	f := &vectorfile.File{}
	index := map[string]int32{}
	for i, id := range vocabulary {
		var pos lexicon.Set
		for _, s := range w.senses[id] {
			pos |= lexicon.Of(w.synsets[s.synset].pos)
		}
		lemma := w.lexicon.Lemma(id)
		index[lemma] = int32(i)
		f.Lemmas = append(f.Lemmas, lemma)
		f.POS = append(f.POS, pos)
		f.Frequency = append(f.Frequency, w.frequency(id, occurrences[id]))
	}
	for _, x := range w.forms {
		var bases []int32
		for _, base := range x.bases {
			if i, ok := index[base]; ok {
				bases = append(bases, i)
			}
		}
		if len(bases) > 0 {
			f.Exceptions = append(f.Exceptions, vectorfile.Exception{POS: x.pos, Form: x.form, Bases: bases})
		}
	}
	return f
}

// sums are the SHA-256 sums of the files of WordNet 3.0 that are read, as in Debian's package wordnet-base (checked
// with 1:3.0-37).
var sums = []struct{ name, sum string }{
	{"adj.exc", "8824cc24bbedd797b9702316b27f07cd4c2b76b629539f0a1276f03926758016"},
	{"adv.exc", "e7291461b629abfe63301bbe1998cee09fd575ed7107abd7ea9763adb05bf0a8"},
	{"cntlist.rev", "a198580b8f705fa02797bba8b13e5cbe4a9f9f40cb1697e774c7fc6a5865b035"},
	{"data.adj", "c89120dfc1f046ddff4a631bf9b7e9fa1a36b5e86565a23bf82dbe14f30b88a7"},
	{"data.adv", "444a63bf3955080ab7524f5079cfc07ff9bc682cb98bdb1db73b0fb9829f1139"},
	{"data.noun", "fea17d2f9656611334eac790e5d69e47645fa180c4aa481fb4cd9b3520754ca2"},
	{"data.verb", "adcf43e35b581e8036d8b5a52d63d9cd3d3b4870b2720d3c03c799df44777bc2"},
	{"index.adj", "c9865d7b4d1f805bdef82ccdcea5282436e23083e6f6f1b33e716327c4eda810"},
	{"index.adv", "6f5465ed5758fe9c8a2f7ec17b1300f3aa875756c70ff7cba162f7e71bcf88ea"},
	{"index.noun", "a490d99d93d017bf4822fe2f0ffa51fd73911ce271dc7535fade21f8814b5a04"},
	{"index.verb", "e2ac24816c3a8289dcb72aaa9cf8db81fdf25ec34d792bfc96ac5b7a20c8b4ae"},
	{"noun.exc", "2b5d675c380b39ecf595af9fa9d4e7feb1d58c643b0bff08c40ed5bfe41fab7a"},
	{"verb.exc", "dbbcf9a601b2d77e934e413b91d90e88ec7f933a8b77cfc00602a923b891b42c"},
}

// readWordNet returns the content of the files of WordNet 3.0 in dir, by name. Another version of any of them is an
// error: the vectors would differ.
func readWordNet(dir string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, s := range sums {
		content, err := builder.ReadFile(filepath.Join(dir, s.name), s.sum)
		if err != nil {
			return nil, fmt.Errorf("WordNet 3.0 (Debian: apt-get install wordnet-base): %w", err)
		}
		files[s.name] = content
	}
	return files, nil
}
