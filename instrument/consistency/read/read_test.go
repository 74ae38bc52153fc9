package read

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"crosstalk/internal/testing/shared"
	"crosstalk/measure/pytext"
)

// orderedKeys are the keys of a JSON object in the order they stand in.
type orderedKeys []string

func (k *orderedKeys) UnmarshalJSON(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	if _, err := d.Token(); err != nil { // {
		return err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		*k = append(*k, key.(string))
		if _, err := d.Token(); err != nil { // the value, a number
			return err
		}
	}
	return nil
}

type answerRow struct {
	Labels  orderedKeys `json:"label_map"`
	Raw     string
	Machine string // "" for null
	Rules   []string
	N       int
	Stored  map[string]int // labels after people corrected them
}

func answerRows(t *testing.T) []answerRow {
	rows := shared.Lines[answerRow](t, "multisense/standardise.jsonl.gz")
	if len(rows) != 7133 {
		t.Fatalf("%d rows, want 7133", len(rows))
	}
	return rows
}

// TestOhmer2023 compares the cascade with the authors' on every distinct
// answer, and the rule that decided.
func TestOhmer2023(t *testing.T) {
	theirs := map[string]string{
		"refusal": "1", "whole": "2", "leading": "2", "leading-word": "2", "exact": "exact", "wrapped": "3", "stopped": "4",
		"spaced": "5", "prefix": "6", "last": "7", "bushi": "zh-no", "han-stopped": "9", "han-last": "10", "han-only": "11",
		"unresolved": "unresolved",
	}
	for _, row := range answerRows(t) {
		got := Ohmer2023(row.Raw, row.Labels)
		if got.Label != row.Machine || len(row.Rules) == 1 && theirs[got.Rule] != row.Rules[0] {
			t.Errorf("%q of %v: got %+v, want %q by rule %v", row.Raw, row.Labels, got, row.Machine, row.Rules)
		}
	}
}

func TestStripQuotesGolden(t *testing.T) {
	rows := shared.Lines[struct{ Raw, Clean string }](t, "multisense/quotes.jsonl.gz")
	if len(rows) != 3469 {
		t.Fatalf("%d rows, want 3469", len(rows))
	}
	for _, row := range rows {
		if got := StripQuotes(row.Raw); got != row.Clean {
			t.Errorf("StripQuotes(%q) = %q, want %q", row.Raw, got, row.Clean)
		}
	}
}

// TestCrosstalk1Golden reads the same answers strictly: every label it gives
// must be what the authors arrived at after correction, and what it leaves to
// review must be little.
func TestCrosstalk1Golden(t *testing.T) {
	answers, sure := 0, 0
	for _, row := range answerRows(t) {
		got := Crosstalk1(row.Raw, row.Labels)
		answers += row.N
		if got.Confidence >= High {
			sure += row.N
		}
		if got.Label != "" && row.Stored[got.Label] == 0 {
			t.Errorf("%+v, stored %v: %q", got, row.Stored, row.Raw)
		}
	}
	if left := answers - sure; left*200 > answers {
		t.Errorf("%d of %d answers left to review, want at most 0.5 %%", left, answers)
	}
}

var (
	yesNo   = []string{"no", "yes"}
	jaNein  = []string{"nein", "ja"}
	letters = []string{"a", "b", "c"}
	shi     = []string{"否", "是"}
	bushiIs = []string{"不是", "是"}
)

func TestOhmer2023Rules(t *testing.T) {
	for _, c := range []struct {
		answer string
		labels []string
		want   Reading
	}{
		{"", yesNo, Reading{"", "empty", None}},
		{" The answer is: ", yesNo, Reading{"", "empty", None}},
		{"Sorry, I cannot answer yes.", yesNo, Reading{"", "refusal", None}},
		{"\"No.\"", yesNo, Reading{"no", "whole", Full}},
		{"Yes, they do.", yesNo, Reading{"yes", "leading", High}},
		{"No idea what yes means", yesNo, Reading{"no", "leading-word", Low}},
		{"The correct answer is YES.", yesNo, Reading{"yes", "exact", Full}},
		{"是。", shi, Reading{"是", "exact", Full}},
		{"I would say (B) here", letters, Reading{"b", "wrapped", High}},
		{"I would say, b. Sure", letters, Reading{"b", "wrapped", High}},
		{"B) neutral", letters, Reading{"b", "stopped", High}},
		{"Es ist b: gut", letters, Reading{"b", "spaced", Low}},
		{"yesterday", yesNo, Reading{"yes", "prefix", Low}},
		{"is it b or c", []string{"c", "b"}, Reading{"b", "spaced", Low}},
		{"it is\tb, is c", letters, Reading{"c", "last", High}},
		{"不是的", shi, Reading{"否", "bushi", High}},
		{"不是的", []string{"是"}, Reading{"", "bushi", None}},
		{"不是的", bushiIs, Reading{"不是", "prefix", Low}},
		{"我认为是，对", shi, Reading{"是", "han-stopped", Low}},
		{"我认为是", shi, Reading{"是", "han-last", Low}},
		{"我认为不是", bushiIs, Reading{"是", "han-last", Low}}, // the known fault
		{"我认为不是，对", bushiIs, Reading{"是", "han-last", Low}},
		{"他b，我是", []string{"是", "b"}, Reading{"是", "han-last", Low}},
		{"我选A吧", letters, Reading{"a", "han-only", Low}},
		{"我选 A吧", letters, Reading{"a", "han-only", Low}},
		{"我认为是的", shi, Reading{"", "unresolved", None}},
		{"who knows", yesNo, Reading{"", "unresolved", None}},
		{"JA!", []string{"Nein", "Ja"}, Reading{"Ja", "prefix", Low}},
		{"x", nil, Reading{"", "unresolved", None}},
		{"x", []string{""}, Reading{"", "unresolved", None}},
	} {
		if got := Ohmer2023(c.answer, c.labels); got != c.want {
			t.Errorf("Ohmer2023(%q, %v) = %+v, want %+v", c.answer, c.labels, got, c.want)
		}
	}
}

func TestCrosstalk1Rules(t *testing.T) {
	numbers := []string{"1", "5"}
	for _, c := range []struct {
		answer string
		labels []string
		want   Reading
	}{
		{"", yesNo, Reading{"", "unresolved", None}},
		{" “Yes.” ", yesNo, Reading{"yes", "exact", Full}},
		{"**No**", yesNo, Reading{"no", "exact", Full}},
		{"Ja!", []string{"Nein", "Ja"}, Reading{"Ja", "exact", Full}},
		{"+", []string{"+", "-"}, Reading{"+", "exact", Full}},
		{"Yes, because no one says so.", yesNo, Reading{"yes", "first", High}},
		{"(B) neutral", letters, Reading{"b", "quoted", Low}},
		{"(A) or (B) cannot be told", letters, Reading{"", "conflict", None}},
		{"B) neutral", letters, Reading{"b", "first", High}},
		{"B. neutral", letters, Reading{"b", "first", High}},
		{"- no\nThey differ.", yesNo, Reading{"no", "first", High}},
		{"否，两个句子不同。", shi, Reading{"否", "first", High}},
		{"不是。两个句子不同。", bushiIs, Reading{"不是", "first", High}},
		{"不是。两个句子不同。", shi, Reading{"", "unresolved", None}},
		{"是的，一样。", shi, Reading{"是", "first", High}},
		{"不是的，不一样。", shi, Reading{"", "unresolved", None}},
		{"答案是否。", shi, Reading{"否", "cue", High}},
		{"答案是否定的。", shi, Reading{"", "unresolved", None}},
		{"They agree. The answer is: **yes**.", yesNo, Reading{"yes", "cue", High}},
		{"Answer:\nb", letters, Reading{"b", "cue", High}},
		{"Deshalb lautet die Antwort \"ja\" und nicht anders", jaNein, Reading{"ja", "cue", High}},
		{"所以答案是B，因为它们矛盾", letters, Reading{"b", "cue", High}},
		{"Die Sätze sind gleich. Ja.", jaNein, Reading{"ja", "last", High}},
		{"They are alike.\n\nyes", yesNo, Reading{"yes", "last", High}},
		{"Yes they do", yesNo, Reading{"yes", "first-word", Low}},
		{"Yes, but slowly", []string{"yes", "yes, but"}, Reading{"yes, but", "first-word", Low}},
		{"A sentence says so.", letters, Reading{"", "unresolved", None}},
		{"选项A是正确的", letters, Reading{"a", "cue-word", Low}},
		{"The answer is no longer known", yesNo, Reading{"no", "cue-word", Low}},
		{"I believe (B) holds", letters, Reading{"b", "quoted", Low}},
		{"I cannot answer \"yes\" or \"no\" here", yesNo, Reading{"", "unresolved", None}},
		{"I cannot answer by \"yes\" or \"no\".", yesNo, Reading{"", "conflict", None}},
		{"yes and no", yesNo, Reading{"", "conflict", None}},
		{"Yes or no.", yesNo, Reading{"", "conflict", None}},
		{"Yes, no", yesNo, Reading{"", "conflict", None}},
		{"No, yes", yesNo, Reading{"", "conflict", None}},
		{"Yes/No: No", yesNo, Reading{"", "conflict", None}},
		{"1. yes 2. no", yesNo, Reading{"", "conflict", None}},
		{"no... actually yes", yesNo, Reading{"", "conflict", None}},
		{"No doubt, yes.", yesNo, Reading{"", "conflict", None}},
		{"Yes, no difference.", yesNo, Reading{"yes", "first", High}},
		{"Yes, they say no.", yesNo, Reading{"yes", "first", High}},
		{"是的确一样", shi, Reading{"", "unresolved", None}},
		{"No, not yes.", yesNo, Reading{"no", "first", High}},
		{"Ja, nein, vielleicht", jaNein, Reading{"", "conflict", None}},
		{"The correct answer is \"A\" or \"B\".", letters, Reading{"", "conflict", None}},
		{"\"A\"\n\"B\"\n\"C\"\n\nThe text was translated.", letters, Reading{"", "conflict", None}},
		{"(A) it must be true, (B) it may be, the correct answer is (C) here", letters, Reading{"c", "cue", High}},
		{"The phrase has \"yes\" instead of \"no\", which is wrong", yesNo, Reading{"", "unresolved", None}},
		{"\"A\" is a word of German.", letters, Reading{"", "unresolved", None}},
		{"It says so; (B) is correct.", letters, Reading{"b", "cue", High}},
		{"<answer>yes</answer>", yesNo, Reading{"yes", "cue", High}},
		{"They agree.\n<final_answer> No </final_answer>", yesNo, Reading{"no", "cue", High}},
		{"A: yes", yesNo, Reading{"yes", "exact", Full}},
		{"Q: same?\nA: no", yesNo, Reading{"no", "last", High}},
		{"C. Neither A nor B.", letters, Reading{"c", "first", High}},
		{"A: B", letters, Reading{"", "conflict", None}},
		{"I would say yes", yesNo, Reading{"yes", "cue", High}},
		{"Yes, they do. So the answer is no.", yesNo, Reading{"", "conflict", None}},
		{"\"Yes\" they \"no\" say. The answer is yes.", yesNo, Reading{"yes", "cue", High}},
		{"There is no yes in it", yesNo, Reading{"", "unresolved", None}},
		{"non-empty, no-one's", []string{"non", "no"}, Reading{"", "unresolved", None}},
		{"yesterday", yesNo, Reading{"", "unresolved", None}},
		{"1.5 times", numbers, Reading{"", "unresolved", None}},
		{"-1", numbers, Reading{"", "unresolved", None}},
		{"5 times", numbers, Reading{"", "unresolved", None}},
		{"5.", numbers, Reading{"5", "exact", Full}},
	} {
		if got := Crosstalk1(c.answer, c.labels); got != c.want {
			t.Errorf("Crosstalk1(%q, %v) = %+v, want %+v", c.answer, c.labels, got, c.want)
		}
	}
}

func TestStripQuotes(t *testing.T) {
	for in, want := range map[string]string{
		"":                         "",
		"plain":                    "plain",
		`"quoted"`:                 "quoted",
		`""twice""`:                "twice",
		`"""thrice"""`:             `"thrice"`,
		`She said "no"`:            `She said "no"`,
		`open only"`:               "open only",
		`"open only`:               `"open only`,
		"unmatched”":               "unmatched",
		"unmatched''":              "unmatched''", // straight marks open as often as they close
		"right’ right''":           "right’ right",
		"“curly”":                  "curly",
		"`grave´":                  "grave",
		"«guillemets»":             "«guillemets»",
		`"'nested'"`:               "nested",
		`'"nested the other way"'`: `"nested the other way"`,
		`"`:                        "",
		`'`:                        "'",
		" \"space\" ":              " \"space\" ",
	} {
		if got := StripQuotes(in); got != want {
			t.Errorf("StripQuotes(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestConfidence(t *testing.T) {
	for c, want := range map[Confidence]string{None: "none", Low: "low", High: "high", Full: "full"} {
		if c.String() != want {
			t.Errorf("%d is called %v, want %s", c, c, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"", "Yes, no.", "The answer is (B).", "我认为不是", "\"'“", "不是", "-1.5", "\xff", "İΣ no", "answer: 'yes'"} {
		f.Add(s, "no", "yes")
		f.Add(s, "不是", "是")
		f.Add(s, "a", "1")
	}
	f.Add("ab", "", "\xff")
	f.Fuzz(func(t *testing.T, answer, label1, label2 string) {
		labels := []string{label1, label2}
		for name, read := range Readers {
			r := read(answer, labels)
			if r.Rule == "" || (r.Label == "") != (r.Confidence == None) {
				t.Errorf("%s: %+v", name, r)
			}
			if r.Label != "" && r.Label != label1 && r.Label != label2 {
				t.Errorf("%s: %+v is no label of %q", name, r, labels)
			}
		}
		if own := Crosstalk1(label1, labels); pytext.TrimSpace(label1) == label1 && label1 != "" && own.Rule != "exact" {
			t.Errorf("label %q reads as %+v", label1, own)
		}
		stripped := StripQuotes(answer)
		if len(stripped) > len(answer) || !strings.Contains(answer, stripped) {
			t.Errorf("StripQuotes(%q) = %q", answer, stripped)
		}
	})
}
