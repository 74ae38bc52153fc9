// Package fetch gets files over HTTP. A download goes on where it stopped,
// tries again what may pass, and gives the file its name only when it is whole
// and its checksum is right.
package fetch

import (
	"context"
	"crosstalk/internal/atomicfile"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"crosstalk"

	"github.com/gofrs/flock"
)

// Stall is how long nothing may arrive before the connection is dead. Tests
// change it.
var Stall = 60 * time.Second

// File is a file to fetch.
type File struct {
	Path   string    // where it goes; what arrives is kept in Path.incomplete until it is whole
	Name   string    // for errors and progress
	Server string    // for errors: the address, fit to be shown
	Size   int64     // bytes
	Sum    string    // checksum, hexadecimal
	Hash   hash.Hash // that the checksum is of

	// Get asks for the content from a byte on. Its response has status 200, 206
	// or 416; everything else is an error, a Passing one where another attempt
	// may help.
	Get func(ctx context.Context, from int64) (*http.Response, error)

	Progress func(name string, done, total int64) // may be nil
}

// Fetch makes sure that the file is there. Others who want the same file,
// in this program or another, wait on the lock.
func (d File) Fetch(ctx context.Context, lock string) error {
	unlock, err := takeLock(ctx, lock)
	if err != nil {
		return err
	}
	defer unlock()
	if info, err := os.Stat(d.Path); err == nil && info.Size() == d.Size { // whoever made it knew that it was right
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(d.Path), 0o755); err != nil {
		return err
	}
	part := d.Path + ".incomplete"
	f, err := os.OpenFile(part, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := d.fill(ctx, f); err != nil {
		return err
	}
	return atomicfile.Rename(f, d.Path)
}

// takeLock waits until nobody else has the lock.
func takeLock(ctx context.Context, path string) (unlock func() error, err error) {
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

// fill makes f the whole file, starting with what it holds.
func (d File) fill(ctx context.Context, f *os.File) error {
	for fresh := false; ; {
		have, err := f.Seek(0, io.SeekEnd)
		if err != nil {
			return err
		}
		if have > d.Size { // no part of this file
			have = 0
		}
		fresh = fresh || have == 0
		farthest := have
		err = Again(ctx, func() (bool, error) {
			have, err = d.append(ctx, f, have)
			moved := have > farthest
			farthest = max(have, farthest)
			return moved, err
		})
		if err != nil {
			return err
		}
		err = d.verify(f)
		if err == nil {
			return nil
		}
		if err := f.Truncate(0); err != nil {
			return err
		}
		if fresh {
			return fmt.Errorf("%s: %w; nothing of it was kept", d.Name, err)
		}
		fresh = true // the part that was there was not right
	}
}

// append appends to f, of which the first have bytes are there, until it is
// whole, and returns how many bytes it has.
func (d File) append(ctx context.Context, f *os.File, have int64) (int64, error) {
	if err := f.Truncate(have); err != nil {
		return have, err
	}
	if have == d.Size {
		return have, nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	resp, err := d.Get(ctx, have)
	if err != nil {
		return have, err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusPartialContent && strings.HasPrefix(resp.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", have)):
	case resp.StatusCode == http.StatusOK: // the whole file, whatever was asked for
		have = 0
	default:
		return 0, Pass(fmt.Errorf("%s: the server cannot go on at byte %d", d.Name, have))
	}
	if n := resp.ContentLength; n >= 0 && have+n != d.Size {
		return have, fmt.Errorf("%s: the server has a file of %d bytes under that name, expected %d", d.Name, have+n, d.Size)
	}
	if err := f.Truncate(have); err != nil {
		return have, err
	}
	if _, err := f.Seek(have, io.SeekStart); err != nil {
		return have, err
	}
	watch := time.AfterFunc(Stall, func() { cancel(Pass(fmt.Errorf("%s: nothing arrived for %v", d.Name, Stall))) })
	defer watch.Stop()
	buffer := make([]byte, 256<<10)
	for d.tell(have); have < d.Size; d.tell(have) {
		n, err := resp.Body.Read(buffer[:min(int64(len(buffer)), d.Size-have)])
		watch.Reset(Stall)
		if _, err := f.Write(buffer[:n]); err != nil {
			return have, fmt.Errorf("%w (what arrived of %s is kept, and the same command goes on from there)", err, d.Name)
		}
		have += int64(n)
		if err != nil && have < d.Size {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return have, Unreached(ctx, d.Server, err)
		}
	}
	return have, nil
}

func (d File) tell(done int64) {
	if d.Progress != nil {
		d.Progress(d.Name, done, d.Size)
	}
}

// verify compares the content with the checksum.
func (d File) verify(f *os.File) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	d.Hash.Reset()
	if _, err := io.Copy(d.Hash, f); err != nil {
		return err
	}
	if got := hex.EncodeToString(d.Hash.Sum(nil)); got != d.Sum {
		return fmt.Errorf("its checksum is %s, expected %s", got, d.Sum)
	}
	return nil
}

// Request is a request for a file from a byte on, as it is and not packed.
func Request(ctx context.Context, method, address string, from int64) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		return nil, bare(err)
	}
	req.Header.Set("User-Agent", "crosstalk/"+crosstalk.Version)
	req.Header.Set("Accept-Encoding", "identity") // so that sizes are those of the files
	if from > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
	}
	return req, nil
}

// Transport is for clients that fetch: without a response, a connection is dead.
func Transport() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = Stall
	return t
}
