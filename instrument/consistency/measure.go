package consistency

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"crosstalk"
	"crosstalk/internal/parallel"
)

var _ crosstalk.Instrument = (*Instrument)(nil)

// Senses are the senses of a study: each item is asked in every language of From
// and, for each of these, rewritten into every sense of To.
type Senses struct {
	From  []string // languages of the original inputs and instructions
	To    []string // languages, Paraphrase, or names of Rewriter.Prompts
	Mixed []string // languages whose original instructions are also combined with inputs in From's
	Parts []Part   // the parts to rewrite, of Both, Instructions and Inputs; nil: each in turn
}

// Forms are the forms in which an item is asked, sources first.
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

// Measure lets the model rewrite the item's texts, asks all samples of the
// question in all forms, and scores the answers. It asks the sources once more,
// for the baseline. An instruction that is missing from Tasks in some sense is
// rewritten too, and used without a review. If it is only to ask, it keeps and scores
// no answers.
func (in *Instrument) Measure(
	ctx context.Context, ask crosstalk.Asker, item crosstalk.Item,
) ([]crosstalk.Observation, error) {
	task, err := in.taskOf(item)
	if err != nil {
		return nil, err
	}
	forms := in.Forms()
	if task, err = in.withInstructions(ctx, ask, task, forms); err != nil {
		return nil, err
	}
	asked := &asked{Instrument: in, ask: ask, item: item, task: task,
		answers: Answers{}, rewritten: map[Sense]*Rewritten{}}
	bySense := map[Sense][]Form{}
	for _, form := range forms {
		n := in.Samples
		if _, part := form.Place(); part == Source {
			n++
		}
		asked.answers[form] = make([]crosstalk.Answer, n)
		bySense[form.Input] = append(bySense[form.Input], form)
		if form.Input.Rewritten() {
			asked.rewritten[form.Input] = &Rewritten{}
		}
	}
	inputs := slices.Sorted(maps.Keys(bySense))
	err = parallel.Each(len(inputs), func(i int) error { return asked.ofInput(ctx, inputs[i], bySense[inputs[i]]) })
	if err != nil || in.AskOnly {
		return nil, err
	}
	rewritten := map[Sense]Rewritten{}
	for sense, r := range asked.rewritten {
		rewritten[sense] = *r
	}
	return in.score(ctx, scoring{ask: ask, item: item, task: task, answers: asked.answers, rewritten: rewritten})
}

// asked is an item that is being measured. Each goroutine writes only to its own
// entries.
type asked struct {
	*Instrument
	ask       crosstalk.Asker
	item      crosstalk.Item
	task      crosstalk.Task
	answers   Answers
	rewritten map[Sense]*Rewritten
}

// ofInput asks all forms with the same input.
func (a *asked) ofInput(ctx context.Context, input Sense, forms []Form) error {
	texts, written := a.item.Input.Texts[string(input.Origin())]
	if !written {
		return fmt.Errorf("item %s has no text in %s", a.item.ID, input.Origin())
	}
	if input.Rewritten() {
		r, err := a.input(ctx, a.ask, a.item, input)
		if err != nil {
			return err
		}
		*a.rewritten[input] = r
		if texts = r.Texts; texts == nil {
			return nil // nothing to ask
		}
	}
	return parallel.Each(len(forms), func(i int) error {
		answers := a.answers[forms[i]]
		prompt := a.task.Prompt(a.task.Instructions[string(forms[i].Instruction)], texts)
		return parallel.Each(len(answers), func(k int) error {
			answer, err := a.ask.Ask(ctx, a.Prompting.Request(prompt, k))
			if !a.AskOnly {
				answers[k] = answer
			}
			return err
		})
	})
}

// withInstructions is the task with its instruction in the senses of all forms.
func (in *Instrument) withInstructions(
	ctx context.Context, ask crosstalk.Asker, task crosstalk.Task, forms []Form,
) (crosstalk.Task, error) {
	task.Instructions = maps.Clone(task.Instructions)
	for _, form := range forms {
		s := form.Instruction
		if _, ok := task.Instructions[string(s)]; ok {
			continue
		}
		r, err := in.RewriteInstruction(ctx, ask, task, s)
		if err != nil {
			return task, err
		}
		task.Instructions[string(s)] = r.Instruction()
	}
	return task, nil
}

// Requests are the requests for the first sample of an item in the languages that it
// was written in. The others depend on how the model rewrites these.
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
