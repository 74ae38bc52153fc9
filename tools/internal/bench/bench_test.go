//go:build unix

package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

func TestTree(t *testing.T) {
	tree, err := Tree()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(tree, "cmd", "crosstalk")); err != nil {
		t.Error(err)
	}
}

// The process time of a child that waits is less than the time that passes.
func TestRun(t *testing.T) {
	c, err := Run(exec.Command("sleep", "0.05"))
	if err != nil {
		t.Fatal(err)
	}
	if c.Wall < 0.05 || c.CPU >= c.Wall || c.Peak <= 0 {
		t.Errorf("sleep took %+v", c)
	}
	if _, err := Run(exec.Command("false")); err == nil {
		t.Error("a failed command is no error")
	}
	if _, err := Run(exec.Command("crosstalk-has-no-such-program")); err == nil {
		t.Error("a missing command is no error")
	}
}

func TestCPU(t *testing.T) {
	before := CPU()
	for start := time.Now(); CPU() == before; {
		if time.Since(start) > time.Minute {
			t.Fatal("the processor time does not pass")
		}
	}
	if Peak() <= 0 {
		t.Error("no peak")
	}
}

func TestReadLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lines.jsonl")
	if err := os.WriteFile(path, []byte("{\"A\":1}\n{\"A\":2}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	all, err := ReadLines[struct{ A int }](path)
	if err != nil || len(all) != 2 || all[1].A != 2 {
		t.Errorf("read %v, %v", all, err)
	}
	if err := os.WriteFile(path, []byte("{\"A\":1}\n{\"A\":"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadLines[struct{ A int }](path); err == nil {
		t.Error("half a line is no error")
	}
}

func TestSentences(t *testing.T) {
	all := Sentences()
	if len(all) != 15 || all[14].Language != "zh" || all[14].Text == "" {
		t.Errorf("%q", all)
	}
}
