package safetensors

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// File is the open file with the weights of a model.
type File struct {
	Tensors map[string]*Tensor
	*os.File
}

// Open opens model.safetensors in dir. The caller closes it; then the tensors can be read no more.
func Open(dir string) (*File, error) {
	path := filepath.Join(dir, "model.safetensors")
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: no model.safetensors; other weights must be converted first (docs/similarity.md)", dir)
	}
	if err != nil {
		return nil, err
	}
	f := &File{File: file}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: not a regular file", path)
	}
	if err == nil {
		f.Tensors, err = Read(file, info.Size(), path)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return f, nil
}

// Hash returns the SHA-256 of the file in hexadecimal.
func (f *File) Hash() (string, error) {
	h := sha256.New()
	_, err := io.Copy(h, io.NewSectionReader(f, 0, 1<<62))
	return hex.EncodeToString(h.Sum(nil)), err
}
