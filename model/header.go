package model

import (
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"strings"
)

// ParseHeader reads headers written NAME=VALUE or, so that a key need not be written down, NAME=$VARIABLE. The values
// that are secret are those of variables, those of headers with a secret's name, and all others of some length; none
// of them is shown in an error.
func ParseHeader(list []string, getenv func(string) string) (h http.Header, secret []string, err error) {
	for _, text := range list {
		name, value, found := strings.Cut(text, "=")
		name = strings.TrimSpace(name)
		if !found || name == "" {
			// what it is may be a key
			return nil, nil, errors.New("--header: expected a name, = and a value: NAME=VALUE or NAME=$VARIABLE")
		}
		if strings.Trim(name, headerCharacters) != "" {
			return nil, nil, errors.New("--header: what is before the first = is not the name of a header; " +
				"expected letters, digits and hyphens")
		}
		key := textproto.CanonicalMIMEHeaderKey(name)
		switch key {
		case "Host", "Content-Length", "Content-Type", "Content-Encoding", "Accept-Encoding", "Transfer-Encoding",
			"Connection", "Te", "Trailer", "Upgrade":
			return nil, nil, fmt.Errorf("--header %s: this header is set by the program", name)
		}
		if h.Get(key) != "" {
			return nil, nil, fmt.Errorf("--header %s is given twice", name)
		}
		variable, fromVariable := strings.CutPrefix(value, "$")
		if fromVariable {
			if value = strings.TrimSpace(getenv(variable)); value == "" {
				if !usualName.MatchString(variable) {
					variable = "after $"
				}
				return nil, nil, fmt.Errorf("--header %s: the environment variable %s is not set", name, variable)
			}
		}
		for _, r := range value {
			if r < ' ' || r > '~' {
				return nil, nil, fmt.Errorf("--header %s: the value contains a line break "+
					"or another character that no header takes", name)
			}
		}
		if value == "" {
			return nil, nil, fmt.Errorf("--header %s: expected a value after =", name)
		}
		if h == nil {
			h = http.Header{}
		}
		h.Set(key, value)
		if fromVariable || len(value) >= leastSecret || secretName(name) {
			secret = append(secret, value)
			scheme, credentials, found := strings.Cut(value, " ") // Bearer ..., Basic ...
			if found && !strings.ContainsAny(scheme, "=;,") {
				secret = append(secret, credentials)
			}
		}
	}
	return h, secret, nil
}

// headerCharacters are those that the name of a header may have.
const headerCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~"

// leastSecret is the length from which a value may be a secret whatever its
// header is called: shorter ones are words, such as a provider's name.
const leastSecret = 12

func secretName(name string) bool {
	between := func(r rune) bool { return strings.ContainsRune("-_.", r) }
	for word := range strings.FieldsFuncSeq(strings.ToLower(name), between) {
		switch word {
		case "key", "apikey", "token", "secret", "auth", "authorization", "password", "cookie", "signature",
			"credential", "credentials":
			return true
		}
	}
	return false
}
