package crosstalk

import (
	"slices"
	"strings"
)

// Task is what consistency items are inputs of: an instruction, in several languages, and the classes that its
// answers fall into (Ohmer et al. 2023, section 3).
type Task struct {
	Name         string                 `json:"name"`
	Classes      []string               `json:"classes,omitempty"` // ids; none: answers are free text
	Fields       []string               `json:"fields"`            // what an input consists of: sentence1, sentence2
	Layout       string                 `json:"layout"`            // the prompt: {prefix} 1: "{sentence1}"{suffix}
	Instructions map[string]Instruction `json:"instructions"`      // by sense: a language, or en>de if a model rewrote it

	// Question is the field with a question of BoolQ, which protocols can format
	// in other languages as in the source; "" for none. It is no content of a task.
	Question string `json:"-"`
}

// Instruction is a task's instruction in one sense. Its parts are rewritten
// one by one and then put together again by the task's layout.
type Instruction struct {
	Parts map[string]string `json:"parts"` // by their name in the layout: prefix, unit, suffix
	Words []AnswerWord      `json:"words"` // in the order in which readers try them
}

// AnswerWord is a word that answers are asked to consist of, and its class.
type AnswerWord struct {
	Word  string `json:"word"`
	Class string `json:"class"`
}

// Input is the content of a consistency item: one input of a task in each language that it was written in.
type Input struct {
	Task  string              `json:"task"`
	Texts map[string][]string `json:"texts"`          // by language: the task's fields, in order
	Gold  map[string]string   `json:"gold,omitempty"` // the right class or free answer, by language
}

// Prompt puts an instruction and an input's texts into the layout. A part that the instruction lacks is empty;
// braces within parts and texts stay as they are.
func (t Task) Prompt(in Instruction, texts []string) string {
	var slots []string
	for name, part := range in.Parts {
		slots = append(slots, "{"+name+"}", part)
	}
	for i, field := range t.Fields {
		if i < len(texts) {
			slots = append(slots, "{"+field+"}", texts[i])
		}
	}
	for _, name := range t.Slots() {
		slots = append(slots, "{"+name+"}", "") // where nothing above came first
	}
	return strings.NewReplacer(slots...).Replace(t.Layout)
}

// Slots are the names in braces in the layout, in order, each once: the task's
// fields and the parts of its instructions.
func (t Task) Slots() (names []string) {
	for rest := t.Layout; ; {
		_, after, open := strings.Cut(rest, "{")
		name, after, closed := strings.Cut(after, "}")
		if !open || !closed {
			return names
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		rest = after
	}
}
