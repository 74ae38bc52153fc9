// Package golden compares what tests print with files in testdata.
package golden

import (
	"flag"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Update writes the files anew. Read their diff before you commit it.
var Update = flag.Bool("update", false, "write files of testdata and docs anew")

// Check compares the lines of a text with those of a file.
func Check(t testing.TB, file, text string) {
	t.Helper()
	if *Update {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(old) != text {
		t.Errorf("%s differs; -update writes it anew:\n%s", file,
			cmp.Diff(strings.Split(string(old), "\n"), strings.Split(text, "\n")))
	}
}

var long = regexp.MustCompile(`\d+\.\d{7,}(e-?\d+)?`)

// Rounded has long numbers to six digits: their last ones depend on the processor.
func Rounded(text string) string {
	return long.ReplaceAllStringFunc(text, func(number string) string {
		x, _ := strconv.ParseFloat(number, 64)
		return strconv.FormatFloat(x, 'g', 6, 64)
	})
}
