// Package multisense provides tests with the PAWS-X part of the data of Ohmer et al. (2023), which is not in the
// tree, and the figures they published.
package multisense

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/internal/testing/shared"

	"github.com/goccy/go-yaml"
)

// Condition is one way in which the authors asked the items.
type Condition struct {
	Name     string
	X, I     string         // the senses of input and instruction
	Run      int            // from 1
	LabelMap map[string]int `json:"label_map"`
	Prefix   string
	Suffix   string
}

// Data are the authors' items and answers.
type Data struct {
	Conditions []Condition
	Task       crosstalk.Task // with its instructions in all senses
	Items      []crosstalk.Item
	Answers    []map[string]string    // of each item, by the condition's name
	Rewritten  []map[string][]string  // of each item, by sense
	COMET      []map[string][]float64 // of each rewritten text, by sense
}

// Read reads the data. Without them the test is skipped.
func Read(t testing.TB) *Data {
	t.Helper()
	file := shared.JSON[struct {
		Tasks map[string]struct{ Conditions []Condition }
	}](t, "multisense/conditions.json")
	d := &Data{Conditions: file.Tasks["paws-x"].Conditions}
	units := map[string]string{"en": "Sentence", "de": "Satz", "zh": "句子", "es": "Oración", "fr": "Phrase"}
	d.Task = crosstalk.Task{Name: "paws-x", Classes: []string{"0", "1"}, Fields: []string{"sentence1", "sentence2"},
		Layout:       `{prefix} {unit} 1: "{sentence1}" {unit} 2: "{sentence2}"{suffix}`,
		Instructions: map[string]crosstalk.Instruction{}}
	for _, c := range d.Conditions {
		parts := map[string]string{"prefix": c.Prefix, "unit": units[c.I[len(c.I)-2:]], "suffix": c.Suffix}
		in := crosstalk.Instruction{Parts: parts}
		byClass := func(a, b string) int { return c.LabelMap[a] - c.LabelMap[b] }
		for _, word := range slices.SortedFunc(maps.Keys(c.LabelMap), byClass) {
			in.Words = append(in.Words, crosstalk.AnswerWord{Word: word, Class: strconv.Itoa(c.LabelMap[word])})
		}
		d.Task.Instructions[c.I] = in
	}
	sources := shared.Lines[struct{ Src map[string][]string }](t, "multisense/paws-x.source.jsonl.gz")
	golds := shared.Lines[struct{ Gold map[string]int }](t, "multisense/paws-x.gold.jsonl.gz")
	responses := shared.Lines[struct{ R map[string][]*string }](t, "multisense/paws-x.responses.jsonl.gz")
	translations := shared.Lines[struct {
		Tr map[string]struct{ Clean []string }
	}](t, "multisense/paws-x.translations.jsonl.gz")
	for i := range sources {
		gold, answers, rewritten := map[string]string{}, map[string]string{}, map[string][]string{}
		for language, class := range golds[i].Gold {
			gold[language] = strconv.Itoa(class)
		}
		for condition, response := range responses[i].R {
			answers[condition] = *response[0]
		}
		for sense, t := range translations[i].Tr {
			rewritten[sense] = t.Clean
		}
		input := &crosstalk.Input{Task: "paws-x", Texts: sources[i].Src, Gold: gold}
		d.Items = append(d.Items, crosstalk.Item{ID: strconv.Itoa(i), Input: input})
		d.Answers, d.Rewritten = append(d.Answers, answers), append(d.Rewritten, rewritten)
		d.COMET = append(d.COMET, map[string][]float64{})
	}
	for _, row := range shared.Lines[struct {
		I     int
		Pair  string
		Comet []float64
	}](t, "multisense/paws-x.scores.jsonl.gz") {
		d.COMET[row.I][row.Pair] = row.Comet
	}
	return d
}

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

// task returns a task file whose items have their gold answers, and no texts.
func (d *Data) task() map[string]any {
	instructions := map[string]any{}
	for sense, in := range d.Task.Instructions {
		var words yaml.MapSlice // in look-up order
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

// Figure is a cell of the authors' tables, as crosstalk names it.
type Figure struct {
	Table, Cell                string // for messages
	Measure, Pair, Part, Class string
	Want                       float64 // a fraction
	Observations               int     // 0 if the table has none
	Stored                     float64 // ROUGE in the authors' data, the median of a bootstrap; else 0
	Share                      bool    // Want is the number of the figure's observations, as a fraction of all items
}

// Figures are all cells with PAWS-X figures.
func Figures(t testing.TB) (figures []Figure) {
	t.Helper()
	file := shared.JSON[struct {
		Cells []struct {
			Table      string
			Cell       []string
			Recomputed *float64
			Stored     float64
			N          int
		}
	}](t, "multisense/golden_tables.paws-x.json")
	for _, c := range file.Cells {
		f := name(c.Table, c.Cell)
		f.Table, f.Cell, f.Observations = c.Table, strings.Join(c.Cell, " "), c.N
		f.Want = c.Stored // COMET's was not recomputed
		if c.Recomputed != nil {
			f.Want = *c.Recomputed
		}
		if f.Measure == "bleu" || f.Share {
			f.Want /= 100
		}
		if strings.HasPrefix(f.Measure, "rouge") {
			f.Stored = c.Stored
		}
		figures = append(figures, f)
	}
	return figures
}

// name returns the figure in a cell of a table.
func name(table string, cell []string) (f Figure) {
	pair, what := cell[1], cell[len(cell)-1]
	source, _, _ := strings.Cut(pair, ">")
	f.Pair = pair
	switch table {
	case "1":
		f.Measure, f.Part = "consistency", what
	case "2", "10":
		f.Measure = strings.NewReplacer("BLEU", "bleu", "COMET-22", "quality").Replace(what)
	case "3":
		f.Measure, f.Part = "bleu_consistency_pearson", "X"
	case "3b(not in paper; notebook)":
		f.Measure, f.Part = "bleu_accuracy_pearson", "X"
	case "4", "13":
		f.Measure, f.Part = "accuracy", what
		switch what {
		case "T_src":
			f.Pair, f.Part = source, "source"
		case "T_src>tgt":
			f.Part = "T"
		}
	case "5":
		f.Measure, f.Part = strings.TrimSuffix("consistency_"+what, "_all"), "T"
		if language, again := strings.CutSuffix(pair, " run2"); again {
			f.Pair, f.Part = language, "repeat"
		}
	case "7":
		f.Measure, f.Part, f.Class = "label_share", "T", map[string]string{"true": "1", "false": "0"}[what]
		switch {
		case pair == "gold":
			f.Pair, f.Part = "en", "gold"
		case pair == source:
			f.Part = "source"
		}
	case "11":
		f.Measure, f.Part, f.Share = "consistency_bleu50", "X", what == "% included"
		if what == "orig" {
			f.Measure = "consistency"
		}
	case "12":
		f.Measure, f.Pair, f.Part = "accuracy", strings.TrimPrefix(pair, "X/I="), "mixed"
	}
	return f
}
