package model

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const ours = "families:\n- name: ours\n  models: [gpt-4o*]\n"

func TestReadFamilies(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct{ text, err string }{
		"whole":    {"date: 2026-11-22\n" + ours + "  temperature: default\n", ""},
		"list":     {"- {name: ours, models: [gpt-4o*], temperature: default}\n", ""},
		"typo":     {ours + "  temprature: default\n", `:4: unknown field "temprature"`},
		"value":    {ours + "  reasoning:\n    levels: [off, low]\n    default: much\n", `:6: ours: reasoning.default is "much"; expected one of off, low, medium, high, on`},
		"top":      {ours + "  while-thinking: {top-p: 1-0}\n", `:4: ours: while-thinking.top-p is "1-0"; expected any, default, ignored, alone, sampling, or a range such as 0-1`},
		"nothing":  {"families:\n- name: ours\n  temperature: default\n", ":2: ours: expected providers or models that it is about"},
		"nameless": {"- {models: [a]}\n", ":1: expected a name"},
		"key":      {"dates: 2026\n" + ours, `:1: unknown key "dates"; choose one of: families, date`},
		"text":     {"families: table.yaml\n", ": expected a list of entries, or one under families"},
		"empty":    {"", ": expected a list of entries, or one under families"},
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		all, err := ReadFamilies(file)
		switch {
		case err != nil && (c.err == "" || err.Error() != file+c.err):
			t.Errorf("%s: %v; want %s", name, err, c.err)
		case err == nil && (c.err != "" || len(all) != 1 || all[0].Name != "ours" ||
			!slices.Equal(all[0].Models, []string{"gpt-4o*"}) || all[0].Temperature != "default"):
			t.Errorf("%s: %+v; want the error %q", name, all, c.err)
		}
	}
}

func FuzzReadFamilies(f *testing.F) {
	f.Add(ours)
	f.Add("date: 1\nfamilies: [{name: a, providers: [openai], reasoning: {send: {low: {x: [1]}}}}]")
	f.Fuzz(func(t *testing.T, text string) {
		file := filepath.Join(t.TempDir(), "f.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		all, err := ReadFamilies(file)
		if err != nil && !strings.HasPrefix(err.Error(), file+":") {
			t.Errorf("the error does not name the file: %v", err)
		}
		if err == nil {
			for _, one := range all {
				if err := one.validate(); err != nil {
					t.Error(err)
				}
			}
		}
	})
}
