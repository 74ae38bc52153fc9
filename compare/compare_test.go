package compare

import (
	"maps"
	"strings"
	"testing"
)

func TestParseReference(t *testing.T) {
	got, err := ParseReference("model=a=b, temperature = 0")
	if want := map[string]string{"model": "a=b", "temperature": "0"}; err != nil || !maps.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := ParseReference(""); got != nil || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	for _, bad := range []string{"model", "=a", "a=b,"} {
		if _, err := ParseReference(bad); err == nil || !strings.Contains(err.Error(), "expected COLUMN=VALUE, such as temperature=0") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestOptions(t *testing.T) {
	some := map[string]string{"model": "a"}
	for want, o := range map[string]Options{
		"":                                 {Level: 0.95, Adjust: BH},
		"level is 95; expected":            {Level: 95},
		"level is 0; expected":             {},
		"reference is all, which compares": {Level: 0.95, AllPairs: true, Reference: some},
	} {
		err := o.Check()
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%+v: %v, want %s", o, err, want)
		}
	}
}
