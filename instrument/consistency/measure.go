package consistency

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/instrument/consistency/read"
	"crosstalk/internal/parallel"
	"crosstalk/measure/abstention"
)

// Senses are the senses in a study: each item is asked in every language of From and, for each of these, rewritten into
// every sense of To.
type Senses struct {
	From  []string // languages of the original inputs and instructions
	To    []string // languages, Paraphrase, or names of Rewriter.Prompts
	Mixed []string // languages whose original instructions are also combined with inputs in From's
	Parts []Part   // the parts to rewrite: Both, Instructions or Inputs; nil: each in turn
}

// Forms returns the forms in which an item is asked, sources first.
func (in *Instrument) Forms() []Form {
	var forms []Form
	add := func(f Form) {
		if !slices.Contains(forms, f) {
			forms = append(forms, f)
		}
	}
	for _, from := range in.Senses.From {
		add(Form{Sense(from), Sense(from)})
	}
	for _, from := range in.Senses.From {
		for _, to := range in.Senses.To {
			if from == to {
				continue
			}
			source, rewritten := Sense(from), Sense(from).To(to)
			for _, f := range []Form{{rewritten, rewritten}, {source, rewritten}, {rewritten, source}} {
				_, part := f.Place()
				asked := in.Senses.Parts == nil || slices.Contains(in.Senses.Parts, part)
				if asked && (part == Inputs || !in.Rewriting.InputsOnly(rewritten)) {
					add(f)
				}
			}
		}
		for _, language := range in.Senses.Mixed {
			if from != language {
				add(Form{Sense(from), Sense(language)})
			}
		}
	}
	return forms
}

// Measure lets the model rewrite the item's texts, asks all samples of the question in all forms, and scores the
// answers. It asks the sources once more, for the baseline. If Tasks lacks an instruction in some sense, that is
// rewritten too, and used without a review. With AskOnly, it keeps and scores no answers.
func (in *Instrument) Measure(ctx context.Context, ask crosstalk.Asker,
	item crosstalk.Item) ([]crosstalk.Observation, error) {
	task, err := in.taskOf(item)
	if err != nil {
		return nil, err
	}
	forms := in.Forms()
	task.Instructions = maps.Clone(task.Instructions)
	for _, form := range forms {
		if _, ok := task.Instructions[string(form.Instruction)]; ok {
			continue
		}
		r, err := in.RewriteInstruction(ctx, ask, task, form.Instruction)
		if err != nil {
			return nil, err
		}
		task.Instructions[string(form.Instruction)] = r.Instruction()
	}
	s := &scoring{Instrument: in, ctx: ctx, ask: ask, item: item, task: task, answers: Answers{},
		rewritten: map[Sense]Rewritten{}}
	bySense := map[Sense][]Form{}
	for _, form := range forms {
		n := in.Samples
		if _, part := form.Place(); part == Source {
			n++
		}
		s.answers[form] = make([]crosstalk.Answer, n)
		bySense[form.Input] = append(bySense[form.Input], form)
	}
	inputs := slices.Sorted(maps.Keys(bySense))
	rewritten := make([]Rewritten, len(inputs))
	err = parallel.Each(len(inputs), func(i int) (err error) {
		rewritten[i], err = s.askInput(inputs[i], bySense[inputs[i]])
		return err
	})
	if err != nil || in.AskOnly {
		return nil, err
	}
	for i, input := range inputs {
		if input.Rewritten() {
			s.rewritten[input] = rewritten[i]
		}
	}
	return s.score()
}

// askInput lets the model rewrite an input, if need be, and asks all forms with this input. Goroutines share no
// answers.
func (s *scoring) askInput(input Sense, forms []Form) (r Rewritten, err error) {
	texts, written := s.item.Input.Texts[string(input.Origin())]
	if !written {
		return r, fmt.Errorf("item %s has no text in %s", s.item.ID, input.Origin())
	}
	if input.Rewritten() {
		if r, err = s.input(s.ctx, s.ask, s.item, input); err != nil || r.Texts == nil {
			return r, err // nothing to ask
		}
		texts = r.Texts
	}
	return r, parallel.Each(len(forms), func(i int) error {
		answers := s.answers[forms[i]]
		prompt := s.task.Prompt(s.task.Instructions[string(forms[i].Instruction)], texts)
		return parallel.Each(len(answers), func(k int) error {
			answer, err := s.ask.Ask(s.ctx, s.Prompting.Request(prompt, k))
			if !s.AskOnly {
				answers[k] = answer
			}
			return err
		})
	})
}

// Requests returns the requests for an item's first sample in its original languages. Other requests depend on how the
// model rewrites these.
func Requests(p crosstalk.PromptConfig, tasks []crosstalk.Task, i crosstalk.Item) []crosstalk.NamedRequest {
	var requests []crosstalk.NamedRequest
	t := tasks[slices.IndexFunc(tasks, func(t crosstalk.Task) bool { return t.Name == i.Input.Task })]
	for _, language := range slices.Sorted(maps.Keys(i.Input.Texts)) {
		if in, ok := t.Instructions[language]; ok {
			request := p.Request(t.Prompt(in, i.Input.Texts[language]), 0)
			requests = append(requests, crosstalk.NamedRequest{Name: language, Request: request})
		}
	}
	return requests
}

type answer struct {
	crosstalk.Answer
	class      string // an id, or the free answer; "" for none
	rule       string // the rule that found it
	confidence read.Confidence
	reason     string    // why there is no class
	override   *Override // people's correction
}

// Answered identifies an answer for review: the same texts, answering the same instruction, are read alike.
type Answered struct {
	Task        string
	Instruction string // the instruction's sense
	Text        string
}

// Override is a manually assigned class that replaces the class read.
type Override struct {
	Class    string // "" if the answer has none
	Reviewer string
	Reason   string
}

// Overrides are corrections of readings.
type Overrides map[Answered]Override

// ID returns a short hash of the corrections, "" if there are none.
func (o Overrides) ID() string {
	if o == nil {
		return ""
	}
	var sum uint32
	for answered, override := range o {
		parts := []string{answered.Task, answered.Instruction, answered.Text, override.Class}
		hash := sha256.Sum256(crosstalk.Canonical(parts))
		sum += binary.BigEndian.Uint32(hash[:])
	}
	return fmt.Sprintf("%08x", sum)
}

func (s *scoring) read(form Form, of crosstalk.Answer) answer {
	a := answer{Answer: of}
	if r, ok := s.rewritten[form.Input]; ok && r.Texts == nil {
		a.reason = noRewriting
		return a
	}
	switch {
	case a.Status == "":
		a.reason = Missing
		return a
	case a.Status == crosstalk.Empty && s.Protocol.InvalidIsClass:
		return a
	case a.Status != crosstalk.Text:
		a.reason = string(a.Status)
		return a
	}
	if r := Read(s.Protocol, s.task, form.Instruction, a.Text); r.Abstains {
		a.reason, a.rule = string(crosstalk.NoAnswer), r.Rule
	} else {
		a.class, a.rule, a.confidence = r.Class, r.Rule, r.Confidence
	}
	if o, ok := s.Overrides[Answered{s.task.Name, string(form.Instruction), a.Text}]; ok && s.reading == reviewed {
		a.class, a.rule, a.confidence, a.override, a.reason = o.Class, "review", read.Full, &o, ""
	}
	return a
}

// Class is the class read in an answer.
type Class struct {
	read.Reading
	Class    string // its id, or ""; the text of a free answer
	Abstains bool   // the answer says that it gives none; Rule is "no answer"
}

// Read finds the class of an answer to an instruction. An answer abstains if its first sentence says so (package
// abstention), no label follows where answers usually have theirs, and no label of the task says so too.
func Read(p Protocol, task crosstalk.Task, instruction Sense, text string) Class {
	in, _ := InstructionIn(task, instruction)
	labels, n := len(task.Classes) > 0, 0
	says := func(w crosstalk.AnswerWord) bool { return abstention.Sentence(w.Word) > 0 }
	if p.Abstentions && !slices.ContainsFunc(in.Words, says) {
		n = abstention.Sentence(text)
	}
	if n > 0 {
		if r := p.read(in, text[n:]); labels && r.Confidence >= read.High {
			return r
		}
		return Class{Reading: read.Reading{Rule: string(crosstalk.NoAnswer)}, Abstains: true}
	}
	if !labels {
		return Class{Class: strings.TrimSpace(text)}
	}
	return p.read(in, text)
}

func (p Protocol) read(in crosstalk.Instruction, text string) Class {
	labels, classes := make([]string, len(in.Words)), map[string]string{}
	for i, w := range in.Words {
		labels[i], classes[w.Word] = w.Word, w.Class
	}
	r := read.Readers[p.Reader](text, labels)
	return Class{Reading: r, Class: classes[r.Label]}
}

// Verdict is the result of comparing the meaning of two answers.
type Verdict int

const (
	Unknown Verdict = iota - 1
	No
	Yes
)

// VerdictOf returns Yes or No.
func VerdictOf(same bool) Verdict {
	if same {
		return Yes
	}
	return No
}

// A Comparer decides whether two free answers to a question mean the same.
type Comparer interface {
	// Name returns the name for signatures.
	Name() string
	// Same compares two answers. It returns the keys of its requests, if any. An error ends the measurement.
	Same(ctx context.Context, ask crosstalk.Asker, question, a, b string) (Verdict, []crosstalk.Key, error)
}

// sameFree compares free answers to a question, which it shows in its original form.
func (s *scoring) sameFree(form Form, a, b string) (Verdict, []crosstalk.Key, error) {
	if s.Free == nil {
		return Unknown, nil, fmt.Errorf("the task %s has no classes and needs a way to compare free answers", s.task.Name)
	}
	form = form.Source()
	instruction, _ := InstructionIn(s.task, form.Instruction)
	return s.Free.Same(s.ctx, s.ask, s.task.Prompt(instruction, s.item.Input.Texts[string(form.Input)]), a, b)
}
