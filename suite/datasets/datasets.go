// Package datasets fetches published data sets and models that are not part of the program, with their licences, URLs
// and checksums. It keeps them in a cache, where they can be used without a network.
//
// CROSSTALK_CACHE sets the cache. CROSSTALK_MIRROR is the address of a mirror, for machines without access to other
// servers. A mirror stores copies by host and path: http://mirror/dl.fbaipublicfiles.com/XNLI/XNLI-1.0.zip.
package datasets

import (
	"archive/tar"
	"archive/zip"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"crosstalk/internal/atomicfile"
	"crosstalk/internal/fetch"

	"github.com/klauspost/compress/gzip"
)

// Source is a data set or model that can be fetched.
type Source struct {
	Name       string
	Kind       Kind
	Instrument string // of a suite
	What       string // one-line description
	License    string // short
	Terms      string // details of the licence, if necessary
	Cite       string
	Home       string // URL of its description
	Files      []File
}

// Kind is the kind of a source, as in the command that pulls it.
type Kind string

const (
	Suite Kind = "suite"
	Model Kind = "model"
)

// File is one file of a source.
type File struct {
	Name    string   // name in the source's folder
	URLs    []string // tried in this order
	Size    int64
	SHA256  string
	Members []string // files to unpack from an archive into the folder, without the first element of their paths
}

// All returns the sources of a kind, in catalogue order.
func All(kind Kind) []Source {
	return slices.DeleteFunc(slices.Clone(catalogue()), func(s Source) bool { return s.Kind != kind })
}

// Named returns the source of a kind with this name, and whether there is one.
func Named(kind Kind, name string) (Source, bool) {
	for _, s := range catalogue() {
		if s.Kind == kind && s.Name == name {
			return s, true
		}
	}
	return Source{}, false
}

// Size returns the size of the download in bytes.
func (s Source) Size() (n int64) {
	for _, f := range s.Files {
		n += f.Size
	}
	return n
}

// Command returns the command that fetches the source.
func (s Source) Command() string { return fmt.Sprintf("crosstalk %ss pull %s", s.Kind, s.Name) }

// MissingError is the error for a source that is not on this machine.
type MissingError struct{ Source Source }

func (e *MissingError) Error() string {
	return fmt.Sprintf("the %s %s is not on this machine: fetch it with %s",
		e.Source.Kind, e.Source.Name, e.Source.Command())
}

// Find returns the folder with the source's files, or a *MissingError if it is not complete. It fetches nothing.
func (s Source) Find() (dir string, err error) {
	if dir, err = s.dir(); err != nil {
		return "", err
	}
	for _, f := range s.Files {
		if info, err := os.Stat(filepath.Join(dir, f.Name)); err != nil || info.Size() != f.Size {
			return "", &MissingError{s}
		}
		for _, m := range f.Members {
			if _, err := os.Stat(memberPath(dir, m)); err != nil {
				return "", &MissingError{s}
			}
		}
	}
	return dir, nil
}

func (s Source) dir() (string, error) {
	root, err := cacheRoot()
	return filepath.Join(root, s.Name), err
}

func cacheRoot() (string, error) {
	if dir := os.Getenv("CROSSTALK_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("cannot find the user's cache folder (%w): set CROSSTALK_CACHE to a folder", err)
	}
	return filepath.Join(dir, "crosstalk"), nil
}

// memberPath returns the path to which a member of an archive is unpacked.
func memberPath(dir, member string) string {
	_, rest, _ := strings.Cut(member, "/")
	return filepath.Join(dir, filepath.FromSlash(path.Clean(rest)))
}

// catalogueFile lists all sources. Checksums of test_sets.zip, the prompts of gonen-2024 and smilga-2025, and
// lid.176.ftz were computed from copies of the files; that of lid.176.bin from copies on the Hugging Face Hub. The
// others come from descriptions in Hugging Face's datasets library, that of XNLI also from TensorFlow Datasets. The
// files of smilga-2025 are workbooks with answers: the one with only prompts lacks category 3 and the prompts of
// Gonen et al.
//
//go:embed catalogue.json
var catalogueFile []byte

var catalogue = sync.OnceValue(func() (all []Source) {
	if err := json.Unmarshal(catalogueFile, &all); err != nil {
		panic(err)
	}
	return all
})

// Pull fetches the missing files of a source and returns its folder. It calls progress, unless it is nil, with the
// bytes present of a file, including bytes of an earlier download.
//
// After an error, the next Pull resumes. A file gets its name only when it is complete and its checksum is correct.
func (s Source) Pull(ctx context.Context, progress fetch.Progress) (dir string, err error) {
	if dir, err = s.Find(); err == nil {
		return dir, nil
	}
	if dir, err = s.dir(); err != nil {
		return "", err
	}
	mirror, err := mirror()
	if err != nil {
		return "", err
	}
	client := &http.Client{Transport: fetch.Transport()}
	for _, f := range s.Files {
		file := fetch.File{Path: filepath.Join(dir, f.Name), Name: f.Name, Size: f.Size, Sum: f.SHA256, Client: client,
			Progress: progress}
		if err := file.Check(); errors.Is(err, fs.ErrNotExist) {
			if err := s.fetch(ctx, file, f.URLs, mirror); err != nil {
				return "", err
			}
		} else if err != nil { // somebody may have put it there by hand
			return "", fmt.Errorf("%w: delete the file and run the same command again to fetch it", err)
		}
		if err := f.unpack(dir); err != nil {
			return "", err
		}
	}
	return s.Find()
}

// fetch fetches a file from the first address that serves it.
func (s Source) fetch(ctx context.Context, file fetch.File, urls []string, mirror *url.URL) (err error) {
	var failures []error
	dead := "" // a server that cannot be reached
	for _, address := range urls {
		if file.URL, err = addressOf(address, mirror); err != nil {
			return err
		}
		server := fetch.Server(file.URL)
		if server == dead {
			continue
		}
		err = file.Fetch(ctx, filepath.Join(filepath.Dir(file.Path), "."+file.Name+".lock"))
		if err == nil || ctx.Err() != nil || errors.As(err, new(*fs.PathError)) { // the disk failed, not the address
			return err
		}
		failures = append(failures, err)
		if errors.As(err, new(fetch.Unreachable)) {
			dead = server
		}
	}
	return fmt.Errorf("%w\nTo fetch %s by hand, put it into %s and run the same command again: it has %d bytes and the "+
		"SHA-256 checksum %s (see %s)",
		errors.Join(failures...), file.Name, filepath.Dir(file.Path), file.Size, file.Sum, s.Home)
}

// mirror returns the address that replaces all others, or nil.
func mirror() (*url.URL, error) {
	address := strings.TrimSpace(os.Getenv("CROSSTALK_MIRROR"))
	if address == "" {
		return nil, nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("CROSSTALK_MIRROR is not a URL; expected one like https://mirror.example/files")
	}
	return u, nil
}

func addressOf(address string, mirror *url.URL) (string, error) {
	if mirror == nil {
		return address, nil
	}
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	return mirror.JoinPath(u.Host, u.Path).String(), nil
}

const maxMember = 64 << 20 // bytes, more than any member

// unpack writes the members of an archive to the folder. The archive's checksum has been verified, so nothing else is
// checked.
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
