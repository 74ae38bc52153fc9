package suite

import (
	"crosstalk/internal/testing/golden"
	"slices"
	"strings"
	"testing"

	"crosstalk"
)

// Tasks alone need no items, and must be of a consistency suite.
func TestParseTasks(t *testing.T) {
	const head = "suite: s\ninstrument: consistency\ntasks: [{task: t, fields: [a], layout: \"{q}{a}\", instructions: {en: {q: x}}}]\n"
	if s, err := ParseTasks("s.yaml", []byte(head)); err != nil || len(s.Tasks) != 1 || s.Items.Len() != 0 {
		t.Errorf("%+v, %v", s, err)
	}
	for text, want := range map[string]string{
		"": "s.yaml:1: expected suite: NAME",
		"suite: s\ninstrument: leakage\nitems: [{id: i, concept: c, test: t c, control: t}]\n": "s.yaml: is a leakage suite; expected a consistency suite",
	} {
		if _, err := ParseTasks("s.yaml", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Whatever the text, reading tasks ends with an error or tasks and items that
// fit each other.
func FuzzParseTasks(f *testing.F) {
	for _, text := range golden.Inputs(f, "testdata/suites.txt") {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := ParseTasks("s.yaml", text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "s.yaml:") {
				t.Errorf("%v names no file", err)
			}
			return
		}
		tasks := map[string]crosstalk.Task{}
		for _, task := range s.Tasks {
			if task.Name == "" || len(task.Fields) == 0 || task.Layout == "" || len(task.Instructions) == 0 {
				t.Errorf("task %+v", task)
			}
			for _, i := range task.Instructions {
				for _, w := range i.Words {
					if w.Word == "" || !slices.Contains(task.Classes, w.Class) {
						t.Errorf("task %+v", task)
					}
				}
			}
			tasks[task.Name] = task
		}
		for _, item := range s.Items.All() {
			task, ok := tasks[item.Input.Task]
			for _, texts := range item.Input.Texts {
				ok = ok && len(texts) == len(task.Fields)
			}
			for _, gold := range item.Input.Gold {
				ok = ok && (len(task.Classes) == 0 || slices.Contains(task.Classes, gold))
			}
			if !ok || item.ID == "" || item.Cluster == "" {
				t.Errorf("item %+v %+v", item, item.Input)
			}
		}
		Check(s)
	})
}
