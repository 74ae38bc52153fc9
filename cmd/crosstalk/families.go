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

// Decode implements config.Structured.
func (f families) Decode(file string, list ast.Node) (set func(), err error) {
	decoded, err := model.DecodeFamilies(file, list)
	return func() { *f.list = decoded }, err
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
