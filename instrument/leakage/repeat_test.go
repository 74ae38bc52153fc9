package leakage

import (
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/measure/similarity"
)

func TestWithoutPrompt(t *testing.T) {
	const pigeons = "My aunt breeds pigeons. The first word of today's crossword is"
	for _, c := range []struct{ prompt, concept, answer, want string }{
		{pigeons, "pigeons", "My aunt breeds pigeons.", ""},
		{pigeons, "pigeons", "my aunt breeds pigeons!", ""},
		{pigeons, "pigeons", "\"My aunt breeds pigeons.\" A coo.", "A coo."},
		{pigeons, "pigeons", "My aunt breeds the pigeons. A coo.", "A coo."}, // one word in five
		{pigeons, "pigeons", "My aunt breeds pigeons. Coo.", "Coo."},
		{pigeons, "pigeons", "My aunt loves bees. A coo.", "My aunt loves bees. A coo."},
		{pigeons, "pigeons", "My aunt breeds pigeons in a loft.", "in a loft."},
		{pigeons, "pigeons", "My aunt breeds pigeons. My aunt breeds pigeons.", ""},
		{pigeons, "pigeons", "My aunt breeds pigeons. The first word", ""}, // cut
		{pigeons, "pigeons", "breeds pigeons. The first word of", ""},
		{pigeons, "pigeons", "The first word of today's crossword is.", ""},
		{pigeons, "pigeons", "The first word of today's crossword is coo.", "coo."},
		{pigeons, "pigeons", "The first word of a crossword is coo.", "The first word of a crossword is coo."},
		{pigeons, "pigeons", "My aunt loves pigeons.", "My aunt loves pigeons."},
		{pigeons, "pigeons", "The first.", "The first."}, // less than half of one sentence
		{pigeons, "pigeons", "pigeons.", "pigeons."},     // a leak
		{pigeons, "pigeons", "My aunt.", "My aunt."},     // half a sentence
		{pigeons, "pigeons", "A coo. My aunt breeds pigeons.", "A coo. My aunt breeds pigeons."},
		{pigeons, "pigeons", " \n", " \n"},
		{pigeons, "pigeons", "…", "…"},
		{"", "", "A coo.", "A coo."},
		{"He eats.", "", "", ""},
		{"My passport shows me in a red jumper. The float was", "red", "a red jumper.", "a red jumper."},
		{"Complete the sentence: She sings. She eats", "sings", "Complete the sentence: She sings. She eats", ""},
		{"Is Bonn in Germany? Why", "Bonn", "Bonn is in Germany because of history.", "Bonn is in Germany because of history."},
		{"他爱巧克力。他最想去的地方是", "巧克力", "巧克力。", "巧克力。"},
		{"他爱巧克力。他最想去的地方是", "巧克力", "他爱巧克力。", ""},
		{"他爱巧克力。他最想去的地方是", "巧克力", "他爱巧克力。瑞士。", "瑞士。"},
		{"他爱巧克力。他最想去的地方是", "巧克力", "他最想去的地方是瑞士。", "瑞士。"},
		{"祖母は鳩を飼っている。今日の最初の言葉は", "鳩", "祖母は鳩を飼っています。", ""},
		{"祖母は鳩を飼っている。今日の最初の言葉は", "鳩", "祖母は猫が嫌いです。", "祖母は猫が嫌いです。"},
		{"جدتي تربي الحمام. أول كلمة هي", "الحمام", "جدتي تربي الحمام.", ""},
	} {
		if got := withoutPrompt(c.answer, c.prompt, "", c.concept); got != c.want {
			t.Errorf("%q after %q = %q, want %q", c.answer, c.prompt, got, c.want)
		}
	}
}

func TestOwnWordsEstimates(t *testing.T) {
	repeating := text("He likes koalas.")
	for _, p := range Protocols {
		p.Counts = true
		in := &Instrument{Protocol: p, Similarities: []similarity.Similarity{fake("a", map[string]float64{})}}
		observations, err := in.Score(bg, koalas, 0, []crosstalk.Answer{repeating, text("I don't know."), text("Leaves.")},
			[]crosstalk.Answer{text("Bread."), text("Bread."), text("Bread.")})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range estimatesOf(p, nil, crosstalk.SuiteIDs{}, observations...) {
			said := strings.Join(e.Warnings, "; ")
			switch {
			case e.Measure == Measure && (e.Counts[repeats] != 1 || e.Counts[crosstalk.Unanswering] != int(share(p.Own)) ||
				strings.Contains(said, "only repeats its prompt") == p.Own):
				t.Errorf("%s: %+v", p.Name, e)
			case e.Measure == measureRepeated && p.Own && e.Observations != 1: // neither the repetition nor the refusal
				t.Errorf("%s: %+v", p.Name, e)
			}
		}
	}
	// What is cut can have been copied.
	item := carried("Why does he work?", "He keeps noisy bees.", "He works.", "en")
	in := &Instrument{Protocol: Protocols[0]}
	got, err := in.Score(bg, item, 0, []crosstalk.Answer{text("Why does he work?")}, []crosstalk.Answer{text("Why?")})
	if err != nil || !got[0].Value.Defined() || got[0].Text(Repeating) != Test {
		t.Errorf("%+v %v", got, err)
	}
	if e := estimatesOf(Protocols[0], nil, crosstalk.SuiteIDs{}, got...)[0]; e.Counts[repeats] != 0 {
		t.Errorf("%+v", e)
	}
}
