// Package transcript joins answers recorded elsewhere, one per row, to their items.
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
	"crosstalk/internal/ordered"
	"crosstalk/measure/langid"
	"crosstalk/recorded"
)

// Transcript is the checked content of a set of files.
type Transcript struct {
	Tasks     []crosstalk.Task
	Of        string                          // the source of tasks and items, for errors
	Files     []string                        // files with answers
	Reading   recorded.Reading                // how to read Files
	Texts     *Texts                          // texts of the items in other senses
	ModelOf   func(file, model string) string // returns the model of a row, which may not name one
	By        []string                        // columns that split an item's answers, if the files have them
	Languages langid.Identifier               // flags texts in a wrong language; may be nil
	Columns   map[string]bool                 // columns of the answers, set by Check

	items    map[name]crosstalk.Item
	forms    map[uint64]map[consistency.Form]int // runs, by model, task and the columns of By
	expected map[uint64]int                      // answers to a question
	seed     maphash.Seed
}

// Answered is an item with a model's answers.
type Answered struct {
	Model     string
	Item      crosstalk.Item
	Answers   consistency.Answers
	Rewritten map[consistency.Sense]consistency.Rewritten
}

// Check reads all files once. Unknown items, duplicates, and languages that a task lacks are errors with file and line.
func (t *Transcript) Check() error {
	t.seed = maphash.MakeSeed()
	t.items, t.forms, t.expected = map[name]crosstalk.Item{}, map[uint64]map[consistency.Form]int{}, map[uint64]int{}
	t.Columns = map[string]bool{}
	for _, item := range t.Texts.Items {
		t.items[name{item.Input.Task, item.ID}] = item
	}
	seen := map[uint64]int{} // rows by a hash of the answer's place
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
			return fmt.Errorf("%s: duplicate answer: item %s in %s, instruction in %s, run %d of model %s (first used in %s)",
				a.Where, a.Item, a.Input, a.Instruction, a.Run+1, a.Model, t.where(first))
		}
		seen[answer] = row
		row++
		t.expected[t.hash(a)]++
		at := t.group(a)
		if t.forms[at] == nil {
			t.forms[at] = map[consistency.Form]int{}
		}
		form := formOf(a)
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
			for a, err := range t.Reading.Consistency(file) {
				if err == nil {
					a.Model = t.ModelOf(file, a.Model)
					var task crosstalk.Task
					task, err = taskOf(t.Tasks, t.Of, a.Where, a.Task)
					a.Task = task.Name
				}
				if !yield(a, err) || err != nil {
					return
				}
			}
		}
	}
}

// check returns an error for an answer to an unknown question.
func (t *Transcript) check(a recorded.Consistency) error {
	item, known := t.items[name{a.Task, a.Item}]
	if !known {
		return fmt.Errorf("%s: %s has no item %q of the task %s", a.Where, t.Of, a.Item, a.Task)
	}
	task, _ := taskOf(t.Tasks, t.Of, a.Where, a.Task)
	if _, known := consistency.InstructionIn(task, consistency.Sense(a.Instruction)); !known {
		return fmt.Errorf("%s: the task %s has no instruction in %s, so no answer words; it has %s",
			a.Where, a.Task, a.Instruction, list(task.Instructions))
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

// group identifies rows with the same forms. A form that a group was never asked in is not missing there.
func (t *Transcript) group(a recorded.Consistency) uint64 {
	a.Item = ""
	return t.hash(a)
}

// hash identifies a row's question, including the columns of By.
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

// where returns the file and line of a row.
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

// Joined yields each item once its last answer was read, so memory holds only items with answers that are far apart.
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
			p.answers++
			p.Answers[formOf(a)][a.Run] = a.Answer
			maps.DeleteFunc(p.shared, func(column, value string) bool { return a.Labels[column] != value })
			if p.answers < t.expected[at] {
				continue
			}
			delete(open, at)
			maps.Copy(p.shared, p.Item.Labels)
			p.Item.Labels = p.shared
			if !yield(p.Answered, nil) {
				return
			}
		}
	}
}

// pending is an item with missing answers.
type pending struct {
	Answered
	answers int
	shared  map[string]string // labels that all rows have
}

func (t *Transcript) begin(a recorded.Consistency) *pending {
	item := t.items[name{a.Task, a.Item}]
	p := &pending{shared: map[string]string{}, Answered: Answered{Model: a.Model, Item: item,
		Answers: consistency.Answers{}, Rewritten: map[consistency.Sense]consistency.Rewritten{}}}
	maps.Copy(p.shared, a.Labels)
	for form, runs := range t.forms[t.group(a)] {
		p.Answers[form] = make([]crosstalk.Answer, runs)
		s := form.Input
		if texts, ok := t.Texts.Of(a.Model, item, s); ok {
			flags := consistency.FlagTexts(s, item.Input.Texts[string(s.Origin())], texts, t.Languages)
			p.Rewritten[s] = consistency.Rewritten{Texts: texts, Flags: flags}
		}
	}
	return p
}

func formOf(a recorded.Consistency) consistency.Form {
	return consistency.Form{Input: consistency.Sense(a.Input), Instruction: consistency.Sense(a.Instruction)}
}

// Texts contains items' texts in other senses.
type Texts struct {
	Items []crosstalk.Item // with original texts in other languages

	rewritten map[rewriting][]string
}

type name struct{ task, item string }

type rewriting struct {
	model string // "" for any model
	name
	sense consistency.Sense
}

// ReadTexts reads files with texts of a suite's items. of is the suite's name for errors, which name file and line.
func ReadTexts(files []string, of string, tasks []crosstalk.Task, items []crosstalk.Item) (*Texts, error) {
	t := &Texts{Items: slices.Clone(items), rewritten: map[rewriting][]string{}}
	index, where := map[name]int{}, map[rewriting]string{}
	for i, item := range items {
		index[name{item.Input.Task, item.ID}] = i
	}
	for _, file := range files {
		for r, err := range recorded.ReadRewritings(file) {
			if err != nil {
				return nil, err
			}
			task, err := taskOf(tasks, of, r.Where, r.Task)
			if err != nil {
				return nil, err
			}
			at := rewriting{r.Model, name{task.Name, r.Item}, consistency.Sense(r.Input)}
			i, known := index[at.name]
			if !known {
				return nil, fmt.Errorf("%s: %s has no item %q of the task %s", r.Where, of, r.Item, task.Name)
			}
			if first, again := where[at]; again {
				return nil, fmt.Errorf("%s: duplicate texts of item %s in %s (first used in %s)", r.Where, r.Item, r.Input, first)
			}
			where[at] = r.Where
			texts, err := fieldsOf(task, r)
			if err != nil {
				return nil, err
			}
			if at.sense.Rewritten() {
				t.rewritten[at] = texts
				continue
			}
			input := *t.Items[i].Input
			written := map[string][]string{r.Input: texts}
			maps.Copy(written, input.Texts) // the suite's own texts take precedence
			input.Texts = written
			t.Items[i].Input = &input
		}
	}
	return t, nil
}

// Of returns an item's texts as rewritten by a model, or elsewhere.
func (t *Texts) Of(model string, item crosstalk.Item, s consistency.Sense) (texts []string, known bool) {
	for _, m := range []string{model, ""} {
		if texts, known = t.rewritten[rewriting{m, name{item.Input.Task, item.ID}, s}]; known {
			break
		}
	}
	return texts, known
}

// fieldsOf returns the texts of a row in the order of the task's fields.
func fieldsOf(task crosstalk.Task, r recorded.Rewriting) ([]string, error) {
	texts := r.Texts
	if texts == nil {
		for _, field := range task.Fields {
			text, ok := r.Fields[field]
			if !ok {
				return nil, fmt.Errorf("%s: has neither texts nor a column %q; expected the fields of the task: %s",
					r.Where, field, strings.Join(task.Fields, ", "))
			}
			texts = append(texts, text)
		}
	}
	if len(texts) != len(task.Fields) {
		return nil, fmt.Errorf("%s: has %d texts; expected %d: %s",
			r.Where, len(texts), len(task.Fields), strings.Join(task.Fields, ", "))
	}
	return texts, nil
}

// taskOf returns the task that a row names, or the only one.
func taskOf(tasks []crosstalk.Task, of, where, named string) (crosstalk.Task, error) {
	for _, task := range tasks {
		if task.Name == named || named == "" && len(tasks) == 1 {
			return task, nil
		}
	}
	names := strings.Join(ordered.Distinct(tasks, func(t crosstalk.Task) string { return t.Name }), ", ")
	if named == "" {
		return crosstalk.Task{}, fmt.Errorf("%s: names no task; choose one of: %s", where, names)
	}
	return crosstalk.Task{}, fmt.Errorf("%s: %s has no task %q; choose one of: %s", where, of, named, names)
}
