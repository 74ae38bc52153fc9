package suite

import (
	"cmp"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"crosstalk/internal/boolq"
	"crosstalk/internal/table"
)

// dataset defines how the files of a published data set become inputs of a
// task.
type dataset struct {
	name   string
	fields []string // in the order of a row's texts
	labels []string // by label number; a task's classes are in the same order

	// read yields the rows of a file, in language unless the file names
	// another.
	read func(file, language string) iter.Seq2[dataRow, error]
}

const boolqFormat = "boolq"

var publishedTasks = []dataset{
	{"paws-x", []string{"sentence1", "sentence2"}, []string{"different meaning", "same meaning"}, readPAWSX},
	{"xnli", []string{"premise", "hypothesis"}, xnliLabels, readXNLI},
	{boolqFormat, []string{"passage", "question"}, []string{"no", "yes"}, readBoolQ},
}

// dataRow is one input in one language.
type dataRow struct {
	table.Row
	id, language string
	texts        []string
	label        int // -1: none
}

// readPAWSX reads a file of PAWS-X (Yang et al. 2019), TSV or Parquet. Each
// text is quoted as in CSV, but a line is always a row. The Parquet files on
// the Hugging Face hub still contain these quotes.
func readPAWSX(file, language string) iter.Seq2[dataRow, error] {
	return eachRow(file, func(_ int, r table.Row) ([]dataRow, error) {
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
	})
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

// readXNLI reads a file of XNLI (Conneau et al. 2018): TSV or JSON Lines in all
// languages, or Parquet as on the Hugging Face hub, in one language or all.
// Quotes in it are part of the texts.
func readXNLI(file, language string) iter.Seq2[dataRow, error] {
	return eachRow(file, func(n int, r table.Row) ([]dataRow, error) {
		v := r.Values
		switch {
		case r.Has("gold_label"):
			return []dataRow{{r, cmp.Or(v["pairID"], strconv.Itoa(n)), cmp.Or(v["language"], language),
				[]string{v["sentence1"], v["sentence2"]}, slices.Index(xnliLabels, v["gold_label"])}}, nil
		case r.Has("premise") && r.Has("hypothesis"):
			return []dataRow{{r, strconv.Itoa(n), language, []string{v["premise"], v["hypothesis"]},
				labelNumber(v["label"], 3)}}, nil
		case len(r.Lists["hypothesis.language"]) > 0:
			var rows []dataRow
			for i, l := range r.Lists["hypothesis.language"] {
				if translations := r.Lists["hypothesis.translation"]; i < len(translations) && r.Has("premise."+l) {
					rows = append(rows, dataRow{r, strconv.Itoa(n), l, []string{v["premise."+l], translations[i]},
						labelNumber(v["label"], 3)})
				}
			}
			return rows, nil
		}
		return nil, r.Errorf("has neither a column gold_label nor premise; expected the columns of XNLI: language, " +
			"gold_label, sentence1, sentence2, pairID")
	})
}

// readBoolQ reads a file of BoolQ (Clark et al. 2019), JSON Lines as published
// or in SuperGLUE, or Parquet.
func readBoolQ(file, language string) iter.Seq2[dataRow, error] {
	return eachRow(file, func(n int, r table.Row) ([]dataRow, error) {
		v := r.Values
		for _, column := range []string{"question", "passage"} {
			if !r.Has(column) {
				return nil, r.Errorf("has no %q; expected the columns of BoolQ: question, passage, answer", column)
			}
		}
		return []dataRow{{r, cmp.Or(v["idx"], strconv.Itoa(n)), language,
				[]string{v["passage"], boolq.Question(v["question"], language)}, labelNumber(cmp.Or(v["answer"], v["label"]), 2)}},
			nil
	})
}

// eachRow builds rows from the n-th row of a file, from 0.
func eachRow(file string, rows func(n int, r table.Row) ([]dataRow, error)) iter.Seq2[dataRow, error] {
	read := table.Read(file)
	if strings.EqualFold(filepath.Ext(file), ".tsv") {
		read = plainRows(file)
	}
	return func(yield func(dataRow, error) bool) {
		n := 0
		for r, err := range read {
			if err != nil {
				yield(dataRow{}, err)
				return
			}
			made, err := rows(n, r)
			if err != nil {
				yield(dataRow{}, err)
				return
			}
			for _, row := range made {
				if !yield(row, nil) {
					return
				}
			}
			n++
		}
	}
}

// labelNumber returns the label for a number below n or a truth value; -1 for
// any other text.
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

// describe lists the classes of a task of this data set.
func (d dataset) describe() string {
	parts := make([]string, len(d.labels))
	for i, l := range d.labels {
		parts[i] = fmt.Sprintf("%d %s", i, l)
	}
	return strings.Join(parts, ", ")
}
