// Package lazyregexp compiles regular expressions when they are first used. Those
// of a program that starts are many, and few of them match anything.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns what compiles an expression at its first call. It panics there if the expression is invalid.
func New(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
