package labels

import (
	"os"
	"path/filepath"
	"testing"
)

// Figures are of the same answers unless a column that both have differs.
func TestAgree(t *testing.T) {
	for _, c := range []struct {
		a, b map[string]string
		want bool
	}{
		{nil, nil, true}, {map[string]string{"model": "m"}, nil, true},
		{map[string]string{"model": "m"}, map[string]string{"language": "de"}, true},
		{map[string]string{"model": "m"}, map[string]string{"model": "m"}, true},
		{map[string]string{"model": "m"}, map[string]string{"model": "n"}, false},
		{map[string]string{"model": "all"}, map[string]string{"model": "n"}, true},
		{map[string]string{"model": "m"}, map[string]string{"model": "all"}, true},
	} {
		if agree(c.a, c.b) != c.want || agree(c.b, c.a) != c.want {
			t.Errorf("%v and %v: want %v", c.a, c.b, c.want)
		}
	}
}

// An answer may take no time, but not less, nor for ever.
func TestSeconds(t *testing.T) {
	file := filepath.Join(t.TempDir(), "sheet.csv")
	for seconds, good := range map[string]bool{"0": true, "1.5": true, "": true, "-0.1": false, "999999999": true, "1e9": false, "x": false} {
		if err := os.WriteFile(file, []byte("id,label,seconds\nq1,A,"+seconds+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if list, err := readSheet(file); err != nil || len(list) != 1 || (list[0].err == nil) != good {
			t.Errorf("%q: %+v, %v", seconds, list, err)
		}
	}
}
