package prose

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"crosstalk/internal/testing/golden"
)

// TestReplies compares what is masked in replies of assistants, and in their lines in other forms, with
// testdata/replies.txt: a line for each reply, with its parts, their forms, and a byte of a hash for each way in which
// it was changed. Read what differs and write it with -update.
func TestReplies(t *testing.T) {
	files, err := filepath.Glob("../../guard/testdata/replies/*.txt")
	if err != nil || files == nil {
		t.Fatal("no replies", err)
	}
	show := func(text string) string {
		var b strings.Builder
		d := Parse(text)
		for _, block := range d.Blocks {
			fmt.Fprintf(&b, " %d-%d:%d", block.Start, block.End, slices.Index([]Kind{Paragraph, Heading, Item, Cell}, block.Kind))
		}
		for _, m := range d.Masks {
			fmt.Fprintf(&b, " %s[%s]", m.Kind, text[m.Start:m.End])
		}
		return b.String()
	}
	changes := []func(text string) []string{
		func(text string) []string { return strings.SplitAfter(text, ". ") },
		func(text string) []string {
			return []string{strings.ReplaceAll(text, " ", "\n"), strings.ReplaceAll(text, "\n", " ")}
		},
		func(text string) []string {
			var all []string
			for _, form := range []string{"# %s", "- %s", "1. %s", "| %s | b |", "> %s", "**%s**", "\"%s\"", "„%s“", "`%s`", "name: %s", "\"key\": \"%s\",", "<p>%s</p>", "(%s)", "  * %s  ", "%s:"} {
				for line := range strings.SplitSeq(text, "\n") {
					all = append(all, fmt.Sprintf(form, line))
				}
			}
			return all
		},
		func(text string) []string { // a text that ends anywhere
			var all []string
			for i := range text {
				if i%7 == 0 {
					all = append(all, text[:i], text[i:])
				}
			}
			return all
		},
		func(text string) []string {
			marks := []string{`"`, "'", "*", "**", "`", "$", "<", "|", "(", "«", "http://", "@", "#", "_", ":", "3", "kg", "{", "=", ".md", "-", "\\", "」", "😀", "λ"}
			words := strings.Split(text, " ")
			var all []string
			for i := range words {
				all = append(all, strings.Join(words[:i], " ")+" "+marks[i%len(marks)]+strings.Join(words[i:], " "),
					strings.Join(words[:i], " ")+marks[(i*3+1)%len(marks)]+" "+strings.Join(words[i:], " "))
			}
			return all
		},
	}
	var got strings.Builder
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range txtar.Parse(data).Files {
			text := strings.TrimRight(string(f.Data), "\n")
			whole := show(text)
			fmt.Fprintf(&got, "%s %d %s %.2x", filepath.Base(file), i+1, kinds(text), sha256.Sum256([]byte(whole)))
			for _, change := range changes {
				h := sha256.New()
				for _, changed := range change(text) {
					fmt.Fprintln(h, show(changed))
				}
				fmt.Fprintf(&got, " %x", h.Sum(nil)[:1])
			}
			got.WriteByte('\n')
		}
	}
	golden.Check(t, "testdata/replies.txt", got.String())
}

// kinds are the kinds of a text's masks, by their first letters, and the forms of its blocks.
func kinds(text string) string {
	var b strings.Builder
	d := Parse(text)
	for _, block := range d.Blocks {
		fmt.Fprint(&b, slices.Index([]Kind{Paragraph, Heading, Item, Cell}, block.Kind))
	}
	for _, m := range d.Masks {
		b.WriteString(string(m.Kind[:2]))
	}
	return b.String()
}
