package recorded

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"crosstalk"
)

func TestReadPrompts(t *testing.T) {
	csv := "id;language;prompt;system;topic;completion\n7;pt-BR;Oi?;Seja breve.;a;x\n;nb;Hei?;;;\n"
	items, err := collect(ReadPrompts(write(t, "a.csv", csv)))
	want := []crosstalk.Item{
		{ID: "pt-BR/7", Cluster: "7", Labels: map[string]string{"language": "pt-BR", "topic": "a", "length": "up to 10"},
			Prompt: &crosstalk.Prompt{Text: "Oi?", Language: "pt", Before: []crosstalk.Message{{Role: "system", Content: "Seja breve."}}}},
		{ID: "nb/Hei?", Cluster: "Hei?", Labels: map[string]string{"language": "nb", "length": "up to 10"}, Prompt: &crosstalk.Prompt{Text: "Hei?", Language: "nb"}},
	}
	if err != nil || !reflect.DeepEqual(items, want) {
		t.Errorf("%+v, %v", items, err)
	}
	lines := `{"id": "a", "language": "de", "system": "S", "messages": [{"role": "user", "content": "1"}, {"role": "assistant", "content": [{"type": "text", "text": "2"}]}, {"role": "user", "content": "3"}]}` + "\n" +
		`{"language": "de", "messages": [{"role": "user", "content": "3"}]}` + "\n" + `{"language": "de", "prompt": "` + strings.Repeat("ä", 61) + `"}`
	items, err = collect(ReadPrompts(write(t, "a.jsonl", lines)))
	if err != nil || len(items) != 3 {
		t.Fatalf("%+v, %v", items, err)
	}
	if p := items[0].Prompt; p.Text != "3" ||
		!reflect.DeepEqual(p.Before, []crosstalk.Message{{Role: "system", Content: "S"}, {Role: "user", Content: "1"}, {Role: "assistant", Content: "2"}}) {
		t.Errorf("%+v", p)
	}
	if items[1].ID != "de/3" || !strings.HasPrefix(items[2].ID, "de/"+strings.Repeat("ä", 60)+"#") {
		t.Errorf("ids %q and %q", items[1].ID, items[2].ID)
	}
}

func TestReadPromptsErrors(t *testing.T) {
	for content, want := range map[string]string{
		`{"question": "x", "locale": "de"}`:                                                                                     "a.jsonl:1: expected the columns language, and prompt or messages, and optionally system, id, task, source; the columns are question, locale",
		`{"prompt": "x", "language": "Deutsch"}`:                                                                                `a.jsonl:1: "Deutsch" is not a valid language`,
		`{"prompt": " ", "language": "de"}`:                                                                                     "a.jsonl:1: the prompt is empty",
		`{"prompt": ["x"], "language": "de"}`:                                                                                   "a.jsonl:1: prompt is a list; expected text",
		`{"prompt": "x", "messages": [{"role": "user", "content": "y"}], "language": "de"}`:                                     "a.jsonl:1: has a prompt and messages; expected one of them",
		`{"messages": [{"role": "assistant", "content": "y"}], "language": "de"}`:                                               "a.jsonl:1: messages do not end with one of the user",
		`{"messages": [], "language": "de"}`:                                                                                    "a.jsonl:1: messages do not end with one of the user",
		`{"messages": [{"role": "user", "content": "y"}, {"role": "system", "content": "z"}], "language": "de"}`:                "a.jsonl:1: expected one system message, before all others",
		`{"system": "s", "messages": [{"role": "system", "content": "z"}, {"role": "user", "content": "y"}], "language": "de"}`: "a.jsonl:1: expected one system message, before all others",
		`{"messages": [{"role": "assistant", "tool_calls": [{}]}, {"role": "user", "content": "y"}], "language": "de"}`:         "a.jsonl:1: messages have parts other than text, such as calls of tools, which cannot be asked",
	} {
		_, err := collect(ReadPrompts(write(t, "a.jsonl", content)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", content, err, want)
		}
	}
}

// Pairs have messages before both prompts, unless they are of recorded answers,
// which were asked as they were.
func TestPairsWithMessages(t *testing.T) {
	path := write(t, "a.jsonl", `{"id": "1", "concept": "koalas", "prompt": "He likes koalas. He eats", "control_prompt": "He eats", "test": "a", "control": "b", "system": "S", `+
		`"messages": [{"role": "user", "content": "1"}, {"role": "assistant", "content": "2"}]}`)
	items, err := collect(ReadItems(path))
	want := []crosstalk.Message{{Role: "system", Content: "S"}, {Role: "user", Content: "1"}, {Role: "assistant", Content: "2"}}
	if err != nil || !reflect.DeepEqual(items[0].Item.Pair.Before, want) || items[0].Item.Labels["system"] != "" {
		t.Errorf("%+v, %v", items, err)
	}
	answers, err := collect(Reading{}.Leakage(path))
	if err != nil || answers[0].Item.Pair.Before != nil || answers[0].Item.Labels["system"] != "S" {
		t.Errorf("%+v, %v", answers, err)
	}
}

func FuzzReadPrompts(f *testing.F) {
	f.Add("a.csv", "language,prompt,system\nde,x,y\n")
	f.Add("a.csv", "language,messages\nde,\"[{\"\"role\"\":\"\"user\"\",\"\"content\"\":\"\"x\"\"}]\"\n")
	f.Add("a.jsonl", `{"language":"de","messages":[{"role":"system","content":"s"},{"role":"user","content":[{"type":"text","text":"x"}]}]}`)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, name, content string) {
		if name != "a.csv" {
			name = "a.jsonl"
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		for item, err := range ReadPrompts(path) {
			if err != nil {
				if !strings.HasPrefix(err.Error(), path) {
					t.Errorf("the error names no file: %v", err)
				}
				return
			}
			p := item.Prompt
			if strings.TrimSpace(p.Text) == "" || p.Language == "" || item.ID == "" {
				t.Errorf("%+v", item)
			}
			for i, m := range p.Before {
				if m.Role == "system" && i > 0 || m.Role != "system" && m.Role != "user" && m.Role != "assistant" {
					t.Errorf("message %d of %+v", i, p.Before)
				}
			}
		}
	})
}
