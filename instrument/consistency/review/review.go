// Package review reads and writes the file that people edit between two steps of a consistency measurement: rewritten
// instructions, before they are used.
package review

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"crosstalk/instrument/consistency"
	"crosstalk/internal/atomicfile"
	"crosstalk/internal/plainfile"
	"crosstalk/internal/strictyaml"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// Instruction is a rewritten instruction under review.
type Instruction = consistency.RewrittenInstruction

const header = `# Instructions that models rewrote. Compare source and text, edit text and words
# where necessary, set approved to true, and run the same command again. output is
# the answer of the model; leave it unchanged.
`

// ReadInstructions reads a review file. A missing file contains no instructions.
func ReadInstructions(path string) ([]Instruction, error) {
	text, err := os.ReadFile(path)
	return parseInstructions(path, text, err)
}

// maxRunFile is the maximum size of a run's review file in bytes.
const maxRunFile = 16 << 20

// ReadRunInstructions reads the review file of a run. Since somebody else may have prepared it, it must be a regular
// file of at most 16 MiB.
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
		return nil, strictyaml.Error(path, err)
	}
	for i, entry := range file.Instructions {
		in := entry.Instruction
		in.Where = fmt.Sprintf("%s:%d", path, entry.line)
		if in.Task == "" || in.Sense == "" {
			return nil, fmt.Errorf("%s: an instruction needs task and sense", in.Where)
		}
		if at := find(list[:i], in.Model, in.Task, in.Sense); at >= 0 {
			return nil, fmt.Errorf("%s: duplicate instruction of %s in %s (first used in %s)",
				in.Where, in.Task, in.Sense, list[at].Where)
		}
		list = append(list, in)
	}
	return list, nil
}

type located struct {
	Instruction
	line int
}

func (l *located) UnmarshalYAML(node ast.Node) error {
	l.line = node.GetToken().Position.Line
	if m, ok := node.(*ast.MappingNode); ok && len(m.Values) > 0 {
		l.line = m.Values[0].Key.GetToken().Position.Line
	}
	return yaml.NodeToValue(node, &l.Instruction, yaml.Strict())
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

func find(list []Instruction, model, task string, sense consistency.Sense) int {
	return slices.IndexFunc(list, func(in Instruction) bool {
		return in.Model == model && in.Task == task && in.Sense == sense
	})
}

// Find returns a model's instruction for a task in a sense, or one for any model.
func Find(list []Instruction, model, task string, sense consistency.Sense) (Instruction, bool) {
	for _, m := range []string{model, ""} {
		if i := find(list, m, task, sense); i >= 0 {
			return list[i], true
		}
	}
	return Instruction{}, false
}

// Merge returns a model's rewritten instruction, with its earlier review if the model's answer is unchanged.
func Merge(list []Instruction, model string, in Instruction) Instruction {
	in.Model = model
	old, known := Find(list, model, in.Task, in.Sense)
	same := func(a, b consistency.RewrittenPart) bool {
		a.Text = b.Text // people edit it
		return a == b
	}
	if known && slices.EqualFunc(old.Parts, in.Parts, same) {
		old.Doubts = in.Doubts
		return old
	}
	return in
}
