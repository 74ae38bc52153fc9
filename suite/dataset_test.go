package suite

import (
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/internal/testing/shared"
	"crosstalk/suite/datasets"
)

const (
	pairTask = `suite: s
instrument: consistency
language: en
tasks:
  - task: t
    classes: [different, same]
    fields: [sentence1, sentence2]
    layout: "{ask} {sentence1} {sentence2}"
    instructions: {en: {ask: Same?, words: {no: different, yes: same}}}
`
	inferenceTask = `suite: s
instrument: consistency
language: en
tasks:
  - task: t
    classes: [entailment, neutral, contradiction]
    fields: [premise, hypothesis]
    layout: "{ask} {premise} {hypothesis}"
    instructions: {en: {ask: Which?, words: {a: entailment, b: contradiction, c: neutral}}}
`
	questionTask = `suite: s
instrument: consistency
language: en
tasks:
  - task: t
    classes: ["no", "yes"]
    fields: [question, passage]
    layout: "{passage} {question} {ask}"
    instructions: {en: {ask: Answer., words: {no: "no", yes: "yes"}}}
`
)

// load reads a task file that stands beside these files.
func load(t *testing.T, task string, files map[string]string) (*Suite, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	samples, err := filepath.Glob("testdata/*.parquet")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range samples {
		data, err := os.ReadFile(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(s)), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "task.yaml")
	if err := os.WriteFile(file, []byte(task), 0o666); err != nil {
		t.Fatal(err)
	}
	return Load(file)
}

// pairItem is an item of the tasks above.
func pairItem(id, cluster string, labels map[string]string, gold map[string]string,
	texts map[string][]string) crosstalk.Item {
	labels["task"] = "t"
	return crosstalk.Item{ID: id, Cluster: cluster, Labels: labels,
		Input: &crosstalk.Input{Task: "t", Texts: texts, Gold: gold}}
}

// The Parquet files in testdata were written by testdata/make.mjs, laid out as
// those on the Hugging Face hub.
func TestDatasets(t *testing.T) {
	type texts = map[string][]string
	type labels = map[string]string
	paws := []crosstalk.Item{
		pairItem("10", "10", labels{}, labels{"en": "different", "de": "different"}, texts{"en": {"The cat chased the dog .", "The dog chased the cat ."}, "de": {"Die Katze jagte den Hund.", "Der Hund jagte die Katze."}}),
		pairItem("12", "12", labels{}, labels{"en": "same", "de": "same"}, texts{"en": {"Two bakers met a miller .", "A miller was met by two bakers ."}, "de": {`Zwei Bäcker trafen einen "Müller".`, "Ein Müller wurde von zwei Bäckern getroffen."}}),
		pairItem("15", "15", labels{"placeholder": "de"}, labels{"en": "same", "de": "different"}, texts{"en": {"It rained , then it snowed .", "It snowed after it had rained ."}, "de": {"NS", "Es schneite, nachdem es geregnet hatte."}}),
	}
	xnli := func(id func(i int) string) []crosstalk.Item {
		return []crosstalk.Item{
			pairItem(id(0), id(0), labels{}, labels{"en": "entailment", "de": "entailment"}, texts{"en": {"The shop is closed.", "Nothing can be bought there now."}, "de": {"Der Laden ist zu.", "Man kann dort gerade nichts kaufen."}}),
			pairItem(id(1), id(0), labels{}, labels{"en": "contradiction", "de": "contradiction"}, texts{"en": {"The shop is closed.", "The shop is open."}, "de": {"Der Laden ist zu.", "Der Laden ist offen."}}),
			pairItem(id(2), id(2), labels{}, labels{"en": "neutral", "de": "neutral"}, texts{"en": {"Ada plays chess.", "Ada plays well."}, "de": {"Ada spielt Schach.", "Ada spielt gut."}}),
		}
	}
	boolq := []crosstalk.Item{
		pairItem("0", "0", labels{"language": "en"}, labels{"en": "yes"}, texts{"en": {"Is the mill older than the bridge?", "The mill was built ten years before the bridge."}}),
		pairItem("1", "1", labels{"language": "en"}, labels{"en": "no"}, texts{"en": {"Does the ferry run in winter?", "The ferry runs from May to September."}}),
	}
	pawsFiles := map[string]string{
		"en.tsv": "\ufeffid\tsentence1\tsentence2\tlabel\r\n10\tThe cat chased the dog .\tThe dog chased the cat .\t0\r\n12\tTwo bakers met a miller .\tA miller was met by two bakers .\t1\r\n15\tIt rained , then it snowed .\tIt snowed after it had rained .\t1\r\n",
		"de.tsv": "id\tsentence1\tsentence2\tlabel\n15\tNS\tEs schneite, nachdem es geregnet hatte.\t0\n12\t\"Zwei Bäcker trafen einen \"\"Müller\"\".\"\t\"Ein Müller wurde von zwei Bäckern getroffen.\"\t1\n10\tDie Katze jagte den Hund.\tDer Hund jagte die Katze.\t0\n",
	}
	const xnliTSV = "language\tgold_label\tsentence1_binary_parse\tsentence1\tsentence2\tpromptID\tpairID\n" +
		"en\tentailment\t\tThe shop is closed.\tNothing can be bought there now.\t7\t71\nen\tcontradiction\t\tThe shop is closed.\tThe shop is open.\t7\t72\nen\tneutral\t\tAda plays chess.\tAda plays well.\t8\t80\n" +
		"de\tentailment\t\tDer Laden ist zu.\tMan kann dort gerade nichts kaufen.\t7\t71\nde\tcontradiction\t\tDer Laden ist zu.\tDer Laden ist offen.\t7\t72\nde\tneutral\t\tAda spielt Schach.\tAda spielt gut.\t8\t80\n" +
		"fr\tneutral\t\t\"Ada\" joue.\tAda joue bien.\t8\t80\n"
	const boolqLines = `{"question": "is the mill older than the bridge", "title": "Mill", "answer": true, "passage": "The mill was built ten years before the bridge."}` + "\n" +
		`{"question": "Does THE ferry run in winter?", "passage": "The ferry runs from May to September.", "idx": 1, "label": false}` + "\n"
	pairID := func(i int) string { return []string{"71", "72", "80"}[i] }
	rowID := func(i int) string { return fmt.Sprint(i) }
	for name, c := range map[string]struct {
		task  string
		files map[string]string
		want  []crosstalk.Item
	}{
		"paws-x tsv":         {pairTask + "    data: {format: paws-x, files: {en: en.tsv, de: de.tsv}}\n", pawsFiles, paws},
		"paws-x parquet":     {pairTask + "    data: {format: paws-x, files: {en: paws-x-en.parquet, de: paws-x-de.parquet}}\n", nil, paws},
		"xnli tsv":           {inferenceTask + "    languages: [en, de]\n    data: {format: xnli, files: xnli.test.tsv}\n", map[string]string{"xnli.test.tsv": xnliTSV}, xnli(pairID)},
		"xnli parquet":       {inferenceTask + "    languages: [en, de]\n    data: {format: xnli, files: xnli.parquet}\n", nil, xnli(rowID)},
		"xnli parquet files": {inferenceTask + "    data: {format: xnli, files: {en: xnli.parquet, de: xnli-de.parquet}}\n", nil, xnli(rowID)},
		"boolq":              {questionTask + "    data: {format: boolq, files: dev.jsonl}\n", map[string]string{"dev.jsonl": boolqLines}, boolq},
		"boolq parquet":      {questionTask + "    data: {format: boolq, files: {en: boolq.parquet}}\n", nil, boolq},
	} {
		s, err := load(t, c.task, c.files)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(s.Unusable) > 0 || s.Items.Len() != len(c.want) {
			t.Errorf("%s: %d items, %q", name, s.Items.Len(), s.Unusable)
			continue
		}
		for i := range c.want {
			if !reflect.DeepEqual(s.Items.At(i), c.want[i]) {
				t.Errorf("%s, item %d: %+v %+v\nwant %+v %+v", name, i, s.Items.At(i), s.Items.At(i).Input, c.want[i], c.want[i].Input)
			}
		}
	}
}

func TestDatasetErrors(t *testing.T) {
	paws := func(files string) string {
		return pairTask + "    data:\n      format: paws-x\n      files: " + files + "\n"
	}
	const header = "id\tsentence1\tsentence2\tlabel\n"
	for _, c := range []struct {
		task, file, want string // the file is a.tsv; DIR in want is its folder
	}{
		{paws("{en: b.tsv}"), "", "DIR/task.yaml:11: DIR/b.tsv: no such file or directory"},
		{paws("a.tsv"), "", "DIR/task.yaml:11: DIR/a.tsv:1: is empty; expected a header line"},
		{paws("a.tsv"), "id\tsentence1\tlabel\n1\ta\t1\n", `DIR/task.yaml:11: DIR/a.tsv:1: has no column "sentence2"; expected the columns of PAWS-X`},
		{paws("a.tsv"), header + "1\ta\tb\t1\n2\ta\tb\n", "DIR/task.yaml:11: DIR/a.tsv:3: has 3 fields; the header has 4"},
		{paws("a.tsv"), header + "1\ta\tb\t1\n1\ta\tb\t1\n", `DIR/task.yaml:11: DIR/a.tsv:3: duplicate id "1" (first used in line 2)`},
		{paws("a.tsv"), header + "\ta\tb\t1\n", "DIR/task.yaml:11: DIR/a.tsv:2: has no id"},
		{paws("a.tsv"), header + "1\ta\t\xff\t1\n", "DIR/task.yaml:11: DIR/a.tsv:2: the column \"sentence2\" is not valid UTF-8"},
		{paws("a.tsv"), header, "DIR/task.yaml:11: task t: its data have no rows"},
		{paws("{en: a.tsv, de: []}"), header, "DIR/task.yaml:12: expected text, found a list"},
		{paws("{en>de: a.tsv}"), header, `DIR/task.yaml:12: task t: "en>de" is not a valid language; expected a code such as en`},
		{paws("{en: }"), header, "DIR/task.yaml:12: task t: its data have no files"},
		{strings.Replace(paws("a.tsv"), "language: en\n", "", 1), header + "1\ta\tb\t1\n", "DIR/task.yaml:10: DIR/a.tsv:2: has no language"},
		{strings.Replace(paws("a.tsv"), "paws-x", "pawsx", 1), "", `DIR/task.yaml:11: task t: unknown data format "pawsx"; choose one of: paws-x, xnli, boolq`},
		{strings.Replace(paws("a.tsv"), "format: paws-x", "format: xnli", 1), "", "DIR/task.yaml:11: task t has the fields sentence1, sentence2; data in the format xnli have premise, hypothesis"},
		{strings.Replace(paws("a.tsv"), "[different, same]", "[different, same, other]", 1), "", "DIR/task.yaml:9: instruction en has no word for the class other"},
		{strings.Replace(strings.Replace(paws("a.tsv"), "[different, same]", "[different, same, other]", 1), "yes: same", "yes: same, mu: other", 1), "", "DIR/task.yaml:11: task t has 3 classes; data in the format paws-x have 2: different meaning, same meaning"},
		{strings.Replace(paws("a.tsv"), "    data:", "    items: [{id: i, sentence1: a, sentence2: b}]\n    data:", 1), "", "DIR/task.yaml:12: task t has both items and data; expected one of them"},
		{pairTask + "    data: {format: paws-x, pulled: pawsx, files: a.tsv}\n", "", `DIR/task.yaml:10: task t: unknown data set "pawsx" (see crosstalk suites)`},
		{inferenceTask + "    languages: [en, sw]\n    data: {format: xnli, files: a.tsv}\n", "language\tgold_label\tsentence1\tsentence2\tpairID\nen\tneutral\ta\tb\t1\n", "DIR/task.yaml:11: task t: its data have nothing in sw"},
		{inferenceTask + "    data: {format: xnli, files: {en: xnli.parquet, fr: xnli.parquet}}\n", "", "DIR/task.yaml:10: task t: its data have nothing in fr"},
		{inferenceTask + "    data: {format: xnli, files: a.tsv}\n", "one\ttwo\n1\t2\n", "DIR/task.yaml:10: DIR/a.tsv:2: has neither a column gold_label nor premise; expected the columns of XNLI"},
		{questionTask + "    data: {format: boolq, files: a.tsv}\n", "question\n1\n", `DIR/task.yaml:10: DIR/a.tsv:2: has no "passage"; expected the columns of BoolQ`},
		{questionTask + "    data: {format: boolq, files: xnli.parquet}\n", "", `DIR/task.yaml:10: DIR/xnli.parquet:1: has no "question"; expected the columns of BoolQ`},
		{strings.Replace(paws("{en: a.tsv}"), "    data:", "    languages: [en]\n    data:", 1), "", "DIR/task.yaml:10: task t: files: {...} already names its languages; remove languages"},
		{questionTask + "    data: {format: boolq, files: task.parquet}\n", "", `DIR/task.yaml:10: DIR/task.parquet: no such file or directory`},
	} {
		t.Setenv("CROSSTALK_CACHE", t.TempDir())
		_, err := load(t, c.task, map[string]string{"a.tsv": c.file})
		got := ""
		if err != nil {
			got = err.Error()
			dir, _, _ := strings.Cut(got, "/task.yaml")
			got = strings.ReplaceAll(got, dir, "DIR")
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s%s\n     %s\nwant %s", c.task, c.file, got, c.want)
		}
	}
	// What cannot be used is said, and the rest read.
	s, err := load(t, paws("{en: a.tsv, de: b.tsv}"), map[string]string{
		"a.tsv": header + "1\ta\tb\t1\n2\ta\tc\t-1\n3\t\td\t0\n4\ta\te\t0\n",
		"b.tsv": header + "1\tä\tb\t1\n"})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"a.tsv:3: skipped: no label", "a.tsv:4: skipped: sentence1 is empty", "task t: 1 of 2 items have no text in de"} {
		if i >= len(s.Unusable) || !strings.HasSuffix(s.Unusable[i], want) {
			t.Errorf("%q, want %s", s.Unusable, want)
		}
	}
	if s.Items.Len() != 2 || s.Clusters() != 1 {
		t.Errorf("%d items, %d clusters", s.Items.Len(), s.Clusters())
	}
}

// A data set that was not fetched is no hindrance to scoring.
func TestDataNotPulled(t *testing.T) {
	t.Setenv("CROSSTALK_CACHE", t.TempDir())
	text := []byte(pairTask + "    data: {format: paws-x, pulled: paws-x, files: {en: en/test_2k.tsv}}\n")
	s, err := ParseTasks("s.yaml", text)
	if err != nil || len(s.Tasks) != 1 || s.Items.Len() != 0 {
		t.Errorf("%+v %v", s, err)
	}
	var missing *datasets.MissingError
	if _, err := Parse("s.yaml", text); !errors.As(err, &missing) ||
		!strings.HasPrefix(err.Error(), "s.yaml:10: task t: ") || !strings.HasSuffix(err.Error(), "crosstalk suites pull paws-x") {
		t.Error(err)
	}
}

// The tasks of published data sets read what was fetched.
func TestPublished(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("CROSSTALK_CACHE", cache)
	put := func(name, text string, size int64) {
		file := filepath.Join(cache, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if size > 0 {
			if err := os.Truncate(file, size); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, s := range datasets.All(datasets.Suite) {
		for _, f := range s.Files {
			put(s.Name+"/"+f.Name, "", f.Size)
		}
	}
	boolq, _ := datasets.Named(datasets.Suite, "boolq")
	line := `{"question": "is it so", "answer": true, "passage": "It is."}` + "\n"
	put("boolq/dev.jsonl", line+strings.Repeat("\n", int(boolq.Size())-len(line)), 0)
	xnli := "language\tgold_label\tsentence1\tsentence2\tpairID\n"
	for _, l := range []string{"en", "de", "sw"} {
		xnli += l + "\tneutral\tone\ttwo\t1\n"
	}
	put("xnli/xnli.test.tsv", xnli, 0)
	put("xnli/xnli.dev.tsv", xnli, 0)
	for _, l := range []string{"de", "en", "es", "fr", "ja", "ko", "zh"} {
		put("paws-x/"+l+"/test_2k.tsv", "id\tsentence1\tsentence2\tlabel\n1\ta\tb\t1\n", 0)
		put("paws-x/"+l+"/dev_2k.tsv", "", 0)
	}
	for name, want := range map[string]struct {
		languages int
		gold      string
	}{"paws-x": {7, "same"}, "xnli": {3, "neutral"}, "boolq": {1, "yes"}} {
		s, err := Load(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if s.Name != name || s.License == "" || s.Items.Len() != 1 || len(s.Tasks) != 1 ||
			len(s.Items.At(0).Input.Texts) != want.languages || s.Items.At(0).Input.Gold["en"] != want.gold ||
			len(s.Tasks[0].Instructions) != 5 {
			t.Errorf("%s: %+v, %+v", name, s, s.Items.At(0).Input)
		}
	}
}

func TestUnquote(t *testing.T) {
	for field, want := range map[string]string{
		"":                      "",
		`"`:                     `"`,
		`""`:                    "",
		`plain`:                 "plain",
		`a "quoted" word`:       `a "quoted" word`,
		`"a ""quoted"" word"`:   `a "quoted" word`,
		`"""Quoted"" he said."`: `"Quoted" he said.`,
		`"Two" words and "two"`: `"Two" words and "two"`,
		`"""all of it"""`:       `"all of it"`,
		`"never closed`:         `"never closed`,
		"``old'' quotes":        "``old'' quotes",
		`"one"" and another"`:   `one" and another`,
	} {
		if got := unquote(field); got != want {
			t.Errorf("%s: %s, want %s", field, got, want)
		}
	}
}

// The inputs that Ohmer et al. asked about, in files as PAWS-X has them: texts
// with quotes are quoted.
func TestPAWSX(t *testing.T) {
	read := func(name string, each func(json.RawMessage)) {
		for row, err := range jsonLines(shared.File(t, "multisense/"+name)) {
			if err != nil {
				t.Fatal(err)
			}
			each(row)
		}
	}
	type input struct {
		ID   int
		Gold map[string]int
		Src  map[string][]string
	}
	var inputs []input
	read("paws-x.gold.jsonl.gz", func(text json.RawMessage) {
		var i input
		if err := json.Unmarshal(text, &i); err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, i)
	})
	n := 0
	read("paws-x.source.jsonl.gz", func(text json.RawMessage) {
		if err := json.Unmarshal(text, &inputs[n]); err != nil {
			t.Fatal(err)
		}
		n++
	})
	languages := []string{"en", "de", "zh", "fr", "es"}
	files, list := map[string]string{}, ""
	for _, l := range languages {
		var b strings.Builder
		w := csv.NewWriter(&b)
		w.Comma = '\t'
		w.Write([]string{"id", "sentence1", "sentence2", "label"})
		for _, i := range inputs {
			w.Write([]string{fmt.Sprint(i.ID), i.Src[l][0], i.Src[l][1], fmt.Sprint(i.Gold[l])})
		}
		w.Flush()
		files[l+".tsv"] = b.String()
		list += fmt.Sprintf("%s: %s.tsv, ", l, l)
	}
	s, err := load(t, pairTask+"    data: {format: paws-x, files: {"+list+"}}\n", files)
	if err != nil {
		t.Fatal(err)
	}
	if s.Items.Len() != 2000 || len(s.Unusable) > 0 {
		t.Errorf("%d items, %q", s.Items.Len(), s.Unusable)
	}
	placeholders := 0
	for n, item := range s.Items.All() {
		if item.Labels["placeholder"] != "" {
			placeholders++
		}
		for _, l := range languages {
			if !reflect.DeepEqual(item.Input.Texts[l], inputs[n].Src[l]) ||
				item.Input.Gold[l] != s.Tasks[0].Classes[inputs[n].Gold[l]] {
				t.Errorf("%s, %s: %+v, want %+v", item.ID, l, item.Input, inputs[n])
			}
		}
	}
	if placeholders != 59 {
		t.Errorf("%d items with a placeholder, want 59", placeholders)
	}
}

func jsonLines(file string) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		f, err := os.Open(file)
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			yield(nil, err)
			return
		}
		d := json.NewDecoder(z)
		for {
			var row json.RawMessage
			if err := d.Decode(&row); err == io.EOF || !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// Whatever a file holds, reading ends with an error or rows that are whole.
func FuzzDatasets(f *testing.F) {
	f.Add("id\tsentence1\tsentence2\tlabel\n1\t\"a \"\"b\"\"\"\tc\t1\n", uint8(0))
	f.Add("language\tgold_label\tsentence1\tsentence2\tpairID\nen\tneutral\ta\tb\t7\n", uint8(1))
	f.Add(`{"question": "q", "passage": "p", "answer": true}`, uint8(2))
	f.Fuzz(func(t *testing.T, text string, which uint8) {
		d := publishedTasks[int(which)%len(publishedTasks)]
		ending := ".tsv"
		if d.name == "boolq" {
			ending = ".jsonl"
		}
		file := write(t, "data"+ending, text)
		for row, err := range d.read(file, "en") {
			if err != nil {
				if !strings.Contains(err.Error(), file+":") {
					t.Errorf("%v names no line", err)
				}
				return
			}
			if len(row.texts) != len(d.fields) || row.label < -1 || row.label >= len(d.labels) || row.Line < 1 || row.id == "" {
				t.Errorf("%+v", row)
			}
		}
	})
}
