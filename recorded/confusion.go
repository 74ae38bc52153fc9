package recorded

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/internal/table"

	"golang.org/x/text/language"
)

// Confusion is an answer that should be in one language.
type Confusion struct {
	Where  string // file:line
	Model  string // empty if the file does not say
	Item   crosstalk.Item
	Sample int
	Answer crosstalk.Answer
}

// ReadConfusion yields the answers of a file, one per row, with the columns
// completion and language, and optionally model, task, source, id, prompt and
// sample. The language is a BCP 47 tag (fr, pt-BR); region and script are
// ignored. Every other text column becomes a label of the item, as do task,
// source and language. A row with a prompt also gets the label length, unless
// the file has such a column: see crosstalk.LengthOf.
//
// Rows with the same source and id answer one prompt, possibly in several
// languages, and form a cluster. Without an id the prompt identifies it;
// without a prompt every row is independent. Memory does not grow with the
// rows.
func ReadConfusion(path string) iter.Seq2[Confusion, error] {
	needed := func(column string) bool {
		return slices.Contains(confusionContents, column) || slices.Contains([]string{"language", "task", "source", "length"}, column)
	}
	return rowsOf(table.ReadNeeding(path, needed), path, readConfusion)
}

// Columns that are not labels of a confusion item.
var confusionContents = []string{"", "id", "model", "prompt", "completion", "sample"}

func readConfusion(row table.Row) (Confusion, error) {
	v := row.Values
	c := Confusion{Where: fmt.Sprintf("%s:%d", row.File, row.Line), Model: v["model"], Answer: answers([]string{v["completion"]})[0]}
	for _, column := range []string{"completion", "language"} {
		if !row.Has(column) {
			return c, row.HeaderErrorf("has no column %q; expected completion and language, and optionally model, task, source, id, prompt, sample", column)
		}
	}
	for column := range row.Lists {
		if slices.Contains(confusionContents, column) || slices.Contains([]string{"language", "task", "source"}, column) {
			return c, row.Errorf("%s is a list; expected text", column)
		}
	}
	code, err := LanguageOf(v["language"])
	if err != nil {
		return c, row.Errorf("%w", err)
	}
	if s := strings.TrimSpace(v["sample"]); s != "" {
		var ok bool
		if c.Sample, ok = wholeNumber(s); !ok {
			return c, row.Errorf("sample is %q; expected a whole number from 0", s)
		}
	}
	labels := make(map[string]string, len(v))
	for column, value := range v {
		if value != "" && !slices.Contains(confusionContents, column) && !slices.Contains(thoughtColumns, column) {
			labels[column] = value
		}
	}
	if length := crosstalk.LengthOf(v["prompt"]); length != "" && !row.Has("length") {
		labels["length"] = length
	}
	c.Item = ConfusionItem(labels, cmp.Or(v["id"], v["prompt"]), &crosstalk.Prompt{Text: v["prompt"], Language: code})
	return c, nil
}

// ConfusionItem is the item of a prompt with this name within its task, source
// and language. Prompts with the same source and name form a cluster. Without a
// name it has no id.
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

// LanguageOf returns the language of a BCP 47 tag in the labels of identifiers:
// its ISO 639-1 code if it has one.
func LanguageOf(tag string) (string, error) {
	t, err := language.Parse(tag)
	if base, confidence := t.Base(); err == nil && confidence == language.Exact {
		return base.String(), nil
	}
	return "", fmt.Errorf("%q is not a valid language; expected a code such as fr, zh or pt-BR", tag)
}
