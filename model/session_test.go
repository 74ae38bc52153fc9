package model

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/ask/journal"
	"crosstalk/internal/testing/testserver"
)

// Whatever a server does between, each ask ends as text, and the server has
// answered it once.
func TestSession(t *testing.T) {
	const asks, workers = 300, 16
	for _, c := range []struct {
		model string
		api   crosstalk.API
	}{{"openai:m", crosstalk.Chat}, {"vllm:m", crosstalk.Completions}, {"anthropic:m", crosstalk.Chat}} {
		t.Run(c.model, func(t *testing.T) {
			t.Parallel()
			const key = "sk-0123456789abcdef"
			s := testserver.New(testserver.Options{Seed: 1, RetryAfter: 2 * time.Millisecond, Key: key,
				Faults: map[testserver.Fault]float64{
					"429": 0.05, "500": 0.05, "503": 0.05,
					"529": 0.02,
					"408": 0.02, "cut": 0.08, "invalid-json": 0.05, "wrong-shape": 0.08,
					"html": 0.03, "html-200": 0.03, "drop": 0.05,
				}})
			defer s.Close()
			j, err := journal.Open(filepath.Join(t.TempDir(), "answers.db"))
			if err != nil {
				t.Fatal(err)
			}
			defer j.Close()
			session := ask.NewSession(j, ask.Options{Retries: 40, Backoff: time.Millisecond})
			m, err := Open(c.model, Options{BaseURL: s.URL + "/v1", API: c.api, Getenv: func(string) string { return key }})
			if err != nil {
				t.Fatal(err)
			}
			asker := session.For(m)
			var wg sync.WaitGroup
			for w := range workers {
				wg.Go(func() {
					for i := w; i < asks; i += workers {
						req := crosstalk.Request{API: c.api, Decoding: crosstalk.Decoding{MaxTokens: 20}}
						if text := fmt.Sprint("ask ", i); c.api == crosstalk.Chat {
							req.Messages = []crosstalk.Message{{Role: "user", Content: text}}
						} else {
							req.Prompt = text
						}
						a, err := asker.Ask(t.Context(), req)
						if err != nil || a.Status != crosstalk.Text || a.Text == "" {
							t.Errorf("ask %d: %+v, %v", i, a, err)
						}
					}
				})
			}
			wg.Wait()
			st := s.Stats()
			if len(st.Requests) != asks || st.Answered != asks {
				t.Errorf("the server has seen %d requests and answered %d; want %d of each", len(st.Requests), st.Answered, asks)
			}
			for _, r := range st.Requests {
				if r.Answered != 1 {
					t.Errorf("a request was answered %d times", r.Answered)
				}
			}
			if st.Attempts < asks*5/4 {
				t.Errorf("%d attempts: the server has not misbehaved", st.Attempts)
			}
			for r, err := range j.All() {
				if err != nil || strings.Contains(fmt.Sprintf("%+v %s", r, r.Answer.Raw), key[:8]) {
					t.Fatalf("the journal: %+v, %v", r, err)
				}
			}
		})
	}
}
