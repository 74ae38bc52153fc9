// Package builder is the command around a builder of embedded data: its flags, the check of the file in the tree, and
// writing that file.
package builder

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// A Builder makes one embedded file from sources installed on this machine. The same sources give the same content on
// every machine.
type Builder struct {
	Source  string // what the file is made from, with its version: "jieba 0.42.1"
	Install string // the command that installs it: "apt-get install python3-jieba"
	In      string // the file or folder that this installs
	Out     string // the embedded file, relative to the folder tools
	// Build returns the content of the embedded file. It may tell on notes what it does.
	Build func(in string, notes io.Writer) ([]byte, error)
}

// Main runs the builder as a command, in the folder tools, and ends the process with status 1 on an error:
//
//	[-in PATH] [-out FILE]           write the file
//	[-in PATH] [-out FILE] -check    compare the file with what would be written
func (b Builder) Main() {
	switch err := b.run(os.Args[1:], os.Stderr); {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintf(os.Stderr, "%s: %v\n", filepath.Base(os.Args[0]), err)
		os.Exit(1)
	}
}

func (b Builder) run(args []string, notes io.Writer) error {
	flags := flag.NewFlagSet(filepath.Base(os.Args[0]), flag.ContinueOnError)
	flags.SetOutput(notes)
	in := flags.String("in", b.In, "`path` of "+b.Source)
	out := flags.String("out", b.Out, "`file` to write, relative to the folder tools")
	check := flags.Bool("check", false, "compare the file with what would be written, and write nothing")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if *check {
		if err := b.check(*in, *out, notes); err != nil {
			return err
		}
		fmt.Fprintf(notes, "%s is up to date\n", *out)
		return nil
	}
	content, err := b.build(*in, notes)
	if err != nil {
		return err
	}
	return replace(*out, content)
}

// build refuses to begin without the sources.
func (b Builder) build(in string, notes io.Writer) ([]byte, error) {
	if _, err := os.Stat(in); err != nil {
		return nil, fmt.Errorf("%s is not installed (%s): %w", b.Source, b.Install, err)
	}
	return b.Build(in, notes)
}

// check returns an error if the file's content is not what Build returns. Of compressed files it compares what they
// hold, since releases of Go compress differently.
func (b Builder) check(in, file string, notes io.Writer) error {
	current, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	built, err := b.build(in, notes)
	if err != nil {
		return err
	}
	same, err := sameContent(current, built)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if !same {
		return fmt.Errorf("%s is not what its builder makes of %s: run go generate", file, b.Source)
	}
	return nil
}

// replace writes a new file beside path and renames it, so that path is never half written.
func replace(path string, content []byte) error {
	temporary := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".new")
	if err := os.WriteFile(temporary, content, 0o644); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}

// Current fails the test of a builder in build/NAME if the embedded file is not what the builder makes. Without the
// sources the test is skipped.
func (b Builder) Current(t testing.TB) {
	t.Helper()
	b.Need(t)
	if err := b.check(b.In, filepath.Join("..", "..", b.Out), t.Output()); err != nil {
		t.Error(err)
	}
}

// Need skips the test if the sources are not installed.
func (b Builder) Need(t testing.TB) {
	t.Helper()
	if _, err := os.Stat(b.In); err != nil {
		t.Skipf("%s is not installed (%s): %v", b.Source, b.Install, err)
	}
}

// ReadFile returns the content of a source. It is an error if its SHA-256 sum, in hexadecimal, is another one.
func ReadFile(path, sum string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(content)); got != sum {
		return nil, fmt.Errorf("%s: SHA-256 is %s, expected %s: take the version that the builder names", path, got, sum)
	}
	return content, nil
}

// A Trie has a value for each of many words, a letter of it at each node.
type Trie[V any] struct {
	Value    V
	children map[rune]*Trie[V]
}

// At returns the node of a word, which is made if it is not there.
func (t *Trie[V]) At(word string) *Trie[V] {
	for _, r := range word {
		next := t.children[r]
		if next == nil {
			next = &Trie[V]{}
			if t.children == nil {
				t.children = map[rune]*Trie[V]{}
			}
			t.children[r] = next
		}
		t = next
	}
	return t
}

// Write calls value with the value of each node, level by level, the root first, the children of a node together in
// order of their labels. It returns how many nodes there are, the number of children of each, and the label of each but
// the root, as the difference from its left sibling's.
func (t *Trie[V]) Write(labels map[rune]int, value func(V)) (nodes int, counts, deltas Stream) {
	for level := []*Trie[V]{t}; len(level) > 0; nodes++ {
		at := level[0]
		level = level[1:]
		value(at.Value)
		counts.Uint(len(at.children))
		last := 0
		for _, r := range slices.SortedFunc(maps.Keys(at.children), func(a, b rune) int { return labels[a] - labels[b] }) {
			deltas.Uint(labels[r] - last)
			last = labels[r]
			level = append(level, at.children[r])
		}
	}
	return nodes, counts, deltas
}

// ByCount returns the keys by falling count, equal ones in their own order.
func ByCount[K cmp.Ordered](count map[K]int) []K {
	return slices.SortedFunc(maps.Keys(count), func(a, b K) int {
		return cmp.Or(count[b]-count[a], cmp.Compare(a, b))
	})
}

// A Stream collects the numbers of an embedded table.
type Stream []byte

// Byte appends one byte.
func (s *Stream) Byte(v byte) { *s = append(*s, v) }

// Uint appends an unsigned varint.
func (s *Stream) Uint(v int) { *s = binary.AppendUvarint(*s, uint64(v)) }

// Int appends a signed varint, zigzag.
func (s *Stream) Int(v int) { *s = binary.AppendVarint(*s, int64(v)) }

// Float appends the 8 bytes of a little-endian float64.
func (s *Stream) Float(v float64) { *s = binary.LittleEndian.AppendUint64(*s, math.Float64bits(v)) }

// Compress returns content as a gzip file, as small as this release of Go makes it.
func Compress(content []byte) []byte {
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // fails for an unknown level only
	z.Write(content)                                           // a bytes.Buffer takes everything
	z.Close()
	return packed.Bytes()
}

// sameContent tells whether two files hold the same, compressed or not.
func sameContent(a, b []byte) (bool, error) {
	a, err := unpack(a)
	if err != nil {
		return false, err
	}
	b, err = unpack(b)
	return bytes.Equal(a, b), err
}

// unpack returns the content of a gzip file, and anything else as it is.
func unpack(file []byte) ([]byte, error) {
	if !bytes.HasPrefix(file, []byte{0x1f, 0x8b}) {
		return file, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}
