package datasets

import (
	"archive/tar"
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"crosstalk/internal/atomicfile"

	"github.com/klauspost/compress/gzip"
)

const maxMember = 64 << 20 // bytes, more than any member

// unpack writes the members of an archive to the folder. The archive's checksum
// has been verified, so it checks nothing else.
func (f File) unpack(dir string) error {
	if len(f.Members) == 0 {
		return nil
	}
	var got []string
	take := func(name string, in io.Reader) error {
		if !slices.Contains(f.Members, name) {
			return nil
		}
		got = append(got, name)
		return writeMember(memberPath(dir, name), in)
	}
	path := filepath.Join(dir, f.Name)
	walk := eachOfZip
	if strings.HasSuffix(f.Name, ".tar.gz") {
		walk = eachOfTar
	}
	if err := walk(path, take); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, m := range f.Members {
		if !slices.Contains(got, m) {
			return fmt.Errorf("%s: has no file %s", path, m)
		}
	}
	return nil
}

func eachOfZip(path string, take func(name string, in io.Reader) error) error {
	z, err := zip.OpenReader(path)
	if err != nil {
		return err
	}
	defer z.Close()
	for _, f := range z.File {
		in, err := f.Open()
		if err != nil {
			return err
		}
		if err := errors.Join(take(f.Name, in), in.Close()); err != nil {
			return err
		}
	}
	return nil
}

func eachOfTar(path string, take func(name string, in io.Reader) error) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		return err
	}
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := take(strings.TrimPrefix(h.Name, "./"), t); err != nil {
			return err
		}
	}
}

// writeMember writes a file in one step.
func writeMember(path string, in io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return atomicfile.Write(path, func(out io.Writer) error {
		n, err := io.Copy(out, io.LimitReader(in, maxMember+1))
		if n > maxMember {
			return fmt.Errorf("%s is longer than %d MiB", filepath.Base(path), maxMember>>20)
		}
		return err
	})
}
