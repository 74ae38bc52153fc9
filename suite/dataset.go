package suite

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/internal/boolq"
	"crosstalk/internal/table"
	"crosstalk/suite/datasets"
)

type dataEntry struct {
	Format at[string] `yaml:"format"`
	Pulled at[string] `yaml:"pulled"`
	Files  node       `yaml:"files"` // a file, or one per language
}

// placeholder replaces a sentence in PAWS-X that could not be translated.
const placeholder = "NS"

// data adds the items of a data set to the suite. Rows with the same id, in any language, form one item.
func (r *taskReader) data(t crosstalk.Task, languages []string, e dataEntry, line int) {
	i := slices.IndexFunc(publishedTasks, func(d dataset) bool { return d.name == e.Format.value })
	r.refuseIf(i < 0, max(e.Format.line, line),
		"task %s: unknown data format %.40q; choose one of: paws-x, xnli, boolq", t.Name, e.Format.value)
	d := publishedTasks[i]
	order := make([]int, len(t.Fields)) // index in a row's texts of each field of the task
	for i, field := range t.Fields {
		order[i] = slices.Index(d.fields, field)
	}
	r.refuseIf(len(order) != len(d.fields) || slices.Contains(order, -1), line,
		"task %s has the fields %s; data in the format %s have %s",
		t.Name, strings.Join(t.Fields, ", "), d.name, strings.Join(d.fields, ", "))
	r.refuseIf(len(t.Classes) != len(d.labels), line, "task %s has %d classes; data in the format %s have %d: %s",
		t.Name, len(t.Classes), d.name, len(d.labels), strings.Join(d.labels, ", "))
	files, there := r.files(t, languages, e, line)
	if !there {
		return // recorded answers can be scored without their inputs
	}
	j := joiner{taskReader: r, task: t, order: order, at: map[string]int{}, clusters: map[string]string{},
		read: map[[2]string]int{}}
	if e.Files.isMap() {
		languages = keys(files)
	}
	for _, f := range files {
		for row, err := range d.read(f.value, f.key) {
			r.refuseIf(err != nil, line, "%w", err)
			if f.key != "" && row.language != f.key || len(languages) > 0 && !slices.Contains(languages, row.language) {
				continue // the task does not use this language
			}
			if err := j.add(row); err != nil {
				r.refuse(line, "%w", err)
			}
		}
	}
	j.end(languages, line)
}

// files lists the files of the data, each with its language, or "" for several. They may be missing if the suite is
// partial.
func (r *taskReader) files(t crosstalk.Task, languages []string, e dataEntry,
	line int) (files []entry[string], there bool) {
	if len(languages) != 1 {
		languages = []string{""}
	}
	files = r.byLanguage(e.Files, languages, line)
	dir := filepath.Dir(r.name)
	if e.Pulled.value != "" {
		var err error
		if dir, err = PulledDir(e.Pulled.value); r.partial && errors.As(err, new(*datasets.MissingError)) {
			return nil, false
		} else if err != nil {
			r.refuse(e.Pulled.line, "task %s: %w", t.Name, err)
		}
	}
	for i, f := range files {
		switch {
		case f.key != "" && !languageName().MatchString(f.key):
			r.refuse(f.line, "task %s: %.40q is not a valid language; expected a code such as en", t.Name, f.key)
		case f.value == "":
			r.refuse(f.line, "task %s: its data have no files; expected files: FILE or files: {LANGUAGE: FILE, ...}",
				t.Name)
		case !filepath.IsAbs(f.value):
			files[i].value = filepath.Join(dir, filepath.FromSlash(f.value))
		}
	}
	return files, true
}

// joiner builds items from the rows of several files.
type joiner struct {
	*taskReader
	task      crosstalk.Task
	order     []int
	items     []crosstalk.Item
	at        map[string]int    // items by id
	clusters  map[string]string // by their first text: pairs of one premise, questions about one passage
	read      map[[2]string]int // lines by id and language
	languages []string          // seen
}

func (j *joiner) add(row dataRow) error {
	switch {
	case row.language == "":
		return row.Errorf("has no language; expected files: {LANGUAGE: FILE}")
	case !languageName().MatchString(row.language):
		return row.Errorf("%.40q is not a valid language; expected a code such as en", row.language)
	}
	key := [2]string{row.id, row.language}
	if before := j.read[key]; before != 0 {
		return row.Errorf("duplicate id %.40q (first used in line %d)", row.id, before)
	}
	j.read[key] = row.Line
	texts := make([]string, len(j.order))
	holes := 0
	for i, from := range j.order {
		texts[i] = row.texts[from]
		if strings.TrimSpace(texts[i]) == "" {
			j.leftOut(row, j.task.Fields[i]+" is empty")
			return nil
		}
		if texts[i] == placeholder {
			holes++
		}
	}
	if row.label < 0 {
		j.leftOut(row, "no label")
		return nil
	}
	if !slices.Contains(j.languages, row.language) {
		j.languages = append(j.languages, row.language)
	}
	at, ok := j.at[row.id]
	if !ok {
		at = len(j.items)
		j.at[row.id] = at
		cluster, ok := j.clusters[row.texts[0]]
		if !ok {
			cluster = row.id
			j.clusters[row.texts[0]] = cluster
		}
		j.items = append(j.items, crosstalk.Item{ID: row.id, Cluster: cluster, Labels: map[string]string{"task": j.task.Name},
			Input: &crosstalk.Input{Task: j.task.Name, Texts: map[string][]string{}, Gold: map[string]string{}}})
	}
	item := j.items[at]
	item.Input.Texts[row.language] = texts
	item.Input.Gold[row.language] = j.task.Classes[row.label]
	if holes > 0 {
		item.Labels["placeholder"] = strings.TrimSpace(item.Labels["placeholder"] + " " + row.language)
	}
	return nil
}

func (j *joiner) leftOut(row dataRow, why string) {
	j.suite.Unusable = append(j.suite.Unusable, fmt.Sprintf("%s:%d: skipped: %s", row.File, row.Line, why))
}

// end adds the items to the suite, and checks that each language had some.
func (j *joiner) end(languages []string, line int) {
	j.refuseIf(len(j.items) == 0, line, "task %s: its data have no rows", j.task.Name)
	for _, l := range languages {
		j.refuseIf(!slices.Contains(j.languages, l), line, "task %s: its data have nothing in %s", j.task.Name, l)
	}
	lacking := map[string]int{}
	for _, item := range j.items {
		before := j.ids[item.ID]
		j.refuseIf(before != 0, line,
			"task %s: duplicate id %.40q in its data (first used in line %d)", j.task.Name, item.ID, before)
		j.ids[item.ID] = line
		for _, l := range j.languages {
			if item.Input.Texts[l] == nil {
				lacking[l]++
			}
		}
		if len(j.languages) == 1 {
			item.Labels["language"] = j.languages[0]
		}
	}
	for _, l := range j.languages {
		if n := lacking[l]; n > 0 {
			j.suite.Unusable = append(j.suite.Unusable, fmt.Sprintf("task %s: %d of %d items have no text in %s",
				j.task.Name, n, len(j.items), l))
		}
	}
	for _, item := range j.items {
		j.suite.Items.Add(item)
	}
}

// dataset defines how a published data set's files become inputs of a task.
type dataset struct {
	name   string
	fields []string // in the order of a row's texts
	labels []string // by label number; a task's classes are in the same order
	// inputs returns the inputs in the n-th row of a file, from 0, in language unless the row names another.
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

// pawsX reads a row of PAWS-X (Yang et al. 2019), TSV or Parquet. Texts are quoted as in CSV, but each line is a row.
// The Parquet files on the Hugging Face hub have these quotes too.
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

// unquote removes CSV quoting from a field; other text is unchanged.
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

// xnli reads a row of XNLI (Conneau et al. 2018): TSV or JSON Lines in all languages, or Parquet as on the Hugging
// Face hub, in one or all languages. Its quotes are part of the texts.
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
