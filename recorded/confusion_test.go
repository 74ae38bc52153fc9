package recorded

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"crosstalk"
)

func gzipped(t testing.TB, content string) string {
	t.Helper()
	var b strings.Builder
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func readConfusions(path string) (all []Confusion, err error) {
	for c, err := range (Reading{}).Confusion(path) {
		if err != nil {
			return all, err
		}
		all = append(all, c)
	}
	return all, nil
}

func TestReadConfusion(t *testing.T) {
	const csv = "\ufeffid,model,completion,task,source,language,prompt,sample,temperature\n" +
		"7,m,\"Une ligne,\n\"\"deux\"\"\",crosslingual,okapi,fr,Answer in French.,2,0.5\n" +
		",,  ,,,pt-BR,Oi?,,\n" +
		",,x,,,ZHO,,,\n"
	const jsonl = `{"id":7,"model":"m","completion":"Une ligne,\n\"deux\"","task":"crosslingual","source":"okapi","language":"fr","prompt":"Answer in French.","sample":2,"temperature":0.5}
{"completion":"  ","language":"pt-BR","prompt":"Oi?","id":null}

{"completion":"x","language":"ZHO"}
`
	want := []Confusion{
		{ID: "7", Model: "m", Sample: 2, Said: []string{"Answer in French."}, Answer: crosstalk.Answer{Status: crosstalk.Text, Text: "Une ligne,\n\"deux\""},
			Item: crosstalk.Item{ID: "crosslingual/okapi/fr/7", Cluster: "okapi/7",
				Labels: map[string]string{"task": "crosslingual", "source": "okapi", "language": "fr", "temperature": "0.5", "length": "up to 10"},
				Prompt: &crosstalk.Prompt{Text: "Answer in French.", Language: "fr"}}},
		{Said: []string{"Oi?"}, Answer: crosstalk.Answer{Status: crosstalk.Empty, Text: "  "},
			Item: crosstalk.Item{ID: "pt-BR/Oi?", Cluster: "Oi?",
				Labels: map[string]string{"language": "pt-BR", "length": "up to 10"}, Prompt: &crosstalk.Prompt{Text: "Oi?", Language: "pt"}}},
		{Answer: crosstalk.Answer{Status: crosstalk.Text, Text: "x"},
			Item: crosstalk.Item{Labels: map[string]string{"language": "ZHO"}, Prompt: &crosstalk.Prompt{Language: "zh"}}},
	}
	for _, file := range []struct{ name, content, lines string }{
		{"a.csv", csv, "245"}, {"a.csv.gz", gzipped(t, csv), "245"}, {"a.jsonl", jsonl, "124"}, {"a.jsonl.gz", gzipped(t, jsonl), "124"},
	} {
		path := write(t, file.name, file.content)
		got, err := readConfusions(path)
		if err != nil || len(got) != len(want) {
			t.Fatalf("%s: %d rows, %v", file.name, len(got), err)
		}
		for i := range got {
			w := want[i]
			w.Where = path + ":" + file.lines[i:i+1]
			if !reflect.DeepEqual(got[i], w) {
				t.Errorf("%s: row %d is %+v, want %+v", file.name, i, got[i], w)
			}
		}
	}
}

// A column length of the file's own stands.
func TestReadConfusionLength(t *testing.T) {
	rows, err := readConfusions(write(t, "a.csv", "completion,language,prompt,length\nx,fr,Oui ?,7 tokens\nx,fr,Non ?,\n"))
	if err != nil || len(rows) != 2 || rows[0].Item.Labels["length"] != "7 tokens" || rows[1].Item.Labels["length"] != "" {
		t.Errorf("%+v %v", rows, err)
	}
}

func TestReadConfusionErrors(t *testing.T) {
	for content, want := range map[string]string{
		"":                                      "a.csv:1: is empty",
		"completion,language\n":                 "a.csv: has no rows",
		"language,text\nfr,x\n":                 `a.csv:1: has no column "completion"; expected completion and language`,
		"completion\nx\n":                       `a.csv:1: has no column "language"`,
		"completion,language\nx\n":              "a.csv:2: has 1 fields; the header has 2",
		"completion,language,sample\nx,fr,-1\n": `a.csv:2: sample is "-1"; expected a whole number from 0`,
		"completion,language\n\xff,fr\n":        `a.csv:2: the column "completion" is not valid UTF-8`,
	} {
		_, err := readConfusions(write(t, "a.csv", content))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", content, err, want)
		}
	}
	for content, want := range map[string]string{
		`{"completion":["x"],"language":"fr"}`:                              "a.jsonl:1: completion is a list; expected text",
		`{"completion":{"text":"x"},"language":"fr"}`:                       "a.jsonl:1: completion is an object; expected text",
		`{"reply":{"text":"x"},"language":"fr"}`:                            "a.jsonl:1: reply is an object; expected text (--column completion=reply.NAME",
		`{"completion":"x","language":["fr"]}`:                              "a.jsonl:1: language is a list",
		"{\"completion\":\"x\",\"language\":\"fr\"}\n{\"completion\":\"x\"": "a.jsonl:2: not valid JSON: the line is truncated",
	} {
		_, err := readConfusions(write(t, "a.jsonl", content))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", content, err, want)
		}
	}
}

// A row without a language that can be judged is not the end of the file.
func TestUnjudged(t *testing.T) {
	for language, want := range map[string]string{
		"Deutsch": `"Deutsch" is not a valid language; expected a code such as fr, zh or pt-BR`,
		"":        "no language is given",
		"und":     `"und" is not a valid language; expected a code such as fr, zh or pt-BR`,
		"xx":      `"xx" is not a valid language; expected a code such as fr, zh or pt-BR`,
	} {
		rows, err := readConfusions(write(t, "a.csv", "completion,language\nx,"+language+"\ny,fr\n"))
		if err != nil || len(rows) != 2 || rows[0].Unjudged != want || rows[0].Item.Prompt.Language != "" ||
			rows[1].Unjudged != "" {
			t.Errorf("%q: %+v, %v; want %q", language, rows, err, want)
		}
	}
}

func TestConfusionManual(t *testing.T) {
	_, text, _ := manual(t)
	found := examples.FindAllStringSubmatch(text, -1)
	if len(found) != 1 {
		t.Fatalf("%d examples, want one", len(found))
	}
	rows, err := readConfusions(write(t, "a."+found[0][1], found[0][2]))
	if err != nil || len(rows) != 1 || rows[0].Answer.Status != crosstalk.Text || rows[0].Item.Prompt.Language != "fr" {
		t.Errorf("read %+v, %v", rows, err)
	}
}

func TestReadConfusionStops(t *testing.T) {
	path := write(t, "a.csv", "completion,language\n1,fr\n2,fr\n3,fr\n")
	for c := range (Reading{}).Confusion(path) {
		if c.Answer.Text != "1" {
			t.Errorf("went on to %q", c.Answer.Text)
		}
		break
	}
}

func FuzzReadConfusion(f *testing.F) {
	for _, seed := range []string{"completion,language\nx,fr\n", "completion,language,id,sample\n\"a\nb\",pt-BR,1,0\n", "a\n", "completion,language\nx,\x00", "completion,completion\n"} {
		f.Add(seed)
	}
	path := filepath.Join(f.TempDir(), "a.csv")
	f.Fuzz(func(t *testing.T, content string) {
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		all, err := readConfusions(path)
		if err != nil && !strings.HasPrefix(err.Error(), path) {
			t.Errorf("%q: the error names no file: %v", content, err)
		}
		for _, c := range all {
			if (c.Item.Prompt.Language == "") != (c.Unjudged != "") || c.Item.Labels["language"] == "" || !strings.HasPrefix(c.Where, path+":") {
				t.Errorf("%q: %+v", content, c)
			}
		}
	})
}

// promptfoo repeats columns for each provider. Those that nothing needs are
// dropped, not labels; those with a meaning are an error.
func TestRepeatedColumns(t *testing.T) {
	rows, err := collect(Reading{}.Confusion(write(t, "a.csv", "Status,language,completion,Status,kind\nok,fr,Oui,failed,a\n")))
	if err != nil || len(rows) != 1 || rows[0].Item.Labels["Status"] != "" || rows[0].Item.Labels["kind"] != "a" {
		t.Errorf("%+v, %v", rows, err)
	}
	for _, column := range []string{"completion", "language", "model", "id", "sample", "task", "source", "prompt"} {
		_, err := collect(Reading{}.Confusion(write(t, "a.csv", column+",completion,language,"+column+"\nfr,fr,fr,fr\n")))
		if err == nil || !strings.HasSuffix(err.Error(), `a.csv:1: duplicate column "`+column+`" in the header`) {
			t.Errorf("%s: %v", column, err)
		}
	}
	for _, column := range []string{"concept", "test", "control", "prompt", "control_prompt", "model", "id", "sample", "generation_1", "remove"} {
		_, err := collect(Reading{}.Leakage(write(t, "a.csv", column+",concept,prompt,control_prompt,test,control,"+column+"\na,a,a,a,a,a,a\n")))
		if err == nil || !strings.HasSuffix(err.Error(), `a.csv:1: duplicate column "`+column+`" in the header`) {
			t.Errorf("%s: %v", column, err)
		}
	}
}

// The code is what identifiers know; the tag is kept where its script counts.
func TestLanguageOf(t *testing.T) {
	for tag, want := range map[string][2]string{"fr": {"fr"}, "pt-BR": {"pt"}, "ZHO": {"zh"}, "zh": {"zh"}, "zh_tw": {"zh", "zh-TW"}, "zh-Hans": {"zh", "zh-Hans"},
		"cmn-Hant": {"cmn", "cmn-Hant"}, "sr": {"sr"}, "sr-RS": {"sr"}, "sr-latn-rs": {"sr", "sr-Latn-RS"}, "French": {"fr"}, "und-Hant": {}} {
		code, scripted, err := LanguageOf(tag)
		if code != want[0] || scripted != want[1] || (err == nil) != (want[0] != "") {
			t.Errorf("%s: %q, %q, %v; want %q", tag, code, scripted, err, want)
		}
	}
}
