// Package lexicon reads lists of words from text files that are embedded in the program and edited by hand:
//
//	# a comment
//	colours: red green blue
//		yellow, on an indented continuation line
package lexicon

import "strings"

// Parse returns the lists of a file by their names. The lines of a list are joined by spaces.
func Parse(file string) map[string]string {
	lists, name := map[string]string{}, ""
	for line := range strings.Lines(file) {
		text := strings.TrimSpace(line)
		switch {
		case text == "" || text[0] == '#':
		case line[0] == '\t':
			lists[name] = strings.TrimSpace(lists[name] + " " + text)
		default:
			name, text, _ = strings.Cut(text, ":")
			lists[name] = strings.TrimSpace(text)
		}
	}
	return lists
}

// Set returns the words of a list.
func Set(list string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		set[word] = true
	}
	return set
}
