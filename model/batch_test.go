package model

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"crosstalk"
	"crosstalk/internal/testing/testserver"
)

// batchModel opens a model behind one of the batch APIs.
func batchModel(t *testing.T, s *testserver.Server, name string) crosstalk.Batcher {
	t.Helper()
	base := "/v1"
	if strings.HasPrefix(name, "gemini:") {
		base = "/v1beta/openai"
	}
	m, err := Open(name, Options{BaseURL: s.URL + base, Getenv: func(string) string { return "sk-test-0123456789" }})
	if err != nil {
		t.Fatal(err)
	}
	b, ok := m.(crosstalk.Batcher)
	if !ok {
		t.Fatalf("%s cannot be asked in batches", name)
	}
	return b
}

// batchAsks are n requests, of which those of fail are refused.
func batchAsks(m crosstalk.Model, first, n int) (asks []crosstalk.BatchAsk,
	requests map[crosstalk.Key]crosstalk.Request) {
	requests = map[crosstalk.Key]crosstalk.Request{}
	zero := 0.0
	for i := range n {
		r := crosstalk.PromptConfig{API: crosstalk.Chat, System: "Be <brief> & kind.",
			Decoding: crosstalk.Decoding{Temperature: &zero, MaxTokens: 20, Stop: []string{"\n"}}}.
			Request(fmt.Sprintf("Prompt %d", first+i), 0)
		key := crosstalk.KeyOf(m.Identity(), r)
		asks = append(asks, crosstalk.BatchAsk{Key: key, Request: r})
		requests[key] = r
	}
	return asks, requests
}

var batchNames = []string{"openai:m", "anthropic:m", "gemini:m"}

// What a batch answers is what single requests answer.
func TestBatchAnswers(t *testing.T) {
	for _, name := range batchNames {
		t.Run(name, func(t *testing.T) {
			o := testserver.Options{Key: "sk-test-0123456789"}
			if name != "gemini:m" { // whose two forms are two requests to the server
				o.Faults = map[testserver.Fault]float64{"refusal": 0.2, "empty": 0.1}
			}
			s := testserver.New(o)
			defer s.Close()
			m := batchModel(t, s, name)
			asks, requests := batchAsks(m, 0, 40)
			id, err := m.Submit(t.Context(), "tag", asks)
			if err != nil {
				t.Fatal(err)
			}
			if state, err := m.Poll(t.Context(), id); err != nil || !state.Ended || state.Done != 40 || state.Problem != "" {
				t.Errorf("%+v, %v", state, err)
			}
			got := map[crosstalk.Key]bool{}
			for r, err := range m.Results(t.Context(), id, requests) {
				if err != nil || r.Err != nil {
					t.Fatal(err, r.Err)
				}
				got[r.Key] = true
				want, err := m.Answer(t.Context(), requests[r.Key])
				if len(r.Answer.Raw) == 0 {
					t.Error("an answer without its source")
				}
				r.Answer.Raw, want.Raw = nil, nil
				if err != nil || r.Answer.Text != want.Text || r.Answer.Status != want.Status || r.Answer.Finish != want.Finish ||
					r.Answer.Usage != want.Usage ||
					r.Answer.Model != want.Model {
					t.Errorf("%+v, %v; want %+v", r.Answer, err, want)
				}
			}
			if len(got) != 40 {
				t.Errorf("%d results", len(got))
			}
		})
	}
}

// A batch is found by its tag among others, on whatever page of the list.
func TestFindBatch(t *testing.T) {
	for _, name := range append(batchNames, "no metadata") {
		t.Run(name, func(t *testing.T) {
			s := testserver.New(testserver.Options{Batches: testserver.Batches{Page: 2, NoMetadata: name == "no metadata"}})
			defer s.Close()
			if name == "no metadata" {
				name = "compatible:m"
			}
			m := batchModel(t, s, name)
			var all []string
			for i := range 7 {
				asks, _ := batchAsks(m, 10*i, 10)
				id, err := m.Submit(t.Context(), fmt.Sprint("tag", i), asks)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, id)
			}
			none := func(string) bool { return false }
			for _, i := range []int{0, 3, 6} {
				asks, _ := batchAsks(m, 10*i, 10)
				if id, sure, err := m.Find(t.Context(), fmt.Sprint("tag", i), time.Now(), asks, none); id != all[i] || !sure ||
					err != nil {
					t.Errorf("batch %d: %q, %v, %v", i, id, sure, err)
				}
			}
			asks, _ := batchAsks(m, 70, 10)
			if id, sure, err := m.Find(t.Context(), "tag7", time.Now(), asks, none); id != "" || !sure || err != nil {
				t.Errorf("one that is not there: %q, %v, %v", id, sure, err)
			}
		})
	}
}

// Anthropic's batches have no tag: one under way with as many requests may be
// the one that is looked for.
func TestFindAnthropicBatch(t *testing.T) {
	const delay = 200 * time.Millisecond
	s, began := testserver.New(testserver.Options{Batches: testserver.Batches{Delay: delay}}), time.Now()
	defer s.Close()
	m := batchModel(t, s, "anthropic:m")
	asks, _ := batchAsks(m, 0, 10)
	others, _ := batchAsks(m, 10, 10)
	more, _ := batchAsks(m, 20, 11)
	for _, a := range [][]crosstalk.BatchAsk{asks, others, more} {
		if _, err := m.Submit(t.Context(), "", a); err != nil {
			t.Fatal(err)
		}
	}
	find := func(asks []crosstalk.BatchAsk, known string) (string, bool) {
		id, sure, err := m.Find(t.Context(), "", time.Now(), asks, func(id string) bool { return id == known })
		if err != nil {
			t.Error(err)
		}
		return id, sure
	}
	// On a slow machine they may have ended by now.
	if id, sure := find(asks, "batch_0002"); (id != "" || sure) && time.Since(began) < delay {
		t.Errorf("while it runs: %q, %v", id, sure)
	}
	if id, sure := find(more[:5], ""); id != "" || !sure {
		t.Errorf("another number of requests: %q, %v", id, sure)
	}
	for _, sure := find(asks, ""); !sure; _, sure = find(asks, "") {
		time.Sleep(10 * time.Millisecond)
	}
	if id, sure := find(asks, ""); id != "batch_0001" || !sure {
		t.Errorf("when it has ended: %q, %v", id, sure)
	}
	if id, sure := find(asks, "batch_0001"); id != "" || !sure {
		t.Errorf("one that is known: %q, %v", id, sure)
	}
}

// Results that are of no request, or cannot be read, are told from the others.
func TestDamagedResults(t *testing.T) {
	for _, name := range []string{"openai:m", "anthropic:m"} {
		s := testserver.New(testserver.Options{Batches: testserver.Batches{Results: "damaged", Faulty: 1,
			Expire: 0.2, Fail: 0.2}})
		defer s.Close()
		m := batchModel(t, s, name)
		asks, requests := batchAsks(m, 0, 40)
		id, err := m.Submit(t.Context(), "tag", asks)
		if err != nil {
			t.Fatal(err)
		}
		count := func() (good, bad, strange int) {
			for r, err := range m.Results(t.Context(), id, requests) {
				switch {
				case err != nil:
					t.Fatal(err)
				case r.Key == crosstalk.Key{}:
					strange++
				case r.Err != nil:
					bad++
				default:
					good++
				}
			}
			return good, bad, strange
		}
		if good, bad, strange := count(); good+bad != 39 || strange != 2 || bad == 0 {
			t.Errorf("%s: %d answers, %d errors, %d strange", name, good, bad, strange)
		}
		if good, bad, strange := count(); good+bad != 40 || strange != 0 {
			t.Errorf("%s, again: %d answers, %d errors, %d strange", name, good, bad, strange)
		}
	}
}

// What creates a batch and fails without a word about it is unclear; a refusal
// is not.
func TestUnclearSubmission(t *testing.T) {
	for _, name := range batchNames {
		s := testserver.New(testserver.Options{Key: "another key that is long enough", Batches: testserver.Batches{Late: 50 * time.Millisecond}})
		m := batchModel(t, s, name)
		asks, _ := batchAsks(m, 0, 2)
		_, err := m.Submit(t.Context(), "tag", asks)
		if isUnclear(err) || err == nil {
			t.Errorf("%s, wrong key: %v", name, err)
		}
		s.Close()
		if _, err := batchModel(t, &testserver.Server{URL: "http://127.0.0.1:1"}, name).Submit(t.Context(), "tag",
			asks); isUnclear(err) || err == nil {
			t.Errorf("%s, nobody there: %v", name, err)
		}
		s = testserver.New(testserver.Options{Batches: testserver.Batches{Late: time.Minute}})
		go func() {
			for s.Stats().Creates == 0 {
				time.Sleep(time.Millisecond)
			}
			s.Close()
		}()
		if _, err := batchModel(t, s, name).Submit(t.Context(), "tag", asks); !isUnclear(err) {
			t.Errorf("%s, broken off: %v", name, err)
		}
	}
}

func isUnclear(err error) bool {
	_, is := err.(*crosstalk.UnclearError)
	return is
}

// Gemini's requests are in its own form.
func TestGeminiBatchForm(t *testing.T) {
	s := testserver.New(testserver.Options{Record: true})
	defer s.Close()
	m := batchModel(t, s, "gemini:gemini-3-flash")
	asks, _ := batchAsks(m, 0, 1)
	r := &asks[0].Request
	r.Decoding.Reasoning, r.Decoding.ReasoningTokens, r.Decoding.Extra = "low", 1000, map[string]any{"top_k": 5}
	r.Messages = append(r.Messages, crosstalk.Message{Role: "assistant", Content: "Yes"}, crosstalk.Message{Role: "user", Content: "So?"})
	if _, err := m.Submit(t.Context(), "T", asks); err != nil {
		t.Fatal(err)
	}
	record := s.Records()[0]
	want := `{"batch":{"displayName":"crosstalk-T","inputConfig":{"requests":{"requests":[{"metadata":{"key":"` + asks[0].Key.String() + `"},"request":` +
		`{"systemInstruction":{"parts":[{"text":"Be <brief> & kind."}]},"contents":[{"role":"user","parts":[{"text":"Prompt 0"}]},` +
		`{"role":"model","parts":[{"text":"Yes"}]},{"role":"user","parts":[{"text":"So?"}]}],` +
		`"generationConfig":{"temperature":0,"maxOutputTokens":1020,"stopSequences":["\n"],"thinkingConfig":{"thinkingLevel":"low"},"top_k":5}}}]}}}}`
	if got := string(record.Body); got != want || record.Path != "/v1beta/models/gemini-3-flash:batchGenerateContent" || record.Header.Get("X-Goog-Api-Key") == "" {
		t.Errorf("%s\n%s\nwant\n%s", record.Path, got, want)
	}
}

// Only models whose provider has a batch API that is known can be asked in
// batches, and only over that.
func TestBatchers(t *testing.T) {
	for name, want := range map[string]bool{"openai:m": true, "azure:m": true, "compatible:m": true, "groq:m": true, "anthropic:m": true, "gemini:m": false,
		"deepseek:m": false, "ollama:m": false, "vllm:m": false} {
		m, err := Open(name, Options{BaseURL: "http://localhost:1/v1", Client: http.DefaultClient, Getenv: func(string) string { return "key-0123456789" }})
		if err != nil {
			t.Fatal(err)
		}
		if _, got := m.(crosstalk.Batcher); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Results that cannot be read do not say that a batch is another's.
func TestFindUnreadableBatch(t *testing.T) {
	for _, fault := range []string{"gone", "html",
		"random", "redirect"} {
		s := testserver.New(testserver.Options{Batches: testserver.Batches{Results: fault}})
		m := batchModel(t, s, "anthropic:m")
		asks, _ := batchAsks(m, 0, 10)
		if _, err := m.Submit(t.Context(), "", asks); err != nil {
			t.Fatal(err)
		}
		none := func(string) bool { return false }
		if id, sure, err := m.Find(t.Context(), "", time.Now(), asks, none); err == nil || sure {
			t.Errorf("%s: %q, %v, %v", fault, id, sure, err)
		}
		s.Heal()
		if id, sure, err := m.Find(t.Context(), "", time.Now(), asks, none); id != "batch_0001" || !sure || err != nil {
			t.Errorf("%s, later: %q, %v, %v", fault, id, sure, err)
		}
		s.Close()
	}
}
