package estimate

import (
	"testing"

	"crosstalk"
)

// Fields come before the version; what names have of the separators is replaced.
func TestSignature(t *testing.T) {
	v := "|v" + crosstalk.Version
	sent := map[string]string{crosstalk.SentColumn: "top_p=1|x"}
	for got, want := range map[string]string{
		Signature(nil, "lpr"):                     "lpr" + v,
		Signature(sent, "lpr", "suite:a|b\nc\rd"): "lpr|suite:a_b_c_d|sent:top_p=1_x" + v,
		Extend("lpr" + v):                         "lpr" + v,
		Extend("lpr"+v, "a|b", "c"):               "lpr|a_b|c" + v,
		Extend("lpr|suite:x"+v, "mean:answers"):   "lpr|suite:x|mean:answers" + v,
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	fields := make([]string, 1, 2)
	fields[0] = "lpr"
	Signature(sent, fields...)
	if fields[:2][1] != "" {
		t.Error("the caller's fields are changed")
	}
}
