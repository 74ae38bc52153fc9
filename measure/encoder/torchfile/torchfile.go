// Package torchfile reads tensors from files that torch.save wrote, such as pytorch_model.bin: the zip that PyTorch
// writes since 1.6, and the sequence of pickles before it.
//
// Such a file describes its tensors in a pickle, a program that in Python can run anything. Here it runs nothing: only
// the few opcodes and names that a dict of tensors needs are known (pickle.go), and everything else is an error that
// states what was found.
//
// A file is believed only as far as it goes: a pickle has at most 1 MiB, every storage must lie in the file, every
// tensor in its storage, and all tensors together may be only a few times as large as the file. Values are read when
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
	"maps"
	"slices"
	"strings"

	"crosstalk/measure/encoder/tensor"
)

const (
	// maxPickle is the limit of what describes the tensors, in bytes. A tensor takes about 150.
	maxPickle = 1 << 20

	// maxRepeat limits the size of all tensors together, as a multiple of the file's size. Tensors share values (an
	// embedding and the decoder tied to it), but a small file must not describe a model that fills memory.
	maxRepeat = 4
)

// file is a file being read. Its methods and those of a machine panic with a fault.
type file struct {
	r    io.ReaderAt
	size int64
	name string
}

// fault is the error of Read.
type fault struct{ error }

func (f file) fail(format string, a ...any) {
	panic(fault{fmt.Errorf("%s: not a file of tensors from torch.save: %s", f.name, fmt.Sprintf(format, a...))})
}

// Read reads the description of the tensors in the file r of the given size in bytes and returns them by name. The file
// must be a state dict: a dict of names and tensors. name is for errors.
func Read(r io.ReaderAt, size int64, name string) (tensors map[string]*tensor.Tensor, err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case fault:
			tensors, err = nil, p.error
		default:
			panic(p)
		}
	}()
	f := file{r, size, name}
	entries := f.entries()
	tensors = make(map[string]*tensor.Tensor, len(entries))
	left := maxRepeat * size
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		v, ok := entries[key].(*view)
		if !ok {
			f.fail("entry %q is %s, expected a tensor", key, kind(entries[key]))
		}
		t := f.place(key, v)
		// Data with strides is read whole and may be larger than the tensor.
		if left -= max(tensor.Bytes(t.DType, t.Shape), t.Data.Size()); left < 0 {
			f.fail("its tensors up to %q have more than %d times the size of the file (%d bytes)", key, maxRepeat, size)
		}
		tensors[key] = t
	}
	return tensors, nil
}

// entries are the state dict.
func (f file) entries() dict {
	head := f.read(0, min(f.size, 16))
	var top any
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		top = f.zip()
	case bytes.HasPrefix(head, []byte{0x80}):
		top = f.pickles()
	default:
		f.fail("it begins with %q, expected a zip or a pickle", head)
	}
	d, ok := top.(dict)
	if !ok {
		f.fail("it has %s, expected a dict of tensors", kind(top))
	}
	return d
}

// read reads n bytes.
func (f file) read(at, n int64) []byte {
	b := make([]byte, n)
	if read, err := f.r.ReadAt(b, at); read < len(b) {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		panic(fault{fmt.Errorf("%s: %w", f.name, err)})
	}
	return b
}

// place finds the values of a view in the file.
func (f file) place(name string, v *view) *tensor.Tensor {
	s := v.storage
	bytes := tensor.Bytes(s.dtype, v.shape)
	if bytes < 0 {
		f.fail("tensor %q has shape %v", name, v.shape)
	}
	if len(v.strides) != len(v.shape) || slices.ContainsFunc(v.strides, func(n int) bool { return n < 0 }) {
		f.fail("tensor %q has strides %v for shape %v, expected one from 0 up for each dimension", name, v.strides, v.shape)
	}
	inside := v.offset >= 0 && v.offset <= s.count && (bytes == 0 || v.offset < s.count)
	span := int64(0) // from the first value to the last
	if inside && bytes > 0 {
		span = 1
		for i, d := range v.shape {
			step := int64(v.strides[i])
			if d > 1 && step > (s.count-v.offset-span)/int64(d-1) {
				inside = false
				break
			}
			span += int64(d-1) * step
		}
	}
	if !inside {
		f.fail("tensor %q of shape %v and strides %v at %d leaves its storage of %d values",
			name, v.shape, v.strides, v.offset, s.count)
	}
	size := tensor.Size(s.dtype)
	t := &tensor.Tensor{Name: name, DType: s.dtype, Shape: v.shape, File: f.name,
		Data: io.NewSectionReader(f.r, s.at+v.offset*size, span*size)}
	if bytes > 0 && !rowMajor(v.shape, v.strides) {
		t.Strides = v.strides
	}
	return t
}

// rowMajor tells whether values follow each other as in C.
func rowMajor(shape, strides []int) bool {
	next := 1
	for i, d := range slices.Backward(shape) {
		if d != 1 && strides[i] != next {
			return false
		}
		next *= d
	}
	return true
}

// zip reads the form since PyTorch 1.6: NAME/data.pkl, and NAME/data/KEY for each storage, without compression.
func (f file) zip() any {
	archive, err := zip.NewReader(f.r, f.size)
	if err != nil {
		f.fail("%v", err)
	}
	const description = "/data.pkl"
	root, entries := "", make(map[string]*zip.File, len(archive.File))
	for _, e := range archive.File {
		if entries[e.Name] != nil {
			f.fail("the zip has two entries %q", e.Name)
		}
		entries[e.Name] = e
		if dir, ok := strings.CutSuffix(e.Name, description); ok && !strings.Contains(dir, "/") {
			if root != "" {
				f.fail("the zip has %s%s and %s, expected one", root, description, e.Name)
			}
			root = dir
		}
	}
	if root == "" {
		f.fail("the zip has no entry NAME%s", description)
	}
	if e := entries[root+"/byteorder"]; e != nil {
		if order := f.content(e, 16); string(order) != "little" {
			f.fail("its byte order is %q, expected little", order)
		}
	}
	m := machine{file: f, in: f.content(entries[root+description], maxPickle), storages: map[string]*storage{}}
	top := m.run()
	if m.at != len(m.in) {
		m.fail("the pickle ends, expected the end of its %d bytes", len(m.in))
	}
	for _, key := range slices.Sorted(maps.Keys(m.storages)) {
		s, name := m.storages[key], root+"/data/"+key
		e := entries[name]
		if e == nil {
			f.fail("the zip has no entry %q", name)
		}
		at, size := f.stored(e)
		if want := s.count * tensor.Size(s.dtype); size != want {
			f.fail("%s has %d bytes, expected %d for %d values of type %s", name, size, want, s.count, s.dtype)
		}
		s.at = at
	}
	return top
}

// stored returns the place of the bytes of an entry of a zip, which must not be compressed.
func (f file) stored(e *zip.File) (at, size int64) {
	if e.Method != zip.Store || e.CompressedSize64 != e.UncompressedSize64 {
		f.fail("%s is compressed, expected it as torch.save stores it", e.Name)
	}
	at, err := e.DataOffset()
	if err != nil {
		f.fail("%s: %v", e.Name, err)
	}
	if at > f.size || e.UncompressedSize64 > uint64(f.size-at) {
		f.fail("%s has %d bytes at %d, in a file of %d", e.Name, e.UncompressedSize64, at, f.size)
	}
	return at, int64(e.UncompressedSize64)
}

// content reads an entry of at most limit bytes.
func (f file) content(e *zip.File, limit int64) []byte {
	at, size := f.stored(e)
	if size > limit {
		f.fail("%s has %d bytes, expected at most %d", e.Name, size, limit)
	}
	return f.read(at, size)
}

// magic begins files before PyTorch 1.6: 0x1950a86a20f9469cfc6c.
const magic = wide("\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19")

// pickles reads the form before PyTorch 1.6: pickles of a magic number, the version of the format, the machine that
// wrote it, the state dict and the keys of the storages; then of each storage the number of values, in eight bytes, and
// the values.
func (f file) pickles() any {
	m := machine{file: f, in: f.read(0, min(f.size, maxPickle)), storages: map[string]*storage{}}
	if v := m.run(); v != magic {
		m.fail("the first pickle is %s, expected the magic number 1950a86a20f9469cfc6c", kind(v))
	}
	if m.run() != int64(1001) {
		m.fail("the version of the format is not 1001")
	}
	if written, ok := m.run().(dict); !ok || written["little_endian"] != true {
		m.fail("the file does not state that its values are little-endian")
	}
	top, keys := m.run(), m.run()
	list, ok := keys.(*list)
	if !ok || len(list.values) != len(m.storages) {
		f.fail("after the state dict comes %s, expected a list of the keys of %d storages", kind(keys), len(m.storages))
	}
	at := int64(m.at)
	for _, v := range list.values {
		key, _ := v.(string)
		s := m.storages[key]
		if s == nil || s.at > 0 {
			f.fail("no tensor uses storage %q, or it is listed twice", key)
		}
		if f.size-at < 8 {
			f.fail("truncated at storage %q", key)
		}
		if n := binary.LittleEndian.Uint64(f.read(at, 8)); n != uint64(s.count) {
			f.fail("storage %q has %d values, expected %d", key, n, s.count)
		}
		s.at = at + 8
		if at = s.at + s.count*tensor.Size(s.dtype); at > f.size {
			f.fail("truncated: storage %q ends at byte %d, in a file of %d", key, at, f.size)
		}
	}
	if at != f.size {
		f.fail("%d bytes after the last storage, expected none", f.size-at)
	}
	return top
}
