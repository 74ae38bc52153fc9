package consistency

import (
	"cmp"
	"slices"
	"strings"
)

// Sense is a way to express a text: "en" is the original English, "en>de" its
// rewriting in German, "en>paraphrase" and "en>formula" other rewritings.
type Sense string

// Origin is the original sense: "en" of "en>de", and of "en".
func (s Sense) Origin() Sense {
	origin, _, _ := strings.Cut(string(s), ">")
	return Sense(origin)
}

// Target is the target of the last rewriting: "de" of "en>de", and of "de".
func (s Sense) Target() string { return string(s[strings.LastIndexByte(string(s), '>')+1:]) }

// Rewritten reports whether the sense is not the original.
func (s Sense) Rewritten() bool { return strings.Contains(string(s), ">") }

// To is the sense rewritten into another.
func (s Sense) To(target string) Sense { return s + ">" + Sense(target) }

// Form is the form of a question: the senses of its input and its instruction.
type Form struct{ Input, Instruction Sense }

// Part is the part of a question whose sense differs from the source (Ohmer et al. 2023, section 3).
type Part string

const (
	Source       Part = "source" // none: the original, all in one language
	Repeat       Part = "repeat" // none: the source asked again
	Both         Part = "T"      // the whole task
	Instructions Part = "I"      // only the instruction
	Inputs       Part = "X"      // only the input
	Mixed        Part = "mixed"  // input and instruction are in different languages, or rewritten differently
	Gold         Part = "gold"   // the correct classes, not answers
)

// Parts are all parts in the order of tables.
var Parts = []Part{Source, Repeat, Both, Instructions, Inputs, Mixed, Gold}

// Source is the form with which a form is compared.
func (f Form) Source() Form {
	origin := f.Input.Origin()
	return Form{origin, origin}
}

// Place names a form: the pair of senses, as in "en>de", and the part. If input
// and instruction have different senses, the pair is "en/de".
func (f Form) Place() (pair string, part Part) {
	switch {
	case f.Input == f.Instruction && !f.Input.Rewritten():
		return string(f.Input), Source
	case f.Input == f.Instruction:
		return string(f.Input), Both
	case f.Input.Rewritten() && f.Instruction == f.Input.Origin():
		return string(f.Input), Inputs
	case f.Instruction.Rewritten() && f.Input == f.Instruction.Origin():
		return string(f.Instruction), Instructions
	}
	return string(f.Input) + "/" + string(f.Instruction), Mixed
}

// compareForms orders forms: sources first, then pair by pair.
func compareForms(a, b Form) int {
	pairA, partA := a.Place()
	pairB, partB := b.Place()
	rank := map[Part]int{Source: -1, Mixed: 1}
	return cmp.Or(cmp.Compare(rank[partA], rank[partB]), cmp.Compare(pairA, pairB),
		cmp.Compare(slices.Index(Parts, partA), slices.Index(Parts, partB)))
}
