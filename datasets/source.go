// Package datasets fetches what others publish and this program does not hold:
// data sets and models, each with its licence, addresses and checksums. They are
// kept in a cache, and used from there without a network.
//
// CROSSTALK_CACHE says where the cache is. CROSSTALK_MIRROR is an address below
// which copies lie by host and path, for machines that reach nothing else:
// http://mirror/dl.fbaipublicfiles.com/XNLI/XNLI-1.0.zip.
package datasets

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Source is something that can be fetched.
type Source struct {
	Name       string
	Kind       Kind
	Instrument string // of a suite
	What       string // what it is, in a line
	License    string // short
	Terms      string // the same in more words, if it takes more
	Cite       string
	Home       string // where it is described
	Files      []File
}

// Kind is what commands call a source.
type Kind string

const (
	Suite Kind = "suite"
	Model Kind = "model"
)

// File is one file of a source.
type File struct {
	Name    string   // in the source's folder
	URLs    []string // where it can be had; the first that has it is used
	Size    int64
	SHA256  string
	Members []string // of an archive: what is unpacked, to the folder without the first part of its name
}

// All returns the sources of a kind.
func All(kind Kind) []Source {
	var sources []Source
	for _, s := range catalogue {
		if s.Kind == kind {
			sources = append(sources, s)
		}
	}
	return sources
}

// Named returns the source of a kind with this name.
func Named(kind Kind, name string) (Source, bool) {
	for _, s := range catalogue {
		if s.Kind == kind && s.Name == name {
			return s, true
		}
	}
	return Source{}, false
}

// Size is what is fetched, in bytes.
func (s Source) Size() (n int64) {
	for _, f := range s.Files {
		n += f.Size
	}
	return n
}

// Command is the command that fetches the source.
func (s Source) Command() string { return fmt.Sprintf("crosstalk %ss pull %s", s.Kind, s.Name) }

// MissingError says that a source is not on this machine.
type MissingError struct{ Source Source }

func (e *MissingError) Error() string {
	return fmt.Sprintf("the %s %s is not on this machine: fetch it with %s", e.Source.Kind, e.Source.Name, e.Source.Command())
}

// Find returns the folder that holds the source's files. If it is not whole,
// the error is a *MissingError. Nothing is fetched.
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

// memberPath is where a member of an archive is unpacked to.
func memberPath(dir, member string) string {
	_, rest, _ := strings.Cut(member, "/")
	return filepath.Join(dir, filepath.FromSlash(path.Clean(rest)))
}

// each puts each language into each pattern.
func each(patterns []string, languages ...string) (names []string) {
	for _, l := range languages {
		for _, p := range patterns {
			names = append(names, fmt.Sprintf(p, l))
		}
	}
	return names
}
