package export

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"crosstalk/run"
)

func TestWriteRun(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := WriteRun(io.Discard, JSONLines, dir, false); err == nil || !strings.Contains(err.Error(), "is not a run directory") {
		t.Errorf("no run: %v", err)
	}
	write("manifest.json", `{"schema":"crosstalk/run/v1","plan":{"instrument":"leakage"}}`)
	for _, format := range Formats {
		if err := WriteRun(io.Discard, format, dir, false); !errors.Is(err, run.ErrUnfinished) {
			t.Errorf("%s of an unfinished run: %v", format, err)
		}
	}
	line := `{"measure":"leak_rate","item":"a","sample":0,"value":1,"condition":{}}` + "\n"
	write("observations.jsonl", line)
	var out strings.Builder
	if err := WriteRun(&out, JSONLines, dir, false); err != nil || !strings.HasPrefix(out.String(), `{"measure":"leak_rate","item":"a",`) {
		t.Errorf("%q, %v", out.String(), err)
	}
	if err := WriteRun(io.Discard, LMEval, dir, true); err == nil || !strings.HasPrefix(err.Error(), "format lm-eval and --answers cannot be combined") {
		t.Errorf("%v", err)
	}
	if err := WriteRun(io.Discard, "xml", dir, false); err == nil || err.Error() != `unknown format "xml"; choose one of: jsonl, csv, lm-eval` {
		t.Errorf("%v", err)
	}
}
