// Package checkpoint opens the weights of a Hugging Face model directory, whatever their format.
package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"crosstalk/measure/encoder/safetensors"
	"crosstalk/measure/encoder/tensor"
	"crosstalk/measure/encoder/torchfile"
)

// format is a format of weights: the name of a file that has all of them, and how to read it. Weights in several files
// have an index of that name with ".index.json" at its end.
type format struct {
	single string
	read   func(r io.ReaderAt, size int64, name string) (map[string]*tensor.Tensor, error)
}

func (f format) index() string { return f.single + ".index.json" }

// formats are tried in this order. Directories often have the same weights in both.
var formats = []format{
	{"model.safetensors", safetensors.Read},
	{"pytorch_model.bin", torchfile.Read},
}

// Dir is the weights of a model directory: one file, or the shards that an index names.
type Dir struct {
	Tensors map[string]*tensor.Tensor
	files   []*os.File
}

// Open opens the weights in dir: model.safetensors, pytorch_model.bin where there is no safetensors file, or their
// shards. The caller closes it.
func Open(dir string) (*Dir, error) {
	for _, f := range formats {
		names, of, err := f.shards(dir)
		if err != nil {
			return nil, err
		}
		if names != nil {
			return open(dir, f, names, of)
		}
	}
	return nil, fmt.Errorf("%s: no %s, no %s and no index of either; other weight formats must be converted first",
		dir, formats[0].single, formats[1].single)
}

// shards returns the names of the weight files and, where there is an index, the file of each tensor. The names are nil
// without weights in this format.
func (f format) shards(dir string) (names []string, of map[string]string, err error) {
	if _, err = os.Stat(filepath.Join(dir, f.single)); err == nil {
		return []string{f.single}, nil, nil
	}
	path := filepath.Join(dir, f.index())
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	var x struct {
		WeightMap map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(b, &x); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	names = []string{}
	for tensor, name := range x.WeightMap {
		if name != filepath.Base(name) || !filepath.IsLocal(name) {
			return nil, nil, fmt.Errorf("%s: tensor %q is said to be in %q, expected the name of a file beside the index",
				path, tensor, name)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names), x.WeightMap, nil
}

func open(dir string, f format, names []string, of map[string]string) (*Dir, error) {
	d := &Dir{Tensors: map[string]*tensor.Tensor{}}
	for _, name := range names {
		if err := d.add(f, filepath.Join(dir, name), name, of); err != nil {
			d.Close()
			return nil, err
		}
	}
	for tensor, name := range of {
		if d.Tensors[tensor] == nil {
			d.Close()
			return nil, fmt.Errorf("%s: tensor %q is not in %s", filepath.Join(dir, f.index()), tensor, name)
		}
	}
	return d, nil
}

// add opens a file and adds its tensors; with an index, only those that it lists for this file.
func (d *Dir) add(f format, path, name string, of map[string]string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	d.files = append(d.files, file)
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: not a regular file", path)
	}
	tensors, err := f.read(file, info.Size(), path)
	if err != nil {
		return err
	}
	for key, t := range tensors {
		if of == nil || of[key] == name {
			d.Tensors[key] = t
		}
	}
	return nil
}

// Hash returns the SHA-256 of the weight files in order, in hexadecimal.
func (d *Dir) Hash() (string, error) {
	h := sha256.New()
	for _, f := range d.files {
		if _, err := io.Copy(h, io.NewSectionReader(f, 0, 1<<62)); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Close closes the files; the tensors can be read no more.
func (d *Dir) Close() error {
	var errs []error
	for _, f := range d.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}
