package hub

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"crosstalk/internal/atomicfile"
	"crosstalk/internal/lazyregexp"
)

// repo is a model and its folder in the cache. The folder contains
//
//	blobs/HASH             contents, named by their checksum
//	snapshots/COMMIT/FILE  links to them
//	refs/REVISION          the commit of a branch or tag
//	.no_exist/COMMIT/FILE  empty, for a file that the repository lacks
type repo struct {
	name string // on the hub
	root string // the cache
	dir  string
}

// reposOf returns the folders in which the cache may have a model, that of its full name first, and its revision.
func reposOf(name, revision string) (repos []repo, _ string, err error) {
	full := Canonical(name)
	if err := checkName(full); err != nil {
		return nil, "", err
	}
	root, err := cacheRoot()
	if err != nil {
		return nil, "", err
	}
	revision = cmp.Or(revision, "main")
	if !isLocal(revision) {
		return nil, "", fmt.Errorf("%q is not a revision; expected a branch, a tag or a commit", revision)
	}
	stored := []string{full}
	if owner, short, _ := strings.Cut(full, "/"); ownerOf(short) == owner {
		stored = append(stored, short)
	}
	for _, name := range stored {
		repos = append(repos, repo{full, root, filepath.Join(root, "models--"+strings.ReplaceAll(name, "/", "--"))})
	}
	return repos, revision, nil
}

func (r repo) snapshot(commit string) string { return filepath.Join(r.dir, "snapshots", commit) }
func (r repo) blob(hash string) string       { return filepath.Join(r.dir, "blobs", hash) }
func (r repo) ref(revision string) string {
	return filepath.Join(r.dir, "refs", filepath.FromSlash(revision))
}
func (r repo) absent(commit, file string) string {
	return filepath.Join(r.dir, ".no_exist", commit, filepath.FromSlash(file))
}

func (r repo) commit(revision string) (string, error) {
	if commitPattern().MatchString(revision) && isDir(r.snapshot(revision)) {
		return revision, nil
	}
	path := r.ref(revision)
	if !isFile(path) {
		return "", nil
	}
	b, err := readFile(path)
	if err != nil {
		return "", err
	}
	commit := strings.TrimSpace(string(b))
	if !commitPattern().MatchString(commit) {
		return "", fmt.Errorf("%s: expected a commit; delete the file", path)
	}
	return commit, nil
}

// link makes path a relative link to a blob, or a copy if links are not possible.
func link(blob, path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	target, err := filepath.Rel(filepath.Dir(path), blob)
	if err != nil {
		return err
	}
	if !isFile(path) {
		os.Remove(path) // a broken link
	}
	if err = symlink(target, path); err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	f, err := os.Open(blob)
	if err != nil {
		return err
	}
	defer f.Close()
	return atomicfile.Write(path, func(w io.Writer) error {
		_, err := io.Copy(w, f)
		return err
	})
}

var symlink = os.Symlink

// writeFile writes a file and its folders, unless it has this content: somebody else may own the cache.
func writeFile(path string, b []byte) error {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, b) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return atomicfile.WriteBytes(path, b)
}

func home() (string, error) {
	if dir := os.Getenv("HF_HOME"); dir != "" {
		return expand(dir)
	}
	return expand(filepath.Join(cmp.Or(os.Getenv("XDG_CACHE_HOME"), filepath.Join("~", ".cache")), "huggingface"))
}

func cacheRoot() (string, error) {
	if dir := cmp.Or(os.Getenv("HF_HUB_CACHE"), os.Getenv("HUGGINGFACE_HUB_CACHE")); dir != "" {
		return expand(dir)
	}
	dir, err := home()
	return filepath.Join(dir, "hub"), err
}

// token returns the token from the environment, or else from a login, and its origin; "" if there is none.
func token() (token, from string) {
	for _, variable := range []string{"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"} {
		if t := strings.TrimSpace(os.Getenv(variable)); t != "" {
			return t, variable
		}
	}
	dir, err := home()
	if path := os.Getenv("HF_TOKEN_PATH"); path != "" {
		from, err = expand(path)
	} else {
		from = filepath.Join(dir, "token")
	}
	b, errRead := readFile(from)
	if err != nil || errRead != nil {
		return "", ""
	}
	return strings.TrimSpace(string(b)), from
}

func offline() bool {
	for _, variable := range []string{"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"} {
		if slices.Contains([]string{"1", "ON", "YES", "TRUE"}, strings.ToUpper(os.Getenv(variable))) {
			return true
		}
	}
	return false
}

// expand makes a path absolute, with ~ for the user's folder.
func expand(path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		user, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("%s: %w; set HF_HOME", path, err)
		}
		path = filepath.Join(user, rest)
	}
	return filepath.Abs(path)
}

const sentenceTransformers = "sentence-transformers"

// ownersFile maps models that originally had no owner to their full names.
//
//go:embed owners.txt
var ownersFile string

func ownerOf(name string) string {
	for full := range strings.FieldsSeq(ownersFile) {
		if owner, short, _ := strings.Cut(full, "/"); short == name {
			return owner
		}
	}
	return ""
}

// Canonical returns the full name of a model named without its owner: distilbert/distilbert-base-uncased for
// distilbert-base-uncased. Other such models belong to sentence-transformers, as in that library. Full names and
// paths stay unchanged.
func Canonical(name string) string {
	if IsPath(name) || strings.Contains(name, "/") {
		return name
	}
	return cmp.Or(ownerOf(name), sentenceTransformers) + "/" + name
}

// IsPath reports whether a name is the path of a folder: it is absolute, begins with . or ~, or has many parts.
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

// isLocal reports whether a path with slashes stays inside its folder on every system.
func isLocal(path string) bool {
	return fs.ValidPath(path) && path != "." && !strings.ContainsAny(path, "\\:\x00") &&
		filepath.IsLocal(filepath.FromSlash(path))
}
