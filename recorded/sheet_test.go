package recorded

import (
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"crosstalk/internal/testing/golden"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestSheet reads the files of testdata/sheet.txtar as its commands say, and compares all that is read, told and
// refused with the sheet. A command is what to read (confusion, leakage, items, consistency, rewritings, prompts),
// options (expect, flag, name, or OURS=THEIRS) and files. -update writes the sheet anew.
func TestSheet(t *testing.T) {
	sheet, err := filepath.Abs("testdata/sheet.txtar")
	if err != nil {
		t.Fatal(err)
	}
	archive, err := txtar.ParseFile(sheet)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	kept := archive.Files[:0:0]
	for _, f := range archive.Files {
		if strings.HasPrefix(f.Name, "$ ") {
			continue
		}
		kept = append(kept, f)
		if err := os.WriteFile(f.Name, f.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for line := range strings.Lines(string(archive.Comment)) {
		command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ ")
		if !ok {
			continue
		}
		var out strings.Builder
		r := Reading{Columns: map[string]string{}, Batches: map[string][]string{},
			Note:     func(text string) { fmt.Fprintln(&out, "#", text) },
			Identify: func(messages ...string) string { return "i-" + strings.Join(messages, "|") }}
		words := strings.Fields(command)
		for _, word := range words[1:] {
			ours, theirs, option := strings.Cut(word, "=")
			switch {
			case ours == "expect":
				r.Expect = theirs
			case ours == "name":
				if r.FileName, err = ParseFileName(theirs); err != nil {
					t.Fatal(err)
				}
			case option:
				r.Columns[ours] = theirs
			default:
				switch words[0] {
				case "confusion":
					printed(&out, r.Confusion(word))
				case "leakage":
					printed(&out, r.Leakage(word))
				case "items":
					printed(&out, ReadItems(word))
				case "consistency":
					printed(&out, r.Consistency(word))
				case "rewritings":
					printed(&out, ReadRewritings(word))
				case "prompts":
					printed(&out, ReadPrompts(word))
				}
			}
		}
		kept = append(kept, txtar.File{Name: "$ " + command, Data: []byte(out.String())})
	}
	golden.Check(t, sheet, string(txtar.Format(&txtar.Archive{Comment: archive.Comment, Files: kept})))
}

func printed[T any](out *strings.Builder, all iter.Seq2[T, error]) {
	for one, err := range all {
		if err != nil {
			fmt.Fprintf(out, "! %v\n", err)
			continue
		}
		b, err := json.Marshal(one)
		fmt.Fprintf(out, "%s\n", b)
		if err != nil {
			fmt.Fprintln(out, err)
		}
	}
}
