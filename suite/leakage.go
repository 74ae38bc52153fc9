package suite

import (
	"regexp"
	"slices"
	"strings"

	"crosstalk"

	"github.com/goccy/go-yaml"
)

// leakageFile is a suite of test/control pairs. docs/suites.md describes it.
type leakageFile struct {
	Header    header            `yaml:",inline"`
	Prompt    map[string]string `yaml:"prompt"`
	Templates []at[template]    `yaml:"templates"`
	Items     []at[single]      `yaml:"items"`
}

type template struct {
	ID       string        `yaml:"id"`
	Category string        `yaml:"category"`
	Language string        `yaml:"language"`
	Test     string        `yaml:"test"`
	Control  string        `yaml:"control"`
	Neutral  []string      `yaml:"neutral"`
	Remove   []string      `yaml:"remove"`
	Fillings []at[filling] `yaml:"fillings"`
}

type filling struct {
	ID      string   `yaml:"id"`
	Concept string   `yaml:"concept"`
	Insert  string   `yaml:"insert"`
	Leaks   []string `yaml:"leaks"`
	Remove  []string `yaml:"remove"`
}

type single struct {
	ID       string   `yaml:"id"`
	Category string   `yaml:"category"`
	Language string   `yaml:"language"`
	Cluster  string   `yaml:"cluster"`
	Concept  string   `yaml:"concept"`
	Test     string   `yaml:"test"`
	Control  string   `yaml:"control"`
	Leaks    []string `yaml:"leaks"`
	Neutral  []string `yaml:"neutral"`
	Remove   []string `yaml:"remove"`
}

const slot = "{concept}"

// readLeakage builds the suite's items from the templates and the items.
func readLeakage(d document, s *Suite) error {
	var f leakageFile
	if err := d.decode(&f, yaml.Strict()); err != nil {
		return err
	}
	for api, prefix := range f.Prompt {
		switch api {
		case "chat":
			s.Prefix[crosstalk.Chat] = prefix
		case "completion", "completions":
			s.Prefix[crosstalk.Completions] = prefix
		default:
			return d.errorf(d.lineOf("prompt"), "prompt has the unknown key %.40q; choose one of: chat, completion", api)
		}
	}
	b := leakageBuilder{document: d, suite: s, lines: map[string]int{}}
	for i, t := range f.Templates {
		if t.line == 0 {
			return d.errorf(d.lineOf("templates"), "entry %d is empty", i+1)
		}
		if err := b.template(t.value, t.line); err != nil {
			return err
		}
	}
	for i, item := range f.Items {
		v := item.value
		switch {
		case item.line == 0:
			return d.errorf(d.lineOf("items"), "entry %d is empty", i+1)
		case v.ID == "":
			return d.errorf(item.line, "an item has no id")
		}
		err := b.add(item.line, v.ID, v.Category, v.Language, v.Cluster, crosstalk.Pair{Concept: v.Concept, Test: v.Test, Control: v.Control,
			Remove: v.Remove, Leaks: v.Leaks, Neutral: v.Neutral})
		if err != nil {
			return err
		}
	}
	if len(s.Items) == 0 {
		return d.errorf(1, "expected templates or items, found neither")
	}
	return nil
}

// leakageBuilder builds items from a file's entries and refuses invalid ones.
type leakageBuilder struct {
	document
	suite *Suite
	lines map[string]int // by id
}

func (b *leakageBuilder) template(t template, line int) error {
	switch {
	case t.ID == "":
		return b.errorf(line, "a template has no id")
	case strings.Count(t.Test, slot) != 1:
		return b.errorf(line, "template %s: test contains %s %d times; expected once", t.ID, slot, strings.Count(t.Test, slot))
	case strings.Contains(t.Control, slot):
		return b.errorf(line, "template %s: control contains %s; a control must not mention the concept", t.ID, slot)
	case len(t.Fillings) == 0:
		return b.errorf(line, "template %s has no fillings", t.ID)
	}
	for _, fill := range t.Fillings {
		v := fill.value
		if fill.line == 0 {
			return b.errorf(line, "template %s: a filling is empty", t.ID)
		}
		id, insert := v.ID, v.Insert
		if id == "" {
			if id = slug(v.Concept); id == "" && v.Concept != "" {
				return b.errorf(fill.line, "template %s: the concept %q has no letters to build an id from: give the filling an id", t.ID, v.Concept)
			}
		}
		if insert == "" {
			insert = v.Concept
		}
		err := b.add(fill.line, t.ID+"/"+id, t.Category, t.Language, "", crosstalk.Pair{
			Concept: v.Concept, Test: strings.Replace(t.Test, slot, insert, 1), Control: t.Control,
			Remove: slices.Concat(t.Remove, v.Remove), Leaks: v.Leaks, Neutral: t.Neutral})
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *leakageBuilder) add(line int, id, category, language, cluster string, p crosstalk.Pair) error {
	p.Concept, p.Test, p.Control = strings.TrimSpace(p.Concept), strings.TrimSpace(p.Test), strings.TrimSpace(p.Control)
	switch {
	case p.Concept == "":
		return b.errorf(line, "item %s has no concept", id)
	case p.Test == "" || p.Control == "":
		return b.errorf(line, "item %s needs a test and a control prompt", id)
	case p.Test == p.Control:
		return b.errorf(line, "item %s: test and control are the same prompt", id)
	case b.lines[id] != 0:
		return b.errorf(line, "duplicate id %q (first used in line %d)", id, b.lines[id])
	}
	for list, texts := range map[string][]string{"leaks": p.Leaks, "neutral": p.Neutral, "remove": p.Remove} {
		if slices.ContainsFunc(texts, func(s string) bool { return strings.TrimSpace(s) == "" }) {
			return b.errorf(line, "item %s: an entry of %s is empty", id, list)
		}
	}
	b.lines[id] = line
	if language == "" {
		language = b.suite.Language
	}
	if cluster == "" {
		cluster = p.Control
	}
	labels := map[string]string{}
	for column, value := range map[string]string{"category": category, "language": language} {
		if value != "" {
			labels[column] = value
		}
	}
	b.suite.Items = append(b.suite.Items, crosstalk.Item{ID: id, Cluster: cluster, Labels: labels, Pair: &p})
	return nil
}

var notSlug = regexp.MustCompile(`[^\pL\pN]+`)

// slug derives an id from a concept.
func slug(s string) string {
	return strings.Trim(notSlug.ReplaceAllString(strings.ToLower(s), "-"), "-")
}
