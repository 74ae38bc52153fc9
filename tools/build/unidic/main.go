// Unidic makes unidic.bin.gz, the dictionary that package japanese embeds, from UniDic 3.1.1 as installed by Debian's
// package unidic-mecab (1 GB to download, 5 GB on disk). It takes a minute:
//
//	go generate crosstalk/measure/segment/japanese
//
// A MeCab dictionary is a lexicon, whose words have costs, rules for words that it lacks, and the costs of words that
// follow each other. UniDic lists the last in a matrix of 240 million, but they are sums of 1.6 million weights, which
// it ships too (model.def); the stream holds these, see blocks.go.
//
// The stream, before compression, is a row of unsigned varints unless said otherwise:
//
//	format number 1
//	number of blocks, then each, see (*model).blocks and (*block).write
//	number of kinds, then for each block the kinds' classes as the first of two
//	  words, then as the second; kind 0 is the end of a text
//	number of categories of characters, then each: the categories that it goes
//	  on with, as bits; 1 if words of it are looked for even where the lexicon
//	  has one, 0 if not; 1 if a run of it is a word; the number of its characters
//	  up to which any are a word; number of its unknown words, then the kind of
//	  each and its cost, zigzag
//	number of ranges of characters, from U+0000 on, then the length and the
//	  category of each; characters from U+10000 on are as U+0000
//	number of characters of the lexicon, then each, most frequent first, as the
//	  difference from the one before, zigzag; a character's place in this row is
//	  its label
//	number of nodes of the lexicon's trie; the nodes stand level by level, the
//	  root first, the children of a node together in order of their labels
//	number of children of each node
//	label of each node but the root, as the difference from its left sibling's
//	for each node the number of words of the lexicon that it spells
//	kind of each word, node by node, those of a node in the order of the lexicon
//	cost of each word: all high bytes, then all low bytes of 16 bits
package main

import (
	"io"
	"path/filepath"

	"crosstalk/tools/internal/builder"
)

var command = builder.Builder{
	Source:  "UniDic 3.1.1",
	Install: "apt-get install unidic-mecab",
	In:      "/usr/share/mecab/dic/unidic",
	Out:     "../measure/segment/japanese/unidic.bin.gz",
	Build:   build,
}

func main() { command.Main() }

func build(dir string, _ io.Writer) ([]byte, error) {
	words, err := readLexicon(filepath.Join(dir, "lex_3_1.csv"))
	if err != nil {
		return nil, err
	}
	chars, err := readCharacters(dir)
	if err != nil {
		return nil, err
	}
	m, err := readModel(dir)
	if err != nil {
		return nil, err
	}
	blocks := m.blocks()
	kinds := newKinds(blocks)
	if err := kinds.count(words, chars.unknown); err != nil {
		return nil, err
	}

	var w builder.Stream
	w.Uint(1)
	w.Uint(len(blocks))
	for _, b := range blocks {
		b.write(&w)
	}
	kinds.write(&w)
	chars.write(&w, kinds)
	writeLexicon(&w, words, kinds)

	return builder.Compress(w), nil
}
