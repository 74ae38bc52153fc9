package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"crosstalk/internal/ordered"
	"crosstalk/internal/testing/golden"
)

// publishedTable is the page's table of all published numbers.
func publishedTable(list []published) string {
	var b strings.Builder
	b.WriteString("| paper | table | numbers | compared | equal | others | largest difference |\n" +
		"| --- | --- | ---: | ---: | ---: | --- | ---: |\n")
	for _, of := range ordered.Groups(list, func(n published) string { return n.paper + n.table }) {
		compared := 0
		states := map[string]int{}
		for _, n := range of {
			compared += btoi(n.computed != "")
			states[n.state]++
		}
		var others []string
		for _, s := range publishedStates[1:] {
			if n := states[s.name]; n > 0 {
				others = append(others, fmt.Sprintf("%s %d", s.name, n))
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %s | %s |\n", of[0].paper, of[0].table, len(of), compared,
			states["equal"], strings.Join(others, ", "), largest(of))
	}
	return b.String()
}

// lossTable is what the identifier that is here costs: our LPR less the paper's, by model
// and language.
func lossTable(list []published) string {
	list = slices.DeleteFunc(slices.Clone(list), func(n published) bool {
		return !slices.Contains([]string{"3", "A17", "A18"}, n.table) || !strings.HasSuffix(n.part, " LPR") ||
			n.computed == "" || n.table == "A17" && !strings.HasSuffix(n.row, "base")
	})
	languages := strings.Fields("ar de en es fr hi id it ja ko pt ru tr vi zh")
	var b strings.Builder
	fmt.Fprintf(&b, "| Table | task | model | %s |\n| --- | --- | --- |%s\n", strings.Join(languages, " | "),
		strings.Repeat(" ---: |", len(languages)))
	for _, of := range ordered.Groups(list, func(n published) string { return n.table + n.part + n.row }) {
		fmt.Fprintf(&b, "| %s | %s | %s |", of[0].table, strings.TrimSuffix(of[0].part, " LPR"), of[0].row)
		for _, language := range languages {
			cell := "-"
			for _, n := range of {
				ours, err := strconv.ParseFloat(n.computed, 64)
				theirs, err2 := strconv.ParseFloat(n.value, 64)
				if n.column == language && err == nil && err2 == nil {
					cell = strings.TrimPrefix(fmt.Sprintf("%.1f", math.Round(10*(ours-theirs))/10+0), "+")
				}
			}
			b.WriteString(" " + cell + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}

func btoi(is bool) int {
	if is {
		return 1
	}
	return 0
}

// largest is the largest difference of numbers that are computed, in their unit.
func largest(list []published) string {
	most := -1.0
	for _, n := range list {
		a, errA := strconv.ParseFloat(n.value, 64)
		b, errB := strconv.ParseFloat(n.computed, 64)
		if n.state != "equal" && errA == nil && errB == nil {
			most = max(most, math.Abs(a-b))
		}
	}
	if most < 0 {
		return "-"
	}
	return strconv.FormatFloat(most, 'g', 2, 64)
}

// publishedBlock is the part of the page that is made from docs/validation/published.tsv.
var publishedBlock = regexp.MustCompile(`(?s)(<!-- published -->\n).*?(<!-- end -->)`)

// The page counts the numbers in docs/validation/published.tsv, and explains each state that
// occurs and no other.
func TestPublishedPage(t *testing.T) {
	page, err := os.ReadFile(papersPage)
	if err != nil {
		t.Fatal(err)
	}
	list := readPublished(t)
	text := publishedBlock.ReplaceAllString(string(page), "${1}"+publishedText(list)+"${2}")
	if *golden.Update {
		err = os.WriteFile(papersPage, []byte(text), 0o666)
	} else if text != string(page) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil || !publishedBlock.Match(page) {
		t.Errorf("%s is not made from %s: run go test ./cmd/crosstalk -run TestPublishedPage -update (%v)",
			papersPage, publishedFile, err)
	}
	for _, n := range list {
		named := func(s struct{ name, meaning string }) bool { return s.name == n.state }
		compared := slices.IndexFunc(publishedStates, named)
		if compared < 0 || (compared < comparedStates) != (n.computed != "") {
			t.Errorf("%v has the state %q", n, n.state)
		}
	}
}

func publishedText(list []published) string {
	var b strings.Builder
	count := map[string]int{}
	compared := 0
	for _, n := range list {
		count[n.state]++
		compared += btoi(n.computed != "")
	}
	fmt.Fprintf(&b, "The four papers print %d numbers that crosstalk makes or could make. The answers behind %d of them are "+
		"here:\n%d are equal, %d are explained, %d contradict other tables of their paper, %d are not explained.\n\n",
		len(list), compared, count["equal"], compared-count["equal"]-count["differs"]-count["contradiction"],
		count["contradiction"], count["differs"])
	for _, s := range publishedStates {
		if count[s.name] > 0 {
			at := 0
			for word := range strings.FieldsSeq(fmt.Sprintf("- **%s**, %d: %s.", s.name, count[s.name], s.meaning)) {
				switch at += 1 + len(word); {
				case at > 120:
					b.WriteString("\n  " + word)
					at = 2 + len(word)
				case word == "-":
					b.WriteString(word)
				default:
					b.WriteString(" " + word)
				}
			}
			b.WriteString("\n")
		}
	}
	b.WriteString("\n" + publishedTable(list))
	b.WriteString("\nThe identifier, by language: LPR with `lid.176.ftz` less the paper's.\n\n" + lossTable(list))
	return b.String()
}

// The group "IE" of the commands is the paper's: its printed figures are the means of the printed languages, with it
// and without it.
func TestPublishedIE(t *testing.T) {
	page, err := os.ReadFile(papersPage)
	if err != nil {
		t.Fatal(err)
	}
	groups := map[string][]string{}
	for _, m := range regexp.MustCompile(`language:((?:not )?IE)=([a-z,]+)`).FindAllStringSubmatch(string(page), -1) {
		groups[m[1]] = strings.Split(m[2], ",")
	}
	cells, compared := map[[3]string]map[string]float64{}, 0
	for _, n := range readPublished(t) {
		if n.table != "A15" && n.table != "A16" {
			continue
		}
		at := [3]string{n.table, n.part, n.row}
		if cells[at] == nil {
			cells[at] = map[string]float64{}
		}
		if cells[at][n.column], err = strconv.ParseFloat(n.value, 64); err != nil {
			t.Fatal(err)
		}
	}
	for at, of := range cells {
		for name, languages := range groups {
			sum, n := 0.0, 0.0
			for _, language := range languages {
				if value, printed := of[language]; printed {
					sum, n = sum+value, n+1
				}
			}
			if compared++; math.Abs(sum/n-of[name]) > 0.11 { // both are rounded to 0.1
				t.Errorf("%v: the mean of %s is %.2f, printed %g", at, name, sum/n, of[name])
			}
		}
	}
	if compared != 56 {
		t.Errorf("%d figures, want 56", compared)
	}
}
