package builder

import (
	"os"
	"path/filepath"
	"testing"
)

// Current fails the test of a builder in build/NAME if the embedded file is not what the builder makes. Without the
// sources the test is skipped.
func (b Builder) Current(t testing.TB) {
	t.Helper()
	b.Need(t)
	if err := b.check(b.In, filepath.Join("..", "..", b.Out), t.Output()); err != nil {
		t.Error(err)
	}
}

// Need skips the test if the sources are not installed.
func (b Builder) Need(t testing.TB) {
	t.Helper()
	if _, err := os.Stat(b.In); err != nil {
		t.Skipf("%s is not installed (%s): %v", b.Source, b.Install, err)
	}
}
