// Package hub fetches models from the Hugging Face Hub into the cache that its libraries use, in their format.
//
// It uses their environment variables: HF_HOME, HF_HUB_CACHE, HF_ENDPOINT, HF_TOKEN, HF_TOKEN_PATH and HF_HUB_OFFLINE.
//
// Only what encoder reads is fetched: configuration, vocabulary, safetensors, modules of sentence-transformers.
package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"crosstalk/internal/fetch"
)

// MissingError lists the files of a model that are not on this machine.
type MissingError struct {
	Name     string   // at the hub, or the path of a folder
	Revision string   // "" for a folder
	Folder   string   // where the files were expected
	Files    []string // names; alternatives are one entry: "tokenizer.json or vocab.txt"
	Err      error    // why they cannot be fetched; nil if nothing was tried
}

func (e *MissingError) Error() string {
	var b strings.Builder
	if e.Err != nil {
		fmt.Fprintf(&b, "%v.\n", e.Err)
	}
	files := "\n  " + strings.Join(e.Files, "\n  ")
	if e.Revision == "" {
		fmt.Fprintf(&b, "the folder %s lacks%s", e.Folder, files)
		return b.String()
	}
	fmt.Fprintf(&b, "%s (revision %s) is not whole in the cache, %s.\nMissing:%s\n", e.Name, e.Revision, e.Folder, files)
	b.WriteString("Copy that cache folder from a machine that has it, or put the files into any folder " +
		"and give its path (./folder) as the model")
	return b.String()
}

func (e *MissingError) Unwrap() error { return e.Err }

// Find returns the folder of a model in the cache and its commit. It fetches nothing. An empty revision means main.
//
// A name for which IsPath holds has no revision and no commit. If files are missing, the error is a *MissingError.
//
// Other libraries fetch files one by one, so a file that is missing in the cache may still be in the repository.
// Where that would change what the model computes (tokenizer_config.json, and the files in decisive), such a file
// counts as missing unless the cache notes that the repository lacks it.
func Find(name, revision string, decisive ...string) (dir, commit string, err error) {
	if IsPath(name) {
		if dir, err = expand(name); err != nil {
			return "", "", err
		}
		if revision != "" {
			return "", "", fmt.Errorf("%s is a folder, which has no revision %s", name, revision)
		}
		info, err := os.Stat(dir)
		if err != nil {
			return "", "", err
		}
		if !info.IsDir() {
			return "", "", fmt.Errorf("%s: expected a folder", dir)
		}
		p, err := folderSource(dir).plan()
		if err == nil && len(p.missing) > 0 {
			err = &MissingError{Name: name, Folder: dir, Files: p.missing}
		}
		return dir, "", err
	}
	repos, revision, err := reposOf(name, revision)
	if err != nil {
		return "", "", err
	}
	var missing *MissingError
	for _, r := range repos {
		dir, commit, err := r.find(revision, decisive)
		var m *MissingError
		switch {
		case !errors.As(err, &m):
			return dir, commit, err
		case missing == nil || len(m.Files) < len(missing.Files):
			missing = m
		}
	}
	return "", "", missing
}

func (r repo) find(revision string, decisive []string) (dir, commit string, err error) {
	commit, err = r.commit(revision)
	if err != nil {
		return "", "", err
	}
	missing := &MissingError{Name: r.name, Revision: revision, Folder: r.dir}
	s := source{has: func(string) bool { return false }}
	if commit != "" {
		dir = r.snapshot(commit)
		s = folderSource(dir)
	}
	p, err := s.plan()
	if err != nil {
		return "", "", err
	}
	missing.Files = p.missing
	for _, file := range append([]string{p.root + tokenizerConfig}, decisive...) {
		if !s.has(file) && (commit == "" || !isFile(r.absent(commit, file))) && !slices.Contains(missing.Files, file) {
			missing.Files = append(missing.Files, file)
		}
	}
	if len(missing.Files) > 0 {
		return "", "", missing
	}
	return dir, commit, nil
}

// Pull fetches the missing files of a model and returns its folder in the cache and its commit. An empty revision
// means main. It calls progress, unless it is nil, with the number of bytes present of each file that it fetches.
//
// After an error, the next Pull resumes. A file is in the folder only when it is complete and its checksum is correct.
// If the hub cannot be reached or HF_HUB_OFFLINE is set, missing files are a *MissingError.
func Pull(ctx context.Context, name, revision string, progress fetch.Progress) (dir, commit string, err error) {
	if IsPath(name) {
		return "", "", fmt.Errorf("%s is a folder; expected the name of a model on the hub, such as %s/all-MiniLM-L6-v2",
			name, sentenceTransformers)
	}
	repos, revision, err := reposOf(name, revision)
	if err != nil {
		return "", "", err
	}
	c, err := newClient()
	if err != nil {
		return "", "", err
	}
	dir, commit, found := Find(name, revision, modulesFile)
	if found == nil && (c.offline || revision == commit) { // a commit never changes
		return dir, commit, nil
	}
	if c.offline {
		return "", "", because(found, errors.New("HF_HUB_OFFLINE disables downloads"))
	}
	r := repos[0]
	for _, other := range repos[1:] { // resume a download by another library
		if !isDir(r.dir) && isDir(other.dir) {
			r = other
		}
	}
	dir, latest, err := c.pull(ctx, r, revision, progress)
	if errors.As(err, new(fetch.Unreachable)) {
		_, commit, found = Find(name, revision, modulesFile)
		if found == nil {
			return "", "", fmt.Errorf("%w; the cache has commit %s, which can be used", err, commit)
		}
		return "", "", because(found, err)
	}
	return dir, latest, err
}

// because adds the reason why files are not fetched to an error about missing files, or about the cache.
func because(missing, err error) error {
	var m *MissingError
	if errors.As(missing, &m) {
		m.Err = err
		return m
	}
	return fmt.Errorf("%w; %w", missing, err)
}

func (c *client) pull(ctx context.Context, r repo, revision string,
	progress fetch.Progress) (dir, commit string, err error) {
	commit, files, err := c.list(ctx, r.name, revision)
	if err != nil {
		return "", "", err
	}
	d := download{c, r, commit, progress}
	dir = r.snapshot(commit)
	s := source{
		has: func(file string) bool { return slices.Contains(files, file) },
		read: func(file string) ([]byte, error) {
			if err := d.file(ctx, file); err != nil {
				return nil, err
			}
			return readFile(filepath.Join(dir, filepath.FromSlash(file)))
		},
	}
	p, err := s.plan()
	if err != nil {
		return "", "", err
	}
	if len(p.missing) > 0 {
		why := ""
		for _, file := range []string{"pytorch_model.bin", "pytorch_model.bin.index.json", "tf_model.h5",
			"flax_model.msgpack", "model.ckpt.index", "onnx/model.onnx"} {
			if s.has(p.root + file) {
				why = fmt.Sprintf("; weights must be safetensors, and it has %s: name a revision that has "+
					"them, or convert the model and name its folder (docs/similarity.md)", file)
				break
			}
		}
		return "", "", fmt.Errorf("%s has no %s at commit %s%s", r.name, strings.Join(p.missing, " and no "), commit, why)
	}
	for _, file := range p.files {
		if err := d.file(ctx, file); err != nil {
			return "", "", err
		}
	}
	for _, file := range []string{p.root + tokenizerConfig, modulesFile} {
		if !s.has(file) {
			if err := writeFile(r.absent(commit, file), nil); err != nil {
				return "", "", err
			}
		}
	}
	if revision != commit {
		if err := writeFile(r.ref(revision), []byte(commit)); err != nil {
			return "", "", err
		}
	}
	return dir, commit, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err == nil && info.Size() > maxJSON {
		err = &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("%d bytes, expected at most %d", info.Size(), maxJSON)}
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(path)
}

type download struct {
	*client
	repo     repo
	commit   string
	progress fetch.Progress
}

func (d download) file(ctx context.Context, file string) error {
	path := filepath.Join(d.repo.snapshot(d.commit), filepath.FromSlash(file))
	if isFile(path) { // files in a snapshot are complete
		return nil
	}
	address := d.endpoint.JoinPath(d.repo.name, "resolve", d.commit, file).String()
	what := about{d.repo.name, d.commit, file}
	hash, size, err := d.stat(ctx, address, what)
	if err != nil {
		return err
	}
	blob := d.repo.blob(hash)
	f := fetch.File{Path: blob, Name: file, URL: address, Size: size, Sum: hash,
		Client: d.files, Header: d.header, Progress: d.progress,
		Refused: func(resp *http.Response) error {
			if !sameOrigin(resp.Request.URL, d.endpoint) { // a signed address, which may have expired
				return fetch.Pass(fmt.Errorf("the server that has %s failed (%s)", file, fetch.StatusText(resp.StatusCode)))
			}
			return d.refused(resp, what)
		}}
	lock := filepath.Join(d.repo.root, ".locks", filepath.Base(d.repo.dir), hash+".lock")
	if err := f.Fetch(ctx, lock); err != nil {
		return err
	}
	return link(blob, path)
}

// The files that determine which other files are needed, and how they are read.
const (
	modulesFile     = "modules.json"
	tokenizerConfig = "tokenizer_config.json"
	weightsFile     = "model.safetensors"
)

// source is the source of a model's files: a repository, from which read fetches a file, or a folder.
type source struct {
	has  func(file string) bool
	read func(file string) ([]byte, error)
}

func folderSource(dir string) source {
	at := func(file string) string { return filepath.Join(dir, filepath.FromSlash(file)) }
	return source{
		has:  func(file string) bool { return isFile(at(file)) },
		read: func(file string) ([]byte, error) { return readFile(at(file)) },
	}
}

type plan struct {
	root    string   // of the encoder, "" or ending in a slash
	files   []string // present files, the weights last
	missing []string // missing files; alternatives are one entry
}

func (s source) plan() (plan, error) {
	var p plan
	if err := s.modules(&p); err != nil {
		return p, err
	}
	p.need(s, p.root+"config.json")
	p.need(s, p.root+"tokenizer.json", p.root+"vocab.txt")
	for _, file := range []string{tokenizerConfig, "special_tokens_map.json", "sentence_bert_config.json",
		"sentence_roberta_config.json", "sentence_distilbert_config.json", "sentence_camembert_config.json",
		"sentence_xlm-roberta_config.json"} {
		if s.has(p.root + file) {
			p.files = append(p.files, p.root+file)
		}
	}
	p.need(s, p.root+weightsFile)
	slices.Sort(p.missing)
	p.missing = slices.Compact(p.missing)
	return p, nil
}

func (p *plan) need(s source, alternatives ...string) {
	if i := slices.IndexFunc(alternatives, s.has); i >= 0 {
		p.files = append(p.files, alternatives[i])
		return
	}
	p.missing = append(p.missing, strings.Join(alternatives, " or "))
}

func (s source) modules(p *plan) error {
	if !s.has(modulesFile) {
		return nil
	}
	p.files = append(p.files, modulesFile)
	b, err := s.read(modulesFile)
	if err != nil {
		return err
	}
	var modules []struct{ Path, Type string }
	if err := json.Unmarshal(b, &modules); err != nil {
		return fmt.Errorf("%s: %w", modulesFile, err)
	}
	for _, m := range modules {
		if m.Path == "" {
			continue
		}
		if !isLocal(m.Path) {
			return fmt.Errorf("%s: path %q leads out of the model's folder", modulesFile, m.Path)
		}
		config := path.Join(m.Path, "config.json")
		switch {
		case strings.HasSuffix(m.Type, ".Transformer"):
			p.root = m.Path + "/"
		case strings.HasSuffix(m.Type, ".Pooling"):
			p.need(s, config)
		case s.has(config):
			p.files = append(p.files, config)
		}
	}
	if file := "config_sentence_transformers.json"; s.has(file) {
		p.files = append(p.files, file)
	}
	return nil
}
