// Package multisense gives tests the PAWS-X part of the data of Ohmer et al.
// (2023), which the tree does not hold, and the figures that they found in it.
package multisense

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strconv"
	"testing"

	"crosstalk"
	"crosstalk/internal/shared"
)

// Condition is one way in which the authors asked.
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

// Lines decodes each line of a gzipped file of the data.
func Lines[T any](t testing.TB, name string) (rows []T) {
	t.Helper()
	f, err := os.Open(shared.File(t, "multisense/"+name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(bufio.NewReader(z)); d.More(); {
		var row T
		if err := d.Decode(&row); err != nil {
			t.Fatalf("%s: row %d: %v", name, len(rows)+1, err)
		}
		rows = append(rows, row)
	}
	return rows
}

// Read reads the data. Without them the test is skipped.
func Read(t testing.TB) *Data {
	t.Helper()
	var file struct {
		Tasks map[string]struct{ Conditions []Condition }
	}
	readJSON(t, "conditions.json", &file)
	d := &Data{Conditions: file.Tasks["paws-x"].Conditions}
	units := map[string]string{"en": "Sentence", "de": "Satz", "zh": "句子", "es": "Oración", "fr": "Phrase"}
	d.Task = crosstalk.Task{Name: "paws-x", Classes: []string{"0", "1"}, Fields: []string{"sentence1", "sentence2"},
		Layout: `{prefix} {unit} 1: "{sentence1}" {unit} 2: "{sentence2}"{suffix}`, Instructions: map[string]crosstalk.Instruction{}}
	for _, c := range d.Conditions {
		in := crosstalk.Instruction{Parts: map[string]string{"prefix": c.Prefix, "unit": units[c.I[len(c.I)-2:]], "suffix": c.Suffix}}
		for _, word := range slices.SortedFunc(maps.Keys(c.LabelMap), func(a, b string) int { return c.LabelMap[a] - c.LabelMap[b] }) {
			in.Words = append(in.Words, crosstalk.AnswerWord{Word: word, Class: strconv.Itoa(c.LabelMap[word])})
		}
		d.Task.Instructions[c.I] = in
	}
	sources := Lines[struct{ Src map[string][]string }](t, "paws-x.source.jsonl.gz")
	golds := Lines[struct{ Gold map[string]int }](t, "paws-x.gold.jsonl.gz")
	responses := Lines[struct{ R map[string][]*string }](t, "paws-x.responses.jsonl.gz")
	translations := Lines[struct {
		Tr map[string]struct{ Clean []string }
	}](t, "paws-x.translations.jsonl.gz")
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
		d.Items = append(d.Items, crosstalk.Item{ID: strconv.Itoa(i), Input: &crosstalk.Input{Task: "paws-x", Texts: sources[i].Src, Gold: gold}})
		d.Answers, d.Rewritten, d.COMET = append(d.Answers, answers), append(d.Rewritten, rewritten), append(d.COMET, map[string][]float64{})
	}
	for _, row := range Lines[struct {
		I     int
		Pair  string
		Comet []float64
	}](t, "paws-x.scores.jsonl.gz") {
		d.COMET[row.I][row.Pair] = row.Comet
	}
	return d
}

func readJSON(t testing.TB, name string, v any) {
	t.Helper()
	text, err := os.ReadFile(shared.File(t, "multisense/"+name))
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}
