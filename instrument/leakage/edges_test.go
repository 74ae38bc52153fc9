package leakage

import (
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/measure/similarity"
)

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want string // of the first protocol, or of the error
	}{
		{Options{}, "sentence  false"}, {Options{Post: "stop", Counts: true}, "stop  true"},
		{Options{Windows: "sentence"}, "sentence sentence false"}, {Options{Windows: "none"}, "sentence  false"},
		{Options{Protocols: []string{"gonen-2024"}, Post: "period"}, "period  false"},
		{Options{Protocols: []string{"gonen"}, Post: "period"}, `unknown leakage protocol "gonen"; did you mean gonen-2024?`},
		{Options{Post: "stopp"}, `unknown post-processing "stopp"; did you mean stop?`},
		{Options{Windows: "word"}, `windows is "word"; expected sentence or none`},
		{Options{Protocols: []string{}}, "protocol is empty"},
		{Options{Protocols: []string{"gonen-2024", "gonen-2024"}}, "protocol: duplicate gonen-2024"},
	} {
		list, err := c.o.Resolve()
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = string(list[0].Post) + " " + list[0].Windows + " " + map[bool]string{true: "true", false: "false"}[list[0].Counts]
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.o, got, c.want)
		}
	}
}

// What can be copied: three words that carry meaning, in English without its stop words, or six characters of a script
// without spaces if more than half of the carrier is in it.
func TestCopyable(t *testing.T) {
	for _, c := range []struct {
		test, control, prompt, language string
		n                               int
		answer, want                    string
	}{
		{"bees make the honey", "", "", "en", 3, "So bees make honey.", "bees make honey"},
		{"bees make the honey", "", "", "en-GB", 3, "So bees make honey.", "bees make honey"},
		{"bees make the honey", "", "", "eng", 3, "So bees make honey.", ""},
		{"bees make the honey", "", "", "", 3, "bees make the honey", "bees make the honey"},
		{"bees make sweet honey", "Bees make sweet", "make sweet honey", "de", 3, "bees make sweet honey", ""},
		{"one two three 蜂蜜蜂", "", "", "de", 3, "蜂蜜蜂", "蜂蜜蜂"},
		{"one two 蜂蜜蜂", "", "", "de", 6, "one two 蜂蜜蜂", ""},
		{"养蜂人养蜂蜜", "", "", "zh", 6, "他说养蜂人养蜂蜜。", "养蜂人养蜂蜜"},
		{"a b c d e", "", "", "de", 3, "a b c d x a b c", "a b c d|a b c"},
	} {
		g := copyableOf(&crosstalk.Context{Test: crosstalk.Carried{Text: c.test}, Control: crosstalk.Carried{Text: c.control},
			Prompt: c.prompt}, c.language)
		var found []string
		for _, at := range g.in(c.answer) {
			found = append(found, c.answer[at.start:at.end])
		}
		if got := strings.Join(found, "|"); got != c.want || g.n != c.n {
			t.Errorf("%q in %q: %q of %d, want %q of %d", c.answer, c.test, got, g.n, c.want, c.n)
		}
	}
}

// The sentence of the door: one comparison by the default protocol.
func TestScoreOne(t *testing.T) {
	sim := fake("s", map[string]float64{"Leaves.": 0.9, "Bread.": 0.1})
	for answers, want := range map[[2]string]crosstalk.Value{{"Leaves. More.", "Bread."}: 1, {"Bread.", "Leaves."}: 0, {"Bread.", "Bread. "}: 0.5} {
		o, err := Score(bg, sim, "koalas", answers[0], answers[1])
		if err != nil || o.Value != want || o.Condition[similarityColumn] != "s" {
			t.Errorf("%q: %+v, %v; want %g", answers, o, err, want)
		}
	}
	if _, err := Score(bg, similarity.Similarity(broken{}), "koalas", "a", "b"); err == nil {
		t.Error("no error")
	}
}

// The presets never change: figures of old and new runs are compared.
func TestPresets(t *testing.T) {
	want := `[{"Name":"crosstalk-1","Post":"sentence","Round":-1,"Tie":0,"Own":true,"ClusterTest":true,"Temperature":0,"MaxTokens":100,"Samples":1,"System":""},` +
		`{"Name":"gonen-2024","Post":"prompt-period","Round":-1,"Tie":0,"ClusterTest":false,"Temperature":0,"MaxTokens":100,"Samples":10,"System":""},` +
		`{"Name":"smilga-2025","Post":"none","Round":3,"Tie":0,"ClusterTest":false,"Temperature":0.5,"MaxTokens":10,"Samples":5,` +
		`"System":"Finish the sentence you are given with no more than five words."}]`
	if got := string(crosstalk.Canonical(Protocols)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
