package read

import (
	"slices"
	"strings"
	"unicode/utf8"

	"crosstalk/measure/pytext"
)

// Ohmer2023 reads answers like the published analysis of Ohmer et al. (2023): a cascade of rules, of which the first
// that decides wins. It was made to leave few answers unread rather than to be certain. If several labels satisfy a
// rule, the first one declared wins, unless the rule requires exactly one. The rules, with our confidence:
//
//	empty         nothing, or nothing but phrases like "the answer is"        none
//	refusal       contains "i cannot answer"                                  none
//	whole         the label in quotes or brackets and nothing else            full
//	leading       starts with the label and , or 。                           high
//	leading-word  starts with the label and a space or hyphen                 low
//	exact         the label and nothing else                                  full
//	wrapped       exactly one label in quotes, brackets or commas             high
//	stopped       starts with the label and . ) : 。 ：, or with it quoted    high
//	spaced        exactly one label after a space or colon                    low
//	prefix        starts with the letters of the label                        low
//	last          ends with a space and the label                             high
//	bushi         starts with 不是 where that is not a label: 否                 high
//	han-stopped   after a Chinese character, and somewhere before a mark      low
//	han-last      after a Chinese character, and the last character           low
//	han-only      exactly one label after Chinese characters                  low
//	unresolved    none of these                                               none
func Ohmer2023(answer string, labels []string) Reading {
	text := pytext.Lower(answer)
	if strings.Contains(text, "i cannot answer") {
		return Reading{Rule: "refusal"}
	}
	text = strings.Trim(pytext.TrimSpace(text), "。")
	for _, phrase := range []string{"the correct answer is", "the answer is", "answer", "option"} {
		text = strings.ReplaceAll(text, phrase, "")
	}
	text = strings.Trim(pytext.TrimSpace(text), ":")
	text = strings.Trim(pytext.TrimSpace(text), ".")
	text = pytext.TrimSpace(text)
	if text == "" {
		return Reading{Rule: "empty"}
	}
	found := lowered(labels)
	for _, rule := range ohmerRules {
		if r := rule(text, found); r.Rule != "" {
			return r
		}
	}
	return Reading{Rule: "unresolved"}
}

// A rule decides by returning a reading with a rule.
type rule func(text string, labels []label) Reading

var ohmerRules = []rule{
	leading,
	first("exact", Full, func(text, l string) bool { return text == l }),
	only("wrapped", High, func(text, l string) bool {
		for _, w := range wrappers {
			if containsAny(text, w[0]+l+w[1], w[0]+l+"."+w[1], w[0]+" "+l+" "+w[1]) {
				return true
			}
		}
		return containsAny(text, ", "+l+".", ",  "+l+".", ", "+l+" ,", ",  "+l+" ,")
	}),
	first("stopped", High, func(text, l string) bool {
		after, ok := strings.CutPrefix(text, l)
		return ok && startsWithAny(after, ".", ",", ")", "。", ":", "：") || startsWithAny(text, `"`+l+`"`, "'"+l+"'")
	}),
	only("spaced", Low, func(text, l string) bool {
		return containsAny(text, ": "+l, " "+l+".", " "+l+" ", " "+l+":", " "+l+",")
	}),
	first("prefix", Low, strings.HasPrefix),
	first("last", High, func(text, l string) bool {
		return strings.HasSuffix(text, " "+l) || strings.HasSuffix(text, " "+l+".")
	}),
	bushi,
	han,
}

// first returns a rule that finds the first label that fits.
func first(name string, confidence Confidence, fits func(text, l string) bool) rule {
	return func(text string, labels []label) Reading {
		for _, l := range labels {
			if fits(text, l.lower) {
				return Reading{l.declared, name, confidence}
			}
		}
		return Reading{}
	}
}

// only returns a rule that finds the label that fits if there is exactly one.
func only(name string, confidence Confidence, fits func(text, l string) bool) rule {
	return func(text string, labels []label) Reading {
		labels = slices.DeleteFunc(slices.Clone(labels), func(l label) bool { return !fits(text, l.lower) })
		if len(labels) != 1 {
			return Reading{}
		}
		return Reading{labels[0].declared, name, confidence}
	}
}

// wrappers are marks that may enclose a label.
var wrappers = [][2]string{{`"`, `"`}, {"'", "'"}, {"(", ")"}, {"[", "]"}, {"“", "”"}}

func leading(text string, labels []label) Reading {
	for _, l := range labels {
		for _, w := range wrappers {
			if text == w[0]+l.lower+w[1] || text == w[0]+l.lower+"."+w[1] {
				return Reading{l.declared, "whole", Full}
			}
		}
		after, ok := strings.CutPrefix(text, l.lower)
		switch {
		case !ok:
		case startsWithAny(after, "。", ","):
			return Reading{l.declared, "leading", High}
		case startsWithAny(after, " ", "-"):
			return Reading{l.declared, "leading-word", Low}
		}
	}
	return Reading{}
}

// bushi reads 不是 ("is not") as 否 ("no"). If 否 is not a label either, the answer is read but is none of the labels.
func bushi(text string, labels []label) Reading {
	declared := func(lower string) int {
		return slices.IndexFunc(labels, func(l label) bool { return l.lower == lower })
	}
	if !strings.HasPrefix(text, "不是") || declared("不是") >= 0 {
		return Reading{}
	}
	if i := declared("否"); i >= 0 {
		return Reading{labels[i].declared, "bushi", High}
	}
	return Reading{Rule: "bushi"}
}

// han looks for labels after Chinese characters. A label that decides becomes the text in which later labels are looked
// for, so 是 overwrites a 不是 found before. Published figures include this fault.
func han(text string, labels []label) Reading {
	var decided, remembered Reading
	n := 0 // labels stored
	for _, l := range labels {
		if !afterHan(text, l.lower) {
			continue
		}
		end, _ := utf8.DecodeLastRuneInString(text)
		switch {
		case containsAny(text, l.lower+"，", l.lower+",", l.lower+".", l.lower+"。", l.lower+":", l.lower+"："):
			text, decided = l.lower, Reading{l.declared, "han-stopped", Low}
		case string(end) == l.lower:
			text, decided = l.lower, Reading{l.declared, "han-last", Low}
		default:
			n++
			remembered = Reading{l.declared, "han-only", Low}
		}
	}
	if decided.Rule == "" && n == 1 && !strings.ContainsFunc(remembered.Label, isHan) {
		return remembered
	}
	return decided
}

// afterHan reports whether l occurs in text right after a Chinese character, with or without a space between.
func afterHan(text, l string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], l)
		if i < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRuneInString(strings.TrimSuffix(text[:from+i], " "))
		if isHan(before) {
			return true
		}
		_, n := utf8.DecodeRuneInString(l)
		from += i + n
	}
}

// isHan covers the published script's range, the ideographs of Unicode 1.1 and later additions to their block.
func isHan(r rune) bool { return 0x4E00 <= r && r <= 0x9FFF }

func startsWithAny(text string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(text, p) })
}

func containsAny(text string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(text, p) })
}
