package crosstalk

import (
	"slices"
	"strings"
	"unicode"
)

// Item is one thing to measure.
type Item struct {
	ID      string            `json:"id"`
	Cluster string            `json:"cluster,omitempty"` // shared by items with the same prompt; empty: its own
	Labels  map[string]string `json:"labels,omitempty"`  // columns for grouping figures: category, language, source, ...
	Pair    *Pair             `json:"pair,omitempty"`    // leakage
	Prompt  *Prompt           `json:"prompt,omitempty"`  // confusion
	Input   *Input            `json:"input,omitempty"`   // consistency
}

// Pair is the content of a leakage item: two prompts with the same ending. Only Test mentions Concept (Gonen et al.
// 2024, section 2.2).
type Pair struct {
	Concept string    `json:"concept"`
	Test    string    `json:"test"`
	Control string    `json:"control"`
	Before  []Message `json:"before,omitempty"`  // messages that precede both prompts: a system message, earlier turns
	Remove  []string  `json:"remove,omitempty"`  // cut out of both answers before scoring
	Leaks   []string  `json:"leaks,omitempty"`   // continuations of Test that would be a leak
	Neutral []string  `json:"neutral,omitempty"` // continuations of Control
	Sense   string    `json:"sense,omitempty"`   // everyday or literal sense of a name or an idiom, for reviewers

	// Context is set if a text around the prompt, not the prompt itself, mentions the concept. Test and Control then
	// contain Context as one text.
	Context *Context `json:"context,omitempty"`
}

// Prompt is the content of a confusion item: a prompt and the language expected of the answer (Marchisio et al. 2024,
// section 2.1).
type Prompt struct {
	Text     string `json:"text"`     // empty if an answer was recorded without its prompt
	Language string `json:"language"` // as language identifiers label it: ISO 639-1 where there is a code, else ISO 639-3

	// Tag is the BCP 47 tag of the language if that is more specific than Language: "zh-TW", "nb".
	Tag string `json:"tag,omitempty"`

	// Before are the messages that precede Text: a system message, and earlier turns of the user and the assistant.
	Before []Message `json:"before,omitempty"`

	// Placed holds the prompt with the instruction to answer in Language at each other place: "start", "end" or
	// "integrated". Text is one of them.
	Placed map[string]string `json:"placed,omitempty"`
}

// Task describes how consistency items are asked: an instruction, in several languages, and the classes that its
// answers fall into (Ohmer et al. 2023, section 3).
type Task struct {
	Name         string                 `json:"name"`
	Classes      []string               `json:"classes,omitempty"` // ids; none: answers are free text
	Fields       []string               `json:"fields"`            // the fields of an input: sentence1, sentence2
	Layout       string                 `json:"layout"`            // the prompt: {prefix} 1: "{sentence1}"{suffix}
	Instructions map[string]Instruction `json:"instructions"`      // by sense: a language, or en>de if a model rewrote it

	// Question names the field that contains a BoolQ question, which protocols can format in other languages as in the
	// source; "" for none. It is not part of a task's content.
	Question string `json:"-"`
}

// Instruction is a task's instruction in one sense. Its parts are rewritten
// one by one and then put together again by the task's layout.
type Instruction struct {
	Parts map[string]string `json:"parts"` // by their name in the layout: prefix, unit, suffix
	Words []AnswerWord      `json:"words"` // in the order in which readers try them
}

// AnswerWord is a word that the model is told to answer with, and its class.
type AnswerWord struct {
	Word  string `json:"word"`
	Class string `json:"class"`
}

// Input is the content of a consistency item: one input of a task in each of its languages.
type Input struct {
	Task  string              `json:"task"`
	Texts map[string][]string `json:"texts"`          // by language: the task's fields, in order
	Gold  map[string]string   `json:"gold,omitempty"` // the correct class or free answer, by language
}

// Prompt fills the layout with an instruction and an input's texts. Parts that the instruction lacks are empty; braces
// within parts and texts are kept.
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
		slots = append(slots, "{"+name+"}", "") // a part above with the same name wins
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

// WordsIn counts the words of a prompt, in quarters of a word.
//
// A word is a part between white space that contains a letter or digit. In scripts without spaces, two characters
// (Chinese, Japanese) or four (Thai, Lao, Khmer, Burmese) count as a word, which is about the average. The same
// question then has a similar number of words in most languages.
func WordsIn(prompt string) float64 {
	const word = 4
	n, inWord := 0, false // quarters of a word
	for _, r := range prompt {
		switch {
		case r >= '\u0e00' && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana):
			n, inWord = n+word/2, false
		case r >= '\u0e00' && unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
			n, inWord = n+word/4, false
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			if !inWord {
				n, inWord = n+word, true
			}
		case unicode.IsSpace(r):
			inWord = false
		}
	}
	return float64(n) / word
}

// LengthOf returns the bucket of a prompt's length in words (WordsIn): "up to 10", "11 to 20", "21 to 50", "51 to
// 100" or "over 100", and "" for a text without words. Figures are grouped by it as the column length.
func LengthOf(prompt string) string {
	switch n := WordsIn(prompt); {
	case n == 0:
		return ""
	case n <= 10:
		return "up to 10"
	case n <= 20:
		return "11 to 20"
	case n <= 50:
		return "21 to 50"
	case n <= 100:
		return "51 to 100"
	}
	return "over 100"
}
