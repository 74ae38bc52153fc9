package main

import (
	"cmp"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"crosstalk/internal/testing/golden"
	"crosstalk/internal/testing/shared"
	"crosstalk/suite"
)

var (
	// aboutPapers are the words of a sentence about what a paper prints.
	aboutPapers = regexp.MustCompile(`(?i)\b(papers?|published|authors)\b|(gonen|smilga|ohmer|marchisio).* print`)
	paperOf     = regexp.MustCompile(`(?i)\b(gonen|smilga|ohmer|marchisio|lcb)(?: et al\.)?,?[ -]\(?(?:20\d\d|paper|script)`)
	tableNumber = regexp.MustCompile(`\bTables? A?\d+(?:(?:,| and) A?\d+\b)*`)
	fences      = regexp.MustCompile("(?s)```.*?```")
	sentenceEnd = regexp.MustCompile("[.:]\\s+[A-Z*`|]|\n\n|\n[-|]")
	goComment   = regexp.MustCompile(`(?m)(?:^[ \t]*//.*\n)+|//.*$`)
	decimalOf   = regexp.MustCompile(`(?:^|[^\w.])(\d+\.\d+)(?:[^\w.]|\.\s|\.$|$)`)
)

// notFigures are decimals in such sentences that are something else.
var notFigures = map[string]string{
	"0.0005":     "a number to round (instrument/leakage/measure.go)",
	"0.00149999": "a number to round (instrument/leakage/measure.go)",
	"1.1":        "a version of Unicode (instrument/consistency/read/ohmer.go)",
	"3.11":       "a version of Python (measure/pytext/pytext_test.go)",
}

// A sentence that calls a figure a paper's, or published, has it from docs/validation/published.tsv:
// in pages and in comments, from the paper named last and the tables that it names.
func TestPublishedAudit(t *testing.T) {
	list := readPublished(t)
	sentences, figures := 0, 0
	err := filepath.WalkDir("../..", func(path string, e os.DirEntry, err error) error {
		extension := filepath.Ext(path)
		if err != nil || e.IsDir() || extension != ".md" && extension != ".go" || e.Name() == "audit_test.go" {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		said, n := claims(string(b), extension == ".go")
		sentences += n
		for _, c := range said {
			if figures++; !c.isIn(list) && notFigures[c.figure] == "" {
				t.Errorf("%s: %s is in no table of %q that %s has: %q", path, c.figure, c.paper, publishedFile, c.sentence)
			}
		}
		return nil
	})
	if err != nil || sentences < 100 || figures < 10 {
		t.Errorf("%d figures in %d sentences: %v", figures, sentences, err)
	}
}

// claim is a figure in a sentence about a paper.
type claim struct {
	figure, sentence string
	paper            string   // the author; "" if none is named before
	tables           []string // nil: any
}

// isIn reports whether the paper prints the figure, or ours is so beside it.
func (c claim) isIn(list []published) bool {
	return slices.ContainsFunc(list, func(n published) bool {
		if !strings.HasPrefix(n.paper, c.paper) || c.tables != nil && !slices.Contains(c.tables, strings.TrimPrefix(n.table, "A")) {
			return false
		}
		v, err := strconv.ParseFloat(n.computed, 64)
		ours, _ := strconv.ParseFloat(c.figure, 64)
		_, decimals, _ := strings.Cut(c.figure, ".")
		near := math.Abs(math.Abs(v)-ours) <= 0.5*math.Pow(10, -float64(len(decimals)))+1e-9
		return strings.TrimPrefix(n.value, "-") == c.figure || err == nil && near
	})
}

// claims are the figures of the sentences about papers of a page, but for code and what
// is made of docs/validation/published.tsv, or of the comments of a Go file; and how many there are.
func claims(text string, code bool) (list []claim, sentences int) {
	texts := []string{publishedBlock.ReplaceAllString(fences.ReplaceAllString(text, "\n\n"), "\n\n")}
	if code {
		texts = goComment.FindAllString(text, -1)
	}
	paper := ""
	for _, text := range texts {
		if code {
			text = strings.ReplaceAll(text, "//", "  ")
		}
		last := 0
		for _, at := range append(sentenceEnd.FindAllStringIndex(text, -1), []int{len(text), len(text)}) {
			end := min(at[0]+1, len(text))
			sentence := strings.Join(strings.Fields(text[last:end]), " ")
			last = end
			for _, name := range paperOf.FindAllStringSubmatch(sentence, -1) {
				if paper = strings.ToLower(name[1]); paper == "lcb" {
					paper = "marchisio"
				}
			}
			if !aboutPapers.MatchString(sentence) {
				continue
			}
			sentences++
			var tables []string
			for _, named := range tableNumber.FindAllString(sentence, -1) {
				tables = append(tables, digitsOf.FindAllString(named, -1)...)
			}
			for _, figure := range decimals(sentence) {
				list = append(list, claim{figure, sentence, paper, tables})
			}
		}
	}
	return list, sentences
}

func decimals(sentence string) (list []string) {
	for at := 0; ; {
		m := decimalOf.FindStringSubmatchIndex(sentence[at:])
		if m == nil {
			return list
		}
		list = append(list, sentence[at+m[2]:at+m[3]])
		at += m[3]
	}
}

// The audit finds the figures that were wrongly called published once, and what is no
// figure.
func TestPublishedAuditReads(t *testing.T) {
	page := "## Smilga 2025\nThe paper has 70.2 and 73.4, 54.9, 60.2, 79.6, 88.9, 77.8, 62.5 and 84.3.\nOurs is 50.1. See lib 1.2.3.\n" +
		"```\nthe paper: 1.5\n```\n- Published as 69.27: v2.5x\n- Table 3 of the paper has 69.27.\n" +
		"<!-- published -->\nThe paper has 9.9.\n<!-- end -->\n"
	said, _ := claims(page, false)
	var in, out []string
	list := readPublished(t)
	for _, c := range said {
		if c.isIn(list) {
			in = append(in, c.figure)
		} else {
			out = append(out, c.figure)
		}
	}
	if strings.Join(in, " ") != "69.27" || strings.Join(out, " ") != "70.2 73.4 54.9 60.2 79.6 88.9 77.8 62.5 84.3 69.27" {
		t.Errorf("in the table: %v, not in it: %v", in, out)
	}
	said, n := claims("x := 1.5 // as published, 62.5\n\n// Marchisio et al. (2024)\n// print 1.25.\ny(\"the paper 8.5\")\n", true)
	if n != 2 || len(said) != 2 || said[0].figure != "62.5" || said[1].figure != "1.25" || said[1].paper != "marchisio" {
		t.Errorf("%d sentences, %v", n, said)
	}
}

// The numbers that describe prompts match the prompts that the authors published.
func TestPublishedPrompts(t *testing.T) {
	prompts, err := suite.Load(shared.File(t, "lcb/test_sets.zip"))
	if err != nil {
		t.Fatal(err)
	}
	list, compared := readPublished(t), 0
	for i, was := range list {
		v, ok := promptFigure(was, prompts)
		if !ok {
			continue
		}
		compared++
		if list[i] = was.with(v); list[i] != was && !*golden.Update {
			t.Errorf("%s has %v, computed is %v", publishedFile, was, list[i])
		}
	}
	if compared != 27 {
		t.Errorf("%d numbers compared, want 27", compared)
	}
	if *golden.Update {
		writePublished(t, list)
	}
}

// promptFigure is a number of Table 1 of Marchisio et al. or a bound of Table A10, of the
// prompts that they published: how many, and their words.
func promptFigure(n published, of *suite.Suite) (v float64, ok bool) {
	if n.paper != "marchisio-2024" || n.table != "1" && n.row != "bounds" {
		return 0, false
	}
	source, task := cmp.Or(paperNames[n.row], map[string]string{"Native prompts": "native_prompts",
		"Complex prompts": "complex_prompts"}[n.row]), n.part
	if n.row == "bounds" {
		source, task = "complex_prompts", "crosslingual"
	}
	words, languages := []int{}, map[string]bool{}
	for _, item := range of.Items.All() {
		if item.Labels["source"] == source && item.Labels["task"] == task {
			words = append(words, len(strings.Fields(item.Prompt.Text)))
			languages[item.Prompt.Language] = true
		}
	}
	slices.Sort(words)
	switch {
	case len(words) == 0:
		return 0, false
	case n.column == "prompts of a language":
		return float64(len(words) / len(languages)), true
	case n.column == "prompts" && strings.HasSuffix(n.value, "k"):
		return float64(len(words)) / 1000, true
	case n.column == "prompts":
		return float64(len(words)), true
	case n.column == "median words":
		return float64(words[len(words)/2]+words[(len(words)-1)/2]) / 2, true
	}
	third := len(words) / 3
	bounds := map[string]int{"short": 0, "short to": third - 1, "medium": third, "medium to": 2*third - 1, "long": 2 * third,
		"long to": len(words) - 1}
	at, ok := bounds[n.column]
	return float64(words[at]), ok
}
