package confusion

import (
	"compress/gzip"
	"encoding/json"
	"iter"
	"os"
	"testing"

	"crosstalk"
	"crosstalk/internal/testing/shared"
	"crosstalk/measure/langid/fasttext"
	"crosstalk/measure/wordlist"
	"crosstalk/recorded"
)

// decision is the published script's finding in an answer.
type decision struct {
	ID        string
	Language  string
	Skipped   bool
	LineError bool  `json:"line_error"`
	WordError *bool `json:"word_error"` // null after a line error
	Checked   int   `json:"lines_checked"`
	Wrong     int   `json:"lines_wrong"`
}

// TestGolden compares the decisions on the recorded answers of four models
// with those of the published script (lid.176.ftz, MeCab with UniDic, jieba).
func TestGolden(t *testing.T) {
	if testing.Short() {
		t.Skip("checks figures, one after another")
	}
	lid, err := fasttext.Load(shared.File(t, "lid/lid.176.ftz"))
	if err != nil {
		t.Fatal(err)
	}
	words, err := wordlist.Load(shared.File(t, "lcb/words"))
	if err != nil {
		t.Fatal(err)
	}
	protocol, _ := ProtocolNamed("lcb-script")
	in := &Instrument{Protocol: protocol, Identifier: lid, Words: words}
	answers, otherwise := map[string]int{}, map[string]int{} // by language
	for _, model := range []string{"command-r-base", "command-r-plus", "gpt-3.5-turbo", "llama-3-instruct"} {
		outputs, decisions := shared.File(t, "lcb/outputs/"+model+".csv.gz"), shared.File(t, "lcb/golden/"+model+".jsonl.gz")
		for language, same := range judged(t, in, outputs, decisions) {
			answers[language]++
			if !same {
				otherwise[language]++
			}
		}
	}
	for language, n := range answers {
		t.Logf("%s: %d answers", language, n)
		if otherwise[language] > 0 {
			t.Errorf("%s: %d of %d answers are judged otherwise", language, otherwise[language], n)
		}
	}
	if len(answers) != 15 {
		t.Errorf("answers in %d languages, want 15", len(answers))
	}
}

// judged yields the language of each answer and whether the script's decision
// is ours.
func judged(t *testing.T, in *Instrument, outputs, decisions string) iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		f, err := os.Open(decisions)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		next := json.NewDecoder(z)
		for row, err := range (recorded.Reading{}).Confusion(outputs) {
			if err != nil {
				t.Fatal(err)
			}
			var want decision
			if err := next.Decode(&want); err != nil {
				t.Fatalf("%s: %v", decisions, err)
			}
			if want.Language != row.Item.Prompt.Language {
				t.Fatalf("%s: is %s, the decision is on %s %s", row.Where, row.Item.Prompt.Language, want.ID, want.Language)
			}
			if !yield(want.Language, agree(want, in.Score(row.Item, 0, row.Answer))) {
				return
			}
		}
		if next.More() {
			t.Errorf("%s: more decisions than answers", decisions)
		}
	}
}

// agree reports whether an answer is judged as the script did.
func agree(want decision, got []crosstalk.Observation) bool {
	lpr := got[0]
	if want.Skipped {
		return !lpr.Value.Defined()
	}
	if !lpr.Value.Defined() || (lpr.Value == 0) != want.LineError {
		return false
	}
	if int(lpr.Numbers["lines_checked"]) != want.Checked || int(lpr.Numbers["lines_wrong"]) != want.Wrong {
		return false
	}
	if len(got) < 3 { // the script looks for words in every language, and leaves them out of its figures
		return true
	}
	wpr := got[2]
	if want.LineError {
		return wpr.NotScored == LineError
	}
	return wpr.Value.Defined() && (wpr.Value == 0) == *want.WordError
}
