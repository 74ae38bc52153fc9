package hub

import (
	"cmp"
	_ "embed"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"crosstalk/internal/lazyregexp"
)

const sentenceTransformers = "sentence-transformers"

// ownersFile has the full names of models that originally had no owner.
//
//go:embed owners.txt
var ownersFile string

// ownerOf returns the owner of a model that originally had none, "" for others.
func ownerOf(name string) string {
	for full := range strings.FieldsSeq(ownersFile) {
		if owner, short, _ := strings.Cut(full, "/"); short == name {
			return owner
		}
	}
	return ""
}

// Canonical returns the full name of a model named without its owner:
// distilbert/distilbert-base-uncased for distilbert-base-uncased. Other names
// without an owner are of sentence-transformers, as in that library. Full names
// and paths are unchanged.
func Canonical(name string) string {
	if IsPath(name) || strings.Contains(name, "/") {
		return name
	}
	return cmp.Or(ownerOf(name), sentenceTransformers) + "/" + name
}

// IsPath reports whether a name is the path of a folder instead of a model: it is
// absolute, begins with . or ~, or has more parts than a name.
func IsPath(name string) bool {
	return filepath.IsAbs(name) || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "~") ||
		strings.Contains(name, `\`) || strings.Count(name, "/") > 1
}

var (
	namePattern   = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)?$`)
	commitPattern = lazyregexp.New(`^[0-9a-f]{40}([0-9a-f]{24})?$`)
)

func checkName(name string) error {
	if !namePattern().MatchString(name) || strings.Contains(name, "--") || strings.Contains(name, "..") ||
		len(name) > 200 {
		return fmt.Errorf("%q is not a model name; expected OWNER/NAME, such as %s/all-MiniLM-L6-v2, or the path of a "+
			"folder, such as ./folder", name, sentenceTransformers)
	}
	return nil
}

// checkRevision makes sure that a revision can be part of a path.
func checkRevision(revision string) (string, error) {
	if revision == "" {
		return "main", nil
	}
	if !isLocal(revision) {
		return "", fmt.Errorf("%q is not a revision; expected a branch, a tag or a commit", revision)
	}
	return revision, nil
}

// isLocal reports whether a path with slashes stays in its folder on every
// system.
func isLocal(path string) bool {
	return fs.ValidPath(path) && path != "." && !strings.ContainsAny(path, "\\:\x00") &&
		filepath.IsLocal(filepath.FromSlash(path))
}
