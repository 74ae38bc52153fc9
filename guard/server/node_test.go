package server

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The manual's program for Node finds the parts of a text, whose spans are bytes.
func TestManualNode(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	page, err := os.ReadFile("../../docs/guard.md")
	if err != nil {
		t.Fatal(err)
	}
	program := regexp.MustCompile("(?s)```js\n(.*?)```").FindSubmatch(page)
	if program == nil {
		t.Fatal("no program")
	}
	url := serving(t, Options{})
	script := `const answer = "제주도는 비가 자주 와서 it's a good idea to pack a jacket 챙기세요. 😀";` + "\n" +
		strings.ReplaceAll(strings.ReplaceAll(string(program[1]), "http://127.0.0.1:8030", url), "timeout(200)", "timeout(60_000)")
	file := filepath.Join(t.TempDir(), "check.mjs")
	if err := os.WriteFile(file, []byte(script), 0o666); err != nil {
		t.Fatal(err)
	}
	said, err := exec.CommandContext(t.Context(), node, file).CombinedOutput()
	if want := "in en: it's a good idea to pack a jacket\n"; err != nil || string(said) != want {
		t.Errorf("%v\n%s\nwant %s", err, said, want)
	}
}
