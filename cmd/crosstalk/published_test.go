package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/internal/testing/golden"
	"crosstalk/internal/testing/shared"
	"crosstalk/suite"
)

// published is a number in a paper, a row of docs/validation/published.tsv.
type published struct {
	paper, section, table string // a table, or text: a number in the text of the section
	part, row, column     string // of the table, in its words
	value                 string // as printed: with its decimals
	computed              string // what crosstalk prints of the answers that are here, with one more decimal
	state                 string
}

const publishedFile = "../../docs/validation/published.tsv"

// publishedStates are the states of a number, and what the page says of them. The first
// are compared.
var publishedStates = []struct{ name, meaning string }{
	{"equal", "equal at the paper's decimals"},
	{"rounding", "halfway between two of the paper's figures, or rounded twice, as 0.0249 is printed as 0.03"},
	{"identifier", "the authors' script gives our figure with the identifier that is here, `lid.176.ftz`. The paper's " +
		"figure is of `lid.176.bin` and, in some tables of base models, of another run: Tables A17 and A19 print different " +
		"figures of one model"},
	{"rule", "the authors' script does not have this measure, and the paper describes it in a sentence"},
	{"contradiction", "Tables 5 and A11 disagree: no average over the positions of A11 reaches the figures of the same " +
		"prompts in Table 5"},
	{"similarity", "the figure is of `gloss`; the paper's needs the weights of an encoder"},
	{"prompts", "the prompts that the authors published, read by `suites lcb`, have another number: 10 and 14 languages of " +
		"100 prompts are not 1.2k and 1.5k; words are what stands between spaces, also in Chinese and Japanese; the thirds of " +
		"Table A10 have 33 prompts each"},
	{"differs", "not explained"},
	{"answers", "needs answers that are not here, of other models or settings"},
	{"people", "needs annotators"},
	{"training", "needs a model that was trained for the paper"},
}

// comparedStates is the number of states with a computed figure.
const comparedStates = 8

func readPublished(t *testing.T) (list []published) {
	t.Helper()
	b, err := os.ReadFile(publishedFile)
	if err != nil {
		t.Fatal(err)
	}
	r := csv.NewReader(bytes.NewReader(b))
	r.Comma = '\t'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range rows[1:] {
		list = append(list, published{f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8]})
	}
	return list
}

func writePublished(t *testing.T, list []published) {
	t.Helper()
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Comma = '\t'
	w.Write([]string{"paper", "section", "table", "part", "row", "column", "published", "computed", "state"})
	for _, n := range list {
		w.Write([]string{n.paper, n.section, n.table, n.part, n.row, n.column, n.value, n.computed, n.state})
	}
	w.Flush()
	if err := os.WriteFile(publishedFile, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

var digitsOf = regexp.MustCompile(`\d+(?:\.\d+)?k?`)

// Every row of docs/validation/published.tsv is in the text of its paper: its numbers follow each
// other in a line.
func TestPublished(t *testing.T) {
	texts := map[string][][]string{} // the numbers of each line, by paper
	type place struct{ paper, table, row string }
	list := readPublished(t)
	var places []place
	rows := map[place][]string{}
	for _, n := range list {
		at := place{n.paper, n.table, strings.TrimSuffix(n.part, ", change") + ", " + n.row}
		if n.table == "text" {
			at.row += ", " + n.column
		}
		if rows[at] == nil {
			places = append(places, at)
		}
		rows[at] = append(rows[at], strings.TrimPrefix(n.value, "-"))
		if texts[n.paper] == nil {
			file := filepath.Join(filepath.Dir(shared.File(t, "")), "papers", n.paper+".txt")
			b, err := os.ReadFile(file)
			if err != nil {
				shared.Missing(t, err)
			}
			for line := range strings.Lines(string(b)) {
				texts[n.paper] = append(texts[n.paper], digitsOf.FindAllString(line, -1))
			}
		}
	}
	for _, at := range places {
		found := slices.ContainsFunc(texts[at.paper], func(line []string) bool { return containsRun(line, rows[at]) })
		if !found {
			t.Errorf("%v is in no line of the paper: %v", at, rows[at])
		}
	}
	if len(list) < 3900 {
		t.Errorf("%d numbers", len(list))
	}
}

// containsRun reports whether a list has the elements of another next to each other.
func containsRun(list, of []string) bool {
	for i := 0; i+len(of) <= len(list); i++ {
		if slices.Equal(list[i:i+len(of)], of) {
			return true
		}
	}
	return false
}

// computed are estimates of the runs of the page, by the name of the table that has them, and
// the prompts of the Language Confusion Benchmark.
type computed struct {
	tables  map[string][]crosstalk.Estimate
	prompts *suite.Suite
}

// at is the figure of a measure with these columns: name, value and so on. Those that
// are over all values have none.
func (f computed) at(table, measure string, columns ...string) (crosstalk.Estimate, bool) {
	want := map[string]string{}
	for i := 0; i < len(columns); i += 2 {
		want[columns[i]] = columns[i+1]
	}
	for _, e := range f.tables[table] {
		by := maps.Clone(e.By)
		maps.DeleteFunc(by, func(column, v string) bool {
			return v == crosstalk.All || column == "similarity" || column == "language" && table == "smilga"
		})
		if e.Measure == measure && maps.Equal(by, want) {
			return e, true
		}
	}
	return crosstalk.Estimate{}, false
}

// paperReports are the tables of runs with the figures that papers have.
var paperReports = map[string]string{
	"languages": "runs/lcb --rows model --columns task,language --measure lpr,wpr,lcpr,line_accuracy",
	"sources":   "runs/lcb --rows model --columns task,source --measure lpr,wpr,lcpr",
	"average crosslingual": "runs/lcb --rows model --columns source --measure lpr,wpr,lcpr --only task=crosslingual " +
		"--spread source",
	"average monolingual": "runs/lcb --rows model --columns source --measure lpr,wpr,lcpr --only task=monolingual " +
		"--only source=okapi,aya_human_annotated,dolly_human_edited --spread source",
	"lengths": "runs/lcb --rows model --columns length_tertile --measure lpr --only source=complex_prompts",
	"positions": "runs/lcb --rows model --columns position --measure lpr --only task=crosslingual " +
		"--only source=okapi,sharegpt",
	"latin":  "runs/lcb-paper --rows model --columns task,language --measure wpr --only latin=yes",
	"paws-x": "runs/paws-x --by class",
	"smilga": "runs/smilga --rows dataset,model --columns category --measure leak_rate",
}

// paperNames are the names of papers for values of columns.
var paperNames = map[string]string{
	"Command R base": "command-r-base", "Command R Base": "command-r-base", "Command R+": "command-r-plus",
	"GPT-3.5 Turbo": "gpt-3.5-turbo", "Llama 3 70B-I": "llama-3-instruct",
	"Okapi": "okapi", "Aya": "aya_human_annotated", "Dolly": "dolly_human_edited", "Native": "native_prompts",
	"ShareGPT": "sharegpt", "Complex": "complex_prompts",
	"0.5B-Instruct": "05", "3B-Instruct": "3", "true": "1", "false": "0",
	"ROUGE-1": "rouge1", "ROUGE-2": "rouge2", "ROUGE-L": "rougeL", "BLEU": "bleu",
	"consistency all": "consistency", "consistency correct": "consistency_correct",
	"consistency incorrect": "consistency_incorrect",
}

// compute finds the figure of a number in its paper's unit, and what it needs where the
// answers are not here.
func (f computed) compute(n published) (v float64, ok bool, needs string) {
	var e crosstalk.Estimate
	switch n.paper {
	case "marchisio-2024":
		if e, ok = f.marchisio(n); !ok {
			if v, ok = promptFigure(n, f.prompts); ok {
				return v, ok, ""
			}
		}
	case "ohmer-2023":
		e, ok = f.ohmer(n)
	case "smilga-2025":
		e, ok = f.smilga(n)
	}
	v = float64(e.Value)
	switch {
	case ok && (n.paper != "ohmer-2023" || n.column == "BLEU"):
		v *= 100
	case ok && strings.HasPrefix(n.row, "included"):
		v = 100 * float64(e.N) / 2000
	}
	switch {
	case strings.Contains(n.row, "SFT"):
		needs = "training"
	case strings.Contains(n.part, "people") || n.column == "people" || n.paper == "ohmer-2023" && n.section == "E" ||
		n.row == "annotators":
		needs = "people"
	default:
		needs = "answers"
	}
	return v, ok, needs
}

func (f computed) marchisio(n published) (crosstalk.Estimate, bool) {
	model, known := paperNames[n.row]
	if !known || slices.Contains([]string{"7", "8", "9", "10", "A12", "A20"}, n.table) {
		return crosstalk.Estimate{}, false
	}
	task, measure, _ := strings.Cut(strings.TrimSuffix(n.part, ", Complex"), " ")
	column := n.column
	switch n.table {
	case "4":
		task, measure, column = n.column, "WPR", "avg"
	case "11":
		measure, column = n.column, "avg"
	case "A10":
		return f.at("lengths", "lpr", "model", model, "task", task, "length_tertile", column)
	}
	if n.table == "A11" {
		return f.at("positions", "lpr", "model", model, "task", task, "position", column)
	}
	measure = strings.ReplaceAll(strings.ToLower(measure), " ", "_")
	switch n.table {
	case "5", "A7", "A8", "A9":
		if column == "avg" {
			return f.at("average "+task, measure, "model", model, "source", "mean")
		}
		return f.at("sources", measure, "model", model, "task", task, "source", paperNames[column])
	}
	table := "languages"
	if n.table == "A4" {
		table = "latin"
	}
	if n.table == "6" && column == "avg" { // over some languages
		return f.mean(table, measure, "language", strings.Fields("ar hi ja ko vi zh"), "model", model, "task", task)
	}
	if column == "avg" {
		return f.at(table, measure, "model", model, "task", task)
	}
	return f.at(table, measure, "model", model, "task", task, "language", column)
}

// mean is the unweighted mean of figures with these values of a column.
func (f computed) mean(
	table, measure, column string, values []string, columns ...string,
) (sum crosstalk.Estimate, ok bool) {
	for _, v := range values {
		e, ok := f.at(table, measure, append(slices.Clone(columns), column, v)...)
		if !ok {
			return e, false
		}
		sum.Value += e.Value / crosstalk.Value(len(values))
	}
	return sum, true
}

func (f computed) ohmer(n published) (crosstalk.Estimate, bool) {
	if n.part != "PAWS-X" {
		return crosstalk.Estimate{}, false
	}
	at := func(measure string, columns ...string) (crosstalk.Estimate, bool) {
		return f.at("paws-x", measure, append(columns, "model", "gpt-3.5-turbo", "task", "paws-x")...)
	}
	part := n.column
	origin, _, rewritten := strings.Cut(n.row, ">")
	switch n.table {
	case "1":
		return at("consistency", "pair", n.row, "part", part)
	case "2", "10":
		return at(paperNames[n.column], "pair", n.row)
	case "3":
		return at("bleu_consistency_pearson", "pair", n.column, "part", "X")
	case "4", "13":
		if part == "source" {
			return at("accuracy", "pair", origin, "part", part)
		}
		return at("accuracy", "pair", n.row, "part", part)
	case "5":
		if n.column == "repeat" {
			return at(paperNames[n.row], "pair", "en", "part", "repeat")
		}
		return at(paperNames[n.row], "pair", n.column, "part", "T")
	case "7":
		pair, part := n.row, "source"
		if rewritten {
			part = "T"
		} else if pair == "gold" {
			pair, part = "en", "gold"
		}
		return at("label_share", "pair", pair, "part", part, "class", paperNames[n.column])
	case "11":
		if n.row == "consistency" {
			return at("consistency", "pair", n.column, "part", "X")
		}
		return at("consistency_bleu50", "pair", n.column, "part", "X")
	case "12":
		return at("accuracy", "pair", n.column, "part", "mixed")
	case "text":
		return f.inconsistencies(n)
	}
	return crosstalk.Estimate{}, false
}

var changeOf = regexp.MustCompile(`^inconsistencies (\S+): (\w+) to (\w+)$`)

// inconsistencies are the share of a change of class among all changes, in percent.
func (f computed) inconsistencies(n published) (share crosstalk.Estimate, ok bool) {
	m := changeOf.FindStringSubmatch(n.row)
	if m == nil {
		return share, false
	}
	changes, all := 0.0, 0.0
	for _, e := range f.tables["paws-x"] {
		if e.Measure != "transition" || e.By["pair"] != m[1] || e.By["part"] != "T" || e.By["from"] == e.By["to"] {
			continue
		}
		count := float64(e.Value) * float64(e.N)
		all += count
		if e.By["from"] == paperNames[m[2]] && e.By["to"] == paperNames[m[3]] {
			changes += count
		}
	}
	share.Value = crosstalk.Value(100 * changes / all)
	if strings.HasPrefix(n.value, "0.") { // printed as 0.72 %
		share.Value /= 100
	}
	return share, true
}

func (f computed) smilga(n published) (crosstalk.Estimate, bool) {
	model, known := paperNames[n.row]
	switch category, is := strings.CutPrefix(n.part, "category "); {
	case !known:
		return crosstalk.Estimate{}, false
	case is:
		return f.at("smilga", "leak_rate", "model", model, "dataset", "color", "category", category)
	case n.part == "initial":
		return f.at("smilga", "leak_rate", "model", model, "dataset", "initial")
	}
	return f.mean("smilga", "leak_rate", "category", []string{"1", "2"}, "model", model, "dataset", "color")
}

// stateOf compares a figure with a number of the paper.
func stateOf(n published, v float64) string {
	_, decimals, _ := strings.Cut(strings.TrimSuffix(n.value, "k"), ".")
	round := func(x float64, d int) float64 { // half up
		p := math.Pow(10, float64(d))
		return math.Floor(x*p+0.5+1e-9) / p
	}
	want, err := strconv.ParseFloat(strings.TrimSuffix(n.value, "k"), 64)
	d := len(decimals)
	same := func(x float64) bool { return math.Abs(x-want) < 1e-9 }
	switch {
	case err != nil:
		return err.Error()
	case same(round(v, d)) || strconv.FormatFloat(v, 'f', d, 64) == n.value:
		return "equal"
	case same(round(round(v, d+1), d)) || math.Abs(v-want) < 0.5*math.Pow(10, -float64(d))+1e-9:
		return "rounding"
	case n.table == "A4":
		return "rule"
	case n.table == "1" || n.row == "bounds":
		return "prompts"
	case n.table == "A11":
		return "contradiction"
	case n.paper == "marchisio-2024":
		return "identifier"
	case n.paper == "smilga-2025":
		return "similarity"
	}
	return "differs"
}

// with is the number with our figure beside it.
func (n published) with(v float64) published {
	_, decimals, _ := strings.Cut(strings.TrimSuffix(n.value, "k"), ".")
	n.computed, n.state = strconv.FormatFloat(v, 'f', len(decimals)+1, 64), stateOf(n, v)
	if n.paper == "smilga-2025" {
		n.state = "similarity"
	}
	return n
}

// comparePublished computes every published number of which the answers are here, and
// compares it and its state with docs/validation/published.tsv.
func comparePublished(t *testing.T, dir string) {
	t.Helper()
	prompts, err := suite.Load(filepath.Join(dir, "test_sets.zip"))
	if err != nil {
		t.Fatal(err)
	}
	f := computed{map[string][]crosstalk.Estimate{}, prompts}
	for name, line := range paperReports {
		var document crosstalk.Document
		command := "table"
		if strings.Contains(line, " --by ") {
			command = "report"
		}
		text := papersCommand(t, dir, "crosstalk "+command+" "+line+" --format json")
		if err := json.Unmarshal([]byte(text), &document); err != nil {
			t.Fatal(name, err)
		}
		f.tables[name] = document.Estimates
	}
	list := readPublished(t)
	wrong := 0
	for i, was := range list {
		n := &list[i]
		v, ok, needs := f.compute(was)
		n.computed, n.state = "", needs
		if ok {
			*n = was.with(v)
		}
		if *n != was && !*golden.Update {
			if wrong++; wrong < 10 {
				t.Errorf("%s has %v, computed is %v", publishedFile, was, *n)
			}
		}
	}
	if *golden.Update {
		writePublished(t, list)
	}
}
