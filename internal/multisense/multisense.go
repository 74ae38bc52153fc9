// Package multisense gives tests the PAWS-X part of the data of Ohmer et al.
// (2023), which is not in the tree, and the figures that they found in it.
package multisense

import (
	"maps"
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
