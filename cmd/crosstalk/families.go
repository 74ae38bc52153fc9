package main

import (
	"strings"

	"crosstalk/internal/config"
	"crosstalk/model"

	"github.com/goccy/go-yaml/ast"
)

var _ config.Structured = families{}

// families is a flag's list of what models take and refuse: the entries of a
// file, or those in crosstalk.yaml.
type families struct{ list *[]model.Family }

// Set implements pflag.Value.
func (f families) Set(file string) (err error) {
	*f.list, err = model.ReadFamilies(file)
	return err
}

// Check implements config.Structured.
func (f families) Check(file string, list ast.Node) error {
	_, err := model.DecodeFamilies(file, list)
	return err
}

// SetNode implements config.Structured.
func (f families) SetNode(file string, list ast.Node) (err error) {
	*f.list, err = model.DecodeFamilies(file, list)
	return err
}

// String implements pflag.Value: the names of the entries.
func (f families) String() string {
	if f.list == nil {
		return ""
	}
	var names []string
	for _, one := range *f.list {
		names = append(names, one.Name)
	}
	return strings.Join(names, "; ")
}

// Type implements pflag.Value.
func (f families) Type() string { return "string" }

// Schema implements config.Structured.
func (f families) Schema() map[string]any { return model.FamiliesSchema() }
