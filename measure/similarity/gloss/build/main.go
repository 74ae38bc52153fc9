// Build makes the vector file of package gloss from WordNet 3.0:
//
//	build [-wordnet DIR] [-out FILE]      write the file
//	build [-wordnet DIR] -check FILE      report whether FILE is what would be written
//
// The same input gives the same bytes on every machine. It takes some minutes
// and about 3 GB of memory. WordNet 3.0 is Debian's package wordnet-base.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"crosstalk/measure/similarity/gloss/internal/lexicon"
	"crosstalk/measure/similarity/gloss/internal/vectorfile"
)

func main() {
	if err := run(os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		os.Exit(1)
	}
}

func run(args []string, notes io.Writer) error {
	flags := flag.NewFlagSet("build", flag.ExitOnError)
	dir := flags.String("wordnet", "/usr/share/wordnet", "`directory` of WordNet 3.0")
	out := flags.String("out", "vectors.bin", "`file` to write")
	check := flags.String("check", "", "`file` to compare with, instead of writing")
	flags.Parse(args)
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	content, err := build(*dir, notes)
	if err != nil {
		return err
	}
	if *check == "" {
		return replace(*out, content)
	}
	have, err := os.ReadFile(*check)
	if err != nil {
		return err
	}
	if !bytes.Equal(have, content) {
		return fmt.Errorf("%s is not what the builder makes of WordNet 3.0: run go generate", *check)
	}
	fmt.Fprintf(notes, "%s is what the builder makes\n", *check)
	return nil
}

// replace writes a file beside path and renames it.
func replace(path string, content []byte) error {
	temporary := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".new")
	if err := os.WriteFile(temporary, content, 0o644); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}

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
