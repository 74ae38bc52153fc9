package strictyaml

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

var limits = Limits{Bytes: 1 << 20, Depth: 16, Keys: 100, One: "list"}

func TestParse(t *testing.T) {
	for _, text := range []string{
		"", "# nothing\n", "---\n# nothing\n", "\ufeffa: 1\r\nb: [1, 2]\r\n", "a: {b: {c: [d]}}\n# the end\n",
		"a: \"" + strings.Repeat("[{ ", 500) + "x\"\n", // brackets in text
		manyKeys(0, 100) + "last:\n" + manyKeys(2, 100),
		"-\n" + manyKeys(2, 99) + "-\n" + manyKeys(2, 99),
		"a: {" + flowKeys(100) + "}\nb: {" + flowKeys(100) + "}\n",
		"a: " + strings.Repeat("[", 16) + strings.Repeat("]", 16),
	} {
		if _, err := Parse("f", []byte(text), Limits{1 << 20, 16, 101, "list"}); err != nil {
			t.Errorf("%.60q: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		manyKeys(0, 102): "f:102: a map has too many keys",
		"a:\n" + strings.Repeat("  b: []\n", 50) + manyKeys(2, 52):              "f:103: a map has too many keys",
		"a:\n" + manyKeys(2, 50) + "  c:\n" + manyKeys(4, 50) + manyKeys(2, 52): "f:153: a map has too many keys",
		"a:\n  {" + flowKeys(102) + "}":                                         "f:2: a map has too many keys",
		"a: 1\n---\nb: 2":                                                       "f:2: a second document begins here; expected one list per file",
		"a: 1\n...\nb: 2":                                                       "f:3: a second document begins here; expected one list per file",
		"a: &x 1\nb: *x":                                                        "f:1: anchors and aliases are not supported: write the value out",
		"a: 1\nb:\n  <<: {c: 1}":                                                "f:3: anchors and aliases are not supported: write the value out",
		"a: !!int 1":                                                            "f:1: tags are not supported: write the value without !!int",
		"a: 1\nb: 2\na: 3":                                                      `f:3: duplicate key "a" (first used in line 1)`,
		"a:\n - \x00":                                                           "f:2: is not valid UTF-8: save the file as UTF-8",
		"a: \"\\e[31m\n":                                                        "f:1: could not find end character of double-quoted text",
		"a\x1b: 1\na\x1b: 2":                                                    `f:2: duplicate key "a\x1b" (first used in line 1)`,
	} {
		if _, err := Parse("f", []byte(text), Limits{1 << 20, 16, 101, "list"}); err == nil || err.Error() != want {
			t.Errorf("%.60q: %v; want %s", text, err, want)
		}
	}
}

func manyKeys(indent, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%*sk%d-%d: 1\n", indent, "", indent, i)
	}
	return b.String()
}

func flowKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%d: 1, ", i)
	}
	return b.String()
}

// Text that is small to write and costly to read is refused with little memory.
func TestParseBombs(t *testing.T) {
	for name, text := range map[string]string{
		"brackets": strings.Repeat("[", 100_000),
		"lines":    strings.Repeat("[\n", 100_000),
		"maps":     strings.Repeat("{a: ", 50_000),
		"mixed":    strings.Repeat("[a, {b: ", 20_000),
		"dashes":   strings.Repeat("- ", 200_000),
		"keys":     manyKeys(0, 100_000)[:1<<20],
		"lists":    strings.ReplaceAll(manyKeys(0, 50_000), "1\n", "[]\n"),
		"size":     strings.Repeat("#", 1<<20+1),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Parse("f", []byte(text), limits)
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s: accepted", name)
		}
		if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 600 {
			t.Errorf("%s: took %d MiB", name, used)
		}
	}
}

func TestReadFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(file, make([]byte, 2<<20), 0o666); err != nil {
		t.Fatal(err)
	}
	if text, err := ReadFile(file, 2<<20); err != nil || len(text) != 2<<20 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if _, err := ReadFile(file, 1<<20); err == nil || err.Error() != file+": is larger than 1 MiB" {
		t.Error(err)
	}
	if _, err := ReadFile(os.DevNull+"/x", 1); err == nil {
		t.Error("a missing file is read")
	}
}
