package study

import (
	"path/filepath"
	"testing"

	"crosstalk"
	"crosstalk/ask"
	"crosstalk/instrument/leakage"
	"crosstalk/internal/testing/testserver"
	"crosstalk/suite"
)

// A part of each embedded leakage suite, from end to end: a server asked in both
// ways, scored by its embeddings, which serve any language. tools/bench/calibrate runs
// the reference model over all of them.
func TestEmbeddedSuites(t *testing.T) {
	if testing.Short() {
		t.Skip("checks figures, one after another")
	}
	const items = 4
	server := testserver.New(testserver.Options{})
	defer server.Close()
	suites, err := suite.Embedded()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range suites {
		if s.Instrument != "leakage" {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			for name, l := range map[string]Leakage{
				"chat":        {Sweep: Sweep{Models: []string{"compatible:m"}, BaseURLs: []string{server.URL + "/v1"}, APIs: []string{"chat"}}},
				"completions": {Sweep: Sweep{Models: []string{"compatible:m"}, BaseURLs: []string{server.URL + "/v1"}, APIs: []string{"completions"}}},
			} {
				l.Suite, l.Items, l.Similarities, l.By = s.Name, items, []string{"compatible:e@" + server.URL + "/v1"}, []string{}
				study, err := l.Open()
				if err != nil {
					t.Fatal(err)
				}
				result, err := study.Run(t.Context(), filepath.Join(t.TempDir(), "run"), ask.Options{})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				measures := map[string]crosstalk.Estimate{}
				for _, e := range result.Estimates {
					measures[e.Measure] = e
					if e.N != items || e.Observations+e.Counts[leakage.NotScored] != items || !e.Value.Defined() {
						t.Errorf("%s: %+v", name, e)
					}
				}
				if _, parts := measures[leakage.MeasureClosest]; parts != (s.Windows != "") {
					t.Errorf("%s: scored by sentence: %v", name, parts)
				}
				if _, copies := measures[leakage.MeasureCopying]; copies != s.InContext() {
					t.Errorf("%s: copying measured: %v", name, copies)
				}
			}
		})
	}
}
