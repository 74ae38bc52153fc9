package recorded

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFileName(t *testing.T) {
	for _, c := range []struct{ pattern, file, want string }{
		{"{dataset}_prompts_{model}_instr", "dir/color_prompts_qwen_05_instr.xlsx", "map[dataset:color model:qwen_05]"},
		{"{model}", "Qwen2.5-0.5B.jsonl", "map[model:Qwen2.5-0.5B]"},
		{"{model}", "Qwen2.5.csv.gz", "map[model:Qwen2.5]"},
		{"a.{model}b", "a.xb.csv", "map[model:x]"},
		{"{model}_{ set }", "m_a_b.csv", "map[model:m set:a_b]"},
		{"{model}_x", "_x.csv", ""},
		{"a.{model}", "abc.csv", ""},
		{"{model}", "dir/.csv", ""},
	} {
		n, err := ParseFileName(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		got, err := n.values(c.file)
		if err == nil && fmt.Sprint(got) != c.want || err != nil &&
			(c.want != "" || !strings.Contains(err.Error(), "is not of the form "+c.pattern)) {
			t.Errorf("%s of %s: %v, %v; want %s", c.pattern, c.file, got, err, c.want)
		}
	}
	for _, pattern := range []string{"model", "{}", "{ }_x", "{a}_{a}"} {
		if n, err := ParseFileName(pattern); err == nil {
			t.Errorf("%s: %v", pattern, n)
		}
	}
	if n, err := ParseFileName(""); n != nil || err != nil {
		t.Errorf("%v, %v", n, err)
	}
}

// A row's own value goes before that of the file's name, in all layouts.
func TestFileNameOfRows(t *testing.T) {
	n, err := ParseFileName("{language}-{model}")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	r := Reading{FileName: n}
	var got []string
	for _, file := range []string{write("de-m.csv", "completion,model\nja,own\n,\nnein,\n"), write("fr-n.json", `[{"completion": "oui"}]`)} {
		for row, err := range r.Confusion(file) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, row.Model+" "+row.Item.Prompt.Language+" "+row.Answer.Text)
		}
	}
	for row, err := range r.Leakage(write("en-k.csv", "prompt,control_prompt,concept,test,control\nHe likes koalas. He eats,He eats,koalas,a,b\n")) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, row.Model+" "+row.Item.Labels["language"]+" "+row.Item.Pair.Concept)
	}
	if want := "own de ja; m de nein; n fr oui; k en koalas"; strings.Join(got, "; ") != want {
		t.Errorf("%q, want %s", got, want)
	}
}
