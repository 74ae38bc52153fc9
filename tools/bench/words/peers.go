package main

import (
	"bytes"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"crosstalk/guard"
	"crosstalk/measure/langid/fasttext"

	"github.com/pemistahl/lingua-go"
	"golang.org/x/text/language"
)

// peersOf are the identifiers that check is compared with: functions that name the language of each text.
func peersOf(o options) (names []string, label map[string]func([]string) ([]string, error), err error) {
	lid, err := fasttext.Load(filepath.Join(o.data, "lid/lid.176.ftz"))
	if err != nil {
		return nil, nil, err
	}
	each := func(f func(string) string) func([]string) ([]string, error) {
		return func(texts []string) (labels []string, err error) {
			for _, t := range texts {
				labels = append(labels, f(t))
			}
			return labels, nil
		}
	}
	detector := lingua.NewLanguageDetectorBuilder().FromAllLanguages().Build()
	label = map[string]func([]string) ([]string, error){
		"lid.176.ftz": each(func(text string) string { return lid.Identify(text).Language }),
		"lingua-go": each(func(text string) string {
			l, _ := detector.DetectLanguageOf(text)
			return strings.ToLower(l.IsoCode639_1().String())
		}),
	}
	names = []string{"lid.176.ftz", "lingua-go"}
	for _, peer := range o.peers {
		name, command, _ := strings.Cut(peer, "=")
		names = append(names, name)
		label[name] = func(texts []string) ([]string, error) {
			var out bytes.Buffer
			c := exec.Command("sh", "-c", command)
			c.Stdin, c.Stdout = strings.NewReader(strings.Join(texts, "\n")+"\n"), &out
			if err := c.Run(); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			labels := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
			if len(labels) != len(texts) {
				return nil, fmt.Errorf("%s: %d labels for %d texts", name, len(labels), len(texts))
			}
			return labels, nil
		}
	}
	return names, label, nil
}

// sameLanguage are labels of languages that check judges as one, or that identifiers call otherwise.
var sameLanguage = map[string]string{"nb": "no", "nn": "no", "fil": "tl", "cmn": "zh", "bs": "hr", "sh": "hr",
	"iw": "he", "arb": "ar", "pes": "fa", "prs": "fa", "zsm": "ms", "zlm": "ms", "ekk": "et", "lvs": "lv", "swh": "sw",
	"uzn": "uz", "azj": "az", "npi": "ne", "als": "sq", "in": "id"}

func normal(label string) string {
	if same, ok := sameLanguage[label]; ok {
		return same
	}
	tag, err := language.Parse(label)
	if err != nil {
		return ""
	}
	b, _ := tag.Base()
	if same, ok := sameLanguage[b.String()]; ok {
		return same
	}
	return b.String()
}

// peerTables prints, for sentences and paragraphs, how well check and other identifiers accept those of the expected
// language, and reject its nearest relative's and English ones.
func peerTables(o options) error {
	names, label, err := peersOf(o)
	if err != nil {
		return err
	}
	near := map[string]string{"hi": "mr", "mr": "hi", "ne": "hi", "bn": "as"}
	all := map[string]bool{}
	for _, t := range tongues {
		l, _, _ := strings.Cut(t.language, "-")
		all[l] = true
		if first, _, _ := strings.Cut(t.relatives, " "); first != "" && l != "zh" {
			near[l] = first
		}
	}
	for l := range scripted {
		all[l] = true
	}
	for _, kind := range []struct {
		name     string
		lines, n int
	}{{"sentences", 1, 200}, {"paragraphs", 4, 60}} {
		texts := map[string][]string{}
		for l := range all {
			lines, err := linesOf(o.own, l)
			if err != nil {
				return err
			}
			for i := 0; i+kind.lines <= len(lines) && len(texts[l]) < kind.n; i += kind.lines {
				texts[l] = append(texts[l], strings.Join(lines[i:i+kind.lines], " "))
			}
		}
		languages := slices.Sorted(maps.Keys(texts))
		// accepted[system][expected][language] is how many of the language's texts a system takes for the expected one.
		accepted := map[string]map[string]map[string]int{"check": {}}
		for _, e := range languages {
			accepted["check"][e] = map[string]int{}
			for _, l := range []string{e, near[e], "en"} {
				if accepted["check"][e][l] > 0 {
					continue
				}
				for _, text := range texts[l] {
					j, err := guard.Check(text, e)
					if err != nil {
						return err
					}
					if j.Verdict != guard.Wrong {
						accepted["check"][e][l]++
					}
				}
			}
		}
		for _, name := range names {
			accepted[name] = map[string]map[string]int{}
			for _, e := range languages {
				accepted[name][e] = map[string]int{}
			}
			for _, l := range languages {
				labels, err := label[name](texts[l])
				if err != nil {
					return err
				}
				for _, got := range labels {
					if m := accepted[name][normal(got)]; m != nil {
						m[l]++
					}
				}
			}
		}
		systems := append([]string{"check"}, names...)
		n := 0
		for _, t := range texts {
			n += len(t)
		}
		fmt.Printf("\n%s, %d of %d languages\n\n| | own rejected, %% | relatives accepted, %% | English accepted, %% | "+
			"balanced, %% | behind check in | ahead in |\n| --- | ---: | ---: | ---: | ---: | --- | --- |\n",
			kind.name, n, len(languages))
		balanced := func(system, e string) float64 {
			share := func(l string) float64 { return float64(accepted[system][e][l]) / float64(len(texts[l])) }
			wrong, k := 0.0, 0.0
			for _, l := range []string{near[e], "en"} {
				if l != "" && l != e && len(texts[l]) > 0 {
					wrong, k = wrong+share(l), k+1
				}
			}
			if k == 0 {
				return share(e)
			}
			return (share(e) + 1 - wrong/k) / 2
		}
		for _, s := range systems {
			own, ownN, rel, relN, eng, engN, sum := 0, 0, 0, 0, 0, 0, 0.0
			var behind int
			var ahead []string
			for _, e := range languages {
				own, ownN = own+accepted[s][e][e], ownN+len(texts[e])
				if l := near[e]; l != "" {
					rel, relN = rel+accepted[s][e][l], relN+len(texts[l])
				}
				if e != "en" {
					eng, engN = eng+accepted[s][e]["en"], engN+len(texts["en"])
				}
				b := balanced(s, e)
				sum += b
				switch d := b - balanced("check", e); {
				case d < -0.0025:
					behind++
				case d > 0.0025:
					ahead = append(ahead, fmt.Sprintf("%s +%.1f", e, 100*d))
				}
			}
			percent := func(k, n int) float64 { return 100 * float64(k) / float64(n) }
			fmt.Printf("| %s | %.1f | %.1f | %.1f | %.1f | %d | %s |\n", s, 100-percent(own, ownN), percent(rel, relN),
				percent(eng, engN), 100*sum/float64(len(languages)), behind, strings.Join(ahead, ", "))
		}
	}
	return nil
}
