package confusion

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/internal/testing/golden"
)

// Every observation and figure of a few answers, by every protocol, with log probabilities, and of reasoning.
func TestSheet(t *testing.T) {
	line := func(language string, more ...string) string { return language + " 1 2 3 4 " + strings.Join(more, " ") }
	answers := map[string][]string{
		"ru": {line("ru"), line("ru", "people", "with", "слово", "cat"), line("ru") + "\n" + line("en") + "\n" + line("fr") + "\n" + line("ru"), line("en") + "\n\n" + line("en"), "short", ""},
		"de": {line("de"), line("de", "слово,", "µm"), line("de") + "\n" + line("ru", "один") + "\nde\n" + line("ru"), line("de") + "\nQ: " + line("en"), " \n" + line("de")},
		"ja": {line("ja", "people"), line("zh")}, "xx": {line("xx")}, "": {line("de")},
	}
	reasoning := []string{german, english + "\n" + german, german + "\n" + english + "\n\n" + mixed, "Hotel", ""}
	var b bytes.Buffer
	signatures := map[string]bool{}
	for _, name := range []string{"lcb-paper", "lcb-script", "crosstalk-1", "reasoning"} {
		in := inProse()
		if strings.HasPrefix(name, "lcb") {
			in = instrument(t, name)
		}
		in.Condition, in.Prompting.Logprobs = map[string]string{"model": "m"}, 2
		if name == "reasoning" {
			in.Part = Reasoning
		}
		estimators := []crosstalk.Estimator{in.Rules().Estimator(By), in.Rules().Estimator([]string{"length"})}
		fmt.Fprintf(&b, "== %s\n", name)
		add := func(language string, k int, a crosstalk.Answer) {
			one := crosstalk.Item{ID: fmt.Sprint(language, k/2), Cluster: []string{"", "shared"}[k%2],
				Prompt: &crosstalk.Prompt{Language: language, Text: "Why?"},
				Labels: map[string]string{"task": []string{"monolingual", "crosslingual"}[k%2], "source": []string{"okapi", "dolly"}[k/2%2], "length": fmt.Sprint(k % 3)}}
			for _, o := range in.Score(one, k%2, a) {
				fmt.Fprintln(&b, golden.Observation(o))
				for _, e := range estimators {
					e.Add(o)
				}
			}
		}
		for _, language := range []string{"ru", "de", "ja", "xx", ""} {
			for k, said := range answers[language] {
				a := text(said)
				if said == "" {
					a.Status = crosstalk.Empty
				}
				if k%2 == 0 {
					a.Key = crosstalk.Key{byte(k + 1)}
				}
				for i, token := range strings.SplitAfter(said, " ") {
					p := math.Log(0.9 / float64(i%4+1))
					a.Logprobs = append(a.Logprobs, crosstalk.TokenLogprob{Token: token, Logprob: p,
						Top: []crosstalk.CandidateLogprob{{Token: token, Logprob: p}, {Token: "x", Logprob: p - 1},
							{Token: "y", Logprob: p - 2}}})
				}
				if name == "crosstalk-1" || name == "reasoning" {
					a.Logprobs = nil
				}
				add(language, k, a)
			}
		}
		for k, said := range reasoning {
			add("de", k+10, crosstalk.Answer{Status: crosstalk.Text, Text: "Ja.", Reasoning: said})
		}
		for k, status := range []crosstalk.Status{crosstalk.Refused, crosstalk.Failed, crosstalk.Empty} {
			add("de", k+20, crosstalk.Answer{Status: status, Reasoning: []string{"", english, german}[k]})
		}
		for k, e := range estimators {
			for _, one := range e.Estimates(crosstalk.SuiteIDs{All: "s@1"}) {
				if k == 0 || one.By["length"] != crosstalk.All {
					maps.DeleteFunc(one.Counts, func(_ string, n int) bool { return n == 0 })
					fmt.Fprintln(&b, golden.Figure(one))
				}
				if !signatures[one.Signature] {
					fmt.Fprintln(&b, one.Signature)
					signatures[one.Signature] = true
				}
			}
		}
	}
	golden.Check(t, "testdata/sheet.txt", golden.Rounded(b.String()))
}

// What is asked of an item: its prompt, with the instruction at each of its places.
func TestRequestsOfItem(t *testing.T) {
	p := crosstalk.PromptConfig{API: crosstalk.Chat}
	before := []crosstalk.Message{{Role: "system", Content: "Be kind."}}
	for _, c := range []struct {
		prompt crosstalk.Prompt
		want   string
	}{
		{crosstalk.Prompt{Text: "Why?"}, "prompt: Why?"},
		{crosstalk.Prompt{Text: "In German: why?", Placed: map[string]string{"start": "In German: why?", "end": "Why? In German."}},
			"end: Why? In German.|start (default): In German: why?"},
	} {
		c.prompt.Before = before
		var got []string
		for _, r := range Requests(p, nil, crosstalk.Item{Prompt: &c.prompt}) {
			got = append(got, r.Name+": "+r.Request.Text())
			if r.Request.Messages[0].Content != "Be kind." || r.Request.Sample != 0 {
				t.Errorf("%+v", r)
			}
		}
		if list := strings.Join(got, "|"); list != c.want {
			t.Errorf("%q, want %q", list, c.want)
		}
	}
	for position, want := range map[string]string{"": "x ", "end": "y end", "start": "item i has no prompt with the instruction at the position \"start\""} {
		of := item("de")
		of.Prompt.Text, of.Prompt.Placed = "x", map[string]string{"end": "y"}
		prompt, at, err := Format{Position: position}.place(of)
		if got := prompt + " " + at; err != nil && err.Error() != want || err == nil && got != want {
			t.Errorf("%q: %q, %v; want %q", position, got, err, want)
		}
	}
}

// A confusion that begins where no token is known has no point; of several the first is shown.
func TestPointsOutside(t *testing.T) {
	in := instrument(t, "lcb-paper")
	in.Prompting.Logprobs = 2
	answer := text("ru 1 2 en 3 4")
	for _, token := range []string{"ru ", "1 2 ", "en "} {
		answer.Logprobs = append(answer.Logprobs, crosstalk.TokenLogprob{Token: token})
	}
	for _, c := range []struct {
		begins []int
		first  int
		faults string
	}{{nil, -1, "---"}, {[]int{7}, 2, "--x"}, {[]int{0}, 0, "x--"}, {[]int{3, 7}, 1, "-xx"},
		{[]int{0, 3}, 0, "xx-"}, {[]int{10}, -1, "---"}, {[]int{12, 4}, 1, "-x-"}} {
		tokens, faults := in.uncertaintyIn(answer, c.begins), ""
		for _, token := range tokens {
			faults += map[bool]string{true: "x", false: "-"}[token.Fault]
		}
		if faults != c.faults || strings.IndexByte(faults, 'x') != c.first || (stripOf(tokens) == nil) != (c.first < 0) {
			t.Errorf("%v: %s, want %s", c.begins, faults, c.faults)
		}
	}
}
