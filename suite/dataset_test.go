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

	"github.com/rogpeppe/go-internal/txtar"

	"crosstalk/internal/testing/golden"
	"crosstalk/internal/testing/shared"
	"crosstalk/suite/datasets"
)

const pairTask = `suite: s
instrument: consistency
language: en
tasks:
  - task: t
    classes: [different, same]
    fields: [sentence1, sentence2]
    layout: "{ask} {sentence1} {sentence2}"
    instructions: {en: {ask: Same?, words: {no: different, yes: same}}}
`

// load reads a task file that stands beside these files, and beside the Parquet files of testdata.
func load(t *testing.T, task string, files []txtar.File) (*Suite, error) {
	t.Helper()
	dir := t.TempDir()
	err := os.CopyFS(dir, os.DirFS("testdata"))
	for _, f := range append(files, txtar.File{Name: "task.yaml", Data: []byte(task)}) {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o666))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	return Load("task.yaml")
}

// Tasks with data of every format, and with every likely mistake: their items, what cannot be used, or the error. The
// Parquet files in testdata were written by testdata/make.mjs, laid out as those on the Hugging Face hub.
func TestDatasets(t *testing.T) {
	t.Setenv("CROSSTALK_CACHE", t.TempDir())
	golden.Cases(t, "testdata/datasets.txt", func(input string) (output string) {
		t.Run("", func(t *testing.T) {
			files := txtar.Parse([]byte(input))
			s, err := load(t, string(files.Comment), files.Files)
			if err != nil {
				output = err.Error()
				return
			}
			output = described(s)
		})
		return output
	})
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
	var files []txtar.File
	list := ""
	for _, l := range languages {
		var b strings.Builder
		w := csv.NewWriter(&b)
		w.Comma = '\t'
		w.Write([]string{"id", "sentence1", "sentence2", "label"})
		for _, i := range inputs {
			w.Write([]string{fmt.Sprint(i.ID), i.Src[l][0], i.Src[l][1], fmt.Sprint(i.Gold[l])})
		}
		w.Flush()
		files = append(files, txtar.File{Name: l + ".tsv", Data: []byte(b.String())})
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
