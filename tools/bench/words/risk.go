package main

import (
	"cmp"
	"crosstalk"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"crosstalk/guard"
	"crosstalk/measure/langid/words"

	"github.com/rogpeppe/go-internal/txtar"
)

// judgedAnswer is an answer whose truth is known, with its judgement.
type judgedAnswer struct {
	wrong         bool
	set, language string // the set is replies or news
	half          string
	weight        float64 // right and wrong answers of a set weigh the same
	j             guard.Judgement
}

// class is what decides which curve an answer's risk is on: the kind or the excuse of its worst span, or how closely it
// was judged.
func (a *judgedAnswer) class() (class string, odds float64) {
	model := " thorough"
	switch {
	case words.Thin(a.language):
		model = " thin"
	case words.Supports(a.language) && !words.Thorough(a.language):
		model = " short"
	}
	s, ok := a.worst()
	switch {
	case !ok:
		return "silent" + model, 0
	case s.Excuse == "":
		class = s.Kind + model
	case s.Excuse == guard.Doubt:
		class = "doubt" + model
	default:
		class = string(s.Excuse)
	}
	return class, math.Log(s.P / (1 - s.P))
}

func (a *judgedAnswer) worst() (guard.Span, bool) {
	if len(a.j.Spans) == 0 {
		return guard.Span{}, false
	}
	return slices.MaxFunc(a.j.Spans, func(a, b guard.Span) int { return cmp.Compare(a.Risk, b.Risk) }), true
}

// riskTables fits the curves of package guard's risk on half a of our own replies and of news with words put in, and
// prints how well the built-in ones do on each half: reliability, precision and recall.
func riskTables(o options) error {
	all, err := judgedReplies()
	if err != nil {
		return err
	}
	news, err := judgedNews(o.own)
	if err != nil {
		return err
	}
	weigh(all)
	weigh(news)
	all = append(all, news...)
	fmt.Println("\nfitted on half a: at0, slope (answers, right and wrong)")
	byClass := map[string][]*judgedAnswer{}
	for _, a := range all {
		if a.half == "a" {
			class, _ := a.class()
			byClass[class] = append(byClass[class], a)
		}
	}
	for _, class := range slices.Sorted(maps.Keys(byClass)) {
		at0, slope := logistic(byClass[class])
		wrong := 0
		for _, a := range byClass[class] {
			if a.wrong {
				wrong++
			}
		}
		fmt.Printf("  %-17q: {%.2f, %.2f}, // %d, %d\n", class, at0, slope, len(byClass[class])-wrong, wrong)
	}
	for _, half := range o.halves {
		for _, set := range []string{"replies and news", "replies", "news"} {
			reliability(fmt.Sprintf("half %s, %s", half, set), slices.DeleteFunc(slices.Clone(all),
				func(a *judgedAnswer) bool { return a.half != half || !strings.Contains(set, a.set) }))
		}
	}
	return nil
}

// weigh gives right and wrong answers of a half of a set the same weight in all.
func weigh(all []*judgedAnswer) {
	n := map[string]float64{}
	key := func(a *judgedAnswer) string { return fmt.Sprint(a.half, a.wrong) }
	for _, a := range all {
		n[key(a)]++
	}
	for _, a := range all {
		a.weight = 500 / n[key(a)]
	}
}

// judgedReplies are the replies of package guard's tests.
func judgedReplies() (all []*judgedAnswer, err error) {
	files, err := filepath.Glob("../guard/testdata/replies/*.txt")
	if err != nil || files == nil {
		return nil, fmt.Errorf("no replies: %w", cmp.Or(err, os.ErrNotExist))
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for i, f := range txtar.Parse(data).Files {
			tag, kind, _ := strings.Cut(f.Name, " ")
			var text strings.Builder
			for rest := string(f.Data); rest != ""; {
				before, marked, _ := strings.Cut(rest, "⟦")
				part, after, _ := strings.Cut(marked, "⟧")
				_, inside, _ := strings.Cut(part, "|")
				text.WriteString(before + inside)
				rest = after
			}
			j, err := guard.Checker{}.Check(strings.TrimRight(text.String(), "\n"), tag)
			if err != nil {
				return nil, err
			}
			if j.Verdict != guard.CannotTell {
				all = append(all, &judgedAnswer{wrong: strings.HasPrefix(kind, "confused "), set: "replies", language: base(tag),
					half: halfOf(fmt.Sprint(filepath.Base(file), i)), j: j})
			}
		}
	}
	return all, nil
}

// judgedNews is translated news in every language, and as many texts with words, sentences or lines put in.
func judgedNews(dir string) (all []*judgedAnswer, err error) {
	const each = 12 // of a language and a half, clean, and as many of each kind put in
	texts, err := readTongues(dir)
	if err != nil {
		return nil, err
	}
	for _, t := range tongues {
		for _, half := range []string{"a", "b"} {
			own := slices.DeleteFunc(slices.Clone(texts[t.language]), func(a *answer) bool { return a.half != half })
			r := rand.New(rand.NewPCG(7, hash64(t.language+half)))
			add := func(a *answer) error {
				j, err := guard.Check(a.Text, t.language)
				if err == nil && j.Verdict != guard.CannotTell {
					all = append(all, &judgedAnswer{wrong: a.Foreign != nil, set: "news", language: t.language, half: half, j: j})
				}
				return err
			}
			others := slices.DeleteFunc(append([]string{"en", "en", "en"}, donors...), func(l string) bool {
				return l == t.language || strings.Contains(t.relatives, l)
			})
			for range each * 5 {
				if err := add(own[r.IntN(len(own))]); err != nil {
					return nil, err
				}
			}
			for _, kind := range []string{"1", "2", "4", "sentence", "line"} {
				for n := 0; n < each; {
					if a := plant(r, own, texts[others[r.IntN(len(others))]], half, kind); a != nil {
						n++
						if err := add(a); err != nil {
							return nil, err
						}
					}
				}
			}
		}
	}
	return all, nil
}

// logistic fits the two parameters by Newton's method, with a little shrinkage towards 0. The slope is at least 0.
func logistic(all []*judgedAnswer) (at0, slope float64) {
	const shrinkage = 2
	for range 50 {
		g0, g1 := -at0*shrinkage, -slope*shrinkage
		h00, h01, h11 := float64(shrinkage), 0.0, float64(shrinkage)
		for _, a := range all {
			_, x := a.class()
			p := 1 / (1 + math.Exp(-at0-slope*x))
			d := a.weight * (0 - p)
			if a.wrong {
				d = a.weight * (1 - p)
			}
			v := a.weight * p * (1 - p)
			g0, g1 = g0+d, g1+d*x
			h00, h01, h11 = h00+v, h01+v*x, h11+v*x*x
		}
		det := h00*h11 - h01*h01
		at0, slope = at0+(h11*g0-h01*g1)/det, slope+(h00*g1-h01*g0)/det
	}
	if slope > 0 {
		return at0, slope
	}
	var right, wrong float64 = shrinkage, shrinkage
	for _, a := range all {
		if a.wrong {
			wrong += a.weight
		} else {
			right += a.weight
		}
	}
	return math.Log(wrong / right), 0 // more evidence does not mean less risk: a constant
}

// reliability prints how often answers of a risk are wrong, and what thresholds find.
func reliability(title string, all []*judgedAnswer) {
	type bin struct{ n, said, true float64 }
	bins := make([]bin, 10)
	right, wrong := 0.0, 0.0
	for _, a := range all {
		b := &bins[min(9, int(10*a.j.Risk))]
		b.n += a.weight
		b.said += a.weight * a.j.Risk
		if a.wrong {
			b.true += a.weight
			wrong += a.weight
		} else {
			right += a.weight
		}
	}
	ece := 0.0
	fmt.Printf("\n%s, %d answers; said / true, in brackets share of answers, %%\n", title, len(all))
	for _, b := range bins {
		if b.n > 0 {
			ece += math.Abs(b.said - b.true)
			fmt.Printf("  %.2f / %.2f (%.1f)\n", b.said/b.n, b.true/b.n, 100*b.n/(right+wrong))
		}
	}
	fmt.Printf("  ECE %.3f\n", ece/(right+wrong))
	fmt.Println("  threshold  found %  flagged %  precision at rates of 0.5, 2, 5 and 50 %")
	for _, t := range []float64{0.01, 0.02, 0.05, crosstalk.Observe, 0.2, crosstalk.Warn, 0.8, crosstalk.Block,
		0.95, 0.99} {
		found, flagged := 0.0, 0.0
		for _, a := range all {
			if s, ok := a.worst(); ok && s.Risk >= t {
				if a.wrong {
					found += a.weight / wrong
				} else {
					flagged += a.weight / right
				}
			}
		}
		fmt.Printf("  %9.2f %8.1f %10.2f ", t, 100*found, 100*flagged)
		for _, rate := range []float64{0.005, 0.02, 0.05, 0.5} {
			fmt.Printf("  %.2f", rate*found/(rate*found+(1-rate)*flagged))
		}
		fmt.Println()
	}
}
