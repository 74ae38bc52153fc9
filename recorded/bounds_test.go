package recorded

import (
	"strings"
	"testing"
)

// What exports call their columns is guessed where a column is missing, and said; a
// guess between two that are not needed is left.
func TestGuessedColumns(t *testing.T) {
	var said []string
	r := Reading{Note: func(note string) { said = append(said, note) }}
	for _, c := range []struct{ header, prompt, note string }{
		{"reply,locale,question", "Bonjour", "reading reply as completion, locale as language, question as prompt (to change it: --column completion=NAME)"},
		{"reply,language,question,query", "", "reading reply as completion (to change it: --column completion=NAME)"},
		{"completion,language,question", "", ""}, // has what is needed
	} {
		said = nil
		path := write(t, "a.csv", c.header+"\nOui.,fr,Bonjour"+strings.Repeat(",Salut", strings.Count(c.header, ",")-2)+"\n")
		all, err := collect(r.Confusion(path))
		if err != nil || len(all) != 1 || all[0].Answer.Text != "Oui." || all[0].Item.Prompt.Text != c.prompt ||
			all[0].Item.Prompt.Language != "fr" {
			t.Errorf("%s: %+v, %v", c.header, all, err)
		}
		if got := strings.Join(said, "\n"); !strings.HasSuffix(got, c.note) || (got == "") != (c.note == "") {
			t.Errorf("%s: %q, want %q", c.header, got, c.note)
		}
	}
	if _, err := collect(r.Confusion(write(t, "a.csv", "reply,answer,language\nx,y,fr\n"))); err == nil ||
		!strings.Contains(err.Error(), `has no column "completion"; it may be answer or reply: say which, with --column completion=answer`) {
		t.Error(err)
	}
	for _, expect := range []string{ExpectUser, ExpectPrompt} {
		r := Reading{Expect: expect, Identify: func(...string) string { return "fr" }}
		if _, err := collect(r.Confusion(write(t, "a.csv", "completion\nx\n"))); err == nil || !strings.Contains(err.Error(), `has no column "prompt"`) {
			t.Errorf("--language %s: %v", expect, err)
		}
	}
}

// The column of messages that the user names is read, and not another that has some.
func TestNamedMessages(t *testing.T) {
	path := write(t, "a.jsonl", `{"language":"fr","conversations":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}],`+
		`"log":[{"role":"user","content":"c"},{"role":"assistant","content":[{"type":"text","text":"d"},{"type":"refusal"}]}]}`)
	for column, want := range map[string]string{"log": "d", "conversations": "b", "": "b"} {
		r := Reading{}
		if column != "" {
			r.Columns = map[string]string{"messages": column}
		}
		all, err := collect(r.Confusion(path))
		if err != nil || len(all) != 1 || all[0].Answer.Text != want {
			t.Errorf("%q: %+v, %v; want the answer %s", column, all, err, want)
		}
	}
}

// A column that the user names as one of ours is not a label too.
func TestRenamedColumn(t *testing.T) {
	path := write(t, "a.csv", "concept,prompt,control_prompt,test,control,reply\nk,He likes k. He eats,He eats,old,b,new\n")
	all, err := collect(Reading{Columns: map[string]string{"test": "reply"}}.Leakage(path))
	if err != nil || len(all) != 1 || len(all[0].Test) != 1 || all[0].Test[0].Text != "new" || all[0].Item.Labels["reply"] != "" {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestWholeNumber(t *testing.T) {
	for text, want := range map[string]int{"0": 0, "12.0": 12, "1073741824": 1 << 30, "1073741825": -1, "-1": -1, "1.5": -1, "x": -1, "NaN": -1} {
		n, ok := wholeNumber(text)
		if ok != (want >= 0) || ok && n != want {
			t.Errorf("%s: %d, %v", text, n, ok)
		}
	}
}
