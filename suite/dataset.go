package suite

import (
	"cmp"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"crosstalk/internal/boolq"
	"crosstalk/internal/table"
)

// dataset defines how the files of a published data set become inputs of a task.
type dataset struct {
	name   string
	fields []string // in the order of a row's texts
	labels []string // by label number; a task's classes are in the same order

	// inputs are those in the n-th row of a file, from 0, in language unless the row names another.
	inputs func(r table.Row, n int, language string) ([]dataRow, error)
}

const boolqFormat = "boolq"

var publishedTasks = []dataset{
	{"paws-x", []string{"sentence1", "sentence2"}, []string{"different meaning", "same meaning"}, pawsX},
	{"xnli", []string{"premise", "hypothesis"}, xnliLabels, xnli},
	{boolqFormat, []string{"passage", "question"}, []string{"no", "yes"}, boolQ},
}

type dataRow struct {
	table.Row
	id, language string
	texts        []string
	label        int // -1: none
}

func (d dataset) read(file, language string) iter.Seq2[dataRow, error] {
	rows := table.Read(file)
	if strings.EqualFold(filepath.Ext(file), ".tsv") {
		rows = table.ReadPlain(file)
	}
	return func(yield func(dataRow, error) bool) {
		n := 0
		for r, err := range rows {
			var inputs []dataRow
			if err == nil {
				inputs, err = d.inputs(r, n, language)
			}
			if err != nil {
				yield(dataRow{}, err)
				return
			}
			for _, input := range inputs {
				if !yield(input, nil) {
					return
				}
			}
			n++
		}
	}
}

// pawsX reads a row of PAWS-X (Yang et al. 2019), TSV or Parquet. Each text is quoted as in CSV, but a line is always a
// row. The Parquet files on the Hugging Face hub still contain these quotes.
func pawsX(r table.Row, _ int, language string) ([]dataRow, error) {
	row := dataRow{Row: r, id: r.Values["id"], language: language, label: labelNumber(r.Values["label"], 2)}
	for _, column := range []string{"sentence1", "sentence2"} {
		if !r.Has(column) {
			return nil, r.HeaderErrorf("has no column %q; expected the columns of PAWS-X: id, sentence1, sentence2, label",
				column)
		}
		row.texts = append(row.texts, unquote(r.Values[column]))
	}
	if row.id == "" {
		return nil, r.Errorf("has no id")
	}
	return []dataRow{row}, nil
}

// unquote removes the quoting of a CSV field; other text is unchanged.
func unquote(field string) string {
	if len(field) < 2 || field[0] != '"' || field[len(field)-1] != '"' {
		return field
	}
	inner := field[1 : len(field)-1]
	if strings.Contains(strings.ReplaceAll(inner, `""`, ""), `"`) {
		return field
	}
	return strings.ReplaceAll(inner, `""`, `"`)
}

var xnliLabels = []string{"entailment", "neutral", "contradiction"}

// xnli reads a row of XNLI (Conneau et al. 2018): TSV or JSON Lines in all languages, or Parquet as on the Hugging Face
// hub, in one language or all. Quotes in it are part of the texts.
func xnli(r table.Row, n int, language string) (rows []dataRow, err error) {
	v, id := r.Values, strconv.Itoa(n)
	label := labelNumber(v["label"], len(xnliLabels))
	switch languages := r.Lists["hypothesis.language"]; {
	case r.Has("gold_label"):
		return []dataRow{{r, cmp.Or(v["pairID"], id), cmp.Or(v["language"], language),
			[]string{v["sentence1"], v["sentence2"]}, slices.Index(xnliLabels, v["gold_label"])}}, nil
	case r.Has("premise") && r.Has("hypothesis"):
		return []dataRow{{r, id, language, []string{v["premise"], v["hypothesis"]}, label}}, nil
	case len(languages) > 0:
		translations := r.Lists["hypothesis.translation"]
		for i, l := range languages[:min(len(languages), len(translations))] {
			if r.Has("premise." + l) {
				rows = append(rows, dataRow{r, id, l, []string{v["premise."+l], translations[i]}, label})
			}
		}
		return rows, nil
	}
	return nil, r.Errorf("has neither a column gold_label nor premise; expected the columns of XNLI: language, " +
		"gold_label, sentence1, sentence2, pairID")
}

// boolQ reads a row of BoolQ (Clark et al. 2019), JSON Lines as published or in SuperGLUE, or Parquet.
func boolQ(r table.Row, n int, language string) ([]dataRow, error) {
	v := r.Values
	for _, column := range []string{"question", "passage"} {
		if !r.Has(column) {
			return nil, r.Errorf("has no %q; expected the columns of BoolQ: question, passage, answer", column)
		}
	}
	return []dataRow{{r, cmp.Or(v["idx"], strconv.Itoa(n)), language,
		[]string{v["passage"], boolq.Question(v["question"], language)},
		labelNumber(cmp.Or(v["answer"], v["label"]), 2)}}, nil
}

// labelNumber returns the label for a number below n or a truth value; -1 for any other text.
func labelNumber(s string, labels int) int {
	if n := slices.Index([]string{"false", "true"}, s); n >= 0 {
		return n
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n >= labels {
		return -1
	}
	return n
}
