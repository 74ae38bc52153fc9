package suite

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"crosstalk"

	"github.com/goccy/go-yaml"
)

// confusionFile is a suite of prompts and the languages to answer in. docs/suites.md describes it.
type confusionFile struct {
	Header         header                       `yaml:",inline"`
	Monolingual    inOrder[[]at[prompt]]        `yaml:"monolingual"`
	Crosslingual   []at[prompt]                 `yaml:"crosslingual"`
	Names          inOrder[string]              `yaml:"names"`
	Amendments     []at[string]                 `yaml:"amendments"`
	OwnAmendments  inOrder[[]at[string]]        `yaml:"own_amendments"`
	Demonstrations inOrder[[]at[demonstration]] `yaml:"demonstrations"`
}

type prompt struct {
	ID         string     `yaml:"id"`
	Source     string     `yaml:"source"`
	Prompt     string     `yaml:"prompt"`
	Integrated string     `yaml:"integrated"`
	System     string     `yaml:"system"` // system message of the conversation
	Before     []at[turn] `yaml:"before"` // earlier turns of the conversation that the prompt continues
}

type turn struct {
	User      string `yaml:"user"`
	Assistant string `yaml:"assistant"`
}

func (p prompt) before() (messages []crosstalk.Message) {
	add := func(role, content string) {
		if content != "" {
			messages = append(messages, crosstalk.Message{Role: role, Content: content})
		}
	}
	add("system", p.System)
	for _, t := range p.Before {
		add("user", t.value.User)
		add("assistant", t.value.Assistant)
	}
	return messages
}

type demonstration struct {
	Question     string `yaml:"question"`
	Crosslingual string `yaml:"crosslingual"` // the question in the language of the cross-lingual prompts
	Answer       string `yaml:"answer"`
}

// languageSlot is replaced by the name of a language.
const languageSlot = "{language}"

// Positions of the instruction to answer in a language: the keys of crosstalk.Prompt.Placed.
const (
	atStart    = "start"
	atEnd      = "end"
	integrated = "integrated"
)

// readConfusion builds an item from each monolingual prompt, and one from each cross-lingual prompt and language.
func readConfusion(d document, s *Suite) {
	var f confusionFile
	d.decode(&f, yaml.Strict())
	b := confusionBuilder{document: d, suite: s, lines: map[string]int{}}
	for _, l := range f.Monolingual {
		code, tag := b.language(l.line, "monolingual", l.key)
		b.refuseIf(len(l.value) == 0, l.line, "monolingual: %s has no prompts", l.key)
		for _, p := range l.value {
			b.check(p, l.line)
			b.refuseIf(p.value.Integrated != "", p.line,
				"prompt %s: only cross-lingual prompts can have integrated", p.value.ID)
			b.add(p, p.value.ID, "monolingual", l.key, crosstalk.Prompt{Text: p.value.Prompt, Language: code,
				Tag: tag, Before: p.value.before()})
		}
	}
	languages := b.instructions(f)
	b.crosslingual(f, languages)
	d.refuseIf(s.Items.Len() == 0, 1, "expected monolingual or crosslingual prompts, found neither")
	for _, language := range f.Demonstrations {
		code, _ := b.language(language.line, "demonstrations", language.key)
		for _, d := range language.value {
			if strings.TrimSpace(d.value.Question) == "" || strings.TrimSpace(d.value.Answer) == "" {
				b.refuse(cmp.Or(d.line, language.line), "demonstrations: an entry of %s lacks its question or answer",
					language.key)
			}
			if s.Demonstrations == nil {
				s.Demonstrations = map[string][]crosstalk.Demonstration{}
			}
			id := fmt.Sprintf("demonstrations/%s/%d", language.key, len(s.Demonstrations[code]))
			s.Demonstrations[code] = append(s.Demonstrations[code], crosstalk.Demonstration{Question: d.value.Question,
				Answer: d.value.Answer, Crosslingual: b.instructed(d, language.key, id, languages)})
		}
	}
}

// instructed returns a demonstration's cross-lingual question with an instruction to answer in its language. Only id
// determines the instruction's wording and position.
func (b *confusionBuilder) instructed(d at[demonstration], language, id string, all []target) string {
	question := d.value.Crosslingual
	if question == "" {
		return ""
	}
	i := slices.IndexFunc(all, func(t target) bool { return t.tag == language })
	if i < 0 || len(all[i].instructions) == 0 {
		b.refuse(d.line, "demonstrations: a crosslingual question of %s needs names and amendments, to ask for an answer "+
			"in %[1]s", language)
		return ""
	}
	instruction := all[i].instruction(id)
	if hash("place", id)%2 == 0 {
		return instruction + " " + question
	}
	return question + " " + instruction
}

type confusionBuilder struct {
	document
	suite *Suite
	lines map[string]int // by id
}

// crosslingual renders each prompt for each language. Only the item's id determines the wording and the position of
// the instruction, so they do not change when the suite grows.
func (b *confusionBuilder) crosslingual(f confusionFile, languages []target) {
	if len(f.Crosslingual) > 0 && len(languages) == 0 {
		b.refuse(b.lineOf("crosslingual"),
			"crosslingual needs names: the languages to answer in, each with the text that replaces %s", languageSlot)
	}
	for _, p := range f.Crosslingual {
		b.check(p, b.lineOf("crosslingual"))
		v := p.value
		b.refuseIf(strings.Contains(v.Prompt, languageSlot), p.line,
			"prompt %s contains %s, which only integrated may contain", v.ID, languageSlot)
		times := strings.Count(v.Integrated, languageSlot)
		b.refuseIf(v.Integrated != "" && times != 1, p.line,
			"prompt %s: integrated contains %s %d times; expected once", v.ID, languageSlot, times)
		for _, l := range languages {
			id := v.ID + "/" + l.tag
			placed := map[string]string{}
			if len(l.instructions) > 0 {
				instruction := l.instruction(id)
				placed[atStart], placed[atEnd] = instruction+" "+v.Prompt, v.Prompt+" "+instruction
			}
			if v.Integrated != "" {
				placed[integrated] = strings.Replace(v.Integrated, languageSlot, l.name, 1)
			}
			b.refuseIf(len(placed) == 0, p.line,
				"prompt %s does not say to answer in %s: expected amendments or integrated", v.ID, l.tag)
			places := slices.DeleteFunc([]string{atStart, atEnd, integrated},
				func(place string) bool { return placed[place] == "" })
			text := placed[places[hash("place", id)%uint64(len(places))]]
			b.add(p, id, "crosslingual", l.tag, crosstalk.Prompt{Text: text, Language: l.code, Tag: l.scripted,
				Before: v.before(), Placed: placed})
		}
	}
}

type target struct {
	tag            string   // as in the file
	code, scripted string   // see recorded.LanguageOf
	name           string   // in the language of the prompts
	instructions   []string // to answer in the language
}

// instruction returns one of the instructions, drawn by the id of what it is for.
func (t target) instruction(id string) string {
	return t.instructions[hash("wording", id)%uint64(len(t.instructions))]
}

// instructions returns the languages of cross-lingual prompts.
func (b *confusionBuilder) instructions(f confusionFile) (targets []target) {
	own := map[string][]at[string]{}
	for _, language := range f.OwnAmendments {
		if !slices.ContainsFunc(f.Names, func(n entry[string]) bool { return n.key == language.key }) {
			b.refuse(language.line, "own_amendments: %s is not in names", language.key)
		}
		own[language.key] = language.value
	}
	for _, n := range f.Names {
		code, scripted := b.language(n.line, "names", n.key)
		b.refuseIf(strings.TrimSpace(n.value) == "", n.line, "names: %s has no name", n.key)
		t := target{tag: n.key, code: code, scripted: scripted, name: n.value}
		for _, a := range f.Amendments {
			b.refuseIf(strings.Count(a.value, languageSlot) != 1, a.line,
				"an amendment contains %s %d times; expected once", languageSlot, strings.Count(a.value, languageSlot))
			t.instructions = append(t.instructions, strings.Replace(strings.TrimSpace(a.value), languageSlot, n.value, 1))
		}
		for _, a := range own[n.key] {
			if strings.TrimSpace(a.value) == "" || strings.Contains(a.value, languageSlot) {
				b.refuse(cmp.Or(a.line, n.line), "own_amendments: an entry of %s is empty or contains %s; expected an "+
					"instruction in that language", n.key, languageSlot)
			}
			t.instructions = append(t.instructions, strings.TrimSpace(a.value))
		}
		targets = append(targets, t)
	}
	return targets
}

// check refuses an invalid entry. line is the line of its list.
func (b *confusionBuilder) check(p at[prompt], line int) {
	b.refuseIf(p.line == 0, line, "a prompt is empty")
	b.refuseIf(p.value.ID == "", p.line, "a prompt has no id")
	b.refuseIf(strings.TrimSpace(p.value.Prompt) == "", p.line, "prompt %s has no text", p.value.ID)
	for _, t := range p.value.Before {
		if strings.TrimSpace(t.value.User) == "" && strings.TrimSpace(t.value.Assistant) == "" {
			b.refuse(cmp.Or(t.line, p.line),
				"prompt %s: an entry of before is empty; expected user or assistant, or both", p.value.ID)
		}
	}
}

func (b *confusionBuilder) add(p at[prompt], id, task, language string, content crosstalk.Prompt) {
	b.refuseIf(b.lines[id] != 0, p.line, "duplicate id %q (first used in line %d)", id, b.lines[id])
	b.lines[id] = p.line
	labels := map[string]string{"task": task, "language": language, "source": p.value.Source,
		"length": crosstalk.LengthOf(content.Text)}
	maps.DeleteFunc(labels, func(_, value string) bool { return value == "" })
	b.suite.Items.Add(crosstalk.Item{ID: id, Cluster: p.value.ID, Labels: labels, Prompt: &content})
}
