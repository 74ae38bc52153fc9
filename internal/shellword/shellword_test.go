package shellword

import "testing"

// Package cluster has a shell read quoted words.
func TestQuote(t *testing.T) {
	for word, want := range map[string]string{"": "''", "runs/a-1.0": "runs/a-1.0", "läufe/語": "läufe/語", "my runs": "'my runs'", "it's": `'it'\''s'`, "$HOME": "'$HOME'"} {
		if got := Quote(word); got != want {
			t.Errorf("%q: %s, want %s", word, got, want)
		}
	}
}
