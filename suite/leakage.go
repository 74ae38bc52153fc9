package suite

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/internal/lazyregexp"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// leakageFile is a suite of test/control pairs. docs/suites.md describes it.
type leakageFile struct {
	Header    header            `yaml:",inline"`
	MaxTokens int               `yaml:"max_tokens"`
	Windows   string            `yaml:"windows"`
	Begins    string            `yaml:"begins"`
	Prompt    map[string]string `yaml:"prompt"`
	Concepts  inOrder[concept]  `yaml:"concepts"`
	Templates []at[template]    `yaml:"templates"`
	Items     []at[single]      `yaml:"items"`
}

type template struct {
	ID       string            `yaml:"id"`
	Category string            `yaml:"category"`
	Language string            `yaml:"language"`
	Carrier  crosstalk.Carrier `yaml:"carrier"`
	Prompt   string            `yaml:"prompt"`
	Test     wordings          `yaml:"test"`
	Control  wordings          `yaml:"control"`
	Neutral  []string          `yaml:"neutral"`
	Leaks    inOrder[[]string] `yaml:"leaks"` // by concept
	Remove   []string          `yaml:"remove"`
	Seen     bool              `yaml:"seen"`
	Fillings fillings          `yaml:"fillings"`
}

// concept is a concept that templates can share. Its key in the file is its name.
type concept struct {
	ID     string   `yaml:"id"`
	Insert string   `yaml:"insert"`
	Sense  string   `yaml:"sense"`
	Leaks  []string `yaml:"leaks"`
	Remove []string `yaml:"remove"`
}

// filling is a concept that a template inserts: its own or the file's.
type filling struct {
	Of      concept `yaml:",inline"`
	Concept string  `yaml:"concept"`
}

type single struct {
	ID       string   `yaml:"id"`
	Category string   `yaml:"category"`
	Language string   `yaml:"language"`
	Cluster  string   `yaml:"cluster"`
	Concept  string   `yaml:"concept"`
	Sense    string   `yaml:"sense"`
	Test     string   `yaml:"test"`
	Control  string   `yaml:"control"`
	Leaks    []string `yaml:"leaks"`
	Neutral  []string `yaml:"neutral"`
	Remove   []string `yaml:"remove"`
	Seen     bool     `yaml:"seen"`
}

const slot = "{concept}"

// Columns of leakage items besides category and language.
const (
	carrierColumn = "carrier" // of context leakage
	beginsColumn  = "begins"  // the language that a mixed prompt begins in
	seenColumn    = "seen"    // "yes": a similarity has seen a draft of the item; "no": only of others
)

// readLeakage builds the suite's items from the templates and the items.
func readLeakage(d document, s *Suite) {
	var f leakageFile
	d.decode(&f, yaml.Strict())
	readSettings(d, f, s)
	b := leakageBuilder{document: d, suite: s, lines: map[string]int{}, concepts: map[string]concept{}}
	for _, c := range f.Concepts {
		d.refuseIf(strings.TrimSpace(c.key) == "", c.line, "concepts: a concept is empty")
		b.concepts[c.key], b.order = c.value, append(b.order, c.key)
	}
	b.seen = slices.ContainsFunc(f.Templates, func(t at[template]) bool { return t.value.Seen }) ||
		slices.ContainsFunc(f.Items, func(i at[single]) bool { return i.value.Seen })
	for i, t := range f.Templates {
		if t.line == 0 {
			d.refuse(d.lineOf("templates"), "entry %d is empty", i+1)
		}
		b.template(t.value, t.line)
	}
	for i, item := range f.Items {
		v := item.value
		switch {
		case item.line == 0:
			d.refuse(d.lineOf("items"), "entry %d is empty", i+1)
		case v.ID == "":
			d.refuse(item.line, "an item has no id")
		case b.carriers:
			d.refuse(item.line, "item %s: items cannot be mixed with templates that have a carrier", v.ID)
		}
		b.add(item.line, v.ID, v.Cluster, b.labels(v.Category, v.Language, v.Seen),
			crosstalk.Pair{Concept: v.Concept, Sense: v.Sense,
				Test: v.Test, Control: v.Control, Remove: v.Remove, Leaks: v.Leaks, Neutral: v.Neutral})
	}
	d.refuseIf(s.Items.Len() == 0, 1, "expected templates or items, found neither")
}

func readSettings(d document, f leakageFile, s *Suite) {
	for api, prefix := range f.Prompt {
		switch api {
		case "chat":
			s.Prefix[crosstalk.Chat] = prefix
		case "completion", "completions":
			s.Prefix[crosstalk.Completions] = prefix
		default:
			d.refuse(d.lineOf("prompt"), "prompt has the unknown key %.40q; choose one of: chat, completion", api)
		}
	}
	given := strings.Contains("\n"+string(d.text), "\nmax_tokens:")
	d.refuseIf(f.MaxTokens < 0 || f.MaxTokens == 0 && given, d.lineOf("max_tokens"),
		"max_tokens is %d; expected a number above 0", f.MaxTokens)
	d.refuseIf(f.Windows != "" && f.Windows != Sentences, d.lineOf("windows"),
		"windows is %.40q; expected %s", f.Windows, Sentences)
	s.MaxTokens, s.Windows, s.Begins = f.MaxTokens, f.Windows, f.Begins
}

type leakageBuilder struct {
	document
	suite    *Suite
	lines    map[string]int // by id
	concepts map[string]concept
	order    []string // concepts in order
	carriers bool     // whether templates have carriers
	seen     bool     // whether any item is seen
}

func (b *leakageBuilder) template(t template, line int) {
	b.refuseIf(t.ID == "", line, "a template has no id")
	if carries := t.Carrier != ""; b.suite.Items.Len() == 0 {
		b.carriers = carries
	} else if carries != b.carriers {
		b.refuse(line, "template %s: either all templates have a carrier or none", t.ID)
	}
	t.Prompt = strings.TrimSpace(t.Prompt)
	b.check(t, line)
	list := b.fillings(t, line)
	labels := b.labels(cmp.Or(t.Category, string(t.Carrier)), t.Language, t.Seen)
	if t.Carrier != "" {
		labels[carrierColumn] = string(t.Carrier)
	}
	for _, fill := range list {
		v := fill.value
		id, insert := v.Of.ID, cmp.Or(v.Of.Insert, v.Concept)
		if id == "" {
			if id = slug(v.Concept); id == "" && v.Concept != "" {
				b.refuse(fill.line, "template %s: the concept %q has no letters to build an id from: give the filling an id",
					t.ID, v.Concept)
			}
		}
		for k, test := range t.Test {
			id := t.ID + "/" + id
			if k > 0 {
				id += "/" + strconv.Itoa(k+1)
			}
			p := crosstalk.Pair{Concept: v.Concept, Sense: v.Of.Sense, Leaks: v.Of.Leaks, Neutral: t.Neutral,
				Remove: slices.Concat(t.Remove, v.Of.Remove)}
			p.Test, p.Control = strings.Replace(test.Text, slot, insert, 1), t.Control[0].Text
			if language := cmp.Or(t.Language, b.suite.Language); insert != v.Concept && k == 0 &&
				mentions(t.Control[0].String()+" "+t.Prompt, withoutArticle(insert), language) {
				b.suite.remarks = append(b.suite.remarks,
					fmt.Sprintf("%s: the control mentions %q, which the test inserts", id, insert))
			}
			if t.Carrier != "" {
				fill := strings.NewReplacer(slot, insert)
				p.Context = &crosstalk.Context{Carrier: t.Carrier, Prompt: t.Prompt, Control: t.Control[0],
					Test: crosstalk.Carried{Text: fill.Replace(test.Text), User: fill.Replace(test.User),
						Assistant: fill.Replace(test.Assistant)}}
				p.Test = t.Carrier.Whole(p.Context.Test, t.Prompt)
				p.Control = t.Carrier.Whole(p.Context.Control, t.Prompt)
			}
			b.add(fill.line, id, "", maps.Clone(labels), p)
		}
	}
}

func (b *leakageBuilder) check(t template, line int) {
	carries := t.Carrier != ""
	b.refuseIf(len(t.Control) > 1, line, "template %s: control is a list; expected one text", t.ID)
	b.refuseIf(len(t.Control) == 0 || len(t.Test) == 0, line, "template %s needs a test and a control", t.ID)
	b.refuseIf(!carries && t.Prompt != "", line, "template %s: only a template with a carrier can have a prompt", t.ID)
	b.refuseIf(carries && !slices.Contains(crosstalk.Carriers, t.Carrier), line,
		"template %s: carrier is %.40q; choose one of: %s", t.ID, t.Carrier, join(crosstalk.Carriers))
	b.refuseIf(carries && t.Prompt == "", line, "template %s has a carrier and no prompt", t.ID)
	b.refuseIf(strings.Contains(t.Prompt, slot), line, "template %s: prompt contains %s; only test may contain it", t.ID,
		slot)
	for _, of := range slices.Concat(t.Test, t.Control) {
		turns, expected := of.User != "" || of.Assistant != "", "text"
		if t.Carrier.InTurns() {
			expected = "user and assistant"
		}
		b.refuseIf(turns != t.Carrier.InTurns() || turns && (of.User == "" || of.Assistant == ""), line,
			"template %s: expected %s in test and control", t.ID, expected)
	}
	for _, test := range t.Test {
		n := strings.Count(test.String(), slot)
		b.refuseIf(n != 1 && (!carries || n == 0), line, "template %s: test contains %s %d times; expected once", t.ID, slot,
			n)
	}
	b.refuseIf(strings.Contains(t.Control[0].String(), slot), line,
		"template %s: control contains %s; a control must not mention the concept", t.ID, slot)
}

// fillings returns a template's fillings, completed from the file's concepts.
func (b *leakageBuilder) fillings(t template, line int) (list []at[filling]) {
	own := map[string]bool{}
	switch {
	case t.Fillings.all && len(b.concepts) == 0:
		b.refuse(line, "template %s: fillings is %q, and the file has no concepts", t.ID, allConcepts)
	case t.Fillings.all:
		for _, name := range b.order {
			list = append(list, at[filling]{filling{Concept: name}, line})
		}
	default:
		list = slices.Clone(t.Fillings.list)
	}
	b.refuseIf(len(list) == 0, line, "template %s has no fillings", t.ID)
	for i := range list {
		v := &list[i].value
		b.refuseIf(list[i].line == 0, line, "template %s: a filling is empty", t.ID)
		own[v.Concept] = v.Of.Leaks != nil
		c := b.concepts[v.Concept]
		v.Of.ID, v.Of.Insert, v.Of.Sense = cmp.Or(v.Of.ID, c.ID), cmp.Or(v.Of.Insert, c.Insert), cmp.Or(v.Of.Sense, c.Sense)
		if v.Of.Leaks == nil {
			v.Of.Leaks = c.Leaks
		}
		if v.Of.Remove == nil {
			v.Of.Remove = c.Remove
		}
	}
	for _, leaks := range t.Leaks {
		given, known := own[leaks.key]
		b.refuseIf(!known, leaks.line, "template %s: leaks names the concept %.40q, which is not one of its fillings", t.ID,
			leaks.key)
		b.refuseIf(given, leaks.line, "template %s: the leaks of %.40q are given twice", t.ID, leaks.key)
		for i := range list {
			if list[i].value.Concept == leaks.key {
				list[i].value.Of.Leaks = leaks.value
			}
		}
	}
	return list
}

func (b *leakageBuilder) add(line int, id, cluster string, labels map[string]string, p crosstalk.Pair) {
	p.Concept, p.Test, p.Control = strings.TrimSpace(p.Concept), strings.TrimSpace(p.Test), strings.TrimSpace(p.Control)
	b.refuseIf(p.Concept == "", line, "item %s has no concept", id)
	b.refuseIf(p.Test == "" || p.Control == "", line, "item %s needs a test and a control prompt", id)
	b.refuseIf(p.Test == p.Control, line, "item %s: test and control are the same prompt", id)
	b.refuseIf(b.lines[id] != 0, line, "duplicate id %q (first used in line %d)", id, b.lines[id])
	for list, texts := range map[string][]string{"leaks": p.Leaks, "neutral": p.Neutral, "remove": p.Remove} {
		b.refuseIf(slices.ContainsFunc(texts, func(s string) bool { return strings.TrimSpace(s) == "" }), line,
			"item %s: an entry of %s is empty", id, list)
	}
	b.lines[id] = line
	if labels["language"] == "" && b.suite.Language != "" {
		labels["language"] = b.suite.Language
	}
	if b.suite.Begins != "" {
		labels[beginsColumn] = b.suite.Begins
	}
	b.suite.Items.Add(crosstalk.Item{ID: id, Cluster: cmp.Or(cluster, p.Control), Labels: labels, Pair: &p})
}

func (b *leakageBuilder) labels(category, language string, seen bool) map[string]string {
	labels := map[string]string{"category": category, "language": language}
	switch {
	case seen:
		labels[seenColumn] = "yes"
	case b.seen:
		labels[seenColumn] = "no"
	}
	maps.DeleteFunc(labels, func(_, value string) bool { return value == "" })
	return labels
}

func join[T ~string](list []T) string {
	texts := make([]string, len(list))
	for i, text := range list {
		texts[i] = string(text)
	}
	return strings.Join(texts, ", ")
}

var notSlug = lazyregexp.New(`[^\pL\pN]+`)

func slug(s string) string {
	return strings.Trim(notSlug().ReplaceAllString(strings.ToLower(s), "-"), "-")
}

// Sentences is the value of windows that also scores answers sentence by sentence.
const Sentences = "sentence"

// wordings are the texts of a template's test or control: one text, a list, or the question and answer of a carrier.
type wordings []crosstalk.Carried

func (w *wordings) UnmarshalYAML(node ast.Node) error {
	entries := []ast.Node{node}
	if list, ok := node.(*ast.SequenceNode); ok {
		entries = list.Values
	}
	for _, entry := range entries {
		one, err := wordingOf(entry)
		if err != nil {
			return err
		}
		*w = append(*w, one)
	}
	return nil
}

func wordingOf(node ast.Node) (of crosstalk.Carried, err error) {
	if _, ok := node.(ast.MapNode); ok {
		var turns struct {
			User      string `yaml:"user"`
			Assistant string `yaml:"assistant"`
		}
		err = yaml.NodeToValue(node, &turns, yaml.Strict())
		return crosstalk.Carried{User: strings.TrimSpace(turns.User), Assistant: strings.TrimSpace(turns.Assistant)}, err
	}
	err = yaml.NodeToValue(node, &of.Text, yaml.Strict())
	of.Text = strings.TrimSpace(of.Text)
	return of, err
}

// allConcepts is the value of fillings for all concepts of the file.
const allConcepts = "all"

// fillings are a template's concepts: a list, or all concepts of the file.
type fillings struct {
	all  bool
	list []at[filling]
}

func (f *fillings) UnmarshalYAML(node ast.Node) error {
	if text, ok := node.(*ast.StringNode); ok {
		if f.all = text.Value == allConcepts; f.all {
			return nil
		}
		return &yaml.SyntaxError{Token: node.GetToken(), Message: fmt.Sprintf("fillings is %.40q; expected a list or %s",
			text.Value, allConcepts)}
	}
	return yaml.NodeToValue(node, &f.list, yaml.Strict())
}
