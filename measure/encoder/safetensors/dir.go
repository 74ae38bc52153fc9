package safetensors

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
)

// Names of the file that has all weights, and of the index of weights in several files.
const (
	single = "model.safetensors"
	index  = single + ".index.json"
)

// Dir is the weights of a model directory: one file, or the shards that an index names.
type Dir struct {
	Tensors map[string]*Tensor
	files   []*os.File
}

// Open opens the weights in dir: model.safetensors, or the shards that its index names. The caller closes it.
func Open(dir string) (*Dir, error) {
	names, of, err := shards(dir)
	if err != nil {
		return nil, err
	}
	d := &Dir{Tensors: map[string]*Tensor{}}
	for _, name := range names {
		if err := d.add(filepath.Join(dir, name), name, of); err != nil {
			d.Close()
			return nil, err
		}
	}
	for tensor, name := range of {
		if d.Tensors[tensor] == nil {
			d.Close()
			return nil, fmt.Errorf("%s: tensor %q is not in %s", filepath.Join(dir, index), tensor, name)
		}
	}
	return d, nil
}

// shards returns the names of the weight files and, where there is an index, the file of each tensor.
func shards(dir string) (names []string, of map[string]string, err error) {
	if _, err = os.Stat(filepath.Join(dir, single)); err == nil {
		return []string{single}, nil, nil
	}
	path := filepath.Join(dir, index)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("%s: no %s and no %s; other weights must be converted first (docs/similarity.md)",
			dir, single, index)
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

// add opens a file and adds its tensors; with an index, only those that it lists for this file.
func (d *Dir) add(path, name string, of map[string]string) error {
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
	tensors, err := Read(file, info.Size(), path)
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
