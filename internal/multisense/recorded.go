package multisense

import (
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

// Write writes the data as crosstalk reads recorded answers: the task file, the answers, and the texts in all senses.
func (d *Data) Write(t testing.TB, dir string) (task, answers, texts string) {
	t.Helper()
	task, answers = filepath.Join(dir, "paws-x.yaml"), filepath.Join(dir, "gpt-3.5-turbo.csv.gz")
	texts = filepath.Join(dir, "texts.jsonl")
	write(t, task, d.writeTask)
	write(t, answers, func(w io.Writer) error {
		z := gzip.NewWriter(w)
		c := csv.NewWriter(z)
		c.Write([]string{"item", "input", "instruction", "run", "answer"})
		for i, answers := range d.Answers {
			for _, condition := range d.Conditions {
				c.Write([]string{strconv.Itoa(i), condition.X, condition.I, strconv.Itoa(condition.Run), answers[condition.Name]})
			}
		}
		c.Flush()
		if err := c.Error(); err != nil {
			return err
		}
		return z.Close()
	})
	write(t, texts, func(w io.Writer) error {
		e := json.NewEncoder(w)
		for i, item := range d.Items {
			for _, by := range []map[string][]string{item.Input.Texts, d.Rewritten[i]} {
				for sense, texts := range by {
					if err := e.Encode(map[string]any{"item": item.ID, "input": sense, "texts": texts}); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
	return task, answers, texts
}

// writeTask writes a task file whose items have what is right, and no texts.
func (d *Data) writeTask(w io.Writer) error {
	text := func(v any) string { // JSON is YAML
		b, _ := json.Marshal(v)
		return string(b)
	}
	fmt.Fprintf(w, "suite: paws-x\ninstrument: consistency\ntasks:\n- task: paws-x\n  classes: %s\n  fields: %s\n"+
		"  layout: %s\n  languages: [en, de, zh, fr, es]\n  instructions:\n",
		text(d.Task.Classes), text(d.Task.Fields), text(d.Task.Layout))
	var written []string
	for _, c := range d.Conditions {
		if slices.Contains(written, c.I) {
			continue
		}
		written = append(written, c.I)
		in := d.Task.Instructions[c.I]
		fmt.Fprintf(w, "    %s:\n", c.I)
		for name, part := range in.Parts {
			fmt.Fprintf(w, "      %s: %s\n", name, text(part))
		}
		fmt.Fprintf(w, "      words:\n")
		for _, word := range in.Words {
			fmt.Fprintf(w, "        %s: %q\n", text(word.Word), word.Class)
		}
	}
	fmt.Fprintf(w, "  items:\n")
	for _, item := range d.Items {
		fmt.Fprintf(w, "  - {id: %q, gold: %s}\n", item.ID, text(item.Input.Gold))
	}
	return nil
}

func write(t testing.TB, path string, content func(io.Writer) error) {
	t.Helper()
	f, err := os.Create(path)
	if err == nil {
		err = content(f)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}
