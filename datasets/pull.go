package datasets

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"crosstalk/internal/fetch"
)

// Pull fetches what is missing of a source and returns its folder. progress may
// be nil; it is told how many bytes of a file are here, those included that
// were here before.
//
// What arrived before an error stays, and the next Pull goes on from there. A
// file has its name only once it is whole and its checksum is right.
func (s Source) Pull(ctx context.Context, progress func(file string, done, total int64)) (dir string, err error) {
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
	for _, f := range s.Files {
		path := filepath.Join(dir, f.Name)
		if _, err := os.Stat(path); err == nil { // put there by hand, perhaps
			err = f.check(path)
			if err != nil {
				return "", err
			}
		} else if err := s.fetch(ctx, f, path, mirror, progress); err != nil {
			return "", err
		}
		if err := f.unpack(dir); err != nil {
			return "", err
		}
	}
	return s.Find()
}

// fetch gets a file from the first address that has it.
func (s Source) fetch(ctx context.Context, f File, path string, mirror *url.URL, progress func(string, int64, int64)) error {
	client := &http.Client{Transport: fetch.Transport()}
	var failures []error
	dead := "" // a server that cannot be reached
	for _, address := range f.URLs {
		address, err := addressOf(address, mirror)
		if err != nil {
			return err
		}
		if serverOf(address) == dead {
			continue
		}
		file := fetch.File{Path: path, Name: f.Name, Server: serverOf(address), Size: f.Size, Sum: f.SHA256, Hash: sha256.New(), Progress: progress,
			Get: func(ctx context.Context, from int64) (*http.Response, error) { return get(ctx, client, address, from) }}
		err = file.Fetch(ctx, filepath.Join(filepath.Dir(path), "."+f.Name+".lock"))
		if err == nil || ctx.Err() != nil || errors.As(err, new(*fs.PathError)) { // the disk's fault, not the address's
			return err
		}
		failures = append(failures, err)
		if errors.As(err, new(fetch.Unreachable)) {
			dead = serverOf(address)
		}
	}
	return fmt.Errorf("%w\n%s can also be put into %s by hand, before the same command: it has %d bytes and the SHA-256 checksum %s (see %s)",
		errors.Join(failures...), f.Name, filepath.Dir(path), f.Size, f.SHA256, s.Home)
}

func get(ctx context.Context, client *http.Client, address string, from int64) (*http.Response, error) {
	req, err := fetch.Request(ctx, http.MethodGet, address, from)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, fetch.Unreached(ctx, serverOf(address), err)
	}
	switch resp.StatusCode {
	case http.StatusOK, http.StatusPartialContent, http.StatusRequestedRangeNotSatisfiable:
		return resp, nil
	}
	resp.Body.Close()
	if err, busy := fetch.Busy(resp, serverOf(address)); busy {
		return nil, err
	}
	return nil, fmt.Errorf("%s cannot be had (%s)", address, fetch.StatusText(resp.StatusCode))
}

// mirror is the address that is asked instead of all others, nil for none.
func mirror() (*url.URL, error) {
	address := strings.TrimSpace(os.Getenv("CROSSTALK_MIRROR"))
	if address == "" {
		return nil, nil
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("CROSSTALK_MIRROR is no address: expected something like https://mirror.example/files")
	}
	return u, nil
}

// addressOf is where a file of the catalogue is asked for.
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

// serverOf is the part of an address that errors show.
func serverOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "the server"
	}
	return u.Scheme + "://" + u.Host
}

// check compares a file that is there already with its checksum.
func (f File) check(path string) error {
	in, err := os.Open(path)
	if err != nil {
		return err
	}
	defer in.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, in); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != f.SHA256 {
		return fmt.Errorf("%s: its checksum is %s, expected %s: delete the file, and the same command fetches it", path, got, f.SHA256)
	}
	return nil
}
