package recorded

import (
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"crosstalk"
)

func collect[T any](rows iter.Seq2[T, error]) (all []T, err error) {
	for row, err := range rows {
		if err != nil {
			return all, err
		}
		all = append(all, row)
	}
	return all, nil
}

func TestReadConsistency(t *testing.T) {
	const csv = "\ufefftask,item,input,instruction,run,answer,model,category\n" +
		"paws,7,en,en,,\"Yes,\n\"\"it is\"\".\",m,short\n" +
		",,,,,,,\n" +
		",8,en > de,en>de,2,  ,,\n"
	const jsonl = `{"task":"paws","item":7,"input":"en","instruction":"en","answer":"Yes,\n\"it is\".","model":"m","category":"short"}

{"item":"8","input":"en>de","instruction":"en > de","run":2,"answer":"  "}
`
	want := []Consistency{
		{Model: "m", Task: "paws", Item: "7", Input: "en", Instruction: "en", Labels: map[string]string{"category": "short"},
			Answer: crosstalk.Answer{Status: crosstalk.Text, Text: "Yes,\n\"it is\"."}},
		{Item: "8", Input: "en>de", Instruction: "en>de", Run: 1, Labels: map[string]string{},
			Answer: crosstalk.Answer{Status: crosstalk.Empty, Text: "  "}},
	}
	for _, file := range []struct{ name, content string }{{"a.csv", csv}, {"a.csv.gz", gzipped(t, csv)}, {"a.jsonl", jsonl}} {
		got, err := collect(Reading{}.Consistency(write(t, file.name, file.content)))
		if err != nil {
			t.Fatal(err)
		}
		for i := range got {
			if !strings.Contains(got[i].Where, file.name+":") {
				t.Errorf("%s: row %d is at %q", file.name, i, got[i].Where)
			}
			got[i].Where = ""
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, want %+v", file.name, got, want)
		}
	}
}

func TestReadConsistencyRefuses(t *testing.T) {
	const header = "item,input,instruction,run,answer\n"
	for content, want := range map[string]string{
		"item,input,answer\n1,en,yes\n":         `a.csv:1: has no column "instruction"; expected item, input, instruction, answer, and optionally task, model, run`,
		header + "1,,en,1,yes\n":                `a.csv:2: input is ""; expected a language such as en, or en>de for rewritten text`,
		header + "1,en,en>,1,yes\n":             `a.csv:2: instruction is "en>"`,
		header + "1,en,en,1,yes\n1,en,en,0,x\n": `a.csv:3: run is "0"; expected a whole number from 1`,
		header + "1,en,en,first,yes\n":          `a.csv:2: run is "first"`,
		header + ",en,en,1,yes\n":               `a.csv:2: item is empty`,
		header:                                  `a.csv: has no rows`,
	} {
		path := write(t, "a.csv", content)
		_, err := collect(Reading{}.Consistency(path))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", content, err, want)
		}
	}
	for answer, want := range map[string]string{`["yes"]`: "a list", `{"a":"yes"}`: "an object"} {
		path := write(t, "b.jsonl", `{"item":"1","input":"en","instruction":"en","answer":`+answer+"}\n")
		_, err := collect(Reading{}.Consistency(path))
		if err == nil || !strings.Contains(err.Error(), "b.jsonl:1: answer is "+want+"; expected text") {
			t.Errorf("%s: %v", answer, err)
		}
	}
}

func TestReadRewritings(t *testing.T) {
	lists := write(t, "a.jsonl", `{"task":"paws","model":"m","item":"1","input":"en>de","texts":["a","b"]}`+"\n")
	got, err := collect(ReadRewritings(lists))
	if err != nil || len(got) != 1 || got[0].Input != "en>de" || got[0].Model != "m" || got[0].Task != "paws" ||
		!reflect.DeepEqual(got[0].Texts, []string{"a", "b"}) {
		t.Errorf("%+v, %v", got, err)
	}
	columns := write(t, "b.csv", "item,input,sentence1,sentence2\n1,de,a,b\n")
	got, err = collect(ReadRewritings(columns))
	if err != nil || len(got) != 1 || got[0].Texts != nil || got[0].Fields["sentence2"] != "b" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err = collect(ReadRewritings(write(t, "c.csv", "item,texts\n1,a\n"))); err == nil || !strings.Contains(err.Error(), `c.csv:1: has no column "input"`) {
		t.Errorf("%v", err)
	}
}

// The manual's examples are read.
func TestConsistencyManual(t *testing.T) {
	_, _, text := manual(t)
	found := examples.FindAllStringSubmatch(text, -1)
	if len(found) != 2 {
		t.Fatalf("%d examples, want answers and texts", len(found))
	}
	answers, err := collect(Reading{}.Consistency(write(t, "a."+found[0][1], found[0][2])))
	if err != nil || len(answers) != 3 || answers[1].Run != 1 || answers[2].Input != "en>de" || answers[2].Model != "my-model" {
		t.Errorf("%+v, %v", answers, err)
	}
	texts, err := collect(ReadRewritings(write(t, "b."+found[1][1], found[1][2])))
	if err != nil || len(texts) != 2 || len(texts[0].Texts) != 2 || texts[1].Input != "de" {
		t.Errorf("%+v, %v", texts, err)
	}
}

func FuzzReadConsistency(f *testing.F) {
	for _, seed := range []string{"item,input,instruction,answer\n1,en,en>de,x\n", "item,input,instruction,run,answer\n1, > ,en,1e9,\n", "item,input,texts\n1,en,x\n"} {
		f.Add(seed)
	}
	path := filepath.Join(f.TempDir(), "a.csv")
	f.Fuzz(func(t *testing.T, content string) {
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		for c, err := range (Reading{}).Consistency(path) {
			if err == nil && (c.Item == "" || c.Input == "" || c.Instruction == "" || c.Run < 0) {
				t.Errorf("%q: %+v", content, c)
			}
		}
		for range ReadRewritings(path) {
		}
	})
}
