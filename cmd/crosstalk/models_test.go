package main

import (
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"crosstalk/internal/testing/hubtest"
)

func TestInterruptedPull(t *testing.T) {
	s := hubtest.New()
	t.Cleanup(s.Close)
	weights := make([]byte, 1<<20)
	s.Put("lab/model", &hubtest.Model{Files: map[string][]byte{"config.json": []byte("{}"), "vocab.txt": []byte("[PAD]"), "model.safetensors": weights}})
	s.Break(func(w http.ResponseWriter, r *http.Request) bool {
		if "http://"+r.Host != s.CDN {
			return false
		}
		w.Header().Set("Content-Length", "1048576")
		w.Write(weights[:500000])
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
		return true
	})
	env := []string{"HF_ENDPOINT=" + s.URL, "HF_HOME=" + t.TempDir()}
	part := filepath.Join(env[1][len("HF_HOME="):], "hub", "models--lab--model", "blobs", hubtest.Etag("model.safetensors", weights)+".incomplete")

	p := start(t, env, "models", "pull", "lab/model")
	until(t, "a part of the weights", func() bool {
		info, err := os.Stat(part)
		return err == nil && info.Size() > 0
	})
	p.cmd.Process.Signal(os.Interrupt)
	p.expect(exitInterrupted, "interrupted; run the same command again to resume")

	p = start(t, env, "models", "pull", "lab/model")
	until(t, "the second attempt", func() bool {
		for _, r := range s.Requests() {
			if r.Range != "" {
				return true
			}
		}
		return false
	})
	p.cmd.Process.Signal(syscall.SIGKILL)
	p.expect(-1)
	s.Break(nil)
	start(t, env, "models", "pull", "lab/model").expect(0)
}
