package consistency

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"crosstalk"

	"golang.org/x/sync/errgroup"
)

// RewrittenInstruction is a task's instruction as rewritten by a model, to be
// reviewed before it is used.
type RewrittenInstruction struct {
	Task  string
	Sense Sense
	Parts []RewrittenPart
	Words []crosstalk.AnswerWord // proposed: from the words that the parts quote

	// Doubts are what is missing or doubtful. If Words lacks a word for a class,
	// the instruction cannot be used unchanged.
	Doubts []string
}

// RewrittenPart is one part of an instruction: the source, the model's answer, and
// the text for prompts.
type RewrittenPart struct{ Name, Source, Output, Text string }

// RewriteInstruction lets the model rewrite a task's instruction part by part. A
// part without an answer is empty, with a doubt.
func (in *Instrument) RewriteInstruction(ctx context.Context, ask crosstalk.Asker, task crosstalk.Task, s Sense) (RewrittenInstruction, error) {
	source, ok := task.Instructions[string(s.Origin())]
	if !ok {
		return RewrittenInstruction{}, fmt.Errorf("the task %s has no instruction in %s", task.Name, s.Origin())
	}
	r := RewrittenInstruction{Task: task.Name, Sense: s}
	for _, name := range task.Slots() {
		if text, ok := source.Parts[name]; ok {
			r.Parts = append(r.Parts, RewrittenPart{Name: name, Source: text})
		}
	}
	answers := make([]crosstalk.Answer, len(r.Parts))
	var group errgroup.Group
	for i, part := range r.Parts {
		group.Go(func() (err error) {
			answers[i], err = in.Rewriting.rewrite(ctx, ask, Instructions, s, part.Source)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return r, err
	}
	for i, a := range answers {
		part := &r.Parts[i]
		part.Output = a.Text
		if a.Status != crosstalk.Text {
			r.Doubts = append(r.Doubts, fmt.Sprintf("%s: the model's answer is %s", part.Name, a.Status))
			continue
		}
		part.Text = cleaned(part.Source, a.Text)
		if flags := FlagTexts(s, []string{part.Source}, []string{part.Text}, in.Languages); len(flags) > 0 && strings.TrimSpace(part.Source) != "" {
			r.Doubts = append(r.Doubts, part.Name+": "+joinFlags(flags))
		}
	}
	r.proposeWords(task, source.Words)
	return r, nil
}

// Instruction is the instruction with these parts and words.
func (r RewrittenInstruction) Instruction() crosstalk.Instruction {
	in := crosstalk.Instruction{Parts: map[string]string{}, Words: r.Words}
	for _, part := range r.Parts {
		in.Parts[part.Name] = part.Text
	}
	return in
}

// proposeWords pairs the words that a rewritten part quotes with those that its
// source quotes in the same places.
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
	if missing := MissingWords(task, r.Words); len(missing) > 0 {
		r.Doubts = append(r.Doubts, "no answer words found for "+strings.Join(missing, ", "))
	}
}

// MissingWords are the task's classes without a word.
func MissingWords(task crosstalk.Task, words []crosstalk.AnswerWord) (classes []string) {
	for _, class := range task.Classes {
		if !slices.ContainsFunc(words, func(w crosstalk.AnswerWord) bool { return w.Class == class }) {
			classes = append(classes, class)
		}
	}
	return classes
}

// closers are the marks that end a quotation, by the mark that begins it.
var closers = map[rune]string{'"': `"`, '\'': `'’`, '“': `”"`, '„': `“”"`, '‘': `’'`, '‚': `‘’'`, '«': `»`, '»': `«`, '‹': `›`, '「': `」`, '『': `』`, '《': `》`, '`': "`´'"}

// Quoted returns the quoted parts of a text, in order. An apostrophe within a word
// is not a quotation mark.
func Quoted(text string) (words []string) {
	inWord := func(before, after rune) bool { return unicode.IsLetter(before) && unicode.IsLetter(after) }
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
			if !strings.ContainsRune(ends, runes[j]) || strings.ContainsRune("'’", runes[j]) && inWord(at(j-1), at(j+1)) {
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
