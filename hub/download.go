package hub

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"hash"
	"net/http"
	"path/filepath"

	"crosstalk/internal/fetch"
)

// download fetches the files of one commit.
type download struct {
	*client
	repo     repo
	commit   string
	progress func(file string, done, total int64)
}

// file makes sure that a file is in the snapshot.
func (d download) file(ctx context.Context, file string) error {
	path := filepath.Join(d.repo.snapshot(d.commit), filepath.FromSlash(file))
	if isFile(path) { // whoever made it knew that it was whole
		return nil
	}
	address := d.endpoint.JoinPath(d.repo.name, "resolve", d.commit, file).String()
	what := about{d.repo.name, d.commit, file}
	want, err := d.stat(ctx, address, what)
	if err != nil {
		return err
	}
	blob := d.repo.blob(want.hash)
	f := fetch.File{Path: blob, Name: file, Server: d.address(), Size: want.size, Sum: want.hash, Hash: want.sum(), Progress: d.progress,
		Get: func(ctx context.Context, from int64) (*http.Response, error) { return d.get(ctx, address, from, what) }}
	if err := f.Fetch(ctx, d.repo.lock(want.hash)); err != nil {
		return err
	}
	return link(blob, path)
}

// get asks for a file from a byte on.
func (d download) get(ctx context.Context, address string, from int64, what about) (*http.Response, error) {
	req, err := d.request(ctx, http.MethodGet, address, from)
	if err != nil {
		return nil, err
	}
	resp, err := d.files.Do(req)
	if err != nil {
		return nil, fetch.Unreached(ctx, d.address(), err)
	}
	switch resp.StatusCode {
	case http.StatusOK, http.StatusPartialContent, http.StatusRequestedRangeNotSatisfiable:
		return resp, nil
	}
	resp.Body.Close()
	if !sameOrigin(resp.Request.URL, d.endpoint) { // an address that was signed, perhaps for too short a time
		return nil, fetch.Pass(fmt.Errorf("the server that has %s failed (%s)", what.file, fetch.StatusText(resp.StatusCode)))
	}
	return nil, d.refused(resp, what)
}

// sum is the hash that the content's is one of. The hub names large files by
// their SHA-256 and small ones as git does.
func (c content) sum() hash.Hash {
	if len(c.hash) == 2*sha256.Size {
		return sha256.New()
	}
	return &blobHash{sha1.New(), c.size}
}

// blobHash is SHA-1 as git takes it of a file.
type blobHash struct {
	hash.Hash
	size int64
}

func (b *blobHash) Reset() {
	b.Hash.Reset()
	fmt.Fprintf(b.Hash, "blob %d\x00", b.size)
}
