package instrument_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"crosstalk"
)

// readers are the packages that show and compare results.
var readers = []string{"report", "web", "compare", "gate", "cmd/crosstalk/report.go"}

// otherwise are literals that mean something else where they stand, by file:
// names of JSON fields, functions of templates, marks, inks, words of sentences.
var otherwise = map[string][]string{
	"compare/power.go":             {"margin"},      // of a gate
	"cmd/crosstalk/report.go":      {"faults"},      // the answers that are listed
	"gate/accept/accept.go":        {"cannot tell"}, // the outcome
	"report/export/export.go":      {"not_scored", "tokens"},
	"report/export/faults.go":      {"answer"},      // the column
	"report/tables.go":             {"cannot_tell"}, // the column, of people
	"report/results/agreement.go":  {"texts"},       // of the units that people judged
	"report/page/page.go":          {"line", "rule"},
	"report/page/text.go":          {"line", "word"},
	"report/plot/dots.go":          {"top_p"}, // the setting
	"report/plot/plot.go":          {"rule"},
	"report/plot/shares.go":        {"part", "censored", "mass"},
	"report/results/comparison.go": {"reference"},
	"report/suites/suites.go": {"category", "concept", "consistency", "control", "language", "leaks", "source", "task", "test",
		"words"}, // of items
	"web/answer.go":  {"tokens"},
	"web/answers.go": {"answer"},
	"web/run.go":     {"answer"},
}

// No package that shows or compares figures knows the keys of an instrument: it
// would not notice when one is renamed.
func TestNobodyElseKnowsKeys(t *testing.T) {
	keys := set{}
	for _, m := range all(t) {
		for _, o := range m.observations {
			keys[o.Measure], keys[o.Finding], keys[o.NotScored] = true, true, true
			for _, text := range o.Texts {
				keys[text.Name] = true
			}
			for key := range o.Numbers {
				keys[key] = true
			}
			for key := range o.Condition {
				keys[key] = true
			}
			for key := range o.Labels {
				keys[key] = true
			}
		}
		for _, e := range m.estimates {
			keys[e.Measure] = true
			for key := range e.Counts {
				keys[key] = true
			}
			for key := range e.By {
				keys[key] = true
			}
		}
	}
	for _, key := range append([]string{"", crosstalk.ModelColumn}, crosstalk.Unanswered...) {
		delete(keys, key)
	}
	files := 0
	for _, reader := range readers {
		err := filepath.WalkDir(filepath.Join("..", filepath.FromSlash(reader)),
			func(path string, e fs.DirEntry, err error) error {
				if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
					return err
				}
				files++
				positions := token.NewFileSet()
				file, err := parser.ParseFile(positions, path, nil, 0)
				if err != nil {
					return err
				}
				name := strings.TrimPrefix(filepath.ToSlash(path), "../")
				options := map[ast.Node]bool{} // names of options
				ast.Inspect(file, func(n ast.Node) bool {
					if call, ok := n.(*ast.CallExpr); ok && len(call.Args) > 0 {
						if f, ok := call.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "BadOption" {
							options[call.Args[0]] = true
						}
					}
					literal, ok := n.(*ast.BasicLit)
					if !ok || literal.Kind != token.STRING || options[literal] {
						return true
					}
					text, err := strconv.Unquote(literal.Value)
					if err == nil && keys[text] && !slices.Contains(otherwise[name], text) {
						t.Errorf("%s:%d: %q is an instrument's: read it from a Kind or an observation", name, positions.Position(literal.Pos()).Line, text)
					}
					return true
				})
				return nil
			})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(keys) < 60 || files < 40 {
		t.Errorf("%d keys in %d files: the test does not see all", len(keys), files)
	}
}
