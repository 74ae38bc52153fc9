//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCompare(t *testing.T) {
	const first, second = `{"measure": "lpr", "value": 0.98, "by": {"model": "m", "source": "s"}}`, `{"measure": "wpr", "value": null, "n": 3}`
	file := func(estimates ...string) string {
		return `{"schema": "v1", "estimates": [` + strings.Join(estimates, ",") + `]}`
	}
	change := func(old, new string) string { return strings.Replace(file(first, second), old, new, 1) }
	for _, x := range []struct {
		name, after, renamed string
		estimates, equal     int
		first                string
	}{
		{"the same", file(first, second), "", 2, 2, ""},
		{"last digit", change("0.98", "0.980000000000001"), "", 2, 1, "estimate 1 (lpr m s): value: 0.98, now 0.980000000000001"},
		{"written otherwise", change("0.98", "9.8e-1"), "", 2, 1, "estimate 1 (lpr m s): value: 0.98, now 9.8e-1"},
		{"no value", change("0.98", "null"), "", 2, 1, "estimate 1 (lpr m s): value: 0.98, now null"},
		{"a value", change("null", "0"), "", 2, 1, "estimate 2 (wpr): value: null, now 0"},
		{"other type", change("3", `"3"`), "", 2, 1, `estimate 2 (wpr): n: 3, now "3"`},
		{"inside", change(`"s"`, `"t"`), "", 2, 1, `estimate 1 (lpr m s): by.source: "s", now "t"`},
		{"missing field", change(`, "n": 3`, ""), "", 2, 1, "estimate 2 (wpr): n is missing"},
		{"new field", change(`"n": 3`, `"n": 3, "of": 4`), "", 2, 1, "estimate 2 (wpr): of is new"},
		{"order", file(second, first), "", 2, 0, `estimate 1 (lpr m s): by is missing`},
		{"missing estimate", file(first), "", 2, 1, "2 estimates, now 1"},
		{"new estimate", file(first, second, second), "", 3, 2, "2 estimates, now 3"},
		{"around the estimates", change("v1", "v2"), "", 2, 2, `schema: "v1", now "v2"`},
		{"renamed", strings.ReplaceAll(file(first, second), "value", "point"), "value=point", 2, 2, ""},
		{"renamed and changed", strings.ReplaceAll(change("0.98", "0.9"), "value", "point"), "value=point", 2, 1, "estimate 1 (lpr m s): point: 0.98, now 0.9"},
		{"renamed inside", change(`"source"`, `"origin"`), "n=n,source=origin", 2, 2, ""},
		{"dropped", change(`, "n": 3`, ""), "n=", 2, 2, ""},
		{"added", change(`"n": 3`, `"n": 3, "of": 4`), "=of", 2, 2, ""},
		{"added, another", change(`"n": 3`, `"n": 3, "of": 4`), "=from", 2, 1, "estimate 2 (wpr): of is new"},
	} {
		renamed, err := parseRenames(x.renamed)
		if err != nil {
			t.Fatal(err)
		}
		got, err := compare([]byte(file(first, second)), []byte(x.after), renamed)
		if got.estimates != x.estimates || got.equal != x.equal || got.first != x.first || err != nil {
			t.Errorf("%s: %+v, %v; want %d, %d, %s", x.name, got, err, x.estimates, x.equal, x.first)
		}
	}
}

// Every field that differs is counted, not only the first one.
func TestDiffering(t *testing.T) {
	before := `{"estimates": [{"value": 1, "n": 3, "counts": {"line": 1}}, {"value": 1, "n": 3}]}`
	after := `{"estimates": [{"value": 1, "n": 2, "counts": {"word": 1}}, {"value": 1, "n": 2}]}`
	r, err := compare([]byte(before), []byte(after), renames{})
	if want := "counts.line 1, counts.word 1, n 2"; err != nil || r.differing() != want {
		t.Errorf("%q, %v; want %q", r.differing(), err, want)
	}
}

func TestCompareRefuses(t *testing.T) {
	good := `{"estimates": [{"value": 1}]}`
	for _, bad := range []string{``, `{`, `{}`, `{"estimates": []}`, `{"estimates": 3}`} {
		if _, err := compare([]byte(good), []byte(bad), renames{}); err == nil || !strings.HasPrefix(err.Error(), "the new estimates.json: ") {
			t.Errorf("%q as the new file: %v", bad, err)
		}
		if _, err := compare([]byte(bad), []byte(good), renames{}); err == nil || !strings.HasPrefix(err.Error(), "the old estimates.json: ") {
			t.Errorf("%q as the old file: %v", bad, err)
		}
	}
	for _, bad := range []string{"value", "=", "a=b,c"} {
		if _, err := parseRenames(bad); err == nil {
			t.Errorf("-renamed %q is accepted", bad)
		}
	}
}

// program writes a shell script that writes what a run does, with the value, and fails at runs of consistency.
func program(t *testing.T, dir, name, value string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	script := `#!/bin/sh
[ "$2" = consistency ] && { echo "no such command" >&2; exit 2; }
while [ $# -gt 1 ]; do [ "$1" = --out ] && out=$2; shift; done
[ -z "$out" ] || { mkdir -p "$out" && echo '{"estimates": [{"measure": "lpr", "value": ` + value + `}]}' >"$out/estimates.json"; }
`
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestCompareAll(t *testing.T) {
	dir := t.TempDir()
	one, two := program(t, dir, "one", "0.5"), program(t, dir, "two", "0.25")
	leakage, consistency := study{args: []string{"run", "leakage", "--by", ""}, timed: true}, study{args: []string{"run", "consistency"}}
	for _, x := range []struct {
		programs [2]string
		studies  []study
		same     bool
		want     []string
	}{
		{[2]string{one, one}, []study{leakage}, true, []string{`run leakage --by ""  1          1`, "1 runs"}},
		{[2]string{one, two}, []study{leakage}, false, []string{"estimate 1 (lpr): value: 0.5, now 0.25"}},
		{[2]string{one, one}, []study{consistency, leakage}, false, []string{"the old program: exit status 2: no such command", "2 runs"}},
	} {
		var out, notes strings.Builder
		same, err := compareAll(&out, &notes, x.programs, x.studies, dir, renames{})
		if same != x.same || err != nil {
			t.Errorf("%v: %v, %v", x.studies, same, err)
		}
		for _, want := range x.want {
			if !strings.Contains(out.String(), want) {
				t.Errorf("no %q in\n%s", want, &out)
			}
		}
	}
	var out, notes strings.Builder
	if err := timeAll(&out, &notes, [2]string{one, two}, []study{leakage, consistency}, dir, 3); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "medians of 3 runs each") || !strings.Contains(out.String(), "run leakage") || strings.Contains(out.String(), "consistency") {
		t.Errorf("times:\n%s", &out)
	}
}

func TestMissingData(t *testing.T) {
	dir := t.TempDir()
	if _, err := studies(dir, dir); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("error %v", err)
	}
}
