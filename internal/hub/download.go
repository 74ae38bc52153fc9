package hub

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"

	"crosstalk/internal/fetch"
)

// download fetches the files of one commit.
type download struct {
	*client
	repo     repo
	commit   string
	progress fetch.Progress
}

// file fetches a file unless it is in the snapshot.
func (d download) file(ctx context.Context, file string) error {
	path := filepath.Join(d.repo.snapshot(d.commit), filepath.FromSlash(file))
	if isFile(path) { // files in a snapshot are complete
		return nil
	}
	address := d.endpoint.JoinPath(d.repo.name, "resolve", d.commit, file).String()
	what := about{d.repo.name, d.commit, file}
	want, err := d.stat(ctx, address, what)
	if err != nil {
		return err
	}
	blob := d.repo.blob(want.hash)
	f := fetch.File{Path: blob, Name: file, URL: address, Size: want.size, Sum: want.hash,
		Client: d.files, Header: d.header, Progress: d.progress,
		Refused: func(resp *http.Response) error {
			if !sameOrigin(resp.Request.URL, d.endpoint) { // a signed address, which may have expired
				return fetch.Pass(fmt.Errorf("the server that has %s failed (%s)", file, fetch.StatusText(resp.StatusCode)))
			}
			return d.refused(resp, what)
		}}
	if err := f.Fetch(ctx, d.repo.lock(want.hash)); err != nil {
		return err
	}
	return link(blob, path)
}
