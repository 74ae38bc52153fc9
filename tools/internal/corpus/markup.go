package corpus

import (
	"html"
	"strings"
)

// Elements whose text is no prose, and elements that end a paragraph.
var (
	dropped = Set(`script style pre programlisting screen synopsis svg nav info credit revision legalnotice head code
		aside`)
	blocks = Set(`p li td th tr h1 h2 h3 h4 h5 h6 dt dd div title para listitem entry term caption desc item section
		table ul ol dl br hr body subtitle note figure text blockquote`)
)

// paragraphs calls yield with the paragraphs of HTML, DocBook or Mallard.
func paragraphs(s string, yield func(string)) {
	var b strings.Builder
	flush := func() {
		if text := strings.TrimSpace(html.UnescapeString(b.String())); text != "" {
			yield(text)
		}
		b.Reset()
	}
	for s != "" {
		text, rest, found := strings.Cut(s, "<")
		b.WriteString(text)
		if !found {
			break
		}
		if after, ok := strings.CutPrefix(rest, "!--"); ok {
			_, s, _ = strings.Cut(after, "-->")
			continue
		}
		tag, after, _ := strings.Cut(rest, ">")
		s = after
		name := strings.TrimPrefix(tag, "/")
		name = strings.ToLower(name[:wordEnd(name)])
		switch {
		case dropped[name] && !strings.HasSuffix(tag, "/") && !strings.HasPrefix(tag, "/"):
			if name != "code" {
				flush()
			}
			_, s, _ = strings.Cut(s, "</"+name)
			_, s, _ = strings.Cut(s, ">")
		case blocks[name]:
			flush()
		}
	}
	flush()
}

func wordEnd(s string) int {
	for i := range len(s) {
		if !('a' <= s[i] && s[i] <= 'z' || 'A' <= s[i] && s[i] <= 'Z' || '0' <= s[i] && s[i] <= '9') {
			return i
		}
	}
	return len(s)
}
