package consistency

import (
	"context"
	"fmt"

	"crosstalk"
)

// Verdict is the result of comparing the meaning of two answers.
type Verdict int

const (
	Unknown Verdict = iota - 1
	No
	Yes
)

// VerdictOf is Yes or No.
func VerdictOf(same bool) Verdict {
	if same {
		return Yes
	}
	return No
}

// A Comparer decides whether two free answers to a question mean the same.
type Comparer interface {
	// Name is the name in signatures.
	Name() string
	// Same compares two answers. It returns the keys of its requests to a model, if
	// any. An error ends the measurement.
	Same(ctx context.Context, ask crosstalk.Asker, question, a, b string) (Verdict, []crosstalk.Key, error)
}

// sameFree compares free answers to a question. It shows the question in the form that people wrote.
func (s *scoring) sameFree(form Form, a, b string) (Verdict, []crosstalk.Key, error) {
	if s.Free == nil {
		return Unknown, nil, fmt.Errorf("the task %s has no classes and needs a way to compare free answers", s.task.Name)
	}
	form = form.Source()
	instruction, _ := InstructionIn(s.task, form.Instruction)
	return s.Free.Same(s.ctx, s.ask, s.task.Prompt(instruction, s.item.Input.Texts[string(form.Input)]), a, b)
}
