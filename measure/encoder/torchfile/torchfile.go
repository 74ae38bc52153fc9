// Package torchfile reads tensors from files that torch.save wrote, such as
// pytorch_model.bin: the zip that PyTorch writes since 1.6, and the sequence of
// pickles before it.
//
// Such a file describes its tensors in a pickle, a program that in Python can
// run anything. Here it runs nothing: only the few opcodes and names that a
// dict of tensors needs are known (pickle.go, build.go), and everything else is an
// error that says what was found.
//
// A file is believed only as far as it goes: a pickle has at most 1 MiB, every
// storage must lie in the file, every tensor in its storage, and all tensors
// together may be only a few times as large as the file. Values are read when
// they are needed.
//
// Source: torch/serialization.py and torch/_utils.py of PyTorch 1.13.
package torchfile

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strings"

	"crosstalk/measure/encoder/tensor"
)

const (
	// maxPickle is the limit of what describes the tensors, in bytes. A tensor
	// takes about 150.
	maxPickle = 1 << 20

	// maxRepeat is how many times the size of the file all tensors together may
	// have. Tensors share values (an embedding and the decoder tied to it), but
	// a small file must not describe a model that fills memory.
	maxRepeat = 4
)

// file is a file being read.
type file struct {
	r    io.ReaderAt
	size int64
	name string
}

func (f file) fail(format string, a ...any) error {
	return fmt.Errorf("%s: not a file of tensors from torch.save: %s", f.name, fmt.Sprintf(format, a...))
}

// Read reads the description of the tensors in the file r of the given size in
// bytes and returns them by name. The file must be a state dict: a dict of
// names and tensors. name stands in errors.
func Read(r io.ReaderAt, size int64, name string) (map[string]*tensor.Tensor, error) {
	f := file{r, size, name}
	head := make([]byte, min(size, 16))
	if err := f.read(head, 0); err != nil {
		return nil, err
	}
	var entries *dict
	var err error
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		entries, err = f.zip()
	case bytes.HasPrefix(head, []byte{opProto}):
		entries, err = f.pickles()
	default:
		err = f.fail("it begins with %q, expected a zip or a pickle", head)
	}
	if err != nil {
		return nil, err
	}
	tensors := make(map[string]*tensor.Tensor, len(entries.keys))
	left := maxRepeat * size
	for i, key := range entries.keys {
		v, ok := entries.values[i].(*view)
		if !ok {
			return nil, f.fail("entry %q is %s, expected a tensor", key, kind(entries.values[i]))
		}
		t, err := f.place(key, v)
		if err != nil {
			return nil, err
		}
		// Data with strides is read whole and may be larger than the tensor.
		if left -= max(tensor.Bytes(t.DType, t.Shape), t.Data.Size()); left < 0 {
			return nil, f.fail("its tensors up to %q have more than %d times the size of the file (%d bytes)", key, maxRepeat, size)
		}
		tensors[key] = t
	}
	return tensors, nil
}

func (f file) read(b []byte, at int64) error {
	if n, err := f.r.ReadAt(b, at); n < len(b) {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return fmt.Errorf("%s: %w", f.name, err)
	}
	return nil
}

// place finds the values of a view in the file.
func (f file) place(name string, v *view) (*tensor.Tensor, error) {
	s := v.storage
	bytes := tensor.Bytes(s.dtype, v.shape)
	if bytes < 0 {
		return nil, f.fail("tensor %q has shape %v", name, v.shape)
	}
	if len(v.strides) != len(v.shape) || slices.ContainsFunc(v.strides, func(n int) bool { return n < 0 }) {
		return nil, f.fail("tensor %q has strides %v for shape %v, expected one from 0 up for each dimension", name, v.strides, v.shape)
	}
	outside := func() error {
		return f.fail("tensor %q of shape %v and strides %v at %d leaves its storage of %d values", name, v.shape, v.strides, v.offset, s.count)
	}
	if v.offset < 0 || v.offset > s.count || bytes > 0 && v.offset == s.count {
		return nil, outside()
	}
	t := &tensor.Tensor{Name: name, DType: s.dtype, Shape: v.shape, File: f.name}
	span := int64(0) // from the first value to the last
	if bytes > 0 {
		span = 1
		for i, d := range v.shape {
			step := int64(v.strides[i])
			if d > 1 && step > (s.count-v.offset-span)/int64(d-1) {
				return nil, outside()
			}
			span += int64(d-1) * step
		}
		if !rowMajor(v.shape, v.strides) {
			t.Strides = v.strides
		}
	}
	size := tensor.Size(s.dtype)
	t.Data = io.NewSectionReader(f.r, s.at+v.offset*size, span*size)
	return t, nil
}

// rowMajor tells whether values follow each other as in C.
func rowMajor(shape, strides []int) bool {
	next := 1
	for i := len(shape) - 1; i >= 0; i-- {
		if shape[i] != 1 && strides[i] != next {
			return false
		}
		next *= shape[i]
	}
	return true
}

// zip reads the form since PyTorch 1.6: NAME/data.pkl, and NAME/data/KEY for
// each storage, without compression.
func (f file) zip() (*dict, error) {
	archive, err := zip.NewReader(f.r, f.size)
	if err != nil {
		return nil, f.fail("%v", err)
	}
	const description = "/data.pkl"
	root, entries := "", make(map[string]*zip.File, len(archive.File))
	for _, e := range archive.File {
		if entries[e.Name] != nil {
			return nil, f.fail("the zip has two entries %q", e.Name)
		}
		entries[e.Name] = e
		if dir, ok := strings.CutSuffix(e.Name, description); ok && !strings.Contains(dir, "/") {
			if root != "" {
				return nil, f.fail("the zip has %s%s and %s, expected one", root, description, e.Name)
			}
			root = dir
		}
	}
	if root == "" {
		return nil, f.fail("the zip has no entry NAME%s", description)
	}
	if e := entries[root+"/byteorder"]; e != nil {
		b, err := f.content(e, 16)
		if err != nil {
			return nil, err
		}
		if string(b) != "little" {
			return nil, f.fail("its byte order is %q, expected little", b)
		}
	}
	b, err := f.content(entries[root+description], maxPickle)
	if err != nil {
		return nil, err
	}
	m := machine{file: f, in: b}
	top := m.run()
	if m.err == nil && m.at != len(b) {
		m.fail("the pickle ends, expected the end of its %d bytes", len(b))
	}
	if m.err != nil {
		return nil, m.err
	}
	for _, s := range m.order {
		name := root + "/data/" + s.key
		e := entries[name]
		if e == nil {
			return nil, f.fail("the zip has no entry %q", name)
		}
		data, err := f.section(e)
		if err != nil {
			return nil, err
		}
		if want := s.count * tensor.Size(s.dtype); data.Size() != want {
			return nil, f.fail("%s has %d bytes, expected %d for %d values of type %s", name, data.Size(), want, s.count, s.dtype)
		}
		_, s.at, _ = data.Outer()
	}
	return f.dict(top)
}

// section returns the bytes of an entry of a zip, which must not be compressed.
func (f file) section(e *zip.File) (*io.SectionReader, error) {
	if e.Method != zip.Store || e.CompressedSize64 != e.UncompressedSize64 {
		return nil, f.fail("%s is compressed, expected it as torch.save stores it", e.Name)
	}
	at, err := e.DataOffset()
	if err != nil {
		return nil, f.fail("%s: %v", e.Name, err)
	}
	if at > f.size || e.UncompressedSize64 > uint64(f.size-at) {
		return nil, f.fail("%s has %d bytes at %d, in a file of %d", e.Name, e.UncompressedSize64, at, f.size)
	}
	return io.NewSectionReader(f.r, at, int64(e.UncompressedSize64)), nil
}

// content reads an entry of at most limit bytes.
func (f file) content(e *zip.File, limit int64) ([]byte, error) {
	s, err := f.section(e)
	if err != nil {
		return nil, err
	}
	if s.Size() > limit {
		return nil, f.fail("%s has %d bytes, expected at most %d", e.Name, s.Size(), limit)
	}
	b := make([]byte, s.Size())
	if _, err := io.ReadFull(s, b); err != nil {
		return nil, fmt.Errorf("%s: %s: %w", f.name, e.Name, err)
	}
	return b, nil
}

// magic begins files before PyTorch 1.6.
var magic, _ = new(big.Int).SetString("1950a86a20f9469cfc6c", 16)

// pickles reads the form before PyTorch 1.6: pickles of a magic number, the
// version of the format, the machine that wrote it, the state dict and the keys
// of the storages; then of each storage the number of values, in eight bytes,
// and the values.
func (f file) pickles() (*dict, error) {
	b := make([]byte, min(f.size, maxPickle))
	if err := f.read(b, 0); err != nil {
		return nil, err
	}
	m := machine{file: f, in: b}
	if v := m.run(); m.err == nil {
		if n, ok := v.(*big.Int); !ok || n.Cmp(magic) != 0 {
			m.fail("the first pickle is %s, expected the magic number %x", kind(v), magic)
		}
	}
	if v := m.run(); m.err == nil && v != int64(1001) {
		m.fail("the version of the format is not 1001")
	}
	if v := m.run(); m.err == nil {
		if d, ok := v.(*dict); !ok || d.get("little_endian") != true {
			m.fail("the file does not say that its values are little-endian")
		}
	}
	top, keys := m.run(), m.run()
	if m.err != nil {
		return nil, m.err
	}
	list, ok := keys.(*list)
	if !ok || len(list.values) != len(m.storages) {
		return nil, f.fail("after the state dict comes %s, expected a list of the keys of %d storages", kind(keys), len(m.storages))
	}
	at := int64(m.at)
	for _, v := range list.values {
		key, _ := v.(string)
		s := m.storages[key]
		if s == nil || s.at > 0 {
			return nil, f.fail("no tensor uses storage %q, or it is listed twice", key)
		}
		var count [8]byte
		if f.size-at < 8 {
			return nil, f.fail("truncated at storage %q", key)
		}
		if err := f.read(count[:], at); err != nil {
			return nil, err
		}
		at += 8
		if n := binary.LittleEndian.Uint64(count[:]); n != uint64(s.count) {
			return nil, f.fail("storage %q has %d values, expected %d", key, n, s.count)
		}
		s.at = at
		if at += s.count * tensor.Size(s.dtype); at > f.size {
			return nil, f.fail("truncated: storage %q ends at byte %d, in a file of %d", key, at, f.size)
		}
	}
	if at != f.size {
		return nil, f.fail("%d bytes after the last storage, expected none", f.size-at)
	}
	return f.dict(top)
}

// dict is a pickle as the state dict that it should be.
func (f file) dict(top any) (*dict, error) {
	d, ok := top.(*dict)
	if !ok {
		return nil, f.fail("it has %s, expected a dict of tensors", kind(top))
	}
	return d, nil
}
