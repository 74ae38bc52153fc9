package suite

import (
	"fmt"
	"strings"

	"crosstalk"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// Sentences is the value of windows: answers are also scored sentence by
// sentence.
const Sentences = "sentence"

// wordings are the texts of a template's test or control: one text, a list of
// texts, or the question and answer of a carrier.
type wordings []crosstalk.Carried

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (w *wordings) UnmarshalYAML(node ast.Node) error {
	if list, ok := node.(*ast.SequenceNode); ok {
		for _, entry := range list.Values {
			one, err := wordingOf(entry)
			if err != nil {
				return err
			}
			*w = append(*w, one)
		}
		return nil
	}
	one, err := wordingOf(node)
	if err == nil {
		*w = wordings{one}
	}
	return err
}

func wordingOf(node ast.Node) (of crosstalk.Carried, err error) {
	if _, ok := node.(ast.MapNode); ok {
		var turns struct {
			User      string `yaml:"user"`
			Assistant string `yaml:"assistant"`
		}
		err = yaml.NodeToValue(node, &turns, yaml.Strict())
		return crosstalk.Carried{User: strings.TrimSpace(turns.User), Assistant: strings.TrimSpace(turns.Assistant)}, err
	}
	err = yaml.NodeToValue(node, &of.Text, yaml.Strict())
	of.Text = strings.TrimSpace(of.Text)
	return of, err
}

// allConcepts is the value of fillings for all concepts of the file.
const allConcepts = "all"

// fillings are the fillings of a template: a list, or all concepts of the file.
type fillings struct {
	all  bool
	list []at[filling]
}

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (f *fillings) UnmarshalYAML(node ast.Node) error {
	if text, ok := node.(*ast.StringNode); ok {
		if f.all = text.Value == allConcepts; f.all {
			return nil
		}
		return &yaml.SyntaxError{Token: node.GetToken(), Message: fmt.Sprintf("fillings is %.40q; expected a list or %s",
			text.Value, allConcepts)}
	}
	return yaml.NodeToValue(node, &f.list, yaml.Strict())
}
