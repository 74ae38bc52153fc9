package main

import (
	"cmp"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"crosstalk/measure/prose"
	"crosstalk/measure/stats"
	"crosstalk/tools/internal/bench"
)

// finding is a part of an answer that a system takes for another language.
type finding struct {
	start, end int
	language   string
	score      float64
}

// run is flagged letters with no other letter between them.
type run struct {
	lo, hi   int // letters
	language string
	score    float64 // the highest
}

func (a *answer) runs(found []finding, threshold float64) (runs []run) {
	for _, f := range found {
		if f.score < threshold {
			continue
		}
		lo, hi := a.within(f.start, f.end)
		if n := len(runs); n > 0 && runs[n-1].hi == lo && runs[n-1].language == f.language {
			runs[n-1].hi, runs[n-1].score = hi, max(runs[n-1].score, f.score)
		} else if lo < hi {
			runs = append(runs, run{lo, hi, f.language, f.score})
		}
	}
	return runs
}

// excused reports whether a run touches what reading found truly foreign, or doubtful.
func (a *answer) excused(r run) bool {
	return slices.ContainsFunc(slices.Concat(a.Foreign, a.Ignore), func(k known) bool {
		lo, hi := a.within(k.Start, k.End)
		return lo < r.hi && r.lo < hi
	})
}

// flagged reports whether at least half of a part's letters are flagged, and as which language most of these.
func (a *answer) flagged(k known, runs []run) (found bool, language string) {
	lo, hi := a.within(k.Start, k.End)
	in := 0
	by := map[string]int{}
	for _, r := range runs {
		if n := min(r.hi, hi) - max(r.lo, lo); n > 0 {
			in += n
			by[r.language] += n
		}
	}
	for l, n := range by {
		if n > by[language] || n == by[language] && l < language {
			language = l
		}
	}
	return 2*in >= hi-lo && hi > lo, language
}

// system is one that finds foreign words.
type system struct {
	name  string
	find  func(*answer) []finding
	fixed bool // all that it finds counts; otherwise, what has a score of at least the threshold chosen on half a

	found map[*answer][]finding
	at    float64 // threshold
	speed float64 // words a CPU second
}

// falseRate is the number of false runs per 1,000 words for which thresholds are chosen.
const falseRate = 1.0

// run lets a system read the answers, and chooses its threshold on half a.
func (s *system) run(data set) {
	s.find(data.clean[0]) // which loads it
	s.found = map[*answer][]finding{}
	count, start := 0.0, bench.CPU()
	for a := range data.all() {
		s.found[a] = s.find(a)
		count += a.words
	}
	s.speed = count / (bench.CPU() - start).Seconds()
	s.at = math.Inf(-1)
	if !s.fixed {
		s.at = s.threshold(data.of("a").clean)
	}
}

// threshold returns the lowest one with at most falseRate false runs per 1,000 words.
func (s *system) threshold(clean []*answer) float64 {
	var scores []float64
	for _, a := range clean {
		for _, f := range s.found[a] {
			scores = append(scores, f.score)
		}
	}
	slices.Sort(scores)
	lo, hi := 0, len(scores)
	for lo < hi {
		mid := (lo + hi) / 2
		if runs, words := s.falseRuns(clean, scores[mid]); 1000*runs["all"] <= falseRate*words["all"] {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	if lo == len(scores) {
		return math.Inf(1)
	}
	return scores[lo]
}

// falseRuns returns the flagged runs that are not excused, and the words, of each language and of "all".
func (s *system) falseRuns(clean []*answer, threshold float64) (runs, words map[string]float64) {
	runs, words = map[string]float64{}, map[string]float64{}
	for _, a := range clean {
		n := 0.0
		for _, r := range a.runs(s.found[a], threshold) {
			if !a.excused(r) {
				n++
			}
		}
		for _, key := range []string{"all", a.Language} {
			runs[key] += n
			words[key] += a.words
		}
	}
	return runs, words
}

// result holds the results of a system on a half of the data.
type result struct {
	falseRuns, words      map[string]float64
	real, marked          int                           // foreign parts of clean answers, found by reading
	flagged               stats.Clusters                // clean answers without a foreign word
	recall                map[[2]string]*stats.Clusters // of a class and a kind; clusters are clean answers
	named                 map[string]*stats.Clusters    // of a class: of the found ones, those whose language is right
	rightLetters, letters int                           // flagged in the answers with inserted words
}

func (s *system) measure(data set) (m result) {
	m.falseRuns, m.words = s.falseRuns(data.clean, s.at)
	var names stats.ClusterNames
	m.recall, m.named = map[[2]string]*stats.Clusters{}, map[string]*stats.Clusters{}
	for _, a := range data.clean {
		runs := a.runs(s.found[a], s.at)
		for _, k := range a.Foreign {
			m.real++
			if ok, _ := a.flagged(k, runs); ok {
				m.marked++
			}
		}
		if len(a.Foreign) == 0 {
			m.flagged.Add(names.Number(a.ID), one(slices.ContainsFunc(runs, func(r run) bool { return !a.excused(r) })))
		}
	}
	for _, a := range data.inserted {
		k := a.Foreign[0]
		runs := a.runs(s.found[a], s.at)
		ok, language := a.flagged(k, runs)
		for _, class := range classesOf(a.Language, k.Language) {
			at(m.recall, [2]string{class, a.kind()}).Add(names.Number(a.from), one(ok))
			if ok {
				at(m.named, class).Add(names.Number(a.from), one(language == k.Language))
			}
		}
		m.addLetters(a, k, runs)
	}
	return m
}

// addLetters counts the flagged letters of an answer, and those of them that were put in.
func (m *result) addLetters(a *answer, k known, runs []run) {
	lo, hi := a.within(k.Start, k.End)
	for _, r := range runs {
		in := max(0, min(r.hi, hi)-max(r.lo, lo))
		m.rightLetters += in
		m.letters += in
		for i := r.lo; i < r.hi; i++ {
			doubtful := func(k known) bool { return k.Start <= a.letters[i] && a.letters[i] < k.End }
			if (i < lo || i >= hi) && !slices.ContainsFunc(a.Ignore, doubtful) {
				m.letters++
			}
		}
	}
}

func at[K comparable](m map[K]*stats.Clusters, key K) *stats.Clusters {
	c := m[key]
	if c == nil {
		c = &stats.Clusters{}
		m[key] = c
	}
	return c
}

func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// kinds are the kinds of inserted text: words, or twice as many characters of Chinese and Japanese.
var kinds = []string{"1", "2", "4", "8", "line", "sentence"}

var classNames = []string{"all", "other script", "Latin in other script", "zh-ja", "same script", "romance", "de-en",
	"en-romance", "de-romance", "with id", "with tr", "with vi"}

// classesOf returns the classes of a pair of languages: the expected one and the foreign one.
func classesOf(a, b string) []string {
	isLatin := func(l string) bool { return strings.Contains("de en es fr id it pt tr vi", l) }
	romance := func(l string) bool { return strings.Contains("es fr it pt", l) }
	switch {
	case isLatin(a) && isLatin(b):
		c := []string{"all", "same script"}
		if romance(a) && romance(b) {
			c = append(c, "romance")
		}
		for _, x := range []string{"id", "tr", "vi"} {
			if a == x || b == x {
				c = append(c, "with "+x)
			}
		}
		if romance(a) != romance(b) {
			for _, x := range []string{"en", "de"} {
				if a == x || b == x {
					c = append(c, x+"-romance")
				}
			}
		}
		if a+b == "deen" || a+b == "ende" {
			c = append(c, "de-en")
		}
		return c
	case a+b == "zhja" || a+b == "jazh":
		return []string{"all", "zh-ja"}
	case isLatin(b):
		return []string{"all", "Latin in other script"}
	}
	return []string{"all", "other script"}
}

// worst returns the language with the most false runs per 1,000 words, and how many.
func (m result) worst() (language string, rate float64) {
	for l, runs := range m.falseRuns {
		if r := 1000 * runs / m.words[l]; l != "all" && cmp.Or(cmp.Compare(r, rate), cmp.Compare(language, l)) > 0 {
			language, rate = l, r
		}
	}
	return language, rate
}

// answer is an item of the words' data.
type answer struct {
	ID, Language, Text, Kind string
	K                        int
	Foreign, Ignore          []known

	Tags []string

	from    string // the clean answer that it is made from
	half    string
	letters []int // byte offsets
	words   float64
}

// known is a part that was inserted, or judged by reading.
type known struct {
	Start, End int
	Language   string
}

// set is the words' data: answers without, and with, foreign words put in.
type set struct{ clean, inserted []*answer }

func readSet(dir string) (s set, err error) {
	if s.clean, err = bench.ReadLines[*answer](filepath.Join(dir, "clean.jsonl.gz")); err != nil {
		return s, err
	}
	if s.inserted, err = bench.ReadLines[*answer](filepath.Join(dir, "inserted.jsonl.gz")); err != nil {
		return s, err
	}
	for a := range s.all() {
		a.prepare()
	}
	return s, nil
}

func (s set) all() func(yield func(*answer) bool) {
	return slices.Values(slices.Concat(s.clean, s.inserted))
}

// of returns the half of the data.
func (s set) of(half string) set {
	other := func(a *answer) bool { return a.half != half }
	return set{slices.DeleteFunc(slices.Clone(s.clean), other), slices.DeleteFunc(slices.Clone(s.inserted), other)}
}

func (a *answer) prepare() {
	a.from = a.ID
	for _, t := range a.Tags {
		if id, ok := strings.CutPrefix(t, "from:"); ok {
			a.from = id
		}
	}
	a.half = halfOf(a.from)
	for i, r := range a.Text {
		if unicode.IsLetter(r) {
			a.letters = append(a.letters, i)
		}
	}
	if a.Language == "ja" || a.Language == "zh" {
		a.words = float64(len(a.letters)) / 2
		return
	}
	for _, w := range strings.Fields(a.Text) {
		if strings.IndexFunc(w, unicode.IsLetter) >= 0 {
			a.words++
		}
	}
}

// kind returns the kind of the inserted text: the number of words, a line or a sentence.
func (a *answer) kind() string {
	if a.K > 0 {
		return string(rune('0' + a.K))
	}
	return a.Kind
}

// within returns the numbers of the letters from byte start to byte end.
func (a *answer) within(start, end int) (lo, hi int) {
	lo, _ = slices.BinarySearch(a.letters, start)
	hi, _ = slices.BinarySearch(a.letters, end)
	return lo, hi
}

// masked returns the parts of a text that have no language.
func masked(text string) (mask []prose.Span) {
	for _, m := range prose.Parse(text).Masks {
		if !m.Kind.Quoted() {
			mask = append(mask, m)
		}
	}
	return mask
}
