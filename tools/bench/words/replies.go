package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"crosstalk/guard"
	"crosstalk/measure/langid/embedded"
	"crosstalk/measure/stats"
	"crosstalk/tools/internal/bench"
)

// reply is an item of the replies' data.
type reply struct {
	ID, Language, Text, Label, Kind string
	Foreign                         []known
}

// replyTables prints how many clean replies are flagged, how many confused ones are missed, and how many foreign spans
// are found with an overlap (intersection over union) of at least half. It leaves out replies in the wrong region of a
// language.
func replyTables(o options) error {
	all, err := bench.ReadLines[*reply](filepath.Join(o.data, "replies", "replies.jsonl"))
	if err != nil {
		return err
	}
	var parts []string
	for _, half := range o.halves {
		if half == "a" {
			parts = append(parts, "a")
		} else {
			parts = append(parts, "b, first part", "b, second part")
		}
	}
	for _, part := range parts {
		n := map[string]int{} // replies by label, and by label and verdict
		var spans, right, named int
		for _, r := range all {
			if replyPart(r.ID) != part || r.Kind == "wrong-region" {
				continue
			}
			j, err := guard.Check(r.Text, r.Language)
			if err != nil {
				return fmt.Errorf("%s: %w", r.ID, err)
			}
			label := "confused"
			if r.Label == "clean" {
				label, r.Foreign = "clean", nil
			}
			n[label]++
			n[label+" "+string(j.Verdict)]++
			for _, f := range r.Foreign {
				spans++
				for _, s := range j.Spans {
					both, either := min(f.End, s.End)-max(f.Start, s.Start), max(f.End, s.End)-min(f.Start, s.Start)
					if 2*both >= either && both > 0 {
						right++
						if base(s.Language) == base(f.Language) {
							named++
						}
						break
					}
				}
			}
		}
		fmt.Printf("\nReplies, half %s\n", part)
		row := func(what string, k, n int, note string) {
			ci := stats.Wilson(float64(k), float64(n), 0.95)
			fmt.Printf("  %-28s %4d of %4d  %5.1f %% (%.1f to %.1f)%s\n", what,
				k, n, 100*float64(k)/float64(n), 100*ci.Low, 100*ci.High, note)
		}
		wrong, unclear := " "+string(guard.Wrong), " "+string(guard.CannotTell)
		row("clean, flagged", n["clean"+wrong], n["clean"], fmt.Sprintf("; cannot tell %d", n["clean"+unclear]))
		row("confused, missed", n["confused"]-n["confused"+wrong], n["confused"],
			fmt.Sprintf("; cannot tell %d of these", n["confused"+unclear]))
		row("spans, overlap of half", right, spans, "")
		row("of these, language right", named, right, "")
	}
	return nil
}

// replyPart says which part of the replies an item belongs to: half a, on which the rules were chosen, or a part of
// half b, by the second bit of the hash. The errors of the first part were read when most rules were there; of those of
// the second part, only the number and the kinds are known.
func replyPart(id string) string {
	return []string{"a", "b, first part", "a", "b, second part"}[hash32(id)&3]
}

func base(tag string) string {
	b, _, _ := strings.Cut(tag, "-")
	return b
}

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
		var atEnd, missed, alarmed, kept int
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
			if wrong := s.Close().Verdict == guard.Wrong; n > 0 {
				alarmed++
				kept += int(one(wrong))
			}
		}
		slices.Sort(waits)
		early, _ := slices.BinarySearch(waits, soon+1)
		n, clean := len(waits)+atEnd+missed, len(half.clean)
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

// scripted are the languages of NTREX-128 of which the words are judged by their script, and those that the matrix
// leaves out.
var scripted = map[string]string{
	"am": "amh", "bn": "ben", "el": "ell", "gu": "guj", "he": "heb", "hy": "hye", "ja": "jpn", "ka": "kat",
	"km": "khm", "kn": "kan", "ko": "kor", "ml": "mal", "my": "mya", "pa": "pan", "si": "sin",
	"ta": "tam", "te": "tel", "th": "tha", "zh": "zho-CN",
}

// treebanks are the test sets of Universal Dependencies in languages that NTREX-128 does not have.
var treebanks = map[string]string{"br": "br_keb", "eo": "eo_prago", "gd": "gd_arcosg", "oc": "oc_ttb"}

const linesEach = 500 // of a language

// linesOf returns lines of five words or more, or of twenty letters, of a language in half b, none if there is no text.
func linesOf(dir, language string) (lines []string, err error) {
	file := "newstest2019-ref." + scripted[language] + ".txt"
	if i := slices.IndexFunc(tongues, func(t tongue) bool { return t.language == language }); i >= 0 {
		file = "newstest2019-" + tongues[i].file + ".txt"
	}
	prefix := ""
	if bank := treebanks[language]; bank != "" {
		file, prefix = bank+"-ud-test.conllu", "# text = "
	}
	all, err := readText(filepath.Join(dir, file))
	if os.IsNotExist(err) {
		return nil, nil
	}
	for i, line := range all {
		line, is := strings.CutPrefix(line, prefix)
		if is && (prefix != "" || halfOf(fmt.Sprintf("own-%d", i-i%linesOfAnswer)) == "b") &&
			(len(strings.Fields(line)) >= 5 || len([]rune(line)) >= 20 && len(line) > 2*len([]rune(line))) {
			lines = append(lines, line)
		}
	}
	return lines[:min(len(lines), linesEach)], err
}

// judged counts the verdicts on lines where a language is expected, and says how closely they were judged.
func judged(lines []string, expected string) (n map[guard.Verdict]int, level guard.Level, err error) {
	n = map[guard.Verdict]int{}
	for _, line := range lines {
		j, err := guard.Check(line, expected)
		if err != nil {
			return nil, "", err
		}
		n[j.Verdict]++
		if j.Judged != "" {
			level = j.Judged
		}
	}
	return n, level, nil
}

// languageTable prints a row of a table in markdown for each language that the embedded identifier knows: how lines of
// it are judged, and lines in English and in the language that it is most often taken for.
func languageTable(o options) error {
	labels := slices.Sorted(slices.Values(embedded.Identifier().Labels()))
	texts := map[string][]string{}
	for _, language := range labels {
		lines, err := linesOf(o.own, language)
		if err != nil {
			return err
		}
		texts[language] = lines
	}
	fmt.Print("| | by | n | right | cannot tell | wrong | English found | taken for | found |\n" +
		"| --- | --- | ---: | ---: | ---: | ---: | ---: | --- | ---: |\n")
	for _, language := range labels {
		lines := texts[language]
		if len(lines) == 0 {
			fmt.Printf("| %s | - | 0 | - | - | - | - | - | - |\n", language)
			continue
		}
		share := func(lines []string, verdict guard.Verdict) (string, error) {
			n, _, err := judged(lines, language)
			return fmt.Sprintf("%.1f", 100*float64(n[verdict])/float64(len(lines))), err
		}
		n, level, err := judged(lines, language)
		if err != nil {
			return err
		}
		row := fmt.Sprintf("| %s | %s | %d |", language, level, len(lines))
		for _, verdict := range []guard.Verdict{guard.Right, guard.CannotTell, guard.Wrong} {
			row += fmt.Sprintf(" %.1f |", 100*float64(n[verdict])/float64(len(lines)))
		}
		english, nearest, found := "-", nearestOf(lines, language), "-"
		if language != "en" {
			if english, err = share(texts["en"], guard.Wrong); err != nil {
				return err
			}
		}
		if len(texts[nearest]) > 0 {
			if found, err = share(texts[nearest], guard.Wrong); err != nil {
				return err
			}
		}
		fmt.Printf("%s %s | %s | %s |\n", row, english, nearest, found)
	}
	return nil
}

// nearestOf is the language that the identifier says most often instead of the right one, "-" if it says none in a
// hundred lines.
func nearestOf(lines []string, language string) string {
	taken := map[string]int{}
	for _, line := range lines {
		if guesses := embedded.Identifier().Predict(line); len(guesses) > 0 && guesses[0].Label != language {
			taken[guesses[0].Label]++
		}
	}
	nearest := "-"
	for _, other := range slices.Sorted(maps.Keys(taken)) {
		if n := taken[other]; n > taken[nearest] && 100*n >= len(lines) {
			nearest = other
		}
	}
	return nearest
}
