package langid

import "testing"

func TestLabelOf(t *testing.T) {
	for _, c := range []struct {
		code, want string
		labels     []string
	}{
		{"de", "de", []string{"en", "de"}},
		{"nb", "no", []string{"no", "nn"}},
		{"no", "nb", []string{"nb"}},
		{"nn", "", []string{"no"}}, // is written otherwise
		{"fil", "tl", []string{"tl"}},
		{"tl", "fil", []string{"fil"}},
		{"cmn", "zh", []string{"zh", "yue"}},
		{"yue", "", []string{"zh"}},
		{"prs", "fa", []string{"fa"}},
		{"xx", "", []string{"en"}},
	} {
		if got, ok := LabelOf(c.code, c.labels); got != c.want || ok != (c.want != "") {
			t.Errorf("%s of %v: %q, %v; want %q", c.code, c.labels, got, ok, c.want)
		}
	}
}
