package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"crosstalk/measure/langid/words"
	"crosstalk/measure/prose"
)

// answer is an item of the words' data.
type answer struct {
	ID, Language, Text, Kind string
	K                        int
	Foreign, Ignore          []known
	Tags                     []string

	half    string
	letters []int // byte offsets
	words   float64
	found   []words.Word
}

type known struct {
	Start, End int
	Language   string
}

func (a *answer) prepare() {
	from := a.ID
	for _, t := range a.Tags {
		if id, ok := strings.CutPrefix(t, "from:"); ok {
			from = id
		}
	}
	a.half = halfOf(from)
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

// within returns the numbers of the letters from byte start to byte end.
func (a *answer) within(start, end int) (lo, hi int) {
	lo, _ = slices.BinarySearch(a.letters, start)
	hi, _ = slices.BinarySearch(a.letters, end)
	return lo, hi
}

// run is flagged letters without a letter between them.
type run struct {
	lo, hi   int // letters
	language string
}

func (a *answer) runs(threshold float64) (runs []run) {
	for _, s := range a.found {
		if s.LogOdds < threshold {
			continue
		}
		lo, hi := a.within(s.Start, s.End)
		if n := len(runs); n > 0 && runs[n-1].hi == lo && runs[n-1].language == s.Language {
			runs[n-1].hi = hi
		} else if lo < hi {
			runs = append(runs, run{lo, hi, s.Language})
		}
	}
	return runs
}

// excused reports whether a run touches what reading found truly foreign, or doubtful.
func (a *answer) excused(r run) bool {
	for _, k := range slices.Concat(a.Foreign, a.Ignore) {
		if lo, hi := a.within(k.Start, k.End); lo < r.hi && r.lo < hi {
			return true
		}
	}
	return false
}

func (a *answer) flagged(k known, threshold float64) (found bool, language string) {
	lo, hi := a.within(k.Start, k.End)
	in := 0
	by := map[string]int{}
	for _, r := range a.runs(threshold) {
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

// lowest is the log odds below which no word is listed.
const lowest = -6

func wordTables(dir string, halves []string, list string) error {
	clean, err := readLines[*answer](filepath.Join(dir, "clean.jsonl.gz"))
	if err != nil {
		return err
	}
	inserted, err := readLines[*answer](filepath.Join(dir, "inserted.jsonl.gz"))
	if err != nil {
		return err
	}
	words.Analyse("to load the model", "en", nil)
	count := 0.0
	for _, a := range slices.Concat(clean, inserted) {
		a.prepare()
		count += a.words
	}
	start := cpu()
	for _, a := range slices.Concat(clean, inserted) {
		a.found = words.Analyse(a.Text, a.Language, masked(a.Text)).Words(lowest)
	}
	fmt.Printf("%.0f words, %.0f words a CPU second\n", count, count/(cpu()-start))
	at := thresholdFor(of(clean, "a"), 1)
	if list != "" {
		listCases(of(clean, "a"), of(inserted, "a"), at, list)
		return nil
	}
	for _, half := range halves {
		for _, t := range []float64{at} {
			wordTable(half, of(clean, half), of(inserted, half), t)
		}
	}
	return nil
}

func of(all []*answer, half string) (some []*answer) {
	for _, a := range all {
		if a.half == half {
			some = append(some, a)
		}
	}
	return some
}

func cpu() float64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// falseRuns returns the flagged runs that are not excused, and the words, of each language and of "all".
func falseRuns(clean []*answer, threshold float64) (runs, of map[string]float64) {
	runs, of = map[string]float64{}, map[string]float64{}
	for _, a := range clean {
		n := 0.0
		for _, r := range a.runs(threshold) {
			if !a.excused(r) {
				n++
			}
		}
		for _, key := range []string{"all", a.Language} {
			runs[key] += n
			of[key] += a.words
		}
	}
	return runs, of
}

// thresholdFor returns the lowest threshold with at most rate false runs per 1,000 words.
func thresholdFor(clean []*answer, rate float64) float64 {
	lo, hi := float64(lowest), 60.0
	for range 40 {
		mid := (lo + hi) / 2
		if runs, of := falseRuns(clean, mid); 1000*runs["all"] <= rate*of["all"] {
			hi = mid
		} else {
			lo = mid
		}
	}
	return hi
}

var kinds = []string{"1", "2", "4", "8", "line", "sentence"}

var classNames = []string{"all", "other script", "Latin in other script", "zh-ja", "same script", "romance", "de-en", "en-romance", "de-romance", "with id", "with tr", "with vi"}

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

func wordTable(half string, clean, inserted []*answer, threshold float64) {
	runs, of := falseRuns(clean, threshold)
	fmt.Printf("\nHalf %s, log odds of at least %.2f: %d clean answers, %.0f words, %.0f false runs, %.2f per 1,000 words\n",
		half, threshold, len(clean), of["all"], runs["all"], 1000*runs["all"]/of["all"])
	for _, l := range strings.Fields("ar de en es fr hi id it ja ko pt ru tr vi zh") {
		fmt.Printf("  %s %.1f", l, 1000*runs[l]/of[l])
	}
	real, marked := 0, 0
	for _, a := range clean {
		for _, k := range a.Foreign {
			real++
			if ok, _ := a.flagged(k, threshold); ok {
				marked++
			}
		}
	}
	fmt.Printf("\n  %d of %d real foreign spans found\n\n", marked, real)
	type cell struct{ n, found, named int }
	cells := map[[2]string]*cell{}
	right, all := 0, 0
	for _, a := range inserted {
		k := a.Foreign[0]
		ok, language := a.flagged(k, threshold)
		kind := a.Kind
		if a.K > 0 {
			kind = fmt.Sprint(a.K)
		}
		for _, class := range classesOf(a.Language, k.Language) {
			c := cells[[2]string{class, kind}]
			if c == nil {
				c = &cell{}
				cells[[2]string{class, kind}] = c
			}
			c.n++
			if ok {
				c.found++
				if language == k.Language {
					c.named++
				}
			}
		}
		lo, hi := a.within(k.Start, k.End)
		for _, r := range a.runs(threshold) {
			in := max(0, min(r.hi, hi)-max(r.lo, lo))
			right += in
			all += in
			for i := r.lo; i < r.hi; i++ {
				if (i < lo || i >= hi) && !slices.ContainsFunc(a.Ignore, func(k known) bool { return k.Start <= a.letters[i] && a.letters[i] < k.End }) {
					all++
				}
			}
		}
	}
	fmt.Printf("%-24s", "recall, %")
	for _, k := range kinds {
		fmt.Printf("%10s", k)
	}
	fmt.Printf("%8s %8s\n", "n each", "named")
	for _, class := range classNames {
		fmt.Printf("%-24s", class)
		found, named, n := 0, 0, 0
		for i, k := range kinds {
			c := cells[[2]string{class, k}]
			if c == nil {
				fmt.Printf("%10s", "-")
				continue
			}
			if i == 0 {
				n = c.n
			}
			found, named = found+c.found, named+c.named
			fmt.Printf("%10.1f", 100*float64(c.found)/float64(c.n))
		}
		fmt.Printf("%8d %8.1f\n", n, 100*float64(named)/float64(found))
	}
	fmt.Printf("precision of letters %.1f %%\n", 100*float64(right)/float64(all))
}

func listCases(clean, inserted []*answer, threshold float64, what string) {
	show := func(a *answer, start, end int, language string, s float64) {
		from, to := max(0, start-40), min(len(a.Text), end+40)
		for !utf8.RuneStart(a.Text[from]) {
			from++
		}
		for to < len(a.Text) && !utf8.RuneStart(a.Text[to]) {
			to--
		}
		fmt.Printf("%s %s %5.1f  %q [%s] %q\n", a.Language, language, s, a.Text[from:start], a.Text[start:end], a.Text[end:to])
	}
	if what == "false" {
		for _, a := range clean {
			for _, r := range a.runs(threshold) {
				if !a.excused(r) {
					end := a.letters[r.hi-1]
					_, n := utf8.DecodeRuneInString(a.Text[end:])
					s := 0.0
					for _, f := range a.found {
						if f.Start <= a.letters[r.lo] && a.letters[r.lo] < f.End {
							s = f.LogOdds
						}
					}
					show(a, a.letters[r.lo], end+n, r.language, s)
				}
			}
		}
		return
	}
	for _, a := range slices.Concat(clean, inserted) {
		for _, k := range a.Foreign {
			if ok, _ := a.flagged(k, threshold); !ok {
				show(a, k.Start, k.End, fmt.Sprint(k.Language, " ", a.K), 0)
			}
		}
	}
}

// masked returns the parts of a text that have no language.
func masked(text string) (mask []words.Range) {
	for _, m := range prose.Parse(text).Masks {
		if !m.Kind.Quoted() {
			mask = append(mask, words.Range{Start: m.Start, End: m.End})
		}
	}
	return mask
}
