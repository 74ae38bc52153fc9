// Package datasets fetches published data sets and models that are not part of the program, each with its licence, URLs
// and checksums. It keeps them in a cache, from which they are used without a network.
//
// CROSSTALK_CACHE sets the cache. CROSSTALK_MIRROR is the address of a mirror, for machines without access to other
// servers. It has copies by host and path: http://mirror/dl.fbaipublicfiles.com/XNLI/XNLI-1.0.zip.
package datasets

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Source is a data set or model that can be fetched.
type Source struct {
	Name       string
	Kind       Kind
	Instrument string // of a suite
	What       string // description in one line
	License    string // short
	Terms      string // the licence in more words, if necessary
	Cite       string
	Home       string // URL of its description
	Files      []File
}

type Kind string

const (
	Suite Kind = "suite"
	Model Kind = "model"
)

// File is one file of a source.
type File struct {
	Name    string   // in the source's folder
	URLs    []string // the first one that works is used
	Size    int64
	SHA256  string
	Members []string // files to unpack from an archive, into the folder without the first part of their names
}

func All(kind Kind) []Source {
	return slices.DeleteFunc(slices.Clone(catalogue()), func(s Source) bool { return s.Kind != kind })
}

func Named(kind Kind, name string) (Source, bool) {
	for _, s := range catalogue() {
		if s.Kind == kind && s.Name == name {
			return s, true
		}
	}
	return Source{}, false
}

// Size is the size of the download in bytes.
func (s Source) Size() (n int64) {
	for _, f := range s.Files {
		n += f.Size
	}
	return n
}

// Command is the command that fetches the source.
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

// memberPath is the path to which a member of an archive is unpacked.
func memberPath(dir, member string) string {
	_, rest, _ := strings.Cut(member, "/")
	return filepath.Join(dir, filepath.FromSlash(path.Clean(rest)))
}
