package consistency

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/internal/shared"
	"crosstalk/measure/similarity"
)

// lines decodes each line of a file of the reference data.
func readLines[T any](t *testing.T, name string) (rows []T) {
	t.Helper()
	f, err := os.Open(shared.File(t, "multisense/"+name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for d := json.NewDecoder(bufio.NewReader(z)); d.More(); {
		var row T
		if err := d.Decode(&row); err != nil {
			t.Fatalf("%s: row %d: %v", name, len(rows)+1, err)
		}
		rows = append(rows, row)
	}
	return rows
}

// condition is one way in which the authors asked about PAWS-X.
type condition struct {
	Name     string
	X, I     Sense
	Run      int
	LabelMap map[string]int `json:"label_map"`
	Prefix   string
	Suffix   string
}

func (c condition) form() Form { return Form{c.X, c.I} }

// multisense is the authors' PAWS-X data.
type multisense struct {
	conditions []condition
	task       crosstalk.Task
	items      []crosstalk.Item
	answers    []Answers
	rewritten  []map[Sense]Rewritten
}

func readMultisense(t *testing.T) (m multisense) {
	text, err := os.ReadFile(shared.File(t, "multisense/conditions.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Tasks map[string]struct{ Conditions []condition }
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	m.conditions = file.Tasks["paws-x"].Conditions
	units := map[string]string{"en": "Sentence", "de": "Satz", "zh": "句子", "es": "Oración", "fr": "Phrase"}
	m.task = crosstalk.Task{Name: "paws-x", Classes: []string{"0", "1"}, Fields: []string{"sentence1", "sentence2"},
		Layout: `{prefix} {unit} 1: "{sentence1}" {unit} 2: "{sentence2}"{suffix}`, Instructions: map[string]crosstalk.Instruction{}}
	for _, c := range m.conditions {
		in := crosstalk.Instruction{Parts: map[string]string{"prefix": c.Prefix, "unit": units[c.I.Target()], "suffix": c.Suffix}}
		for _, word := range slices.SortedFunc(maps.Keys(c.LabelMap), func(a, b string) int { return c.LabelMap[a] - c.LabelMap[b] }) {
			in.Words = append(in.Words, crosstalk.AnswerWord{Word: word, Class: strconv.Itoa(c.LabelMap[word])})
		}
		m.task.Instructions[string(c.I)] = in
	}
	sources := readLines[struct{ Src map[string][]string }](t, "paws-x.source.jsonl.gz")
	golds := readLines[struct{ Gold map[string]int }](t, "paws-x.gold.jsonl.gz")
	responses := readLines[struct{ R map[string][]*string }](t, "paws-x.responses.jsonl.gz")
	translations := readLines[struct {
		Tr map[Sense]struct{ Clean, Raw []string }
	}](t, "paws-x.translations.jsonl.gz")
	for i := range sources {
		gold := map[string]string{}
		for language, class := range golds[i].Gold {
			gold[language] = strconv.Itoa(class)
		}
		m.items = append(m.items, crosstalk.Item{ID: strconv.Itoa(i), Input: &crosstalk.Input{Task: "paws-x", Texts: sources[i].Src, Gold: gold}})
		answers := Answers{}
		for _, c := range m.conditions {
			answers[c.form()] = append(answers[c.form()], crosstalk.Answer{Status: crosstalk.Text, Text: *responses[i].R[c.Name][0]})
		}
		m.answers = append(m.answers, answers)
		rewritten := map[Sense]Rewritten{}
		for sense, t := range translations[i].Tr {
			rewritten[sense] = Rewritten{Texts: t.Clean}
		}
		m.rewritten = append(m.rewritten, rewritten)
	}
	return m
}

// comet is the authors' external scorer, as recorded.
func (m multisense) comet(t *testing.T) similarity.Similarity {
	scores := map[similarity.Pair]float64{}
	for _, row := range readLines[struct {
		I     int
		Pair  Sense
		Comet [2]float64
	}](t, "paws-x.scores.jsonl.gz") {
		texts := m.items[row.I].Input.Texts
		for k, score := range row.Comet {
			scores[similarity.Pair{A: m.rewritten[row.I][row.Pair].Texts[k], B: texts[row.Pair.Target()][k], Source: texts[string(row.Pair.Origin())][k]}] = score
		}
	}
	return recordedScores(scores)
}

type recordedScores map[similarity.Pair]float64

func (recordedScores) Name() string { return "recorded" }

func (s recordedScores) Scores(_ context.Context, pairs []similarity.Pair) ([]float64, error) {
	scores := make([]float64, len(pairs))
	for i, p := range pairs {
		score, ok := s[p]
		if !ok {
			return nil, fmt.Errorf("there is no score of %q", p)
		}
		scores[i] = score
	}
	return scores, nil
}

// TestGolden compares every cell of the tables that the authors' data give.
func TestGolden(t *testing.T) {
	m := readMultisense(t)
	protocol, _ := ProtocolNamed("ohmer-2023")
	in := &Instrument{Protocol: protocol, Tasks: []crosstalk.Task{m.task}, Condition: map[string]string{"model": "m"}, Quality: m.comet(t)}
	estimates := map[string]crosstalk.Estimate{}
	for _, e := range in.Estimate(func(yield func(crosstalk.Observation) bool) {
		for i, item := range m.items {
			observations, err := in.Score(t.Context(), nil, item, m.answers[i], m.rewritten[i])
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range observations {
				yield(o)
			}
		}
	}, []string{ByClass}) {
		estimates[strings.Join([]string{e.Measure, e.By["pair"], e.By["part"], e.By["class"]}, " ")] = e
	}
	text, err := os.ReadFile(shared.File(t, "multisense/golden_tables.paws-x.json"))
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Cells []struct {
			Table      string
			Cell       []string
			Recomputed *float64
			Stored     float64
			N          int
		}
	}
	if err := json.Unmarshal(text, &golden); err != nil {
		t.Fatal(err)
	}
	compared := map[string]int{}
	for _, c := range golden.Cells {
		name, scale, want := figureOf(c.Table, c.Cell), 1.0, c.Stored // COMET's figures are those of the external scorer
		if c.Recomputed != nil {
			want = *c.Recomputed
		}
		if strings.HasPrefix(name, BLEU+" ") {
			scale = 100
		}
		e, ok := estimates[name]
		if !ok {
			t.Errorf("table %s %v: there is no figure %q", c.Table, c.Cell, name)
			continue
		}
		got := float64(e.Value) * scale
		if c.Cell[len(c.Cell)-1] == "% included" {
			got = 100 * float64(e.Observations) / 2000
		}
		if !(math.Abs(got-want) <= 1e-9) || c.N > 0 && e.Observations != c.N {
			t.Errorf("table %s %v: %s is %.12g of %d, want %.12g of %d", c.Table, c.Cell, name, got, e.Observations, want, c.N)
		}
		if c.Table == "10" && c.Stored > 0 && math.Abs(got-c.Stored) > 5e-4 {
			t.Errorf("table %s %v: %s is %.12g, published as %.12g", c.Table, c.Cell, name, got, c.Stored)
		}
		compared[c.Table]++
	}
	t.Logf("cells compared, by table: %v", compared)
	if len(golden.Cells) != 119 {
		t.Errorf("%d cells, want 119", len(golden.Cells))
	}
}

// figureOf is the figure that a cell shows: measure, pair, part, class.
func figureOf(table string, cell []string) string {
	pair, what := cell[1], ""
	if len(cell) > 2 {
		what = cell[2]
	}
	source, _, rewritten := strings.Cut(pair, ">")
	part := map[bool]string{true: " T ", false: " source "}[rewritten]
	switch table {
	case "1":
		return Consistency + " " + pair + " " + what + " "
	case "2", "10":
		return strings.NewReplacer("BLEU", BLEU, "COMET-22", Quality).Replace(what) + " " + pair + "  "
	case "3":
		return BLEUConsistency + " " + pair + " X "
	case "3b(not in paper; notebook)":
		return BLEUAccuracy + " " + pair + " X "
	case "11":
		if what == "orig" {
			return Consistency + " " + pair + " X "
		}
		return ConsistencyBLEU50 + " " + pair + " X "
	case "4", "13":
		switch what {
		case "T_src":
			return Accuracy + " " + source + " source "
		case "T_src>tgt":
			what = "T"
		}
		return Accuracy + " " + pair + " " + what + " "
	case "5":
		measure := map[string]string{"all": Consistency, "correct": ConsistencyCorrect, "incorrect": ConsistencyIncorrect}[what]
		if language, again := strings.CutSuffix(pair, " run2"); again {
			return measure + " " + language + " repeat "
		}
		return measure + " " + pair + " T "
	case "7":
		class := map[string]string{"true": "1", "false": "0"}[what]
		if pair == "gold" {
			return LabelShare + " en gold " + class
		}
		return LabelShare + " " + pair + part + class
	case "12":
		return Accuracy + " " + strings.TrimPrefix(pair, "X/I=") + " mixed "
	}
	return "table " + table
}

// TestGoldenPrompts compares what is asked with what the authors asked.
func TestGoldenPrompts(t *testing.T) {
	m := readMultisense(t)
	byName := map[string]condition{}
	for _, c := range m.conditions {
		byName[c.Name] = c
	}
	rows := readLines[struct {
		Cond   string
		I      int
		Prompt string
	}](t, "prompts.paws-x.jsonl.gz")
	if len(rows) != 160 {
		t.Fatalf("%d prompts, want 160", len(rows))
	}
	for _, row := range rows {
		c := byName[row.Cond]
		texts := m.items[row.I].Input.Texts[string(c.X)]
		if c.X.Rewritten() {
			texts = m.rewritten[row.I][c.X].Texts
		}
		if got := m.task.Prompt(m.task.Instructions[string(c.I)], texts); got != row.Prompt {
			t.Errorf("%s, item %d:\n%s\nwant\n%s", row.Cond, row.I, got, row.Prompt)
		}
	}
}
