//go:build unix

package main

import "testing"

func TestAsTest(t *testing.T) {
	order := ""
	clean := func(t testing.TB) {
		t.Cleanup(func() { order += "b" })
		t.Cleanup(func() { order += "a" })
	}
	if err := asTest(clean); err != nil || order != "ab" {
		t.Errorf("error %v, cleaned up in the order %q", err, order)
	}
	for want, f := range map[string]func(testing.TB){
		"no file x": func(t testing.TB) { clean(t); t.Fatalf("no file %s", "x") },
		"no data":   func(t testing.TB) { clean(t); t.Skip("no data") },
	} {
		order = ""
		if err := asTest(f); err == nil || err.Error() != want || order != "ab" {
			t.Errorf("error %v, want %q; cleaned up in the order %q", err, want, order)
		}
	}
}
