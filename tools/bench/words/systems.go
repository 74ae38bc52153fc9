package main

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"crosstalk/guard"
	"crosstalk/measure/langid/fasttext"
	"crosstalk/measure/langid/words"
	"crosstalk/measure/segment"
	"crosstalk/measure/segment/japanese"
	"crosstalk/measure/segment/jieba"
	"crosstalk/measure/stats"

	"github.com/pemistahl/lingua-go"
)

// lowest is the log odds below which words are not looked at.
const lowest = -8

// detector is package words alone.
func detector(a *answer) (found []finding) {
	for _, w := range words.Analyse(a.Text, a.Language, masked(a.Text)).Words(lowest) {
		found = append(found, finding{w.Start, w.End, w.Language, w.LogOdds})
	}
	return found
}

// spansOf are the spans of package guard: what `crosstalk check` lists, or those that make an answer wrong.
func spansOf(counted bool) func(*answer) []finding {
	return func(a *answer) (found []finding) {
		j, err := guard.Check(a.Text, a.Language)
		if err != nil {
			panic(err) // the data have languages that can be judged
		}
		for _, s := range j.Spans {
			if s.Excuse == "" || !counted {
				found = append(found, finding{s.Start, s.End, base(s.Language), s.P})
			}
		}
		return found
	}
}

var languages = strings.Fields("ar de en es fr hi id it ja ko pt ru tr vi zh")

// tokens returns the words as baselines see them: Chinese and Japanese text is cut into words, and what has a capital,
// code or digits is left out, as package words does.
func tokens(a *answer) (all []finding) {
	cut := map[string]segment.Segmenter{"ja": japanese.Segmenter{}, "zh": jieba.Segmenter{}}[a.Language]
	found := words.Analyse(a.Text, a.Language, masked(a.Text)).Words(math.Inf(-1))
	for i := 0; i < len(found); i++ {
		start, end := found[i].Start, found[i].End
		han := func(w words.Word) bool {
			return strings.IndexFunc(a.Text[w.Start:w.End], func(r rune) bool {
				return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
			}) >= 0
		}
		if !han(found[i]) {
			if !found[i].Name {
				all = append(all, finding{start: start, end: end})
			}
			continue
		}
		for i+1 < len(found) && found[i+1].Start == end && han(found[i+1]) {
			i++
			end = found[i].End
		}
		if cut == nil {
			all = append(all, finding{start: start, end: end})
			continue
		}
		at := start
		for _, w := range segment.Words(cut, a.Text[start:end]) {
			at += strings.Index(a.Text[at:end], w)
			all = append(all, finding{start: at, end: at + len(w)})
			at += len(w)
		}
	}
	return all
}

// lidPerWord gives fastText's lid.176 each word alone; the score is the logarithm of the ratio of the most probable of
// the other 14 languages to the expected one.
func lidPerWord(data string) (func(*answer) []finding, error) {
	m, err := fasttext.Load(filepath.Join(data, "lid/lid.176.ftz"))
	if err != nil {
		return nil, err
	}
	cache := map[string]map[string]float64{}
	return func(a *answer) (found []finding) {
		for _, t := range tokens(a) {
			text := a.Text[t.start:t.end]
			p, ok := cache[text]
			if !ok {
				p = map[string]float64{}
				for _, g := range m.Predict(text) {
					if l := strings.TrimPrefix(g.Label, "__label__"); slices.Contains(languages, l) {
						p[l] = float64(g.Probability)
					}
				}
				cache[text] = p
			}
			for _, l := range languages {
				if l != a.Language && (t.language == "" || p[l] > p[t.language]) {
					t.language = l
				}
			}
			if t.score = math.Log((p[t.language] + 1e-9) / (p[a.Language] + 1e-9)); t.score > 0 {
				found = append(found, t)
			}
		}
		return found
	}, nil
}

// linguaPair gives lingua-go each word and the two languages that it can be in: in clean answers one of the others in
// turn. Kanji are left out of Japanese, since lingua takes every word of kanji alone for Chinese.
func linguaPair() func(*answer) []finding {
	name := func(language string) lingua.Language {
		return lingua.GetLanguageFromIsoCode639_1(lingua.GetIsoCode639_1FromValue(strings.ToUpper(language)))
	}
	detectors := map[[2]string]lingua.LanguageDetector{}
	cache := map[[3]string]float64{}
	turn := 0
	return func(a *answer) (found []finding) {
		var other string
		if a.Kind != "clean" {
			other = a.Foreign[0].Language
		} else {
			others := slices.DeleteFunc(slices.Clone(languages), func(l string) bool { return l == a.Language })
			turn++
			other = others[turn%len(others)]
		}
		pair := [2]string{min(a.Language, other), max(a.Language, other)}
		d := detectors[pair]
		if d == nil {
			d = lingua.NewLanguageDetectorBuilder().FromLanguages(name(pair[0]), name(pair[1])).Build()
			detectors[pair] = d
		}
		for _, t := range tokens(a) {
			text := a.Text[t.start:t.end]
			if a.Language == "ja" && strings.IndexFunc(text, func(r rune) bool { return !unicode.Is(unicode.Han, r) }) < 0 {
				continue
			}
			key := [3]string{a.Language, other, text}
			score, ok := cache[key]
			if !ok {
				foreign := d.ComputeLanguageConfidence(text, name(other))
				own := d.ComputeLanguageConfidence(text, name(a.Language))
				score = math.Log((foreign + 1e-12) / (own + 1e-12))
				cache[key] = score
			}
			if t.language, t.score = other, score; score > 0 {
				found = append(found, t)
			}
		}
		return found
	}
}

// wordTables prints what each system finds of the words' data.
func wordTables(o options) error {
	data, err := readSet(filepath.Join(o.data, "words"))
	if err != nil {
		return err
	}
	lid, err := lidPerWord(o.data)
	if err != nil {
		return err
	}
	systems := []*system{
		{name: "check, all spans", find: spansOf(false), fixed: true},
		{name: "check, verdict", find: spansOf(true), fixed: true},
		{name: "package words", find: detector},
		{name: "lid.176 per word", find: lid},
		{name: "lingua-go, pair known", find: linguaPair()},
	}
	for _, s := range systems {
		s.run(data)
	}
	for _, half := range o.halves {
		part := data.of(half)
		results := make([]result, len(systems))
		for i, s := range systems {
			results[i] = s.measure(part)
		}
		overview(half, part, systems, results)
		recallTable(systems, results)
	}
	return nil
}

// percent is a mean in percent with its 95 % interval over clusters.
func percent(c *stats.Clusters) string {
	if c == nil || c.N() == 0 {
		return "-"
	}
	e := stats.Mean(c, stats.Proportion, 0.95)
	return fmt.Sprintf("%.1f (%.0f-%.0f)", 100*e.Value, 100*e.Interval.Low, 100*e.Interval.High)
}

func overview(half string, data set, systems []*system, results []result) {
	fmt.Printf("\nHalf %s: %d clean answers, %.0f words; %d with foreign words put in\n\n",
		half, len(data.clean), results[0].words["all"], len(data.inserted))
	fmt.Printf("%-22s %10s %18s %16s %14s %16s %10s %10s\n", "", "threshold",
		"false runs/1,000", "most in", "real found", "clean flagged, %", "letters, %", "words/CPU s")
	for i, s := range systems {
		m := results[i]
		worst, rate := m.worst()
		threshold := "its own"
		if !s.fixed {
			threshold = fmt.Sprintf("%.2f", s.at)
		}
		fmt.Printf("%-22s %10s %18.2f %16s %14s %16s %10.1f %10.0f\n", s.name,
			threshold, 1000*m.falseRuns["all"]/m.words["all"],
			fmt.Sprintf("%s %.1f", worst, rate), fmt.Sprintf("%d of %d", m.marked, m.real), percent(&m.flagged),
			100*float64(m.rightLetters)/float64(m.letters), s.speed)
	}
	fmt.Printf("\nfalse runs per 1,000 words\n%-22s", "")
	for _, l := range languages {
		fmt.Printf("%5s", l)
	}
	fmt.Println()
	for i, s := range systems {
		fmt.Printf("%-22s", s.name)
		for _, l := range languages {
			fmt.Printf("%5.1f", 1000*results[i].falseRuns[l]/results[i].words[l])
		}
		fmt.Println()
	}
}

func recallTable(systems []*system, results []result) {
	fmt.Printf("\n%-46s", "found, % (95 % interval over answers)")
	for _, k := range kinds {
		fmt.Printf("%17s", k)
	}
	fmt.Printf("%8s %17s\n", "n each", "named")
	for _, class := range classNames {
		for i, s := range systems {
			name := ""
			if i == 0 {
				name = class
			}
			fmt.Printf("%-23s%-23s", name, s.name)
			for _, k := range kinds {
				fmt.Printf("%17s", percent(results[i].recall[[2]string{class, k}]))
			}
			fmt.Printf("%8d %17s\n", at(results[i].recall, [2]string{class, kinds[0]}).N(), percent(results[i].named[class]))
		}
	}
}
