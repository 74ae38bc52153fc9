package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTextOrFile(t *testing.T) {
	for content, want := range map[string]string{
		"":                               "DIR is empty",
		" \n\t":                          "DIR is empty",
		"\xff":                           "DIR is not valid UTF-8: save the file as UTF-8",
		strings.Repeat("a", 1<<20+1):     "DIR: is larger than 1 MiB (for a text that begins with @, write @@)",
		"\ufeffYou are kind.\r\nVery.\n": "You are kind.\r\nVery.",
		"  indented\n\n":                 "  indented",
		"@a":                             "@a",
	} {
		file := filepath.Join(t.TempDir(), "a.txt")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := TextOrFile("@" + file)
		if err != nil {
			got = strings.ReplaceAll(err.Error(), file, "DIR")
		}
		if got != want {
			t.Errorf("%.20q: %.60q, want %q", content, got, want)
		}
	}
	for text, want := range map[string]string{"": "", "plain\n": "plain\n", "@@name": "@name"} {
		if got, err := TextOrFile(text); err != nil || got != want {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	if _, err := TextOrFile("@no/such/file"); err == nil || !strings.HasSuffix(err.Error(), "(for a text that begins with @, write @@)") {
		t.Error(err)
	}
}
