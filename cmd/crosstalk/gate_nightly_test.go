package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"crosstalk/gate"
)

// Every night a run is judged with those before it: some faults more or less are no alarm,
// a loss that stays is one, and one night alone can be enough.
func TestGateNightly(t *testing.T) {
	dir := t.TempDir()
	const n = 150
	base := scoredRun(t, dir, n, 0, 1, 3)
	run := func(wrong int) string { return scoredRun(t, dir, n, 0, 1, wrong) }
	judge := func(want int, nights ...string) (v gate.Verdict) {
		t.Helper()
		var stdout, stderr bytes.Buffer
		args := append([]string{"gate", "--nightly", "--no-worse-than", base, "--margin", "2%", "--measure", "lpr",
			"--across", "suite", "--format", "json"}, nights...)
		if code := execute(args, &stdout, &stderr); code != want {
			t.Errorf("%d nights: exit code %d, want %d\n%s%s", len(nights), code, want, &stdout, &stderr)
		} else if err := json.Unmarshal(stdout.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	few, many := run(5), run(15)
	for k := 1; k < 4; k++ {
		v := judge(0, strings.Fields(strings.Repeat(few+" ", k))...)
		if c := v.Checks[0]; c.Nightly == nil || c.Nightly.Nights != k || math.Abs(float64(c.Nightly.Limit)-40) > 1e-9 ||
			c.Nightly.Evidence > 2 || c.Nightly.Margin != 0.02 || c.Value >= 0 ||
			!strings.HasPrefix(c.Remarks[0], "evidence of a loss of more than 2 points: ") {
			t.Errorf("%d nights: %+v", k, c)
		}
	}
	judge(0, few, few, many)
	v := judge(1, few, few, many, many, many)
	if c := v.Checks[0]; !strings.HasPrefix(c.Reason, "evidence of a loss of more than 2 points: ") ||
		!strings.HasSuffix(c.Reason, fmt.Sprintf(" of 40 after 5 nights, since night %d", c.Nightly.Since)) ||
		c.Nightly.Since != 5 {
		t.Errorf("%+v", c)
	}
	// It stays an alarm until earlier nights are left out.
	judge(1, few, few, many, many, many, few)
	judge(0, few)
	if v := judge(1, run(60)); v.Checks[0].Nightly.Nights != 1 {
		t.Errorf("%+v", v.Checks[0])
	}
	// The margin is at least twice the luck of the reference.
	lucky := scoredRun(t, dir, n, 0, 1, 0)
	base = run(15)
	v = judge(0, lucky, lucky)
	if c := v.Checks[0]; !(c.Nightly.Margin > 0.04 && c.Nightly.Margin < 0.06) || c.Nightly.Margin != 2*c.Nightly.Luck ||
		!strings.Contains(c.Remarks[0], "; the margin is twice 2.6, the standard deviation of the reference run's luck") {
		t.Errorf("%+v", c)
	}
	// What contradicts itself.
	for want, args := range map[string][]string{
		"expected one run, found 2":    {few, many, "--require", "lpr>=50%"},
		"--nightly needs --no-worse-t": {few, "--require", "lpr>=50%", "--nightly"},
		"and not --point":              {few, "--nightly", "--point", "--no-worse-than", base, "--margin", "2%"},
		"is not a run directory":       {dir, few, "--nightly", "--no-worse-than", base, "--margin", "2%"},
	} {
		var stdout, stderr bytes.Buffer
		if code := execute(append([]string{"gate"}, args...), &stdout, &stderr); code != 2 ||
			!strings.Contains(stderr.String(), want) {
			t.Errorf("%v: exit code %d, %s", args, code, &stderr)
		}
	}
}
