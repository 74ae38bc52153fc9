package endpoint

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"crosstalk/internal/lazyregexp"
)

// secrets are what nobody may read anywhere: the API key, a password or key in the base URL, values of headers.
type secrets []string

const (
	hidden = "[key]"
	// A part of a secret that is this long is hidden from messages: servers echo keys, and the ends of keys.
	leastInMessage = 8
	// From answers a longer part is hidden: an answer is what is measured, and
	// words must not vanish from it because they stand in somebody's key.
	leastInAnswer = 16
)

func newSecrets(key string, base *url.URL) (s secrets) {
	s = append(s, key)
	if password, ok := base.User.Password(); ok {
		sent := base64.StdEncoding.EncodeToString([]byte(base.User.Username() + ":" + password))
		s = append(s, password, sent)
	}
	for name, values := range base.Query() {
		name = strings.ToLower(name)
		words := []string{"key", "token", "secret", "sig", "auth", "pass", "code", "subscription", "cred"}
		if slices.ContainsFunc(words, func(word string) bool { return strings.Contains(name, word) }) {
			s = append(s, values...)
		}
	}
	return slices.DeleteFunc(s, func(v string) bool { return v == "" })
}

// hide takes secrets out of a text for people. One shorter than leastInMessage is hidden where it is a word.
func (s secrets) hide(text string) string {
	b := []byte(text)
	for _, secret := range s {
		if len(secret) >= leastInMessage {
			b = cut(b, secret, leastInMessage)
		} else {
			b = cutWord(b, secret)
		}
	}
	return string(b)
}

// hideInAnswer takes secrets out of what a model said. Placeholders that servers without keys are given ("none",
// "something") are no secrets: they are shorter than leastInMessage, or a short word of letters alone.
func (s secrets) hideInAnswer(text []byte) []byte {
	for _, secret := range s {
		if len(secret) >= leastInAnswer || len(secret) >= leastInMessage && strings.IndexFunc(secret, notLetter) >= 0 {
			text = cut(text, secret, min(len(secret), leastInAnswer))
		}
	}
	return text
}

// hideInJSON is hideInAnswer for a body, where a character may be escaped: .NET escapes +, PHP escapes /.
func (s secrets) hideInJSON(body []byte) []byte {
	body = s.hideInAnswer(body)
	if len(s) > 0 && escape().Match(body) {
		plain := escape().ReplaceAllFunc(body, func(e []byte) []byte {
			if e[1] == '\\' {
				return e
			}
			if n, err := strconv.ParseUint(string(e[len(e)-2:]), 16, 8); err == nil {
				return []byte{byte(n)}
			}
			return e[1:]
		})
		if safe := s.hideInAnswer(plain); len(safe) != len(plain) {
			return safe
		}
	}
	return body
}

// escape matches an ASCII character that is escaped without need, and a backslash, so that none begins there.
var escape = lazyregexp.New(`\\(?:\\|/|u00(?:2[013-9a-fA-F]|[346][0-9a-fA-F]|5[0-9abABd-fD-F]|7[0-9a-eA-E]))`)

func notLetter(r rune) bool { return (r|0x20) < 'a' || (r|0x20) > 'z' }

// cut replaces each part of secret that is at least least (> 1) bytes long. Such a part covers one of every least-1
// positions, so only these are looked at: text without secrets passes at about a nanosecond a byte.
func cut(text []byte, secret string, least int) []byte {
	var out []byte
	done := 0 // text before this is in out, or hidden
	for i := 0; i+1 < len(text); i += least - 1 {
		if i < done || !strings.Contains(secret, string(text[i:i+2])) {
			continue
		}
		for start := max(done, i-least+2); start <= i && start+least <= len(text); start++ {
			if !strings.Contains(secret, string(text[start:start+least])) {
				continue
			}
			end := start + least
			for end < len(text) && strings.Contains(secret, string(text[start:end+1])) {
				end++
			}
			out = append(append(out, text[done:start]...), hidden...)
			done = end
			break
		}
	}
	if out == nil {
		return text
	}
	return append(out, text[done:]...)
}

func cutWord(text []byte, word string) []byte {
	var out []byte
	for {
		i := bytes.Index(text, []byte(word))
		if i < 0 {
			return append(out, text...)
		}
		end := i + len(word)
		out = append(out, text[:i]...)
		if i > 0 && isWord(text[i-1]) || end < len(text) && isWord(text[end]) {
			out = append(out, word...)
		} else {
			out = append(out, hidden...)
		}
		text = text[end:]
	}
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80
}

// checkKey refuses a key that no header can take, or that was copied with something else.
func checkKey(key, from string) error {
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fmt.Errorf("%s contains a space, a line break or another character that no API key has: set it again", from)
	}
	return nil
}

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
	seen secrets // the last one is the key
}

// read returns the key: the last one while the file is missing or empty, as it may be when it is replaced.
func (f *keyFile) read() (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	text, err := os.ReadFile(f.path)
	key := strings.TrimSpace(string(text))
	switch n := len(f.seen); {
	case n > 0 && (key == "" || key == f.seen[n-1]):
		return f.seen[n-1], nil
	case err != nil:
		return "", fmt.Errorf("the file with the API key cannot be read: %w", err)
	case key == "":
		return "", fmt.Errorf("%s: expected an API key, found an empty file", f.path)
	}
	if err := checkKey(key, f.path); err != nil {
		return "", err
	}
	f.seen = append(f.seen, key)
	return key, nil
}
