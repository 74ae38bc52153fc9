//go:build unix

package ollama

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"crosstalk/tools/internal/bench"
)

const (
	items  = 20 // of each run; with far fewer, too few answers of a model that babbles can be scored
	outage = 100 * time.Second
)

// A real server: Ollama is built from its Go module (once, into the user's cache folder), and gets a tiny model whose
// probabilities are known. Checked are the three instruments, log probabilities, what crosstalk says of mistakes,
// kills, restarts and an outage; and the main ones again through a gateway that wants headers. It takes minutes:
//
//	CROSSTALK_TEST_OLLAMA=1 go -C tools test -count=1 -v -timeout 1h ./servers/ollama
func TestOllama(t *testing.T) {
	if os.Getenv("CROSSTALK_TEST_OLLAMA") == "" {
		t.Skip("set CROSSTALK_TEST_OLLAMA=1 to run crosstalk against a real Ollama")
	}
	dir := t.TempDir()
	program, err := build()
	if err != nil {
		t.Skip("Ollama cannot be built here: ", err)
	}
	s, err := newServer(program, dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.start(); err != nil {
		t.Skip("Ollama cannot be started here: ", err)
	}
	t.Cleanup(s.kill)
	b := &trials{server: s, dir: dir, chain: newChain(1)}
	models := map[string][]byte{"tiny": b.chain.gguf(false), "twin": newChain(2).gguf(false), "broken": b.chain.gguf(true)}
	for name, gguf := range models {
		if err := s.create(name, gguf); err != nil {
			t.Fatal(err)
		}
	}
	gateway := newGateway(s.address)
	defer gateway.Close()
	b.gateway = gateway.URL
	if b.program, err = bench.Program(dir); err != nil {
		t.Fatal(err)
	}
	t.Logf("Ollama %s; at least %d items in a run, an outage of %v", version, items, outage)
	for i, c := range checks() {
		t.Run(c.name, func(t *testing.T) {
			c.check(&trial{T: t, trials: b, out: filepath.Join(dir, fmt.Sprint("run", i)), gated: c.gated})
			if s.command == nil { // the check left it killed
				if err := s.start(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
