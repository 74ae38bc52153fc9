package transcript

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/instrument/consistency"
	"crosstalk/recorded"
)

// Texts contains items' texts in other senses.
type Texts struct {
	Items []crosstalk.Item // with original texts in other languages

	rewritten map[rewriting][]string
}

type name struct{ task, item string }

type rewriting struct {
	model string // "" for any
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
			if r.Task, err = taskOf(tasks, of, r.Where, r.Task); err != nil {
				return nil, err
			}
			at := rewriting{r.Model, name{r.Task, r.Item}, consistency.Sense(r.Input)}
			i, known := index[at.name]
			if !known {
				return nil, fmt.Errorf("%s: %s has no item %q of the task %s", r.Where, of, r.Item, r.Task)
			}
			if first, again := where[at]; again {
				return nil, fmt.Errorf("%s: duplicate texts of item %s in %s (first used in %s)", r.Where, r.Item, r.Input, first)
			}
			where[at] = r.Where
			texts, err := fieldsOf(taskNamed(tasks, r.Task), r)
			if err != nil {
				return nil, err
			}
			if at.sense.Rewritten() {
				t.rewritten[at] = texts
				continue
			}
			input := *t.Items[i].Input
			written := map[string][]string{r.Input: texts}
			maps.Copy(written, input.Texts) // the suite's own texts win
			input.Texts = written
			t.Items[i].Input = &input
		}
	}
	return t, nil
}

// Of returns an item's texts as a model, or something else, rewrote them.
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
func taskOf(tasks []crosstalk.Task, of, where, named string) (string, error) {
	names := make([]string, len(tasks))
	for i, task := range tasks {
		names[i] = task.Name
	}
	switch {
	case named == "" && len(names) == 1:
		return names[0], nil
	case named == "":
		return "", fmt.Errorf("%s: names no task; choose one of: %s", where, strings.Join(names, ", "))
	case !slices.Contains(names, named):
		return "", fmt.Errorf("%s: %s has no task %q; choose one of: %s", where, of, named, strings.Join(names, ", "))
	}
	return named, nil
}

func taskNamed(tasks []crosstalk.Task, name string) crosstalk.Task {
	return tasks[slices.IndexFunc(tasks, func(t crosstalk.Task) bool { return t.Name == name })]
}
