package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"unicode"

	"crosstalk/guard"
	"crosstalk/measure/stats"
)

// soon is how many tokens after its start a line or sentence in another language should be found.
const soon = 20

// streamTables prints how soon a stream finds lines and sentences in another language, in tokens from their start, and
// how often it alarms in clean answers. A token is a piece of a word of at most four letters, or one Chinese or
// Japanese letter, which is about what the tokenizers of models make. Answers come token by token.
func streamTables(o options) error {
	data, err := readSet(filepath.Join(o.data, "words"))
	if err != nil {
		return err
	}
	for _, half := range o.halves {
		half := data.of(half)
		var waits []int // tokens until the alarm
		var early, atEnd, missed, clean, alarmed, kept int
		for _, a := range half.inserted {
			if a.Kind != "line" && a.Kind != "sentence" {
				continue
			}
			f := a.Foreign[0]
			wait, end, err := alarm(a, f)
			switch {
			case err != nil:
				return fmt.Errorf("%s: %w", a.ID, err)
			case wait >= 0:
				waits = append(waits, wait)
				if wait <= soon {
					early++
				}
			case end:
				atEnd++
			default:
				missed++
			}
		}
		for _, a := range half.clean {
			s, err := guard.Checker{}.Stream(a.Language)
			if err != nil {
				return fmt.Errorf("%s: %w", a.ID, err)
			}
			n := 0
			for _, piece := range pieces(a.Text) {
				n += len(s.Write(piece))
			}
			wrong := s.Close().Verdict == guard.Wrong
			clean++
			if n > 0 {
				alarmed++
				if wrong {
					kept++
				}
			}
		}
		slices.Sort(waits)
		n := len(waits) + atEnd + missed
		ci := stats.Wilson(float64(early), float64(n), 0.95)
		fmt.Printf("\nStreams, half %s: lines and sentences in another language, %d\n", half.clean[0].half, n)
		fmt.Printf("  found within %d tokens        %5.1f %% (%.1f to %.1f); "+
			"median %d, 95 of 100 within %d, all within %d\n", soon,
			100*float64(early)/float64(n), 100*ci.Low, 100*ci.High,
			waits[len(waits)/2], waits[len(waits)*95/100], waits[len(waits)-1])
		fmt.Printf("  found at the answer's end    %5.1f %%; not found %.1f %%\n",
			100*float64(atEnd)/float64(n), 100*float64(missed)/float64(n))
		fmt.Printf("  clean answers with an alarm  %5.1f %% (%d of %d; %d of them are wrong by the whole text, too)\n",
			100*float64(alarmed)/float64(clean), alarmed, clean, kept)
	}
	return nil
}

// alarm returns the number of tokens from the start of a foreign part to the first alarm about it, or -1 and whether
// the whole text tells.
func alarm(a *answer, f known) (wait int, atEnd bool, err error) {
	s, err := guard.Checker{}.Stream(a.Language)
	if err != nil {
		return 0, false, err
	}
	about := func(span guard.Span) bool { return span.Start < f.End && f.Start < span.End }
	at := 0
	for _, piece := range pieces(a.Text) {
		at += len(piece)
		if at > f.Start {
			wait++
		}
		if slices.ContainsFunc(s.Write(piece), about) {
			return wait, false, nil
		}
	}
	return -1, slices.ContainsFunc(s.Close().Spans, func(s guard.Span) bool { return s.Excuse == "" && about(s) }), nil
}

// pieces cuts a text into tokens.
func pieces(text string) (all []string) {
	start, letters := 0, 0
	for i, r := range text {
		alone := unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
		if i > start && (alone || letters == 4 || !unicode.IsLetter(r) && !unicode.IsMark(r)) {
			all = append(all, text[start:i])
			start, letters = i, 0
		}
		if unicode.IsLetter(r) {
			letters++
		}
	}
	return append(all, text[start:])
}
