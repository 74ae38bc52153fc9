package main

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/instrument/leakage"
	"crosstalk/internal/testing/testserver"
	"crosstalk/model/reference"
	"crosstalk/run"
	"crosstalk/suite"
)

// A chat model that repeats what it was sent, continues it, ends the sentence as
// its script does and adds another sentence: only the continuation and its stop
// are scored, in every script and in either direction of writing.
func TestRunLeakageInManyScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("makes many runs")
	}
	t.Parallel()
	for name, more := range map[string][2]string{ // the end of a sentence, and another sentence
		"leakage-zh":    {"。", "然后他走了。"},
		"leakage-ja":    {"。", "それから帰った。"},
		"leakage-he":    {".", " אחר כך הוא הלך."},
		"leakage-ar":    {"؟", " ثم ذهب."},
		"leakage-hi":    {"।", " फिर वह चला गया।"},
		"leakage-ru":    {"…", " Потом он ушёл."},
		"leakage-zh-en": {".", " Then he left."},
		"leakage-he-en": {".", " Then he left."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := suite.Load(name)
			if err != nil {
				t.Fatal(err)
			}
			leaky, err := reference.NewLeaky(s.Items.List(), 1, 0, 1)
			if err != nil {
				t.Fatal(err)
			}
			server := newServer(t, testserver.Options{Answer: func(r testserver.Request) testserver.Reply {
				if !strings.HasPrefix(r.Prompt, s.Prefix[crosstalk.Chat]) {
					t.Errorf("the prompt is %q; expected the prefix %q", r.Prompt, s.Prefix[crosstalk.Chat])
				}
				a, err := leaky.Answer(context.Background(), crosstalk.Request{API: crosstalk.Completions, Prompt: r.Prompt})
				if err != nil {
					t.Error(err)
				}
				return testserver.Reply{Text: r.Prompt + " " + a.Text + more[0] + more[1]}
			}})
			out := filepath.Join(t.TempDir(), "run")
			start(t, nil, runLeakage(server, name, out, "--items", "25", "--similarity", "compatible:embed@"+server.URL+"/v1")...).expect(0)
			items := map[string]*crosstalk.Pair{}
			for _, item := range s.Items.All() {
				items[item.ID] = item.Pair
			}
			scored := 0
			for o, err := range run.ReadObservations(out) {
				if err != nil {
					t.Fatal(err)
				}
				p := items[o.Item]
				if o.NotScored != "" || len(p.Remove) > 0 {
					continue
				}
				scored++
				for side, texts := range map[string][]string{leakage.Test: p.Leaks, leakage.Control: p.Neutral} {
					if got := strings.TrimSuffix(o.Text(side), more[0]); got == o.Text(side) ||
						!slices.ContainsFunc(texts, func(s string) bool { return strings.HasSuffix(s, got) }) {
						t.Errorf("%s: the %s answer is scored as %q; expected one of %q", o.Item, side, o.Text(side), texts)
					}
				}
			}
			if scored < 15 {
				t.Errorf("%d pairs are scored", scored)
			}
		})
	}
}
