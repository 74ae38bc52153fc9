package config

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// maxTextFile limits a file that is an option's text.
const maxTextFile = 1 << 20

// TextOrFile is an option's text, or with an @ before it the content of a file,
// without line breaks at its end. A text that begins with @ has two of them.
func TextOrFile(text string) (string, error) {
	name, isFile := strings.CutPrefix(text, "@")
	if !isFile || strings.HasPrefix(name, "@") {
		return name, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return "", fmt.Errorf("%w (for a text that begins with @, write @@)", err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxTextFile+1))
	switch {
	case err != nil:
		return "", err
	case len(content) > maxTextFile:
		return "", fmt.Errorf("%s is longer than %d MiB", name, maxTextFile>>20)
	case !utf8.Valid(content):
		return "", fmt.Errorf("%s is not valid UTF-8: save the file as UTF-8", name)
	case strings.TrimSpace(string(content)) == "":
		return "", fmt.Errorf("%s is empty", name)
	}
	return strings.TrimRight(strings.TrimPrefix(string(content), "\ufeff"), "\r\n"), nil
}
