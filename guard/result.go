package guard

import (
	"cmp"
	"crosstalk"
	"math"
	"slices"
	"sort"
	"strings"

	"crosstalk/measure/langid/chinese"
	"crosstalk/measure/langid/words"
	"crosstalk/measure/prose"
)

func byStart(a, b Span) int { return cmp.Compare(a.Start, b.Start) }

func (c *check) sort() {
	slices.SortFunc(c.spans, byStart)
	slices.SortFunc(c.excused, byStart)
}

func (c *check) listOf(s Span) *[]Span {
	if s.Excuse == "" {
		return &c.spans
	}
	return &c.excused
}

func (c *check) put(s Span) {
	to := c.listOf(s)
	*to = append(*to, s)
}

func (c *check) drop(which func(Span) bool) {
	c.spans, c.excused = slices.DeleteFunc(c.spans, which), slices.DeleteFunc(c.excused, which)
}

// add settles a span and adds it, or extends the last one if it continues that.
func (c *check) add(s Span) {
	c.settle(&s)
	all := *c.listOf(s)
	if n := len(all); n > 0 && c.continues(all[n-1], s) {
		last := &all[n-1]
		last.End, last.P, last.Risk = s.End, max(last.P, s.P), max(last.Risk, s.Risk)
		return
	}
	c.put(s)
}

// disjoint joins spans that overlap: a word may begin with a mark before its line's first letter, and a sentence may
// contain words that were found alone. Lines take precedence over words, and spans that count over excused ones.
func (c *check) disjoint() {
	all := slices.Concat(c.spans, c.excused)
	slices.SortStableFunc(all, byStart)
	c.spans, c.excused = c.spans[:0], c.excused[:0]
	for i := 0; i < len(all); {
		s, end := all[i], all[i].End
		for i++; i < len(all) && all[i].Start < end; i++ {
			other := all[i]
			end = max(end, other.End)
			if other.Kind == Line && s.Kind == Word || other.Kind == s.Kind && other.Excuse == "" && s.Excuse != "" {
				s, other = other, s
			}
			s.Start, s.P, s.Risk = min(s.Start, other.Start), max(s.P, other.P), max(s.Risk, other.Risk)
		}
		s.End = end
		c.put(s)
	}
}

func (c *check) result() Judgement {
	j := Unknown()
	j.Units = len(c.units)
	weight := map[string]int{}
	for _, u := range c.units {
		switch u.state {
		case CannotTell:
			j.Unclear++
		case Right:
			weight[c.want.name] += max(1, u.evidence.Words)
		case Wrong:
			weight[u.evidence.Language] += max(1, u.evidence.Words)
		}
	}
	for l, n := range weight {
		if n > weight[j.Language] || n == weight[j.Language] && l < j.Language {
			j.Language = l
		}
	}
	j.Language = c.name(j.Language, 0, len(c.text))
	for i, s := range c.spans {
		if i == 0 || !c.joined(c.spans[i-1], s) {
			j.Runs = append(j.Runs, s.Start)
		}
	}
	j.Spans = append(append(j.Spans, c.spans...), c.excused...)
	slices.SortFunc(j.Spans, byStart)
	switch j.Judged = c.level(); {
	case j.Units == 0 && len(j.Spans) == 0:
		j.Judged, j.NotJudged = "", "no prose"
	case j.Judged == ByWords:
		j.NotJudged = ""
	default:
		j.NotJudged = "words: no model for " + c.want.name
	}
	switch {
	case len(c.spans) > 0:
		j.Risk = c.highest(j.Spans)
		j.Verdict, j.P = Wrong, j.Risk
	case weight[c.want.name] > 0:
		j.Risk = c.highest(j.Spans)
		j.Verdict, j.P = Right, rounded(1-j.Risk)
	}
	masks := slices.Concat(c.hidden, c.masks)
	slices.SortFunc(masks, func(a, b prose.Span) int { return cmp.Compare(a.Start, b.Start) })
	end := 0
	for _, m := range masks { // code may contain a thought, and is then one part
		if m.Start = max(m.Start, end); m.Start < m.End {
			j.Masked, end = append(j.Masked, m), m.End
		}
	}
	j.telling = c.telling
	j.Parts = c.parts()
	j.Mix = c.mix(j.Parts)
	return j
}

// name returns a language's tag, with the Chinese script if the characters reveal it.
func (c *check) name(language string, start, end int) string {
	if language != "zh" {
		return language
	}
	switch simplified, traditional := chinese.Count(c.text[start:end]); {
	case simplified > traditional:
		return "zh-Hans"
	case traditional > simplified:
		return "zh-Hant"
	}
	return "zh"
}

// probability returns the probability at even odds times e^x.
func probability(x float64) float64 {
	return rounded(min(0.9999, 1/(1+math.Exp(-x))))
}

// level returns how closely the text was judged: by lines only if one was long enough for the identifier.
func (c *check) level() Level {
	switch alone := words.ByScript(c.want.base); {
	case words.Supports(c.want.base) && !alone:
		return ByWords
	case alone || !c.asked:
		return ByScript
	}
	return ByLines
}

// A curve maps the log odds x of another language to a probability: the logistic function of at0 + slope*x.
type curve struct{ at0, slope float64 }

// curves give the risk of lines and words, by the quality of the expected language's word model, and of excused spans;
// fitted as docs/check.md describes: go -C tools run ./bench/words -only risk -own NTREX-128 -half a. Curves of silent
// texts, which have no span, are constant.
var curves = map[string]curve{
	"line thorough": {0.14, 0.6}, "line short": {0.05, 0.46}, "line thin": {-0.01, 0.4},
	"word thorough": {1.5, 0.21}, "word short": {0.31, 0.57}, "word thin": {0.06, 0.39},
	"gloss": {-2.03, 0}, "mention": {-2.37, 0}, "name": {-1.44, 0}, "loan": {-1.55, 0}, "quote": {-1.31, 0.02},
	"doubt thorough": {-0.83, 0}, "doubt short": {0.29, 0.22}, "doubt thin": {-0.71, 0.32},
	"silent thorough": {-3.22, 0}, "silent short": {-2.59, 0}, "silent thin": {-1.78, 0}, "silent lines": {-0.85, 0},
}

func (c curve) at(x float64) float64 { return 1 / (1 + math.Exp(-c.at0-c.slope*x)) }

// model returns the quality of a language's word model.
func model(language string) string {
	switch {
	case words.Thin(language):
		return " thin"
	case words.Supports(language) && !words.Thorough(language):
		return " short"
	}
	return " thorough"
}

// risk returns the probability that a span is a confusion, for equally many right and wrong answers: at least 0.5
// without an excuse and less with one.
func (s Span) risk(expected string) float64 {
	key, low, high := s.Kind+model(expected), crosstalk.Warn, 0.9999
	if s.Excuse != "" {
		key, low, high = string(s.Excuse), 0.0001, crosstalk.Warn-0.0001
		if s.Excuse == Doubt {
			key += model(expected)
		}
	}
	return min(high, max(low, curves[key].at(math.Log(s.P/(1-s.P)))))
}

// rounded rounds a probability as in judgements.
func rounded(p float64) float64 { return math.Round(1e4*p) / 1e4 }

func (k Checker) threshold() float64 {
	if k.Threshold == 0 {
		return crosstalk.Warn
	}
	return k.Threshold
}

// settle sets a span's risk, and whether it counts: if the risk is below the threshold, it is excused.
func (c *check) settle(s *Span) {
	s.Risk = rounded(s.risk(c.want.base))
	switch {
	case s.Risk >= c.threshold:
		s.Excuse = ""
	case s.Excuse == "":
		s.Excuse = Doubt
	}
}

// highest returns the risk of a text: of its worst span, or of unseen confusion in it.
func (c *check) highest(spans []Span) float64 {
	key := "silent" + model(c.want.base)
	if c.level() == ByLines {
		key = "silent lines"
	}
	risk := rounded(curves[key].at(0))
	for _, s := range spans {
		risk = max(risk, s.Risk)
	}
	return risk
}

// A Part of a text was judged as a whole: a line, or several short ones of a form (items of a list, headings, cells).
// Excused lines belong to no part.
type Part struct {
	Lines    []prose.Span // of the text, in order
	Verdict  Verdict      // of the lines as a whole: single words in another language do not make them Wrong
	Language string       // as in Span; empty if unknown
	P        float64      // probability of the verdict
}

func (c *check) parts() (parts []Part) {
	for _, u := range c.units {
		whole := Part{Verdict: u.state, P: 0.5}
		switch u.state {
		case Right:
			whole.Language, whole.P = c.want.name, probability(max(0, -u.evidence.LogRatio))
		case Wrong:
			whole.Language, whole.P = u.evidence.Language, probability(u.evidence.LogRatio)
		}
		for _, b := range u.blocks {
			i := sort.Search(len(c.spans), func(i int) bool { return c.spans[i].Start >= b.Start })
			wrong := i < len(c.spans) && c.spans[i].Start < b.End && c.spans[i].Kind == Line
			switch {
			case wrong && u.state != Wrong: // the other script of Chinese
				parts = append(parts, Part{[]prose.Span{b}, Wrong, c.spans[i].Language, c.spans[i].P})
			case wrong:
				whole.Language = c.spans[i].Language
				fallthrough
			case u.state != Wrong:
				whole.Lines = append(whole.Lines, b)
			}
		}
		if whole.Lines != nil {
			parts = append(parts, whole)
		}
	}
	slices.SortStableFunc(parts, func(a, b Part) int { return cmp.Compare(a.Lines[0].Start, b.Lines[0].Start) })
	return parts
}

// overlapping returns the spans, which are in order, that overlap a part.
func overlapping(spans []Span, start, end int) []Span {
	from := sort.Search(len(spans), func(i int) bool { return spans[i].End > start })
	n := sort.Search(len(spans)-from, func(i int) bool { return spans[from+i].Start >= end })
	return spans[from : from+n]
}

// joined reports whether two spans are one run of a language: no word between them tells the expected one.
func (c *check) joined(a, b Span) bool {
	return a.Language == b.Language && !c.tells(a.Language, a.End, b.Start)
}

// tells reports whether the words between two bytes are in the expected language rather than in another. Those in a
// script that it does not use are not; without a model of it, all others are.
func (c *check) tells(other string, start, end int) bool {
	written := c.analysis.Written(start, end)
	return written != nil &&
		(!words.Supports(c.want.base) || c.analysis.Ratio(baseOf(other), written...) <= lineRight)
}

// baseOf returns the language of a tag in a span.
func baseOf(tag string) string {
	base, _, _ := strings.Cut(tag, "-")
	return base
}

// foreignIn returns the runs of other languages in a line, without excuse, in order. A wrong line may have a clause in
// the expected language. Words at the ends of the line that tell nothing belong to the run beside them.
func (c *check) foreignIn(l prose.Span) (runs []Span) {
	for _, s := range overlapping(c.spans, l.Start, l.End) {
		parts := []prose.Span{{Start: s.Start, End: s.End}}
		if s.Kind == Line && c.byWords(s.Language) {
			parts = c.analysis.Runs(s.Start, s.End, 0)
		}
		for _, p := range parts {
			run := s
			run.Start, run.End = p.Start, p.End
			if n := len(runs); n > 0 && c.joined(runs[n-1], run) {
				runs[n-1].End = run.End
				continue
			}
			runs = append(runs, run)
		}
	}
	if n := len(runs); n > 0 {
		if first := &runs[0]; !c.tells(first.Language, l.Start, first.Start) {
			first.Start = min(l.Start, first.Start)
		}
		if last := &runs[n-1]; !c.tells(last.Language, last.End, l.End) {
			last.End = max(l.End, last.End)
		}
	}
	return runs
}

// byWords reports whether the words of a line in another language can be told from those of the expected one.
func (c *check) byWords(language string) bool {
	base := baseOf(language)
	return words.Supports(c.want.base) && words.Supports(base) && !han(base) && !han(c.want.base)
}

func (c *check) mix(parts []Part) (m crosstalk.Mix) {
	var lines []prose.Span
	told := map[int]bool{} // lines in a known language, by start
	for _, p := range parts {
		for _, l := range p.Lines {
			lines = append(lines, l)
			told[l.Start] = p.Verdict != CannotTell
		}
	}
	slices.SortFunc(lines, func(a, b prose.Span) int { return cmp.Compare(a.Start, b.Start) })
	before := ""
	line := map[string]int{} // words of a line, by language
	add := func(from, to int, language string) {
		n := c.analysis.Count(from, to)
		if n == 0 {
			return
		}
		m.Words += n
		line[language] += n
		if language == c.want.base {
			m.Own += n
		}
		if before != "" && before != language {
			m.Switches++
		}
		before = language
	}
	for _, l := range lines {
		own := func(from, to int) {
			if !told[l.Start] {
				return
			}
			for _, x := range overlapping(c.excused, from, to) {
				if x.Excuse == Doubt {
					continue
				}
				add(from, x.Start, c.want.base)
				from = x.End
			}
			add(from, to, c.want.base)
		}
		at := l.Start
		for _, s := range c.foreignIn(l) {
			own(at, s.Start)
			add(s.Start, s.End, s.Language)
			at = s.End
		}
		own(at, l.End)
		if m.First == "" && told[l.Start] {
			for language, n := range line {
				if n > line[m.First] || n == line[m.First] && language < m.First {
					m.First = language
				}
			}
			m.FirstOwn = m.First == c.want.base
			if m.FirstOwn {
				m.First = c.want.name
			}
		}
		clear(line)
	}
	return m
}
