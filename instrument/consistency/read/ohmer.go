package read

import (
	"slices"
	"strings"
	"unicode/utf8"

	"crosstalk/measure/pytext"
)

// Ohmer2023 reads answers as the published analysis of Ohmer et al. (2023)
// does: a cascade of rules, where the first that decides wins, made to leave
// few answers unread rather than to be sure of each. Where several labels meet
// a rule, the first declared wins, unless the rule asks for exactly one. The
// rules in order, with the confidence that we give them:
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

// ohmerRules decide by returning a reading with a rule.
var ohmerRules = []func(text string, labels []label) Reading{
	leading, exact, wrapped, stopped, spaced, prefix, last, bushi, han,
}

// wrappers are what a label may stand in.
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

func exact(text string, labels []label) Reading {
	for _, l := range labels {
		if text == l.lower {
			return Reading{l.declared, "exact", Full}
		}
	}
	return Reading{}
}

func wrapped(text string, labels []label) Reading {
	return only(labels, "wrapped", High, func(l string) bool {
		for _, w := range wrappers {
			if containsAny(text, w[0]+l+w[1], w[0]+l+"."+w[1], w[0]+" "+l+" "+w[1]) {
				return true
			}
		}
		return containsAny(text, ", "+l+".", ",  "+l+".", ", "+l+" ,", ",  "+l+" ,")
	})
}

func stopped(text string, labels []label) Reading {
	for _, l := range labels {
		after, ok := strings.CutPrefix(text, l.lower)
		if ok && startsWithAny(after, ".", ",", ")", "。", ":", "：") ||
			startsWithAny(text, `"`+l.lower+`"`, "'"+l.lower+"'") {
			return Reading{l.declared, "stopped", High}
		}
	}
	return Reading{}
}

func spaced(text string, labels []label) Reading {
	return only(labels, "spaced", Low, func(l string) bool {
		return containsAny(text, ": "+l, " "+l+".", " "+l+" ", " "+l+":", " "+l+",")
	})
}

func prefix(text string, labels []label) Reading {
	for _, l := range labels {
		if strings.HasPrefix(text, l.lower) {
			return Reading{l.declared, "prefix", Low}
		}
	}
	return Reading{}
}

func last(text string, labels []label) Reading {
	for _, l := range labels {
		if strings.HasSuffix(text, " "+l.lower) || strings.HasSuffix(text, " "+l.lower+".") {
			return Reading{l.declared, "last", High}
		}
	}
	return Reading{}
}

// bushi takes 不是 ("is not") for 否 ("no"). Where 否 is no label either, the
// answer is read but is none of the labels.
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

// han looks for labels after Chinese characters. A label that decides becomes
// the text in which the labels after it are looked for, so a 不是 that was
// found is overwritten by 是. Published figures have this fault in them.
func han(text string, labels []label) Reading {
	var decided, remembered Reading
	n := 0 // labels remembered
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

// afterHan reports whether l occurs in text right after a Chinese character,
// with or without a space between.
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

// isHan is the range of the published script, the ideographs of Unicode 1.1
// and what was added to their block.
func isHan(r rune) bool { return 0x4E00 <= r && r <= 0x9FFF }

// only returns the reading of the one label that matches, if it is one.
func only(labels []label, rule string, confidence Confidence, matches func(l string) bool) Reading {
	var r Reading
	for _, l := range labels {
		if !matches(l.lower) {
			continue
		}
		if r.Rule != "" {
			return Reading{}
		}
		r = Reading{l.declared, rule, confidence}
	}
	return r
}

func startsWithAny(text string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(text, p) })
}

func containsAny(text string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(text, p) })
}
