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

// peer is an identifier. It reads texts, and then says how many of them it accepts where a language is expected.
type peer struct {
	name string
	read func(texts []string) (accepts func(expected string) int, err error)
}

// labelling is a peer that names the language of each text.
func labelling(name string, label func([]string) ([]string, error)) peer {
	return peer{name, func(texts []string) (func(string) int, error) {
		labels, err := label(texts)
		return func(expected string) (n int) {
			for _, got := range labels {
				if normal(got) == expected {
					n++
				}
			}
			return n
		}, err
	}}
}

// peersOf are check, and the identifiers that it is compared with.
func peersOf(o options) (peers []peer, err error) {
	lid, err := fasttext.Load(filepath.Join(o.data, "lid/lid.176.ftz"))
	if err != nil {
		return nil, err
	}
	each := func(name string, f func(string) string) peer {
		return labelling(name, func(texts []string) (labels []string, err error) {
			for _, t := range texts {
				labels = append(labels, f(t))
			}
			return labels, nil
		})
	}
	detector := lingua.NewLanguageDetectorBuilder().FromAllLanguages().Build()
	peers = []peer{
		{"check", func(texts []string) (func(string) int, error) {
			return func(expected string) int {
				n, _, err := judged(texts, expected)
				if err != nil {
					panic(err) // the data have languages that can be judged
				}
				return n[guard.Right] + n[guard.CannotTell]
			}, nil
		}},
		each("lid.176.ftz", func(text string) string { return lid.Identify(text).Language }),
		each("lingua-go", func(text string) string {
			l, _ := detector.DetectLanguageOf(text)
			return strings.ToLower(l.IsoCode639_1().String())
		}),
	}
	for _, p := range o.peers {
		name, command, _ := strings.Cut(p, "=")
		peers = append(peers, labelling(name, func(texts []string) ([]string, error) {
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
		}))
	}
	return peers, nil
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
	peers, err := peersOf(o)
	if err != nil {
		return err
	}
	near := map[string]string{"hi": "mr", "mr": "hi", "ne": "hi", "bn": "as"}
	all := maps.Clone(scripted)
	for _, t := range tongues {
		l, _, _ := strings.Cut(t.language, "-")
		all[l] = ""
		if first, _, _ := strings.Cut(t.relatives, " "); first != "" && l != "zh" {
			near[l] = first
		}
	}
	for _, kind := range []struct {
		name     string
		lines, n int
	}{{"sentences", 1, 200}, {"paragraphs", 4, 60}} {
		texts, n := map[string][]string{}, 0
		for l := range all {
			lines, err := linesOf(o.own, l)
			if err != nil {
				return err
			}
			for i := 0; i+kind.lines <= len(lines) && len(texts[l]) < kind.n; i += kind.lines {
				texts[l] = append(texts[l], strings.Join(lines[i:i+kind.lines], " "))
				n++
			}
		}
		languages := slices.Sorted(maps.Keys(texts))
		fmt.Printf("\n%s, %d of %d languages\n\n| | own rejected, %% | relatives accepted, %% | English accepted, %% | "+
			"balanced, %% | behind check in | ahead in |\n| --- | ---: | ---: | ---: | ---: | --- | --- |\n",
			kind.name, n, len(languages))
		ofCheck := map[string]float64{} // balanced, by language
		for i, p := range peers {
			accepts := map[string]func(string) int{}
			for _, l := range languages {
				if accepts[l], err = p.read(texts[l]); err != nil {
					return err
				}
			}
			var sums [3]struct{ k, n float64 } // texts of the expected language, its relative and English: accepted, and all
			share := func(of int, language, expected string) float64 {
				k, n := float64(accepts[language](expected)), float64(len(texts[language]))
				sums[of].k, sums[of].n = sums[of].k+k, sums[of].n+n
				return k / n
			}
			sum, behind := 0.0, 0
			var ahead []string
			for _, e := range languages {
				balanced, wrong, k := share(0, e, e), 0.0, 0.0
				for of, l := range []string{near[e], "en"} {
					if l != e && len(texts[l]) > 0 {
						wrong, k = wrong+share(1+of, l, e), k+1
					}
				}
				if k > 0 {
					balanced = (balanced + 1 - wrong/k) / 2
				}
				if i == 0 {
					ofCheck[e] = balanced
				}
				sum += balanced
				switch d := balanced - ofCheck[e]; {
				case d < -0.0025:
					behind++
				case d > 0.0025:
					ahead = append(ahead, fmt.Sprintf("%s +%.1f", e, 100*d))
				}
			}
			percent := func(of int) float64 { return 100 * sums[of].k / sums[of].n }
			fmt.Printf("| %s | %.1f | %.1f | %.1f | %.1f | %d | %s |\n", p.name, 100-percent(0), percent(1), percent(2),
				100*sum/float64(len(languages)), behind, strings.Join(ahead, ", "))
		}
	}
	return nil
}
