package recorded

import (
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A folder stands for the JSON Lines in it and below; a file for itself, even if it is missing.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.jsonl", "a/x.ndjson", "a/z.jsonl.gz", "a/notes.md", "empty/none.txt"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Files([]string{"missing.csv", dir, filepath.Join(dir, "a", "notes.md")})
	want := []string{"missing.csv", filepath.Join(dir, "a", "x.ndjson"), filepath.Join(dir, "a", "z.jsonl.gz"),
		filepath.Join(dir, "b.jsonl"), filepath.Join(dir, "a", "notes.md")}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := Files([]string{filepath.Join(dir, "empty")}); err == nil || !strings.Contains(err.Error(), "has no files of JSON Lines") {
		t.Error(err)
	}
}

func TestParseColumns(t *testing.T) {
	got, err := ParseColumns([]string{" completion = reply ", "language=a=b"})
	if err != nil || !maps.Equal(got, map[string]string{"completion": "reply", "language": "a=b"}) {
		t.Errorf("%v, %v", got, err)
	}
	for pair, want := range map[string]string{
		"reply":         "column is \"reply\"; expected OURS=THEIRS, as in completion=reply",
		" =reply":       "column is \" =reply\"; expected OURS=THEIRS, as in completion=reply",
		"completion= ":  "column is \"completion= \"; expected OURS=THEIRS, as in completion=reply",
		"completion=no": "column names completion twice: yes and no",
	} {
		if _, err := ParseColumns([]string{"completion=yes", pair}); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A chat has somebody who asks before who answers; an export of WhatsApp is one whoever speaks.
func TestKindOfText(t *testing.T) {
	for text, want := range map[string]bool{
		"User: Hi.\nBot: Hi.\n": true, "Bot: Hi.\nBot: Hi.\n": false, "Bot: Hi.\nUser: Hi.\n": false, "User: Hi.\nUser: Hi.\n": false,
		"12.03.24, 10:15 - Eva: Hi.\n12.03.24, 10:16 - Jo: Hi.\n": true, "12.03.24, 10:15 - Chatbot: Hi.\n12.03.24, 10:16 - Jo: Hi.\n": true,
		"Notes on chats.\n": false, "1\n2\n3\n4\n5\nUser: Hi.\nBot: Hi.\n": true, "1\n2\n3\n4\n5\n6\nUser: Hi.\nBot: Hi.\n": false, "": false,
	} {
		path := filepath.Join(t.TempDir(), "a.txt")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := Reading{}.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if kind := f.Kind(); (kind == Answers) != want {
			t.Errorf("%q: %v", text, kind)
		}
		if again, err := io.ReadAll(f.Text()); err != nil || string(again) != text {
			t.Errorf("%q is %q afterwards, %v", text, again, err)
		}
	}
}

func TestCheckExpect(t *testing.T) {
	for expect, want := range map[string]string{"": "", "user": "", "prompt": "", "de": "", "zh-Hant": "",
		"x": "language is \"x\"; expected user, prompt or a language, such as en or pt-BR"} {
		if err := CheckExpect(expect); (err != nil) != (want != "") || err != nil && !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%q: %v", expect, err)
		}
	}
}

// What a file holds is told by its name and its first rows; it is read from the start afterwards.
func TestKind(t *testing.T) {
	const chat = `{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]}`
	const catalogue = `{"answer": "Ja", "text": "Nein"}`
	for _, c := range []struct {
		name, content string
		want          Kind
	}{
		{"a.jsonl", `{"text": "Ja", "language": "de"}`, Requests}, {"a.jsonl", `{"text": "Ja", "completion": "a"}`, Answers},
		{"a.jsonl", `{"text": "Ja", "object": "response"}`, Answers}, {"a.ndjson", "", Requests}, {"a.jsonl", "x", Requests},
		{"a.jsonl", chat, Answers}, {"a.json", chat, Answers}, {"a.json", "[" + chat + "]", Answers}, {"a.json", "[7]", Answers},
		{"a.json", catalogue, Text}, {"a.json", " \n{", Text}, {"a.json", `{"samples": []}`, Answers}, {"a.json", "", Answers},
		{"a.json", `{"a": "` + strings.Repeat("x", MaxText) + `"}`, Answers},
		{"a.json", `{"a": "` + strings.Repeat("x", MaxText-9) + `"}`, Text},
		{"a.json", `{"data": [` + chat + `]}`, Answers}, {"a.csv", "text\nJa", Answers}, {"a.eval", "", Answers}, {"a.md", "Ja", Text},
		{"a", chat + "\n" + chat, Answers}, {"a", chat, Answers}, {"a", catalogue, Requests}, {"a", `{"completion": "Ja", "text": "a"}`, Answers},
		{"a", "Ja, gut.\nNein.", Text}, {"a", "Ja, gut.\nNein, schlecht.", Text}, {"a", "Ja, gut.", Text}, {"a", "answer,language\nJa,de", Answers}, {"a", "Ja", Text},
		{"a", "{\"text\": \"Ja\"}\nx", Requests}, {"a", "{x", Requests},
	} {
		f, err := Reading{}.Open(write(t, c.name, c.content))
		if err != nil {
			t.Fatal(err)
		}
		if kind := f.Kind(); kind != c.want {
			t.Errorf("%s %.40q: %v, want %v", c.name, c.content, kind, c.want)
		}
		if again, err := io.ReadAll(f.Text()); err != nil || string(again) != c.content {
			t.Errorf("%.40q is %.40q afterwards, %v", c.content, again, err)
		}
		f.Close()
	}
}
