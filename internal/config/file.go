package config

import (
	"errors"
	"fmt"
	"slices"

	"crosstalk/internal/nearest"
	"crosstalk/internal/strictyaml"
	"crosstalk/internal/visible"

	"github.com/goccy/go-yaml/ast"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// FileFlag is the name of the flag that names the file.
const FileFlag = "config"

// limits are far above what a file of every key needs: 20 KiB, a depth of 2.
var limits = strictyaml.Limits{Bytes: 1 << 20, Depth: 16, Keys: 1000, One: "set of keys"}

// Load sets a command's flags from the YAML file that --config names, except those that the command line sets. A key
// is the name of a flag, its value what one would type after it, or a list of values. All mistakes are reported, with
// their lines. instead returns what replaces a --flag that
// no longer exists, and "" for any other. Call Load between parsing and running the command.
func Load(c *cobra.Command, instead func(string) string) error {
	name, err := c.Flags().GetString(FileFlag)
	if err != nil || name == "" {
		return err
	}
	text, err := strictyaml.ReadFile(name, limits.Bytes)
	if err != nil {
		return err
	}
	root, err := strictyaml.Parse(name, text, limits)
	if err != nil {
		return err
	}
	entries, ok := entriesOf(root)
	if !ok {
		return fmt.Errorf("%s:%d: expected keys with values, as in samples: 3", name, root.GetToken().Position.Line)
	}
	known, failed := settable(c), []error(nil)
	for _, entry := range entries {
		key := entry.Key.GetToken().Value
		if err := set(c, known, key, entry.Value, instead); err != nil {
			line := entry.Key.GetToken().Position.Line
			failed = append(failed, fmt.Errorf("%s:%d: %s: %w", name, line, visible.Start(key, 100), err))
		}
	}
	return errors.Join(failed...)
}

// settable returns the names of a command's flags that a file can set.
func settable(c *cobra.Command) (names []string) {
	c.InheritedFlags() // adds them to the command's own flags
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !slices.Contains([]string{"help", "version", FileFlag}, f.Name) {
			names = append(names, f.Name)
		}
	})
	return names
}

func set(c *cobra.Command, known []string, key string, node ast.Node, instead func(string) string) error {
	if !slices.Contains(known, key) {
		message := fmt.Sprintf("'%s' has no such flag", c.CommandPath())
		if replaced := instead("--" + key); replaced != "" {
			message = "was removed: " + replaced
		} else if near := nearest.Of(key, known); near != "" {
			message += "; did you mean " + near + "?"
		}
		return errors.New(message)
	}
	f := c.Flags().Lookup(key)
	if f.Changed { // the command line wins
		return nil
	}
	list, several := f.Value.(pflag.SliceValue)
	sequence, isList := node.(*ast.SequenceNode)
	var texts []string
	var err error
	switch {
	case isList && !several:
		err = errors.New("a list")
	case isList:
		for _, element := range sequence.Values {
			text, ok := scalar(element)
			if !ok {
				return fmt.Errorf("expected %s in the list, found %s", Expected(f), text)
			}
			texts = append(texts, text)
		}
		if err = list.Replace(texts); err != nil {
			err = fmt.Errorf("%q", texts)
		}
	default:
		text, ok := scalar(node)
		if !ok {
			err = errors.New(text)
		} else if f.Value.Set(text) != nil {
			err = fmt.Errorf("%q", visible.Start(text, 40))
		}
	}
	if err != nil {
		expected := Expected(f)
		if several {
			expected += ", or a list"
		}
		return fmt.Errorf("expected %s, found %w", expected, err)
	}
	f.Changed = true
	return nil
}

// entriesOf returns the entries of a map; an empty file is an empty map.
func entriesOf(node ast.Node) ([]*ast.MappingValueNode, bool) {
	switch n := node.(type) {
	case *ast.MappingNode:
		return n.Values, true
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}, true
	case *ast.NullNode, nil:
		return nil, true
	}
	return nil, false
}

// scalar returns a value as it is written, without quotes, or what there is in place of a value.
func scalar(node ast.Node) (text string, ok bool) {
	switch n := node.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value, true
	case *ast.NullNode, nil:
		return "nothing", false
	case *ast.SequenceNode:
		return "a list", false
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a map", false
	}
	return node.String(), false
}
