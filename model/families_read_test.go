package model

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const ours = "families:\n- name: ours\n  models: [gpt-4o*]\n"

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
