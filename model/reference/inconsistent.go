package reference

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"

	"crosstalk"
)

// Inconsistency is the truth of a reference model: probabilities, 0 to 1, independent of each other.
type Inconsistency struct {
	Flip    float64 // that an answer in another sense has another class than the answer to the source
	Invalid float64 // that an answer has no label
	Wrong   float64 // that an item's source is answered wrongly
}

// Inconsistent answers the questions of classification tasks. An item has one answer in a language in which people
// wrote it: the right one except with probability Wrong. In every form with rewritten parts, the class flips with
// probability Flip to one of the others. The model rewrites a text by putting the sense before it, as in "[German] Is
// it so?", and recognises its texts by that, so that all steps of a measurement are tested. An answer depends only on
// seed, question and sample, except for the class of the source, which is the same in all samples.
type Inconsistent struct {
	base
	Inconsistency
	seed      uint64
	questions map[string]question
	texts     map[string]bool // texts that may have to be rewritten
}

type question struct {
	item     *crosstalk.Item
	task     *crosstalk.Task
	language string
	crosstalk.Instruction
}

// NewInconsistent returns an inconsistent model for these tasks and items.
func NewInconsistent(tasks []crosstalk.Task, items []crosstalk.Item, truth Inconsistency,
	seed uint64) (*Inconsistent, error) {
	err := cmp.Or(
		checkProbability("inconsistent", "flip", truth.Flip),
		checkProbability("inconsistent", "invalid", truth.Invalid),
		checkProbability("inconsistent", "wrong", truth.Wrong))
	if err != nil {
		return nil, err
	}
	m := &Inconsistent{Inconsistency: truth, seed: seed, questions: map[string]question{}, texts: map[string]bool{}}
	hash := fnv.New64a()
	for i := range tasks {
		hash.Write(crosstalk.Canonical(tasks[i]))
		for _, in := range tasks[i].Instructions {
			for _, part := range in.Parts {
				m.texts[strings.TrimSpace(part)] = true
			}
		}
	}
	for i := range items {
		item := &items[i]
		t := slices.IndexFunc(tasks, func(t crosstalk.Task) bool { return item.Input != nil && t.Name == item.Input.Task })
		if t < 0 || len(tasks[t].Classes) < 2 {
			return nil, fmt.Errorf("item %s has no task with classes, and %s:inconsistent answers with a class: name a model "+
				"(--model openai:gpt-4o-mini), or use a suite with classes", item.ID, Provider)
		}
		hash.Write(crosstalk.Canonical(item.Input))
		for language, texts := range item.Input.Texts {
			for _, text := range texts {
				m.texts[strings.TrimSpace(text)] = true
			}
			for _, in := range tasks[t].Instructions {
				m.questions[unmarked(tasks[t].Prompt(in, texts))] = question{item, &tasks[t], language, in}
			}
		}
	}
	m.base = newBase(crosstalk.Chat, hash.Sum(nil), "inconsistent?flip=%g&invalid=%g&wrong=%g&seed=%d", m.Flip, m.Invalid,
		m.Wrong, m.seed)
	return m, nil
}

func (m *Inconsistent) Answer(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	if err := ctx.Err(); err != nil {
		return crosstalk.Answer{}, err
	}
	text, known := m.reply(req.Text(), req.Sample)
	if !known {
		text, known = m.rewrite(req.Text())
	}
	if !known {
		return crosstalk.Answer{}, &crosstalk.AskError{Fault: crosstalk.Rejected,
			Message: fmt.Sprintf("%s:inconsistent knows only the questions and texts of the suite's tasks, not %q", Provider,
				req.Text())}
	}
	return m.answered(req, text), nil
}

var target = regexp.MustCompile(` into ([\pL() ]+)[.,:]`)

// rewrite rewrites the longest text of the suite at the end of a prompt, in quotation marks or not.
func (m *Inconsistent) rewrite(prompt string) (text string, known bool) {
	text, _ = promptOf(m.texts, strings.TrimSuffix(prompt, `"`))
	if quoted, _ := promptOf(m.texts, prompt); len(quoted) > len(text) {
		text = quoted
	}
	sense := "otherwise"
	if found := target.FindStringSubmatch(prompt[:len(prompt)-len(text)]); found != nil {
		sense = found[1]
	}
	return mark(sense) + text, text != ""
}

func mark(sense string) string { return "[" + sense + "] " }

var marks = regexp.MustCompile(`\[[\pL() ]+\] `)

func unmarked(prompt string) string { return marks.ReplaceAllString(prompt, "") }

const noLabel = "Who could tell?"

func (m *Inconsistent) reply(prompt string, sample int) (text string, known bool) {
	q, known := m.questions[unmarked(prompt)]
	if !known {
		return "", false
	}
	class := m.source(q)
	random := draws(m.seed, prompt, sample)
	flip, other, invalid := random.Float64() < m.Flip, random.IntN(len(q.task.Classes)-1), random.Float64() < m.Invalid
	if flip && marks.MatchString(prompt) {
		class = without(q.task.Classes, class)[other]
	}
	word := slices.IndexFunc(q.Words, func(w crosstalk.AnswerWord) bool { return w.Class == class })
	if invalid || word < 0 {
		return noLabel, true
	}
	return q.Words[word].Word + ".", true
}

// source returns the class of an item's answer in the sense that people wrote.
func (m *Inconsistent) source(q question) string {
	classes := q.task.Classes
	random := draws(m.seed, q.item.ID, 0)
	wrong, other := random.Float64() < m.Wrong, random.IntN(len(classes)-1)
	any := classes[random.IntN(len(classes))] // if there is no gold class
	gold := cmp.Or(q.item.Input.Gold[q.language], any)
	if wrong {
		return without(classes, gold)[other]
	}
	return gold
}

func without(classes []string, class string) []string {
	return slices.DeleteFunc(slices.Clone(classes), func(c string) bool { return c == class })
}
