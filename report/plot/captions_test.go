package plot

import (
	"strings"
	"testing"
)

func TestCaptions(t *testing.T) {
	plots := []Plot{{Name: "lpr-by-language", Title: "LPR by language · task: a_b", Note: "Higher is better: 50 % & more."}, {Name: "b", Title: "Second."}}
	var markdown, latex strings.Builder
	if err := WriteMarkdown(&markdown, plots); err != nil {
		t.Fatal(err)
	}
	if err := WriteLaTeX(&latex, plots); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"](lpr-by-language.svg)\n\nLPR by language · task: a\\_b. Higher is better", "\n\n![Second.](b.svg)\n\nSecond.\n"} {
		if !strings.Contains(markdown.String(), want) {
			t.Errorf("no %q in\n%s", want, &markdown)
		}
	}
	for _, want := range []string{"\\includegraphics{lpr-by-language.pdf}", "\\caption{LPR by language $\\cdot$ task: a\\_b. Higher is better: 50 \\% \\& more.}", "\\label{fig:b}"} {
		if !strings.Contains(latex.String(), want) {
			t.Errorf("no %q in\n%s", want, &latex)
		}
	}
}
