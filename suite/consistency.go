package suite

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/internal/lazyregexp"
	"crosstalk/internal/strictyaml"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// taskFile is a suite of tasks. docs/suites.md describes it.
type taskFile struct {
	Header header          `yaml:",inline"`
	Tasks  []at[taskEntry] `yaml:"tasks"`
}

type taskEntry struct {
	Task         string                 `yaml:"task"`
	Classes      []at[string]           `yaml:"classes"`
	Fields       []at[string]           `yaml:"fields"`
	Layout       at[string]             `yaml:"layout"`
	Languages    []at[string]           `yaml:"languages"`
	Instructions inOrder[inOrder[node]] `yaml:"instructions"`
	Items        []inOrder[node]        `yaml:"items"`
	Data         at[dataEntry]          `yaml:"data"` // instead of items
}

// node is a value that is decoded later, once its type is known.
type node struct{ ast.Node }

func (n *node) UnmarshalYAML(v ast.Node) error {
	n.Node = v
	return nil
}

func (n node) isMap() bool {
	_, ok := n.Node.(ast.MapNode)
	return ok
}

var (
	// A language can have a suffix, as in de_formal. Other characters are refused: en>de would be a translation.
	languageName = lazyregexp.New(`^[\pL\pN][\pL\pN_-]*$`)
	slotName     = lazyregexp.New(`^[\pL\pN_]+$`)
	slots        = lazyregexp.New(`\{([^{}]*)\}`)
)

// ParseTasks is like Parse, for a task file in which items or texts may be missing: enough for recorded answers.
func ParseTasks(name string, text []byte) (*Suite, error) {
	s, err := parse(name, text, true)
	if err == nil && s.Instrument != "consistency" {
		err = fmt.Errorf("%s: is a %s suite; expected a consistency suite", name, s.Instrument)
	}
	return s, err
}

// LoadTasks is like LoadFor consistency, but reads a task file with ParseTasks.
func LoadTasks(nameOrFile string) (*Suite, error) {
	if ext := filepath.Ext(nameOrFile); ext != ".yaml" && ext != ".yml" {
		return LoadFor("consistency", nameOrFile)
	}
	text, err := strictyaml.ReadFile(nameOrFile, maxYAML)
	if err != nil {
		return nil, err
	}
	return ParseTasks(nameOrFile, text)
}

func readConsistency(d document, s *Suite) {
	var f taskFile
	d.decode(&f, yaml.Strict())
	d.refuseIf(s.Language != "" && !languageName().MatchString(s.Language), d.lineOf("language"),
		"%.40q is not a valid language; expected a code such as en", s.Language)
	d.refuseIf(len(f.Tasks) == 0, 1, "expected tasks, found none")
	r := taskReader{document: d, suite: s, tasks: map[string]int{}, ids: map[string]int{}}
	for i, t := range f.Tasks {
		if t.line == 0 {
			d.refuse(d.lineOf("tasks"), "entry %d is empty", i+1)
		}
		r.read(t.value, t.line)
	}
}

type taskReader struct {
	document
	suite *Suite
	tasks map[string]int // lines by name
	ids   map[string]int // lines by item id
}

// get decodes a node; a missing one leaves v unchanged.
func (r *taskReader) get(n node, v any) {
	document{name: r.name, root: n.Node}.decode(v, yaml.Strict())
}

func (r *taskReader) read(e taskEntry, line int) {
	r.refuseIf(e.Task == "", line, "a task has no name; expected task: NAME")
	r.refuseIf(!suiteName().MatchString(e.Task), line,
		"%.40q is not a valid task name; use only letters, digits, -, _ and .", e.Task)
	r.refuseIf(r.tasks[e.Task] != 0, line, "duplicate task %q (first used in line %d)", e.Task, r.tasks[e.Task])
	r.tasks[e.Task] = line
	t := crosstalk.Task{Name: e.Task, Layout: e.Layout.value, Instructions: map[string]crosstalk.Instruction{},
		Classes: r.names("class", e.Classes, line), Fields: r.names("field", e.Fields, line)}
	if len(t.Classes) == 1 {
		r.refuse(e.Classes[0].line, "task %s has one class; expected two or more, or none for free answers", t.Name)
	}
	r.refuseIf(len(t.Fields) == 0, line, "task %s has no fields; expected the names of the texts in an input", t.Name)
	r.refuseIf(t.Layout == "", line,
		"task %s has no layout; expected the prompt, with its parts and fields in braces", t.Name)
	r.refuseIf(len(e.Instructions) == 0, line, "task %s has no instructions", t.Name)
	parts := r.parts(t, e)
	for _, i := range e.Instructions {
		t.Instructions[i.key] = r.instruction(t, parts, i, e.Instructions)
	}
	if e.Data.value.Format.value == boolqFormat {
		t.Question = "question"
	}
	r.suite.Tasks = append(r.suite.Tasks, t)
	r.items(t, e, line)
}

// names reads a list of unique names for the task that begins in this line.
func (r *taskReader) names(what string, list []at[string], line int) (names []string) {
	for _, n := range list {
		r.refuseIf(strings.TrimSpace(n.value) == "", cmp.Or(n.line, line), "a %s has no name", what)
		r.refuseIf(slices.Contains(names, n.value), n.line, "duplicate %s %.40q", what, n.value)
		r.refuseIf(what == "field" && !slotName().MatchString(n.value), n.line,
			"%.40q is not a valid field name; use only letters, digits and _", n.value)
		r.refuseIf(what == "field" && slices.Contains(itemKeys, n.value), n.line,
			"a field cannot be named %s: items already have a key of that name", n.value)
		r.refuseIf(what == "language" && !languageName().MatchString(n.value), n.line,
			"%.40q is not a valid language; expected a code such as en", n.value)
		names = append(names, n.value)
	}
	return names
}

const wordsKey = "words" // an instruction's key for its answer words, not a part

func (r *taskReader) parts(t crosstalk.Task, e taskEntry) (parts []string) {
	written := map[string]bool{}
	for _, i := range e.Instructions {
		for _, part := range i.value {
			written[part.key] = part.key != wordsKey
		}
	}
	var named []string
	for _, slot := range slots().FindAllStringSubmatch(t.Layout, -1) {
		name := slot[1]
		field := slices.Contains(t.Fields, name)
		switch {
		case field && written[name]:
			r.refuse(e.Layout.line, "the layout names {%s}, which is both a field and a part of the instructions",
				name)
		case !field && !written[name]:
			r.refuse(e.Layout.line, "the layout names {%.40s}, which is neither a field nor a part of the "+
				"instructions", name)
		case !field && !slices.Contains(parts, name):
			parts = append(parts, name)
		}
		named = append(named, name)
	}
	for _, field := range t.Fields {
		r.refuseIf(!slices.Contains(named, field), e.Layout.line, "the layout does not use the field {%s}", field)
	}
	return parts
}

func (r *taskReader) instruction(t crosstalk.Task, parts []string, e entry[inOrder[node]],
	all inOrder[inOrder[node]]) crosstalk.Instruction {
	language := e.key
	i := crosstalk.Instruction{Parts: map[string]string{}}
	first, _, rewritten := strings.Cut(language, ">")
	for _, step := range strings.Split(language, ">") {
		r.refuseIf(!languageName().MatchString(step), e.line, "%.40q is not a valid language of an instruction; expected a "+
			"code such as en, or en>de for a rewritten instruction", language)
	}
	known := slices.ContainsFunc(all, func(e entry[inOrder[node]]) bool { return e.key == first })
	r.refuseIf(rewritten && !known, e.line,
		"instruction %s rewrites the one in %s, which the task does not have", language, first)
	for _, part := range e.value {
		if part.key == wordsKey {
			i.Words = r.words(t, language, part)
			continue
		}
		r.refuseIf(!slices.Contains(parts, part.key), part.line,
			"instruction %s: the layout does not use {%.40s}", language, part.key)
		var text string
		r.get(part.value, &text)
		i.Parts[part.key] = text
	}
	for _, part := range parts {
		_, ok := i.Parts[part] // recorded instructions may have words only
		r.refuseIf(!ok && !rewritten, e.line, "instruction %s has no %s, which the layout uses", language, part)
	}
	for _, class := range t.Classes {
		r.refuseIf(!slices.ContainsFunc(i.Words, func(w crosstalk.AnswerWord) bool { return w.Class == class }), e.line,
			"instruction %s has no word for the class %s", language, class)
	}
	return i
}

// words reads answer words and their classes. Readers ignore case, so words must differ in more than case.
func (r *taskReader) words(t crosstalk.Task, language string, e entry[node]) (words []crosstalk.AnswerWord) {
	var list inOrder[string]
	r.get(e.value, &list)
	lines := map[string]int{}
	for _, w := range list {
		word := strings.TrimSpace(w.key)
		lower := strings.ToLower(word)
		switch {
		case word == "":
			r.refuse(w.line, "instruction %s: an answer word is empty", language)
		case len(t.Classes) == 0:
			r.refuse(w.line, "instruction %s has answer words, but the task has no classes", language)
		case !slices.Contains(t.Classes, w.value):
			r.refuse(w.line, "instruction %s: the word %.40q has the unknown class %.40q; choose one of: %s",
				language, word, w.value, strings.Join(t.Classes, ", "))
		case lines[lower] != 0:
			r.refuse(w.line, "instruction %s: duplicate word %.40q (first used in line %d)",
				language, word, lines[lower])
		}
		lines[lower] = w.line
		words = append(words, crosstalk.AnswerWord{Word: word, Class: w.value})
	}
	return words
}

var itemKeys = []string{"id", "category", "cluster", "gold", "texts"}

func (r *taskReader) items(t crosstalk.Task, e taskEntry, line int) {
	languages := r.names("language", e.Languages, line)
	if len(languages) == 0 && r.suite.Language != "" {
		languages = []string{r.suite.Language}
	}
	switch {
	case len(e.Items) > 0 && len(languages) == 0:
		r.refuse(line, "task %s: the language of its items is unknown; expected language: CODE at the top or "+
			"languages: [CODE, ...]", t.Name)
	case len(e.Items) > 0 && e.Data.line > 0:
		r.refuse(e.Data.line, "task %s has both items and data; expected one of them", t.Name)
	case len(e.Languages) > 0 && e.Data.value.Files.isMap():
		r.refuse(e.Languages[0].line, "task %s: files: {...} already names its languages; remove languages", t.Name)
	case e.Data.line > 0:
		r.data(t, languages, e.Data.value, e.Data.line)
	case len(e.Items) == 0 && !r.partial:
		r.refuse(line, "task %s has no items", t.Name)
	}
	for i, entry := range e.Items {
		r.refuseIf(len(entry) == 0, line, "task %s: item %d is empty", t.Name, i+1)
		r.item(t, languages, entry)
	}
}

func (r *taskReader) item(t crosstalk.Task, languages []string, written inOrder[node]) {
	line := written[0].line
	item := crosstalk.Item{Labels: map[string]string{"task": t.Name}, Input: &crosstalk.Input{Task: t.Name}}
	var category string
	simple := map[string]*string{"id": &item.ID, "category": &category, "cluster": &item.Cluster}
	for _, kv := range written { // the id first, because messages need it
		if v := simple[kv.key]; v != nil {
			r.get(kv.value, v)
		}
	}
	r.refuseIf(item.ID == "", line, "an item has no id")
	r.refuseIf(r.ids[item.ID] != 0, line, "duplicate id %.40q (first used in line %d)", item.ID, r.ids[item.ID])
	r.ids[item.ID] = line
	fields := map[string]string{}
	for _, kv := range written {
		switch {
		case simple[kv.key] != nil:
		case kv.key == "gold":
			item.Input.Gold = r.gold(t, item.ID, languages, kv)
		case kv.key == "texts":
			item.Input.Texts = r.texts(t, item.ID, languages, kv)
		case !slices.Contains(t.Fields, kv.key):
			r.refuse(kv.line, "item %.40s has the unknown field %.40q; expected %s",
				item.ID, kv.key, strings.Join(slices.Concat(itemKeys, t.Fields), ", "))
		case len(languages) > 1:
			r.refuse(kv.line, "item %.40s: its task has inputs in %s; expected texts: {LANGUAGE: {%s: ...}}",
				item.ID, strings.Join(languages, ", "), kv.key)
		default:
			var text string
			r.get(kv.value, &text)
			fields[kv.key] = text
		}
	}
	if len(fields) > 0 {
		r.refuseIf(item.Input.Texts != nil, line, "item %.40s has both texts and fields; expected one of them", item.ID)
		item.Input.Texts = map[string][]string{languages[0]: r.input(t, item.ID, languages[0], fields, line)}
	}
	if item.Input.Texts == nil && !r.partial {
		r.refuse(line, "item %.40s has no texts; expected %s", item.ID, strings.Join(t.Fields, ", "))
	}
	if item.Cluster == "" {
		item.Cluster = item.ID
	}
	if category != "" {
		item.Labels["category"] = category
	}
	if len(languages) == 1 {
		item.Labels["language"] = languages[0]
	}
	r.suite.Items.Add(item)
}

// gold reads the correct class: one for all languages, or one per language.
func (r *taskReader) gold(t crosstalk.Task, id string, languages []string, e entry[node]) map[string]string {
	by := r.byLanguage(e.value, languages, e.line)
	if e.value.isMap() {
		r.complete(id, "gold", languages, e.line, keys(by))
	}
	gold := map[string]string{}
	for _, g := range by {
		if len(t.Classes) > 0 && !slices.Contains(t.Classes, g.value) {
			r.refuse(g.line, "item %.40s: gold is the unknown class %.40q; choose one of: %s",
				id, g.value, strings.Join(t.Classes, ", "))
		}
		r.refuseIf(strings.TrimSpace(g.value) == "", g.line, "item %.40s: gold is empty", id)
		gold[g.key] = g.value
	}
	return gold
}

// byLanguage reads a text per language, or one for all of languages.
func (r *taskReader) byLanguage(n node, languages []string, line int) (by inOrder[string]) {
	if n.isMap() {
		r.get(n, &by)
		return by
	}
	var text string
	r.get(n, &text)
	for _, l := range languages {
		by = append(by, entry[string]{l, text, line})
	}
	return by
}

func (r *taskReader) texts(t crosstalk.Task, id string, languages []string, e entry[node]) map[string][]string {
	var by inOrder[inOrder[string]]
	r.get(e.value, &by)
	r.complete(id, "text", languages, e.line, keys(by))
	texts := map[string][]string{}
	for _, l := range by {
		fields := map[string]string{}
		for _, kv := range l.value {
			if !slices.Contains(t.Fields, kv.key) {
				r.refuse(kv.line, "item %.40s has the unknown field %.40q; expected %s",
					id, kv.key, strings.Join(t.Fields, ", "))
			}
			fields[kv.key] = kv.value
		}
		texts[l.key] = r.input(t, id, l.key, fields, l.line)
	}
	return texts
}

func (r *taskReader) input(t crosstalk.Task, id, language string, fields map[string]string, line int) []string {
	texts := make([]string, len(t.Fields))
	for i, field := range t.Fields {
		if texts[i] = strings.TrimSpace(fields[field]); texts[i] == "" {
			r.refuse(line, "item %.40s has no %s in %s", id, field, language)
		}
	}
	return texts
}

// complete refuses a map whose languages differ from the languages of the task's inputs.
func (r *taskReader) complete(id, what string, languages []string, line int, found []string) {
	for _, l := range found {
		if !slices.Contains(languages, l) {
			r.refuse(line, "item %.40s has a %s in the unknown language %.40q; expected %s",
				id, what, l, strings.Join(languages, ", "))
		}
	}
	for _, l := range languages {
		r.refuseIf(!slices.Contains(found, l), line, "item %.40s has no %s in %s", id, what, l)
	}
}

func keys[T any](p inOrder[T]) []string {
	list := make([]string, len(p))
	for i, kv := range p {
		list[i] = kv.key
	}
	return list
}
