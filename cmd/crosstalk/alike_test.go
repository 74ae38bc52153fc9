package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"crosstalk"
	"crosstalk/internal/testing/testserver"
)

// An acceptance sends the new model the bytes that the baseline's run sent, without a flag that says so.
func TestAcceptSendsTheSame(t *testing.T) {
	t.Parallel()
	for name, flags := range map[string][]string{
		"none in a text": {"--system", "none of your words may be foreign", "--prefix", "none of us knows: "},
		"@ in a text":    {"--system", "Sign as bot@example.org", "--prefix", "Write to me@home: "},
		"only none":      {"--system", "none", "--prefix", "none"},
		"no system":      {"--system", "", "--temperature", "default"},
		"marks":          {"--system", "@@all, \"you\"\nand me", "--param", "word=low", "--param", "list=[1,\"b\"]", "--seed", "-4"},
		"shots": append(settings(t, "template: qa", "demonstrations: expected"),
			"--shots", "2", "--position", "start", "--reasoning", "low", "--top-p", "0.5"),
		"completions": {"--shots", "1", "--api", "completions", "--max-tokens", "9"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, testserver.Options{Record: true, Profile: testserver.NoProfile})
			sent := func() (bodies []string) {
				for _, r := range s.Records() {
					var body map[string]any
					if err := json.Unmarshal(r.Body, &body); err != nil {
						t.Fatal(err)
					}
					delete(body, "model")
					bodies = append(bodies, string(crosstalk.Canonical(body)))
				}
				return bodies
			}
			old := filepath.Join(t.TempDir(), "old")
			p := start(t, nil, append([]string{"run", "confusion", "--model", "compatible:old", "--base-url", s.URL + "/v1",
				"--language", "de,ko", "--items", "9", "--out", old, "--quiet"}, flags...)...)
			<-p.ended
			asked := sent()
			p = start(t, nil, "accept", "--model", "compatible:new", "--baseline", old, "--margin", "50%",
				"--out", filepath.Join(t.TempDir(), "new"), "--", "--base-url", s.URL+"/v1")
			<-p.ended
			again := sent()[len(asked):]
			slices.Sort(asked)
			slices.Sort(again)
			if len(again) != 9 || !slices.Equal(asked, again) {
				t.Errorf("%s\nasked %d: %s\nthen %d: %s", p.stderr.String(), len(asked), asked[:1], len(again), again[:min(1, len(again))])
			}
		})
	}
}
