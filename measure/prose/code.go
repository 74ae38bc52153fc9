package prose

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// isCodeLine reports whether a line outside a fence is code, a command, JSON or a log entry: it must be plain ASCII for
// the most part and have a program's punctuation.
func isCodeLine(s string) bool {
	if len(s) < 2 {
		return false
	}
	switch s[0] {
	case '{', '}', '[', ']':
		return strings.ContainsAny(s[len(s)-1:], "{}[],;") && (len(s) < 4 || strings.ContainsAny(s, `":=`)) || isLog(s)
	case '$':
		return s[1] == ' '
	case '<':
		return s[len(s)-1] == '>' && !tagged(s)
	}
	if !ascii(s) {
		return isLog(s)
	}
	first, rest, _ := strings.Cut(s, " ")
	if name := strings.TrimRight(first, ":"); name != first && isException(name) {
		return true
	}
	last := s[len(s)-1]
	if commands[first] && rest != "" && strings.IndexByte(".!?:", last) < 0 && len(strings.Fields(rest)) <= 12 &&
		looksTyped(rest) {
		return true
	}
	if (last == ';' || last == '{' || last == '}') && strings.ContainsAny(s, "()=<>") {
		return true
	}
	starts := []string{"import ", "from ", "def ", "const ", "#include ", "SELECT ", "at java.", "Traceback ("}
	for _, p := range starts {
		if strings.HasPrefix(s, p) && (strings.ContainsAny(s, "()=*\"<{;,") || p == "import ") && last != '.' {
			return true
		}
	}
	return isLog(s)
}

// tagged reports whether a line that begins and ends with tags has prose between them, as answers in HTML do: a few
// words, or one that is not plain ASCII. Less may be a label in code.
func tagged(s string) bool {
	const few = 4
	n := 0
	for rest := s; rest != ""; {
		text, tag, _ := strings.Cut(rest, "<")
		if !ascii(text) {
			return true
		}
		n += len(strings.Fields(text))
		_, rest, _ = strings.Cut(tag, ">")
	}
	return n >= few
}

// jsonKey returns the length of a JSON key, with its colon, that a line begins with: what follows may be prose.
func jsonKey(s string) int {
	if s[0] != '"' || !strings.ContainsAny(s[len(s)-1:], "{[,\"}]0123456789le") {
		return 0
	}
	key, rest, ok := strings.Cut(s[1:], `"`)
	if ok && len(key) < 60 && strings.HasPrefix(strings.TrimLeft(rest, " "), ":") {
		return 2 + len(key) + strings.IndexByte(rest, ':') + 1
	}
	return 0
}

// isSetting reports whether a line is a key in lower case with a short value, as in YAML: "retries: 5".
func isSetting(s string) bool {
	key, value, ok := strings.Cut(strings.TrimSpace(s), ":")
	key = strings.TrimPrefix(key, "- ")
	if !ok || key == "" || !ascii(s) || strings.Trim(key, "abcdefghijklmnopqrstuvwxyz0123456789_-.") != "" {
		return false
	}
	return value == "" ||
		value[0] == ' ' && (len(strings.Fields(value)) <= 2 || strings.IndexByte("\"'[{", value[1]) >= 0)
}

// looksTyped reports whether the arguments of a command look typed at a prompt.
func looksTyped(rest string) bool {
	if strings.ContainsAny(rest, "-/.=|>~_$:@*") {
		return true
	}
	verb, more, _ := strings.Cut(rest, " ")
	return verbs[verb] || commands[verb] && more != ""
}

// isException reports whether a word is the name of a kind of error: "KeyError".
func isException(w string) bool {
	return len(w) > 5 && strings.HasSuffix(w, "Error") || len(w) > 9 && strings.HasSuffix(w, "Exception")
}

// isLog reports whether a line begins with a time stamp or names a level.
func isLog(s string) bool {
	if len(s) < 12 {
		return false
	}
	s = strings.TrimLeft(s, "[")
	stamp := 0
	for _, c := range []byte(s[:min(len(s), 19)]) {
		if strings.IndexByte("0123456789-:T/ .", c) < 0 {
			break
		}
		if '0' <= c && c <= '9' {
			stamp++
		}
	}
	levels := []string{"ERROR", "WARN", "INFO", "DEBUG", "FATAL", "TRACE"}
	return stamp >= 12 || stamp >= 4 && slices.ContainsFunc(levels, func(l string) bool { return strings.Contains(s, l) })
}

func ascii(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}
