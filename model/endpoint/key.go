package endpoint

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// checkKey refuses a key that no header can take, or that was copied with something else.
func checkKey(key, from string) error {
	for _, r := range key {
		if r <= ' ' || r > '~' {
			return fmt.Errorf("%s contains a space, a line break or another character that no API key has: set it again", from)
		}
	}
	return nil
}

// key is the API key as of now.
func (e *Endpoint) key() (string, error) {
	if e.file == nil {
		return e.config.Key, nil
	}
	return e.file.read()
}

// hidden are the secrets to keep out of what is shown and saved: every key that the file ever had is one.
func (e *Endpoint) hidden() secrets {
	if e.file == nil {
		return e.secrets
	}
	e.file.mu.Lock()
	defer e.file.mu.Unlock()
	return slices.Concat(e.secrets, e.file.seen)
}

// keyFile is a key in a file that something else renews: access tokens last an hour or so.
type keyFile struct {
	path string

	mu   sync.Mutex
	time time.Time // the file's, when it was read
	size int64
	key  string
	seen secrets
}

// read returns the key. While the file is missing or empty, as it may be when
// it is being replaced, the last key is good.
func (f *keyFile) read() (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	key, err := f.changed()
	switch {
	case err == nil:
		err = checkKey(key, f.path)
	case f.key != "":
		return f.key, nil
	}
	if err != nil {
		return "", err
	}
	if key != f.key {
		f.key = key
		f.seen = append(f.seen, key)
	}
	return key, nil
}

func (f *keyFile) changed() (string, error) {
	info, err := os.Stat(f.path)
	if err != nil {
		return "", fmt.Errorf("the file with the API key cannot be read: %w", err)
	}
	if f.key != "" && info.ModTime().Equal(f.time) && info.Size() == f.size {
		return f.key, nil
	}
	text, err := os.ReadFile(f.path)
	if err != nil {
		return "", fmt.Errorf("the file with the API key cannot be read: %w", err)
	}
	key := strings.TrimSpace(string(text))
	if key == "" {
		return "", fmt.Errorf("%s: expected an API key, found an empty file", f.path)
	}
	f.time, f.size = info.ModTime(), info.Size()
	return key, nil
}
