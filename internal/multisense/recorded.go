package multisense

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/goccy/go-yaml"
)

// Write writes the data as crosstalk reads recorded answers: the task file, the answers, and the texts in all senses.
func (d *Data) Write(t testing.TB, dir string) (task, answers, texts string) {
	t.Helper()
	var rows, lines bytes.Buffer
	c, e := csv.NewWriter(&rows), json.NewEncoder(&lines)
	c.Write([]string{"item", "input", "instruction", "run", "answer"})
	for i, item := range d.Items {
		for _, condition := range d.Conditions {
			c.Write([]string{item.ID, condition.X, condition.I, strconv.Itoa(condition.Run), d.Answers[i][condition.Name]})
		}
		for _, by := range []map[string][]string{item.Input.Texts, d.Rewritten[i]} {
			for sense, texts := range by {
				e.Encode(map[string]any{"item": item.ID, "input": sense, "texts": texts})
			}
		}
	}
	c.Flush()
	file, err := yaml.Marshal(d.task())
	task, answers = filepath.Join(dir, "paws-x.yaml"), filepath.Join(dir, "gpt-3.5-turbo.csv")
	texts = filepath.Join(dir, "texts.jsonl")
	if err := errors.Join(err, os.WriteFile(task, file, 0o666), os.WriteFile(answers, rows.Bytes(), 0o666),
		os.WriteFile(texts, lines.Bytes(), 0o666)); err != nil {
		t.Fatal(err)
	}
	return task, answers, texts
}

// task is a task file whose items have what is right, and no texts.
func (d *Data) task() map[string]any {
	instructions := map[string]any{}
	for sense, in := range d.Task.Instructions {
		var words yaml.MapSlice // in the order in which they are looked for
		for _, word := range in.Words {
			words = append(words, yaml.MapItem{Key: word.Word, Value: word.Class})
		}
		of := map[string]any{"words": words}
		for name, part := range in.Parts {
			of[name] = part
		}
		instructions[sense] = of
	}
	var items []any
	for _, item := range d.Items {
		items = append(items, map[string]any{"id": item.ID, "gold": item.Input.Gold})
	}
	return map[string]any{"suite": "paws-x", "instrument": "consistency", "tasks": []any{map[string]any{
		"task": "paws-x", "classes": d.Task.Classes, "fields": d.Task.Fields, "layout": d.Task.Layout,
		"languages": []string{"en", "de", "zh", "fr", "es"}, "instructions": instructions, "items": items}}}
}
