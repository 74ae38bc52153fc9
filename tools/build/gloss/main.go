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

	"crosstalk/internal/gloss/lexicon"
	"crosstalk/internal/gloss/vectorfile"
	"crosstalk/tools/internal/builder"
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
	f.Codes = quantise(vectors.times(rotation(vectorfile.Dim)))
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
