package main

import (
	"strings"
	"testing"

	"crosstalk/internal/testing/testserver"
)

// Vectors of an endpoint are asked for once, like answers, and scored again
// from the run's directory.
func TestEmbeddingsAreAskedForOnce(t *testing.T) {
	t.Parallel()
	s := testserver.New(testserver.Options{Key: apiKey})
	defer s.Close()
	url := s.URL + "/v1"
	out := t.TempDir() + "/run"
	args := []string{"run", "leakage", "--model", "compatible:test", "--base-url", url, "--out", out, "--items", "100", "--format", "csv", "--by", "language",
		"--similarity", "gloss,compatible:text-embedding-3-large@" + url}
	first := start(t, nil, args...).expect(0).stdout.String()
	asked := s.Stats().Attempts
	again := start(t, nil, append(args, "--post", "none")...).expect(0).stdout.String()
	if n := s.Stats().Attempts; n != asked {
		t.Errorf("scoring again asked %d times", n-asked)
	}
	for _, text := range []string{first, again} {
		for _, want := range []string{"gloss@1", "compatible:text-embedding-3-large"} {
			if lines := strings.Count(text, "leak_rate,compatible:test,"+want+","); lines != 1 {
				t.Errorf("%d figures for %s; want 1 in\n%s", lines, want, text)
			}
		}
	}
}

func TestEmbeddingsThatDoNotCome(t *testing.T) {
	t.Parallel()
	s := testserver.New(testserver.Options{Key: "another-key-entirely", Models: []string{"other"}})
	defer s.Close()
	out := t.TempDir() + "/run"
	p := start(t, nil, "run", "leakage", "--out", out, "--similarity", "compatible:text-embedding-3-large@"+s.URL+"/v1")
	p.expect(2, "CROSSTALK_API_KEY", "text-embedding-3-large")
	if text := p.stdout.String(); text != "" {
		t.Errorf("printed %q", text)
	}
}
