package consistency

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"crosstalk"
	"crosstalk/internal/parallel"
)

// RewrittenInstruction is a task's instruction as rewritten by a model, to be reviewed before it is used.
type RewrittenInstruction struct {
	Model    string                 `yaml:"model,omitempty"` // "": any model
	Task     string                 `yaml:"task"`
	Sense    Sense                  `yaml:"sense"`
	Approved bool                   `yaml:"approved"`
	Reviewer string                 `yaml:"reviewer,omitempty"`
	Parts    []RewrittenPart        `yaml:"parts"`
	Words    []crosstalk.AnswerWord `yaml:"words,omitempty"` // proposed: from the words that the parts quote

	// Doubts lists what is missing or doubtful. If Words lacks a word for a class,
	// the instruction cannot be used unchanged.
	Doubts []string `yaml:"doubts,omitempty"`

	Where string `yaml:"-" json:"-"` // FILE:LINE, if it was read
}

// RewrittenPart is one part of an instruction: the source, the model's answer, and the text for prompts.
type RewrittenPart struct {
	Part   string `yaml:"part"`
	Source string `yaml:"source,omitempty"`
	Output string `yaml:"output,omitempty"`
	Text   string `yaml:"text"`
}

// RewriteInstruction lets the model rewrite a task's instruction part by part. A
// part without an answer is empty, with a doubt.
func (in *Instrument) RewriteInstruction(
	ctx context.Context, ask crosstalk.Asker, task crosstalk.Task, s Sense,
) (RewrittenInstruction, error) {
	source, ok := task.Instructions[string(s.Origin())]
	if !ok {
		return RewrittenInstruction{}, fmt.Errorf("the task %s has no instruction in %s", task.Name, s.Origin())
	}
	r := RewrittenInstruction{Task: task.Name, Sense: s}
	for _, name := range task.Slots() {
		if text, ok := source.Parts[name]; ok {
			r.Parts = append(r.Parts, RewrittenPart{Part: name, Source: text})
		}
	}
	answers := make([]crosstalk.Answer, len(r.Parts))
	err := parallel.Each(len(r.Parts), func(i int) (err error) {
		answers[i], err = in.Rewriting.rewrite(ctx, ask, Instructions, s, r.Parts[i].Source)
		return err
	})
	if err != nil {
		return r, err
	}
	for i, a := range answers {
		p := &r.Parts[i]
		p.Output = a.Text
		if a.Status != crosstalk.Text {
			r.Doubts = append(r.Doubts, fmt.Sprintf("%s: the model's answer is %s", p.Part, a.Status))
			continue
		}
		p.Text = cleaned(p.Source, a.Text)
		flags := FlagTexts(s, []string{p.Source}, []string{p.Text}, in.Languages)
		if len(flags) > 0 && strings.TrimSpace(p.Source) != "" {
			r.Doubts = append(r.Doubts, p.Part+": "+strings.Join(flags, ", "))
		}
	}
	r.proposeWords(task, source.Words)
	return r, nil
}

// Complete reports whether each part has a text where its source has one.
func (r RewrittenInstruction) Complete() bool {
	return !slices.ContainsFunc(r.Parts, func(p RewrittenPart) bool { return p.Text == "" && p.Source != "" })
}

// Instruction is the instruction with these parts and words.
func (r RewrittenInstruction) Instruction() crosstalk.Instruction {
	in := crosstalk.Instruction{Parts: map[string]string{}, Words: r.Words}
	for _, p := range r.Parts {
		in.Parts[p.Part] = p.Text
	}
	return in
}

// Check explains why the instruction cannot be used for the task, nil if it can.
func (r RewrittenInstruction) Check(task crosstalk.Task) error {
	fail := func(format string, args ...any) error {
		err := fmt.Errorf("the instruction of %s in %s %s", r.Task, r.Sense, fmt.Sprintf(format, args...))
		if r.Where != "" {
			err = fmt.Errorf("%s: %w", r.Where, err)
		}
		return err
	}
	source, made := task.Instructions[string(r.Sense.Origin())], r.Instruction()
	for _, p := range r.Parts {
		switch text, known := source.Parts[p.Part]; {
		case !known:
			return fail("has the part %q, which the task does not have", p.Part)
		case p.Text == "" && text != "":
			return fail("has no text for %s", p.Part)
		}
	}
	for name := range source.Parts {
		if _, ok := made.Parts[name]; !ok {
			return fail("has no %s", name)
		}
	}
	for i, w := range r.Words {
		switch {
		case !slices.Contains(task.Classes, w.Class):
			return fail("has a word with the unknown class %q; choose one of: %s", w.Class, strings.Join(task.Classes, ", "))
		case strings.TrimSpace(w.Word) == "":
			return fail("has an empty answer word")
		case slices.ContainsFunc(r.Words[:i], func(o crosstalk.AnswerWord) bool { return strings.EqualFold(o.Word, w.Word) }):
			return fail("has the duplicate answer word %q", w.Word)
		}
	}
	if missing := missingWords(task, r.Words); len(missing) > 0 {
		return fail("has no answer word for %s", strings.Join(missing, ", "))
	}
	return nil
}

// proposeWords pairs the words that a rewritten part quotes with those that its source quotes in the same places.
func (r *RewrittenInstruction) proposeWords(task crosstalk.Task, words []crosstalk.AnswerWord) {
	rewritten := map[string]string{} // the rewritten word by the source's
	for _, part := range r.Parts {
		before, after := Quoted(part.Source), Quoted(part.Text)
		if len(before) != len(after) {
			continue
		}
		for i, word := range before {
			rewritten[strings.ToLower(word)] = after[i]
		}
	}
	taken := map[string]string{}
	for _, w := range words {
		word, ok := rewritten[strings.ToLower(w.Word)]
		if !ok {
			continue
		}
		if class, again := taken[strings.ToLower(word)]; again {
			if class != w.Class {
				r.Doubts = append(r.Doubts, fmt.Sprintf("the answer word %q means both %s and %s", word, class, w.Class))
				r.Words = nil
				return
			}
			continue
		}
		taken[strings.ToLower(word)] = w.Class
		r.Words = append(r.Words, crosstalk.AnswerWord{Word: word, Class: w.Class})
	}
	if missing := missingWords(task, r.Words); len(missing) > 0 {
		r.Doubts = append(r.Doubts, "no answer words found for "+strings.Join(missing, ", "))
	}
}

func missingWords(task crosstalk.Task, words []crosstalk.AnswerWord) (classes []string) {
	for _, class := range task.Classes {
		if !slices.ContainsFunc(words, func(w crosstalk.AnswerWord) bool { return w.Class == class }) {
			classes = append(classes, class)
		}
	}
	return classes
}

// closers are the marks that end a quotation, by the mark that begins it.
var closers = map[rune]string{'"': `"`, '\'': `'’`, '“': `”"`, '„': `“”"`, '‘': `’'`, '‚': `‘’'`, '«': `»`, '»': `«`,
	'‹': `›`, '「': `」`, '『': `』`, '《': `》`, '`': "`´'"}

// Quoted returns the quoted parts of a text, in order. An apostrophe within a word is not a quotation mark.
func Quoted(text string) (words []string) {
	runes := []rune(text)
	at := func(i int) rune {
		if i < 0 || i >= len(runes) {
			return 0
		}
		return runes[i]
	}
	for i := 0; i < len(runes); i++ {
		ends, opens := closers[runes[i]]
		if !opens || strings.ContainsRune("'‘", runes[i]) && unicode.IsLetter(at(i-1)) {
			continue
		}
		for j := i + 1; j < len(runes); j++ {
			inWord := unicode.IsLetter(at(j-1)) && unicode.IsLetter(at(j+1))
			if !strings.ContainsRune(ends, runes[j]) || inWord && strings.ContainsRune("'’", runes[j]) {
				continue
			}
			if word := strings.TrimSpace(string(runes[i+1 : j])); word != "" {
				words = append(words, word)
			}
			i = j
			break
		}
	}
	return words
}
