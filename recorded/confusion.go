package recorded

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/measure/langid"

	"golang.org/x/text/language"
)

// Confusion is an answer that should be in one language.
type Confusion struct {
	Where    string // file:line
	ID       string // of the row, or of the turn in a conversation; empty if the file does not say
	Model    string // empty if the file does not say
	Item     crosstalk.Item
	Sample   int
	Answer   crosstalk.Answer
	Unjudged string // why there is no language that the answer should be in; the item's is empty then
}

// Confusion yields the answers of a file. The file is a table (table.Formats) with one row per answer; or chat
// logs, logs of lm-evaluation-harness, Inspect or promptfoo, which docs/recorded.md describes.
//
// The columns of a table are completion and language, and optionally model, task, source, id, prompt and sample.
// The language is a BCP 47 tag (fr, zh-TW; see LanguageOf). Other text columns become labels, as do task, source
// and language. An answer with a prompt also gets the label length (crosstalk.LengthOf), if it has none.
//
// Rows with the same source and id answer one prompt, possibly in several languages, and form a cluster. Without an
// id the prompt identifies it; without a prompt every row is independent. The answers of a conversation form a
// cluster. Memory does not grow with the rows.
func (r Reading) Confusion(path string) iter.Seq2[Confusion, error] {
	needed := func(column string) bool {
		return column == "length" || slices.Contains(confusionTexts, column)
	}
	return func(yield func(Confusion, error) bool) {
		for a, err := range r.answers(path, needed) {
			var c Confusion
			if err == nil {
				c, err = r.confusion(a)
			}
			if !yield(c, err) || err != nil {
				return
			}
		}
	}
}

// Columns of a confusion item: those that are not labels, and all with a meaning.
var (
	confusionContents = []string{"id", "model", "prompt", "completion", "sample"}
	confusionTexts    = append(slices.Clone(confusionContents), "language", "task", "source")
)

func (r Reading) confusion(a answered) (Confusion, error) {
	v := a.Values
	c := Confusion{Where: where(a.Row), ID: v["id"], Model: v["model"], Answer: Answer(v["completion"])}
	if a.failed {
		c.Answer = crosstalk.Answer{Status: crosstalk.Failed}
	}
	err := refuseLists(a.Row, confusionTexts)
	if err != nil {
		return c, err
	}
	for _, column := range []string{"completion", "language"} { // of each line of JSON
		if !a.Has(column) && (column == "completion" || r.Expect == "") {
			return c, a.HeaderErrorf("has no column %q; expected completion and language, "+
				"and optionally model, task, source, id, prompt, sample", column)
		}
	}
	if c.Sample, _, err = numberIn(a.Row, "sample", 0); err != nil {
		return c, err
	}
	labels := labelsOf(v, confusionContents)
	p := &crosstalk.Prompt{Text: v["prompt"]}
	labels["language"], c.Unjudged = r.expected(p, v["language"], a.turns)
	if length := crosstalk.LengthOf(v["prompt"]); length != "" && !a.Has("length") {
		labels["length"] = length
	}
	c.Item = ConfusionItem(labels, cmp.Or(v["id"], v["prompt"]), p)
	if a.cluster != "" {
		c.Item.Cluster = join(labels["source"], a.cluster)
	}
	return c, nil
}

// ConfusionItem is the item of a prompt with this name within its task, source and language. Prompts with the same
// source and name form a cluster. Without a name it has no id.
func ConfusionItem(labels map[string]string, name string, p *crosstalk.Prompt) crosstalk.Item {
	item := crosstalk.Item{Labels: labels, Prompt: p}
	if name != "" {
		item.Cluster = join(labels["source"], name)
		item.ID = join(labels["task"], labels["source"], labels["language"], name)
	}
	return item
}

// join joins the non-empty parts with slashes.
func join(names ...string) string {
	return strings.Join(slices.DeleteFunc(names, func(s string) bool { return s == "" }), "/")
}

// LanguageOf returns the language of a BCP 47 tag in the labels of identifiers: its ISO 639-1 code if it has one.
// If the tag asks for a script (langid.Script), scripted is the tag.
func LanguageOf(tag string) (code, scripted string, err error) {
	t, err := language.Parse(tag)
	if base, confidence := t.Base(); err == nil && confidence == language.Exact {
		if langid.Script(t) != "" {
			scripted = t.String()
		}
		return base.String(), scripted, nil
	}
	return "", "", fmt.Errorf("%q is not a valid language; expected a code such as fr, zh or pt-BR", tag)
}
