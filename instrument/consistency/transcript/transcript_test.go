package transcript

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/instrument/consistency"
)

func tasks() []crosstalk.Task {
	words := []crosstalk.AnswerWord{{Word: "no", Class: "no"}, {Word: "yes", Class: "yes"}}
	return []crosstalk.Task{{Name: "t", Classes: []string{"no", "yes"}, Fields: []string{"a", "b"},
		Instructions: map[string]crosstalk.Instruction{"en": {Words: words}, "de": {Words: words}}}}
}

func items() (list []crosstalk.Item) {
	for i := range 5 {
		list = append(list, crosstalk.Item{ID: fmt.Sprint(i), Labels: map[string]string{"kind": "own"},
			Input: &crosstalk.Input{Task: "t", Texts: map[string][]string{"en": {"one", "two"}}, Gold: map[string]string{"en": "yes"}}})
	}
	return list
}

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t *testing.T, by []string, texts string, files ...string) *Transcript {
	t.Helper()
	var of []string
	if texts != "" {
		of = []string{write(t, "texts.jsonl", texts)}
	}
	read, err := ReadTexts(of, "tasks.yaml", tasks(), items())
	if err != nil {
		t.Fatal(err)
	}
	return &Transcript{Tasks: tasks(), Of: "tasks.yaml", Files: files, Texts: read, By: by,
		ModelOf: func(_, model string) string { return cmp.Or(model, "m") }}
}

func joined(t *testing.T, tr *Transcript) (all []Answered) {
	t.Helper()
	if err := tr.Check(); err != nil {
		t.Fatal(err)
	}
	for a, err := range tr.Joined() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, a)
	}
	return all
}

// Whatever the order of the rows, an item's answers come together, and what
// some item lacks is there as missing.
func TestJoined(t *testing.T) {
	var rows []string
	for i := range 5 {
		for _, form := range []string{"en,en,1", "en,en,2", "en>de,en,1", "en>de,en>de,1"} {
			if i == 3 && form == "en>de,en,1" {
				continue
			}
			rows = append(rows, fmt.Sprintf("%d,%s,answer %d %s,x%d,same", i, form, i, form[:2], i%2))
		}
	}
	var first []Answered
	for seed := range uint64(4) {
		if seed > 0 {
			rand.New(rand.NewPCG(seed, 0)).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		}
		path := write(t, "a.csv", "item,input,instruction,run,answer,group,kind\n"+strings.ReplaceAll(strings.Join(rows, "\n"), "answer", `answer`)+"\n")
		all := joined(t, open(t, nil, "", path))
		slices.SortFunc(all, func(a, b Answered) int { return cmp.Compare(a.Item.ID, b.Item.ID) })
		if seed == 0 {
			first = all
		}
		if !reflect.DeepEqual(all, first) {
			t.Errorf("in another order: %+v\nwant %+v", all, first)
		}
	}
	if len(first) != 5 {
		t.Fatalf("%d items", len(first))
	}
	a := first[3]
	x := consistency.Form{Input: "en>de", Instruction: "en"}
	if a.Model != "m" || len(a.Answers) != 3 || len(a.Answers[consistency.Form{Input: "en", Instruction: "en"}]) != 2 ||
		len(a.Answers[x]) != 1 || a.Answers[x][0].Status != "" {
		t.Errorf("%+v", a)
	}
	if a.Item.Labels["group"] != "x1" || a.Item.Labels["kind"] != "own" {
		t.Errorf("labels %v", a.Item.Labels)
	}
}

// Rows of different models, and of different columns that figures are grouped
// by, are apart; of others a label is what all rows share.
func TestJoinedApart(t *testing.T) {
	path := write(t, "a.csv", "model,item,input,instruction,answer,temperature\nm,1,en,en,a,0\nm,1,en,en,b,1\nn,1,en,en,c,0\n")
	if all := joined(t, open(t, []string{"temperature"}, "", path)); len(all) != 3 || all[1].Item.Labels["temperature"] != "1" || all[2].Model != "n" {
		t.Errorf("%+v", all)
	}
	if err := open(t, nil, "", path).Check(); err == nil || !strings.Contains(err.Error(), "a.csv:3: duplicate answer: item 1 in en, instruction in en, run 1 of model m (first used in "+path+":2)") {
		t.Errorf("%v", err)
	}
	path = write(t, "b.csv", "item,input,instruction,answer,note\n1,en,en,a,x\n1,en>de,en,b,y\n")
	if all := joined(t, open(t, nil, "", path)); len(all) != 1 || all[0].Item.Labels["note"] != "" {
		t.Errorf("%+v", all)
	}
}

func TestTexts(t *testing.T) {
	path := write(t, "a.csv", "model,item,input,instruction,answer\nm,1,en,en,a\nm,1,en>de,en,b\nn,1,en,en,a\nn,1,en>de,en,b\n")
	all := joined(t, open(t, nil, `{"item":"1","input":"en>de","texts":["eins","eins"]}
{"model":"n","item":"1","input":"en>de","texts":["uno","due"]}
{"item":"1","input":"de","texts":["ein","zwei"]}
{"item":"1","input":"en","texts":["not","used"]}
`, path))
	m, n := all[0].Rewritten["en>de"], all[1].Rewritten["en>de"]
	if !slices.Equal(m.Texts, []string{"eins", "eins"}) ||
		!slices.Equal(m.Flags, []string{consistency.Identical}) || !slices.Equal(n.Texts, []string{"uno", "due"}) ||
		n.Flags != nil {
		t.Errorf("%+v, %+v", m, n)
	}
	if texts := all[0].Item.Input.Texts; !slices.Equal(texts["de"], []string{"ein", "zwei"}) || !slices.Equal(texts["en"], []string{"one", "two"}) {
		t.Errorf("%v", texts)
	}
	if texts := items()[1].Input.Texts; len(texts) != 1 {
		t.Errorf("the suite's item was changed: %v", texts)
	}
	for content, want := range map[string]string{
		`{"item":"9","input":"en>de","texts":["a","b"]}`:                                                                    `a.jsonl:1: tasks.yaml has no item "9" of the task t`,
		`{"item":"1","task":"u","input":"en>de","texts":["a","b"]}`:                                                         `a.jsonl:1: tasks.yaml has no task "u"; choose one of: t`,
		`{"item":"1","input":"en>de","texts":["a"]}`:                                                                        "a.jsonl:1: has 1 texts; expected 2: a, b",
		`{"item":"1","input":"en>de","a":"x"}`:                                                                              `a.jsonl:1: has neither texts nor a column "b"`,
		`{"item":"1","input":"en>de","texts":["a","b"]}` + "\n" + `{"item":"1","input":"en > de","texts":["a","b"]}` + "\n": "a.jsonl:2: duplicate texts of item 1 in en>de (first used in ",
	} {
		if _, err := ReadTexts([]string{write(t, "a.jsonl", content)}, "tasks.yaml", tasks(), items()); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", content, err, want)
		}
	}
}

// What one value of a column of By was never asked in is not missing there: each
// has the forms of its own rows.
func TestFormsByColumn(t *testing.T) {
	answers := write(t, "a.csv", "item,input,instruction,answer,wording\n"+
		"0,en,en,yes,short\n0,en>de,en,yes,short\n1,en,en,yes,short\n1,en>de,en,yes,short\n"+
		"0,en,en,yes,long\n0,en,en>de,yes,long\n1,en,en,yes,long\n")
	for by, want := range map[string][]int{"": {3, 3}, "wording": {2, 2, 2, 2}} {
		var columns []string
		file := answers
		if by != "" {
			columns = []string{by}
		} else { // without the column a row would be there twice
			file = write(t, "b.csv", "item,input,instruction,answer\n0,en,en,yes\n0,en>de,en,yes\n0,en,en>de,yes\n1,en,en,yes\n")
		}
		var got []int
		missing := 0
		for _, a := range joined(t, open(t, columns, "", file)) {
			got = append(got, len(a.Answers))
			for _, runs := range a.Answers {
				for _, answer := range runs {
					if answer.Status == "" {
						missing++
					}
				}
			}
		}
		if wantMissing := map[string]int{"": 2, "wording": 1}[by]; !slices.Equal(got, want) || missing != wantMissing {
			t.Errorf("by %q: forms %v, %d missing; want %v, %d", by, got, missing, want, wantMissing)
		}
	}
}
