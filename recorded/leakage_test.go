package recorded

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/internal/testing/shared"

	"github.com/xuri/excelize/v2"
)

func write(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func readAll(path string) (rows []Leakage, err error) {
	for row, e := range (Reading{}).Leakage(path) {
		if e != nil {
			return rows, e
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func texts(answers []crosstalk.Answer) []string {
	var list []string
	for _, a := range answers {
		s := a.Text
		if a.Status != crosstalk.Text {
			s = "(" + string(a.Status) + ")"
		}
		list = append(list, s)
	}
	return list
}

func TestOneRowASample(t *testing.T) {
	path := write(t, "a.csv", `id,model,concept,category,language,prompt,control_prompt,sample,test,control,note
k1,m,koalas,animals,en,"He likes koalas. He eats ",He eats,0,leaves,bread,x
k1,m,koalas,animals,en,He likes koalas. He eats,He eats,1.0,"gum,
trees", ,
`)
	rows, err := readAll(path)
	if err != nil || len(rows) != 2 {
		t.Fatal(rows, err)
	}
	want := crosstalk.Item{ID: "k1", Cluster: "He eats",
		Labels: map[string]string{"concept": "koalas", "category": "animals", "language": "en", "note": "x"},
		Pair:   &crosstalk.Pair{Concept: "koalas", Test: "He likes koalas. He eats", Control: "He eats"}}
	if !reflect.DeepEqual(rows[0].Item, want) {
		t.Errorf("item %+v %+v", rows[0].Item, rows[0].Item.Pair)
	}
	for i, want := range []Leakage{{Where: path + ":2", First: 0}, {Where: path + ":3", First: 1}} {
		if r := rows[i]; r.Where != want.Where || r.First != want.First || r.Model != "m" || r.Unusable != "" {
			t.Errorf("row %d: %+v", i, r)
		}
	}
	if got := texts(rows[1].Test); !reflect.DeepEqual(got, []string{"gum,\ntrees"}) {
		t.Errorf("test %q", got)
	}
	if got := texts(rows[1].Control); !reflect.DeepEqual(got, []string{"(empty)"}) {
		t.Errorf("an answer of white space is empty, got %q", got)
	}
}

// Without numbers samples are counted per model and id; without ids the prompt
// is the id.
func TestSamplesAreCounted(t *testing.T) {
	rows, err := readAll(write(t, "a.tsv", strings.ReplaceAll(`model|concept|prompt|control_prompt|test|control
m|c|p c|p|a|b
n|c|p c|p|a|b
m|c|p c|p|a|b
`, "|", "\t")))
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, r := range rows {
		got = append(got, r.First)
		if r.Item.ID != "p c" {
			t.Errorf("id %q", r.Item.ID)
		}
	}
	if !reflect.DeepEqual(got, []int{0, 0, 1}) {
		t.Errorf("samples %v", got)
	}
}

// A row without a number follows the one before.
func TestSamplesFollow(t *testing.T) {
	rows, err := readAll(write(t, "a.csv", "concept,prompt,control_prompt,test,control,sample\nc,p c,p,a,b,5\nc,p c,p,a,b,\nc,p c,p,a,b,0\n"))
	if err != nil || len(rows) != 3 || rows[0].First != 5 || rows[1].First != 6 || rows[2].First != 0 {
		t.Errorf("%+v, %v", rows, err)
	}
}

func TestLists(t *testing.T) {
	rows, err := readAll(write(t, "a.jsonl", `{"id":7,"concept":"c","prompt":"p c","control_prompt":"p","remove":["c d","c"],"test_generations":["a",null,"b"],"control_generations":["x"],"flags":["f"]}
{"id":7,"concept":"c","prompt":"p c","control_prompt":"p","remove":["c d","c"],"test_generations":["d"],"control_generations":["y"]}
{"id":8,"concept":"c","prompt":"q c","control_prompt":"q","remove":"c d","test_generations":[],"control_generations":[]}
`))
	if err != nil || len(rows) != 3 {
		t.Fatal(rows, err)
	}
	r := rows[0]
	if r.Item.ID != "7" || !reflect.DeepEqual(r.Item.Pair.Remove, []string{"c d", "c"}) || len(r.Item.Labels) != 1 {
		t.Errorf("item %+v %+v", r.Item, r.Item.Pair)
	}
	if !reflect.DeepEqual(texts(r.Test), []string{"a", "(empty)", "b"}) || !reflect.DeepEqual(texts(r.Control), []string{"x"}) {
		t.Errorf("answers %q %q", texts(r.Test), texts(r.Control))
	}
	if rows[1].First != 3 {
		t.Errorf("the next samples begin at %d, want 3", rows[1].First)
	}
	if !reflect.DeepEqual(rows[2].Item.Pair.Remove, []string{"c d"}) {
		t.Errorf("one phrase to remove: %q", rows[2].Item.Pair.Remove)
	}
}

// Smilga's layout, in a workbook and in any other format: a control is a row,
// named by its position from 0.
func TestPositions(t *testing.T) {
	table := [][]any{
		{"prompt", "concept", "category", "n_control", "is_control_item", "generation_1", "generation_2"},
		{"It is", "", 1, "none", 1, "a car", "a bus"},
		{"Red. It is", "red", 1, 0, 0, "a rose", ""},
		{"Blue. It is", "blue", 1, "0.0", 0, "the sky", "sea"},
		{},
		{"Lost. It is", "lost", 1, "", 0, "x", "y"},
		{" ", "void", 1, 0, 0, "x", "y"},
		{"She is", "none", 1, "", 1, "x", "y"},
		{"He is", "none", 1, "", "true", "x", "y"},
	}
	f := excelize.NewFile()
	var csv strings.Builder
	for i := range table {
		cell, _ := excelize.CoordinatesToCellName(1, i+1)
		f.SetSheetRow("Sheet1", cell, &table[i])
		cells := make([]string, len(table[0]))
		for c, v := range table[i] {
			if n, isNumber := v.(int); isNumber {
				v = string(rune('0' + n))
			}
			cells[c] = v.(string)
		}
		csv.WriteString(strings.Join(cells, ",") + "\n")
	}
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{"a.xlsx": b.String(), "a.csv": csv.String()} {
		path := write(t, name, content)
		rows, err := readAll(path)
		if err != nil {
			t.Fatal(name, err)
		}
		var got []string
		for _, r := range rows {
			s := strings.TrimPrefix(r.Where, path)
			if r.Unusable != "" {
				s += " " + r.Unusable
			} else {
				s += " " + r.Item.ID + " " + r.Item.Pair.Concept + ": " + strings.Join(texts(r.Test), "|") + " / " +
					strings.Join(texts(r.Control), "|") + " / " + r.Item.Cluster
			}
			got = append(got, s)
		}
		want := []string{
			":3 row-1 red: a rose|(empty) / a car|a bus / It is",
			":4 row-2 blue: the sky|sea / a car|a bus / It is",
			":6 n_control names no control",
			":7 the prompt is empty",
			":8 no test has this control",
			":9 no test has this control",
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if labels := rows[0].Item.Labels; labels["category"] != "1" || labels["generation_1"] != "" || labels["prompt"] != "" {
			t.Errorf("%s: labels %v", name, labels)
		}
	}
}

func TestRowsThatCannotBeUsed(t *testing.T) {
	rows, err := readAll(write(t, "a.csv", `concept,prompt,control_prompt,test,control
,p c,p,a,b
c,,p,a,b
c,p c,,a,b
c,p,p,a,b
 , , , ,
c,p c,p,a,b
`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rows {
		got = append(got, r.Unusable)
	}
	want := []string{"the concept is empty", "the prompt is empty", "the control prompt is empty", "prompt and control prompt are the same", ""}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestBadRows(t *testing.T) {
	const head = "id,model,concept,prompt,control_prompt,sample,test,control\n"
	const row = `{"id":"i","concept":"c","prompt":"p c","control_prompt":"p",`
	for _, c := range []struct{ name, content, want string }{
		{"a.csv", head, ": has no rows"},
		{"a.jsonl", "", ": has no rows"},
		{"a.csv", "concept,prompt,test,control\nc,p,a,b\n", `:1: has no column "control_prompt"; expected prompt, control_prompt, concept, and the answers in test and control, in test_generations and control_generations, or in generation_1, generation_2, ...`},
		{"a.csv", "concept,prompt,control_prompt,test\nc,p c,p,a\n", ":2: has neither test and control nor the lists test_generations and control_generations"},
		{"a.csv", head + "i,m,c,p c,p,0,a,b\ni,m,c,p c,p,0,a,b\n", `:3: duplicate answer: item "i", sample 0, model "m" (first used in line 2)`},
		{"a.csv", head + "i,m,c,p c,p,,a,b\ni,m,c,p c,p,0,a,b\n", `:3: duplicate answer: item "i", sample 0, model "m" (first used in line 2)`},
		{"a.csv", head + "i,m,c,p c,p,-1,a,b\n", `:2: sample is "-1"; expected a whole number from 0`},
		{"a.csv", head + "i,m,c,p c,p,first,a,b\n", `:2: sample is "first"; expected a whole number from 0`},
		{"a.csv", head + "i,m,c,p c,p,1.5,a,b\n", `:2: sample is "1.5"; expected a whole number from 0`},
		{"a.csv", head + "i,m,c,p c,p,9223372036854775807,a,b\n", `:2: sample is "9223372036854775807"; expected a whole number from 0`},
		{"a.csv", head + "i,m,c,p c,p,NaN,a,b\n", `:2: sample is "NaN"; expected a whole number from 0`},
		{"a.csv", head + "i,m,c,p c,p,0,a,b\ni,m,d,p d,p,1,a,b\n", `:3: item "i" differs from line 2 in its prompt, concept or control: give each item its own id`},
		{"a.jsonl", row + `"test":["a"],"control":["b"]}`, ":1: test is a list; expected text (only test_generations and control_generations can be lists)"},
		{"a.jsonl", row + `"test":{"content":"a"},"control":"b"}`, ":1: test is an object; expected text (--column test=test.NAME reads a part of it)"},
		{"a.jsonl", row + `"test_generations":["a"]}`, ":1: has only one of the lists test_generations and control_generations"},
		{"a.jsonl", row + `"test_generations":["a"],"control_generations":"b"}`, ":1: has only one of the lists test_generations and control_generations"},
		{"a.jsonl", row + `"test":"a","control":"b"}` + "\n" + `{"id":"j","prompt":"p c","control_prompt":"p","test":"a","control":"b"}`, `:2: has no column "concept"; expected `},
		{"a.jsonl", row + `"test_generations":["a","b"],"control_generations":["a","b"]}` + "\n" + row + `"sample":1,"test":"a","control":"b"}`, `:2: duplicate answer: item "i", sample 1, model "" (first used in line 1)`},
		{"a.csv", "prompt,concept,n_control\nx,,\ny,c,0\n", `:1: has no column "generation_1"; expected `},
		{"a.csv", "prompt,concept,n_control,generation_1\nx,,,a\ny,c,2,b\n", `:3: n_control is "2"; expected the position of a row, 0 to 1, or none`},
		{"a.csv", "prompt,concept,n_control,generation_1\nx,,,a\ny,c,-1,b\n", `:3: n_control is "-1"; expected the position of a row, 0 to 1, or none`},
		{"a.csv", "prompt,concept,n_control,generation_1\nx,,,a\ny,c,1,b\n", ":3: n_control is 1, the row's own position"},
		{"a.csv", "prompt,concept,n_control,generation_1\nx,,,a\ny,c,x,b\n", `:3: n_control is "x"; expected the position of a row, 0 to 1, or none`},
	} {
		path := write(t, c.name, c.content)
		_, err := readAll(path)
		if err == nil || !strings.HasPrefix(err.Error(), path+c.want) {
			t.Errorf("%q:\n%v, want\n%s", c.content, err, c.want)
		}
	}
}

// Items without answers are a suite's.
func TestReadItems(t *testing.T) {
	for content, want := range map[string]string{
		"concept,prompt,control_prompt\nc,p c,p\n":                          "p c",
		"concept,prompt,control_prompt,test,control\nc,p c,p,a,b\n":         "p c",
		"prompt,concept,n_control\np,,none\np c,c,0\n":                      "row-1",
		"prompt,concept,n_control,generation_1\np,,none,a\np c,c,0,b\n":     "row-1",
		"id,prompt,concept,control_prompt,n_control,x\ni,p c,c,p,12345,y\n": "i",
	} {
		var ids []string
		for row, err := range ReadItems(write(t, "a.csv", content)) {
			if err != nil {
				t.Fatalf("%q: %v", content, err)
			}
			ids = append(ids, row.Item.ID)
		}
		if !reflect.DeepEqual(ids, []string{want}) {
			t.Errorf("%q: %q, want %q", content, ids, want)
		}
	}
}

var examples = regexp.MustCompile("(?s)```(csv|jsonl)\n(.*?)```")

// manual returns the parts of the manual about each instrument.
func manual(t *testing.T) (leakage, confusion, consistency string) {
	text, err := os.ReadFile("../docs/recorded.md")
	if err != nil {
		t.Fatal(err)
	}
	leakage, confusion, _ = strings.Cut(string(text), "\n## Confusion\n")
	confusion, consistency, _ = strings.Cut(confusion, "\n## Consistency\n")
	return leakage, confusion, consistency
}

// Every example of the manual is read.
func TestManual(t *testing.T) {
	leakage, _, _ := manual(t)
	found := examples.FindAllStringSubmatch(leakage, -1)
	if len(found) < 2 {
		t.Fatalf("%d examples, want one for each layout", len(found))
	}
	for _, e := range found {
		rows, err := readAll(write(t, "a."+e[1], e[2]))
		if err != nil {
			t.Errorf("%s: %v", e[2], err)
		}
		scored := 0
		for _, r := range rows {
			if r.Unusable != "" {
				t.Errorf("%s: %s", e[2], r.Unusable)
			}
			scored += min(len(r.Test), len(r.Control))
		}
		if scored < 2 {
			t.Errorf("%s: %d pairs", e[2], scored)
		}
	}
}

// The workbooks that Smilga published hold what the cleaned JSON Lines hold.
func TestSmilgaWorkbooks(t *testing.T) {
	// One of the workbooks holds UTF-8 that was once read as Mac Roman; the
	// JSON Lines are mended.
	mend := strings.NewReplacer("√ß", "ç", "√©", "é", "√≥", "ó", "‚Äô", "’").Replace
	squeeze := func(s string) string { return strings.Join(strings.Fields(mend(s)), " ") }
	mended := func(answers []crosstalk.Answer) string { return mend(strings.Join(texts(answers), "\x00")) }
	clean := map[string]Leakage{}
	for row, err := range (Reading{}).Leakage(shared.File(t, "leakage/smilga_generations.jsonl")) {
		if err != nil {
			t.Fatal(err)
		}
		clean[row.Model+" "+row.Item.ID] = row
	}
	for _, c := range []struct {
		file, model, dataset string
		n                    int
	}{
		{"color_prompts_qwen_05_instr.xlsx", "Qwen2.5-0.5B-Instruct", "color", 709},
		{"color_prompts_qwen_3_instr.xlsx", "Qwen2.5-3B-Instruct", "color", 709},
		{"initial_prompts_qwen_05_instr.xlsx", "Qwen2.5-0.5B-Instruct", "initial", 109},
		{"initial_prompts_qwen_3_instr.xlsx", "Qwen2.5-3B-Instruct", "initial", 109},
	} {
		n := 0
		for row, err := range (Reading{}).Leakage(shared.File(t, "leakage/"+c.file)) {
			if err != nil {
				t.Fatal(err)
			}
			if row.Unusable != "" {
				continue
			}
			n++
			position := strings.TrimPrefix(row.Item.ID, "row-")
			want, ok := clean[c.model+" "+c.dataset+"-"+strings.Repeat("0", 3-len(position))+position]
			if !ok {
				t.Errorf("%s: %s is not in the JSON Lines", c.file, row.Item.ID)
				continue
			}
			if squeeze(row.Item.Pair.Test) != squeeze(want.Item.Pair.Test) ||
				squeeze(row.Item.Pair.Control) != squeeze(want.Item.Pair.Control) ||
				squeeze(row.Item.Pair.Concept) != squeeze(want.Item.Pair.Concept) {
				t.Errorf("%s: %s: %+v, JSON Lines %+v", c.file, row.Item.ID, row.Item.Pair, want.Item.Pair)
			}
			if mended(row.Test) != mended(want.Test) || mended(row.Control) != mended(want.Control) {
				t.Errorf("%s: %s: answers %q %q, JSON Lines %q %q", c.file, row.Item.ID, texts(row.Test), texts(row.Control), texts(want.Test), texts(want.Control))
			}
		}
		if n != c.n {
			t.Errorf("%s: %d items, want %d", c.file, n, c.n)
		}
	}
}

// Reading hostile rows ends with rows or an error, and a row that can be used
// is whole.
func FuzzReadLeakage(f *testing.F) {
	f.Add("a.csv", "id,concept,prompt,control_prompt,sample,test,control\ni,c,p c,p,1,a,b\n")
	f.Add("a.csv", "prompt,concept,n_control,generation_1\np,,none,a\np c,c,0,b\n")
	f.Add("a.jsonl", `{"concept":"c","prompt":"p c","control_prompt":"p","remove":["c"],"test_generations":["a","b"],"control_generations":["c"]}`)
	f.Fuzz(func(t *testing.T, name, content string) {
		if name != "a.csv" {
			name = "a.jsonl"
		}
		for row, err := range (Reading{}).Leakage(write(t, name, content)) {
			if err != nil {
				return
			}
			if p := row.Item.Pair; row.Unusable == "" &&
				(p.Concept == "" || p.Test == "" || p.Control == "" || row.Item.Cluster == "" || row.First < 0) {
				t.Errorf("row %+v", row)
			}
		}
	})
}
