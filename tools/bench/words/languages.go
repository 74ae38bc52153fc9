package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"crosstalk/guard"
	"crosstalk/measure/langid/embedded"
)

// scripted are the languages of NTREX-128 of which the words are judged by their script, and those that the matrix
// leaves out.
var scripted = map[string]string{
	"am": "amh", "bn": "ben", "el": "ell", "gu": "guj", "he": "heb", "hi": "hin", "hy": "hye", "ja": "jpn", "ka": "kat",
	"km": "khm", "kn": "kan", "ko": "kor", "ml": "mal", "mr": "mar", "my": "mya", "ne": "nep", "pa": "pan", "si": "sin",
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
