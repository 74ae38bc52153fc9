// Package transcript joins answers that were recorded elsewhere, one a row, to
// the items that they answer.
package transcript

import (
	"fmt"
	"hash/maphash"
	"iter"
	"maps"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/instrument/consistency"
	"crosstalk/measure/langid"
	"crosstalk/recorded"
)

// Transcript is what some files hold, checked.
type Transcript struct {
	Tasks     []crosstalk.Task
	Items     []crosstalk.Item
	Of        string                          // where tasks and items are from, for errors
	Files     []string                        // of answers
	Texts     []string                        // files of rewritten texts
	ModelOf   func(file, model string) string // the model of a row that says so or not
	By        []string                        // columns that part an item's answers, where the files have them
	Languages langid.Identifier               // flags rewritings in a wrong language; may be nil
	Columns   map[string]bool                 // that the answers have, once checked

	items     map[name]crosstalk.Item
	forms     map[[2]string]map[consistency.Form]int // runs, by model and task
	expected  map[uint64]int                         // answers of a question
	rewritten map[rewriting][]string
	seed      maphash.Seed
}

type name struct{ task, item string }

type rewriting struct {
	model string // "" for any
	name
	sense consistency.Sense
}

// Answered is an item with a model's answers.
type Answered struct {
	Model     string
	Item      crosstalk.Item
	Answers   consistency.Answers
	Rewritten map[consistency.Sense]consistency.Rewritten
}

// Check reads all files once. It refuses what belongs to no item, what stands
// there twice, and languages that the tasks lack, each with file and line.
func (t *Transcript) Check() error {
	t.seed = maphash.MakeSeed()
	t.items, t.forms, t.expected = map[name]crosstalk.Item{}, map[[2]string]map[consistency.Form]int{}, map[uint64]int{}
	t.rewritten, t.Columns = map[rewriting][]string{}, map[string]bool{}
	for _, item := range t.Items {
		t.items[name{item.Input.Task, item.ID}] = item
	}
	if err := t.checkTexts(); err != nil {
		return err
	}
	seen := map[uint64]int{} // the row that holds an answer
	row := 0
	for a, err := range t.rows() {
		if err == nil {
			err = t.check(a)
		}
		if err != nil {
			return err
		}
		answer := t.hash(a, a.Input, a.Instruction, fmt.Sprint(a.Run))
		if first, again := seen[answer]; again {
			return fmt.Errorf("%s: item %s in %s, instruction in %s, run %d of model %s stands in %s already", a.Where, a.Item, a.Input, a.Instruction, a.Run+1, a.Model, t.where(first))
		}
		seen[answer] = row
		row++
		t.expected[t.hash(a)]++
		at := [2]string{a.Model, a.Task}
		if t.forms[at] == nil {
			t.forms[at] = map[consistency.Form]int{}
		}
		form := consistency.Form{Input: consistency.Sense(a.Input), Instruction: consistency.Sense(a.Instruction)}
		t.forms[at][form] = max(t.forms[at][form], a.Run+1)
		for column := range a.Labels {
			t.Columns[column] = true
		}
	}
	return nil
}

// rows yields the answers of all files, with model and task.
func (t *Transcript) rows() iter.Seq2[recorded.Consistency, error] {
	return func(yield func(recorded.Consistency, error) bool) {
		for _, file := range t.Files {
			for a, err := range recorded.ReadConsistency(file) {
				if err == nil {
					a.Model = t.ModelOf(file, a.Model)
					a.Task, err = t.taskOf(a.Where, a.Task)
				}
				if !yield(a, err) || err != nil {
					return
				}
			}
		}
	}
}

// taskOf is the task that a row names, or the only one.
func (t *Transcript) taskOf(where, named string) (string, error) {
	names := make([]string, len(t.Tasks))
	for i, task := range t.Tasks {
		names[i] = task.Name
	}
	switch {
	case named == "" && len(names) == 1:
		return names[0], nil
	case named == "":
		return "", fmt.Errorf("%s: names no task; expected one of %s", where, strings.Join(names, ", "))
	case !slices.Contains(names, named):
		return "", fmt.Errorf("%s: %s has no task %q; it has %s", where, t.Of, named, strings.Join(names, ", "))
	}
	return named, nil
}

func (t *Transcript) task(named string) crosstalk.Task {
	return t.Tasks[slices.IndexFunc(t.Tasks, func(task crosstalk.Task) bool { return task.Name == named })]
}

// check refuses an answer to what is not there.
func (t *Transcript) check(a recorded.Consistency) error {
	item, known := t.items[name{a.Task, a.Item}]
	if !known {
		return fmt.Errorf("%s: %s has no item %q of the task %s", a.Where, t.Of, a.Item, a.Task)
	}
	task := t.task(a.Task)
	if _, known := consistency.InstructionIn(task, consistency.Sense(a.Instruction)); !known {
		return fmt.Errorf("%s: the task %s has no instruction in %s, and so no answer words; it has %s", a.Where, a.Task, a.Instruction, list(task.Instructions))
	}
	origin := string(consistency.Sense(a.Input).Origin())
	_, text := item.Input.Texts[origin]
	_, gold := item.Input.Gold[origin]
	switch {
	case len(item.Input.Gold) > 0 && !gold:
		return fmt.Errorf("%s: item %s has no gold class in %s; it has %s", a.Where, a.Item, origin, list(item.Input.Gold))
	case len(item.Input.Gold) == 0 && len(item.Input.Texts) > 0 && !text:
		return fmt.Errorf("%s: item %s has no text in %s; it has %s", a.Where, a.Item, origin, list(item.Input.Texts))
	}
	return nil
}

func list[V any](m map[string]V) string { return strings.Join(slices.Sorted(maps.Keys(m)), ", ") }

// checkTexts reads the rewritten texts. Texts in a language that people wrote
// them in are added to the items.
func (t *Transcript) checkTexts() error {
	where := map[rewriting]string{}
	for _, file := range t.Texts {
		for r, err := range recorded.ReadRewritings(file) {
			if err != nil {
				return err
			}
			if r.Task, err = t.taskOf(r.Where, r.Task); err != nil {
				return err
			}
			at := rewriting{r.Model, name{r.Task, r.Item}, consistency.Sense(r.Input)}
			item, known := t.items[at.name]
			if !known {
				return fmt.Errorf("%s: %s has no item %q of the task %s", r.Where, t.Of, r.Item, r.Task)
			}
			if first, again := where[at]; again {
				return fmt.Errorf("%s: the texts of item %s in %s stand in %s already", r.Where, r.Item, r.Input, first)
			}
			where[at] = r.Where
			texts, err := fieldsOf(t.task(r.Task), r)
			if err != nil {
				return err
			}
			if at.sense.Rewritten() {
				t.rewritten[at] = texts
				continue
			}
			input := *item.Input
			input.Texts = maps.Clone(input.Texts)
			if input.Texts == nil {
				input.Texts = map[string][]string{}
			}
			input.Texts[r.Input] = texts
			item.Input = &input
			t.items[at.name] = item
		}
	}
	return nil
}

// fieldsOf are the texts of a row in the order of the task's fields.
func fieldsOf(task crosstalk.Task, r recorded.Rewriting) ([]string, error) {
	texts := r.Texts
	if texts == nil {
		for _, field := range task.Fields {
			text, ok := r.Fields[field]
			if !ok {
				return nil, fmt.Errorf("%s: has neither texts nor a column %q; expected the fields of the task: %s", r.Where, field, strings.Join(task.Fields, ", "))
			}
			texts = append(texts, text)
		}
	}
	if len(texts) != len(task.Fields) {
		return nil, fmt.Errorf("%s: has %d texts; expected %d: %s", r.Where, len(texts), len(task.Fields), strings.Join(task.Fields, ", "))
	}
	return texts, nil
}

// hash names a row's question, with what else parts it.
func (t *Transcript) hash(a recorded.Consistency, more ...string) uint64 {
	var h maphash.Hash
	h.SetSeed(t.seed)
	parts := append([]string{a.Model, a.Task, a.Item}, more...)
	for _, column := range t.By {
		parts = append(parts, a.Labels[column])
	}
	for _, part := range parts {
		h.WriteString(part)
		h.WriteByte(0)
	}
	return h.Sum64()
}

// where is the place of a row.
func (t *Transcript) where(number int) string {
	row := 0
	for a, err := range t.rows() {
		if err != nil || row == number {
			return a.Where
		}
		row++
	}
	return "an earlier row"
}

// Joined yields each item when its last answer was read, so memory holds no
// more than the items whose answers are not together.
func (t *Transcript) Joined() iter.Seq2[Answered, error] {
	return func(yield func(Answered, error) bool) {
		open := map[uint64]*pending{}
		for a, err := range t.rows() {
			if err != nil {
				yield(Answered{}, err)
				return
			}
			at := t.hash(a)
			p := open[at]
			if p == nil {
				p = t.begin(a)
				open[at] = p
			}
			p.add(a)
			if p.answers < t.expected[at] {
				continue
			}
			delete(open, at)
			p.Item.Labels = p.labels()
			if !yield(p.Answered, nil) {
				return
			}
		}
	}
}

// pending is an item some of whose answers are still to come.
type pending struct {
	Answered
	answers int
	own     map[string]string // labels of the rows
	differ  map[string]bool   // of which some say otherwise
}

func (t *Transcript) begin(a recorded.Consistency) *pending {
	item := t.items[name{a.Task, a.Item}]
	p := &pending{own: maps.Clone(a.Labels), differ: map[string]bool{}, Answered: Answered{Model: a.Model, Item: item, Answers: consistency.Answers{}, Rewritten: map[consistency.Sense]consistency.Rewritten{}}}
	for form, runs := range t.forms[[2]string{a.Model, a.Task}] {
		p.Answers[form] = make([]crosstalk.Answer, runs)
		s := form.Input
		for _, model := range []string{a.Model, ""} {
			texts, ok := t.rewritten[rewriting{model, name{a.Task, a.Item}, s}]
			if ok {
				p.Rewritten[s] = consistency.Rewritten{Texts: texts, Flags: consistency.FlagTexts(s, item.Input.Texts[string(s.Origin())], texts, t.Languages)}
				break
			}
		}
	}
	return p
}

func (p *pending) add(a recorded.Consistency) {
	p.answers++
	p.Answers[consistency.Form{Input: consistency.Sense(a.Input), Instruction: consistency.Sense(a.Instruction)}][a.Run] = a.Answer
	for column := range p.own {
		p.differ[column] = p.differ[column] || a.Labels[column] != p.own[column]
	}
}

// labels are the item's and those that all rows share.
func (p *pending) labels() map[string]string {
	labels := map[string]string{}
	for column, value := range p.own {
		if !p.differ[column] {
			labels[column] = value
		}
	}
	maps.Copy(labels, p.Item.Labels)
	return labels
}
