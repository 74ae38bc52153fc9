package consistency

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"

	"crosstalk"
	"crosstalk/instrument/consistency/read"
)

type answer struct {
	crosstalk.Answer
	class      string // an id, or the free answer; "" for none
	rule       string // that found it
	confidence read.Confidence
	reason     string    // why there is no class
	override   *Override // by people
}

// Answered identifies an answer for review: answers with the same text to the same
// instruction are read in the same way.
type Answered struct {
	Task        string
	Instruction string // its sense
	Text        string
}

// Override is a manually assigned class that replaces the class that was read.
type Override struct {
	Class    string // "" if the answer has none
	Reviewer string
	Reason   string
}

// Overrides are corrected readings.
type Overrides map[Answered]Override

// ID is a short hash of the corrections, "" if there are none.
func (o Overrides) ID() string {
	if o == nil {
		return ""
	}
	var sum uint32
	for answered, override := range o {
		parts := []string{answered.Task, answered.Instruction, answered.Text, override.Class}
		hash := sha256.Sum256(crosstalk.Canonical(parts))
		sum += binary.BigEndian.Uint32(hash[:])
	}
	return fmt.Sprintf("%08x", sum)
}

func (s *scoring) read(form Form, of crosstalk.Answer) answer {
	a := answer{Answer: of}
	if r, ok := s.rewritten[form.Input]; ok && r.Texts == nil {
		a.reason = NoRewriting
		return a
	}
	switch {
	case a.Status == "":
		a.reason = Missing
		return a
	case a.Status == crosstalk.Empty && s.Protocol.InvalidIsClass:
		return a
	case a.Status != crosstalk.Text:
		a.reason = string(a.Status)
		return a
	}
	if len(s.task.Classes) == 0 {
		a.class = strings.TrimSpace(a.Text)
	} else {
		r := Read(s.Protocol, s.task, form.Instruction, a.Text)
		a.class, a.rule, a.confidence = r.Class, r.Rule, r.Confidence
	}
	if o, ok := s.Overrides[Answered{s.task.Name, string(form.Instruction), a.Text}]; ok && s.reading == Reviewed {
		a.class, a.rule, a.confidence, a.override = o.Class, "review", read.Full, &o
	}
	return a
}

// Class is the class that was read in an answer.
type Class struct {
	read.Reading
	Class string // its id; "" if there is none
}

// Read finds the class of an answer to an instruction.
func Read(p Protocol, task crosstalk.Task, instruction Sense, text string) Class {
	in, _ := InstructionIn(task, instruction)
	labels, classes := make([]string, len(in.Words)), map[string]string{}
	for i, w := range in.Words {
		labels[i], classes[w.Word] = w.Word, w.Class
	}
	r := read.Readers[p.Reader](text, labels)
	return Class{r, classes[r.Label]}
}
