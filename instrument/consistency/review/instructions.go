package review

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/instrument/consistency"
	"crosstalk/internal/atomicfile"
	"crosstalk/internal/plainfile"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// Instruction is a rewritten instruction under review, with the model's answer
// (Output) beside the text for prompts (Text).
type Instruction struct {
	Model    string   `yaml:"model,omitempty"` // empty: any model
	Task     string   `yaml:"task"`
	Sense    string   `yaml:"sense"`
	Approved bool     `yaml:"approved"`
	Reviewer string   `yaml:"reviewer,omitempty"`
	Parts    []Part   `yaml:"parts"`
	Words    []Word   `yaml:"words,omitempty"`
	Doubts   []string `yaml:"doubts,omitempty"`

	where string // file:line
}

// Part is one part of a rewritten instruction.
type Part struct {
	Part   string `yaml:"part"`
	Source string `yaml:"source,omitempty"`
	Output string `yaml:"output,omitempty"`
	Text   string `yaml:"text"`
}

// Word is an answer word and its class.
type Word struct {
	Word  string `yaml:"word"`
	Class string `yaml:"class"`
}

const header = `# Instructions that models rewrote. Compare source and text, edit text and words
# where necessary, set approved to true, and run the same command again. output is
# the answer of the model; leave it unchanged.
`

// ReadInstructions reads a review file. A missing file has no instructions.
func ReadInstructions(path string) ([]Instruction, error) {
	text, err := os.ReadFile(path)
	return parseInstructions(path, text, err)
}

// maxRunFile is the maximum size of a run's review file in bytes.
const maxRunFile = 16 << 20

// ReadRunInstructions reads the review file of a run, which somebody else may
// have prepared: it must be a regular file of at most 16 MiB.
func ReadRunInstructions(path string) ([]Instruction, error) {
	text, err := plainfile.Read(path, maxRunFile)
	return parseInstructions(path, text, err)
}

func parseInstructions(path string, text []byte, readErr error) (list []Instruction, err error) {
	defer func() {
		if p := recover(); p != nil { // the YAML reader panics on some invalid texts
			err = fmt.Errorf("%s: is not valid YAML", path)
		}
	}()
	if errors.Is(readErr, fs.ErrNotExist) {
		return nil, nil
	}
	if readErr != nil {
		return nil, readErr
	}
	var file struct {
		Instructions []located `yaml:"instructions"`
	}
	if err := yaml.UnmarshalWithOptions(text, &file, yaml.Strict()); err != nil {
		return nil, yamlError(path, err)
	}
	list = make([]Instruction, len(file.Instructions))
	for i, entry := range file.Instructions {
		in := entry.Instruction
		in.where = fmt.Sprintf("%s:%d", path, entry.line)
		if in.Task == "" || in.Sense == "" {
			return nil, fmt.Errorf("%s: an instruction needs task and sense", in.where)
		}
		for _, before := range list[:i] {
			if before.names(in.Model, in.Task, in.Sense) {
				return nil, fmt.Errorf("%s: duplicate instruction of %s in %s (first used in %s)", in.where, in.Task, in.Sense, before.where)
			}
		}
		list[i] = in
	}
	return list, nil
}

// located is an instruction with its line.
type located struct {
	Instruction
	line int
}

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (l *located) UnmarshalYAML(node ast.Node) error {
	l.line = node.GetToken().Position.Line
	if m, ok := node.(*ast.MappingNode); ok && len(m.Values) > 0 {
		l.line = m.Values[0].Key.GetToken().Position.Line
	}
	return yaml.NodeToValue(node, &l.Instruction, yaml.Strict())
}

func yamlError(path string, err error) error {
	var e yaml.Error
	if errors.As(err, &e) && e.GetToken() != nil {
		return fmt.Errorf("%s:%d: %s", path, e.GetToken().Position.Line, e.GetMessage())
	}
	return fmt.Errorf("%s: %w", path, err)
}

// Approve approves all instructions unchanged; those that are approved already keep
// their reviewer.
func Approve(list []Instruction, reviewer string) {
	for i := range list {
		if in := &list[i]; !in.Approved {
			in.Approved, in.Reviewer = true, reviewer
		}
	}
}

// List writes instructions with the program's doubts about them, for people to read.
func List(w io.Writer, list []Instruction) error {
	out := bufio.NewWriter(w)
	for _, in := range list {
		state := "not approved"
		if in.Approved {
			state = "approved"
		}
		fmt.Fprintf(out, "%s %s %s: %s\n", in.Model, in.Task, in.Sense, state)
		for _, p := range in.Parts {
			fmt.Fprintf(out, "  %s: %q -> %q\n", p.Part, p.Source, p.Text)
		}
		for _, w := range in.Words {
			fmt.Fprintf(out, "  %s: %q\n", w.Class, w.Word)
		}
		for _, doubt := range in.Doubts {
			fmt.Fprintf(out, "  doubt: %s\n", doubt)
		}
	}
	return out.Flush()
}

// WriteInstructions writes the review file of a run.
func WriteInstructions(path string, list []Instruction) error {
	text, err := yaml.MarshalWithOptions(struct {
		Instructions []Instruction `yaml:"instructions"`
	}{list}, yaml.UseLiteralStyleIfMultiline(true), yaml.IndentSequence(true))
	if err != nil {
		return err
	}
	text = append([]byte(header), text...)
	if old, err := plainfile.Read(path, maxRunFile); err == nil && bytes.Equal(old, text) {
		return nil
	}
	return atomicfile.WriteBytesPrivate(path, text)
}

func (in Instruction) names(model, task, sense string) bool {
	return in.Model == model && in.Task == task && in.Sense == sense
}

// Complete reports whether each part has a text where its source has one.
func (in Instruction) Complete() bool {
	return !slices.ContainsFunc(in.Parts, func(p Part) bool { return p.Text == "" && p.Source != "" })
}

// Find returns the instruction of a model for a task in a sense, or one for any
// model.
func Find(list []Instruction, model, task string, sense consistency.Sense) (Instruction, bool) {
	for _, m := range []string{model, ""} {
		if i := slices.IndexFunc(list, func(in Instruction) bool { return in.names(m, task, string(sense)) }); i >= 0 {
			return list[i], true
		}
	}
	return Instruction{}, false
}

// Merge returns a model's rewritten instruction, with its earlier review if the
// model's answer is unchanged.
func Merge(list []Instruction, model string, r consistency.RewrittenInstruction) Instruction {
	in := Instruction{Model: model, Task: r.Task, Sense: string(r.Sense), Doubts: r.Doubts}
	for _, p := range r.Parts {
		in.Parts = append(in.Parts, Part{p.Name, p.Source, p.Output, p.Text})
	}
	for _, w := range r.Words {
		in.Words = append(in.Words, Word{w.Word, w.Class})
	}
	old, known := Find(list, model, r.Task, r.Sense)
	same := func(a, b Part) bool { return a.Part == b.Part && a.Source == b.Source && a.Output == b.Output }
	if known && slices.EqualFunc(old.Parts, in.Parts, same) {
		old.Doubts = in.Doubts
		return old
	}
	return in
}

// Instruction returns the instruction for prompts, or an error that explains
// why it is not usable.
func (in Instruction) Instruction(task crosstalk.Task) (crosstalk.Instruction, error) {
	fail := func(format string, args ...any) (crosstalk.Instruction, error) {
		err := fmt.Errorf("the instruction of %s in %s %w", in.Task, in.Sense, fmt.Errorf(format, args...))
		if in.where != "" {
			err = fmt.Errorf("%s: %w", in.where, err)
		}
		return crosstalk.Instruction{}, err
	}
	made := crosstalk.Instruction{Parts: map[string]string{}}
	source := task.Instructions[string(consistency.Sense(in.Sense).Origin())]
	for _, p := range in.Parts {
		if _, ok := source.Parts[p.Part]; !ok {
			return fail("has the part %q, which the task does not have", p.Part)
		}
		if p.Text == "" && source.Parts[p.Part] != "" {
			return fail("has no text for %s", p.Part)
		}
		made.Parts[p.Part] = p.Text
	}
	for name := range source.Parts {
		if _, ok := made.Parts[name]; !ok {
			return fail("has no %s", name)
		}
	}
	for _, w := range in.Words {
		switch {
		case !slices.Contains(task.Classes, w.Class):
			return fail("has a word with the unknown class %q; choose one of: %s", w.Class, strings.Join(task.Classes, ", "))
		case strings.TrimSpace(w.Word) == "":
			return fail("has an empty answer word")
		case slices.ContainsFunc(made.Words, func(other crosstalk.AnswerWord) bool { return strings.EqualFold(other.Word, w.Word) }):
			return fail("has the duplicate answer word %q", w.Word)
		}
		made.Words = append(made.Words, crosstalk.AnswerWord{Word: w.Word, Class: w.Class})
	}
	if missing := consistency.MissingWords(task, made.Words); len(missing) > 0 {
		return fail("has no answer word for %s", strings.Join(missing, ", "))
	}
	return made, nil
}
