package main

import "testing"

// What is measured is an index of all answers.
func TestIndex(t *testing.T) {
	dir := t.TempDir()
	if err := measure(5000, 1, dir); err != nil {
		t.Fatal(err)
	}
	if _, err := index(dir, 5001); err == nil {
		t.Error("an index of 5,000 answers passes for one of 5,001")
	}
}
