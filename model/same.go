package model

import (
	"strings"

	"crosstalk/internal/lazyregexp"
)

var (
	// version matches what a provider adds to a model's name when it says which snapshot answered: a date or a number.
	version = lazyregexp.New(`[-@_:](?:v?\d{8}|\d{6}|\d{4}-\d{2}-\d{2}|\d{2}-\d{2,4}|\d{4}|\d{3}|` +
		`v\d+(?::\d+)?|preview(?:-\d{2}-\d{2,4})?)$`)
	// alias matches what a name ends in that leaves the snapshot to the provider.
	alias = lazyregexp.New(`[-:](?:latest|preview|free|nitro|floor|online)$`)
	// file matches what the name of a model's file ends in.
	file = lazyregexp.New(`(?:[-.]q\d\w*|[-.]f16|[-.]bf16|[-.]f32)?\.gguf$`)
)

// SameModel reports whether the model that a server says answered is the one that was asked for: its name, a dated
// snapshot of it, or its file. Where the name asks for a snapshot, another one is another model. A server that does
// not say is believed. The name of a deployment (Azure) tells nothing of the model behind it.
func SameModel(asked, served string) bool {
	asked, served = plainName(asked), plainName(served)
	if served == "" || asked == served {
		return true
	}
	bare, plain := alias().ReplaceAllString(asked, ""), alias().ReplaceAllString(served, "")
	if bare == served || bare == plain || snapshot(served, bare) || snapshot(plain, bare) {
		return true
	}
	return snapshot(asked, served) // asked for by date, and named without
}

// snapshot reports whether name is base with a version after it.
func snapshot(name, base string) bool {
	for cut := version().ReplaceAllString(name, ""); cut != name; name, cut = cut, version().ReplaceAllString(cut, "") {
		if cut == base {
			return true
		}
	}
	return false
}

// plainName is a model's name without its owner, path and file ending.
func plainName(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	name = strings.TrimRight(strings.ReplaceAll(name, `\`, "/"), "/")
	name = name[strings.LastIndexByte(name, '/')+1:]
	name = vendor().ReplaceAllString(name, "")
	return file().ReplaceAllString(name, "")
}
