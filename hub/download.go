package hub

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
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
	unlock, err := d.lock(ctx, want.hash)
	if err != nil {
		return err
	}
	defer unlock()
	if info, err := os.Stat(blob); err != nil || info.Size() != want.size {
		if err := d.fill(ctx, blob, address, what, want); err != nil {
			return err
		}
	}
	return link(blob, path)
}

// lock waits until nobody else writes a blob, in this program or another.
func (d download) lock(ctx context.Context, hash string) (unlock func() error, err error) {
	path := d.repo.lock(hash)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	l := flock.New(path, flock.SetPermissions(0o664)) // a cache may be a group's
	if _, err := l.TryLockContext(ctx, 100*time.Millisecond); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return l.Unlock, nil
}

// fill writes a blob. What arrives is kept beside it, and gets its name when it
// is whole and its checksum is right.
func (d download) fill(ctx context.Context, blob, address string, what about, want content) error {
	if err := os.MkdirAll(filepath.Dir(blob), 0o755); err != nil {
		return err
	}
	part := blob + ".incomplete"
	f, err := os.OpenFile(part, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	for fresh := false; ; {
		have, err := f.Seek(0, io.SeekEnd)
		if err != nil {
			return err
		}
		if have > want.size { // no part of this file
			have = 0
		}
		fresh = fresh || have == 0
		err = again(ctx, func() (bool, error) {
			n, err := d.fetch(ctx, f, have, address, what, want.size)
			moved := n > have
			have = n
			return moved, err
		})
		if err != nil {
			return err
		}
		err = verify(f, want)
		if err == nil {
			break
		}
		if err := f.Truncate(0); err != nil {
			return err
		}
		if fresh {
			return fmt.Errorf("%s of %s: %w; nothing of it was kept", what.file, what.name, err)
		}
		fresh = true // the part that was there was not right
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(part, blob)
}

// fetch appends to f, of which the first have bytes are there, until it has
// size bytes, and returns how many it has.
func (d download) fetch(ctx context.Context, f *os.File, have int64, address string, what about, size int64) (int64, error) {
	if err := f.Truncate(have); err != nil {
		return have, err
	}
	if have == size {
		return have, nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	req, err := d.request(ctx, http.MethodGet, address)
	if err != nil {
		return have, err
	}
	if have > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", have))
	}
	resp, err := d.files.Do(req)
	if err != nil {
		return have, d.unreached(ctx, err)
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusPartialContent && strings.HasPrefix(resp.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", have)):
	case resp.StatusCode == http.StatusOK: // the whole file, whatever was asked for
		have = 0
	case resp.StatusCode == http.StatusRequestedRangeNotSatisfiable, resp.StatusCode == http.StatusPartialContent:
		return 0, passing{fmt.Errorf("%s: the server cannot go on at byte %d", what.file, have), 0}
	case !sameOrigin(resp.Request.URL, d.endpoint): // an address that was signed, perhaps for too short a time
		return have, passing{fmt.Errorf("the server that has %s failed (%s)", what.file, statusText(resp.StatusCode)), 0}
	default:
		return have, d.refused(resp, what)
	}
	if err := f.Truncate(have); err != nil {
		return have, err
	}
	if _, err := f.Seek(have, io.SeekStart); err != nil {
		return have, err
	}
	watch := time.AfterFunc(stall, func() { cancel(passing{fmt.Errorf("%s: nothing arrived for %v", what.file, stall), 0}) })
	defer watch.Stop()
	buffer := make([]byte, 256<<10)
	for d.tell(what.file, have, size); have < size; d.tell(what.file, have, size) {
		n, err := resp.Body.Read(buffer[:min(int64(len(buffer)), size-have)])
		watch.Reset(stall)
		if _, err := f.Write(buffer[:n]); err != nil {
			return have, fmt.Errorf("%w (what arrived of %s is kept, and the same command goes on from there)", err, what.file)
		}
		have += int64(n)
		if err != nil && have < size {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return have, d.unreached(ctx, err)
		}
	}
	return have, nil
}

func (d download) tell(file string, done, total int64) {
	if d.progress != nil {
		d.progress(file, done, total)
	}
}

// verify compares the content of a file with its checksum.
func verify(f *os.File, want content) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	var h hash.Hash
	if len(want.hash) == 2*sha256.Size {
		h = sha256.New()
	} else {
		h = sha1.New()
		fmt.Fprintf(h, "blob %d\x00", want.size)
	}
	if _, err := io.Copy(h, f); err != nil {
		return err
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != want.hash {
		return fmt.Errorf("its checksum is %s, expected %s", got, want.hash)
	}
	return nil
}
