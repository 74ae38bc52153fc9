package main

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"crosstalk/measure/prose"
	"crosstalk/tools/internal/bench"
)

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

// known is a part that was put in, or judged by reading.
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

// kind is what was put in: the number of words, a line or a sentence.
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
