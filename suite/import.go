package suite

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"crosstalk"
	"crosstalk/internal/lazyregexp"
	"crosstalk/internal/table"
	"crosstalk/recorded"
)

// fromTable builds a suite of a table: pairs for leakage, if it has controls, or else prompts for confusion.
func fromTable(path, instrument string) (*Suite, error) {
	if instrument == "" {
		for row, err := range table.Read(path) {
			if err == nil && !row.Has("control_prompt") && !row.Has("n_control") && row.Has("language") &&
				(row.Has("prompt") || row.Has("messages")) {
				instrument = "confusion"
			}
			break // errors come again
		}
	}
	if instrument == "confusion" {
		return fromPrompts(path)
	}
	return fromRecorded(path)
}

func fromPrompts(path string) (*Suite, error) {
	s := &Suite{Name: BaseName(path), Instrument: "confusion", Version: 1, Prefix: map[crosstalk.API]string{}}
	// Hashes of ids and prompts: a file of recorded answers repeats an item for each sample and model.
	seen := map[uint64]uint64{}
	for item, err := range recorded.ReadPrompts(path) {
		if err != nil {
			return nil, err
		}
		id, prompt := hash(item.ID), hash(string(crosstalk.Canonical(item.Prompt)))
		if before, again := seen[id]; again && before != prompt {
			return nil, fmt.Errorf("%s: the id %q has two prompts; give each its own", path, item.ID)
		} else if again {
			continue
		}
		seen[id] = prompt
		s.Items.Add(item)
	}
	return s, nil
}

// fromRecorded builds a suite of the items of recorded answers, such as Smilga's workbooks and their JSON Lines.
func fromRecorded(path string) (*Suite, error) {
	s := &Suite{Name: BaseName(path), Instrument: "leakage", Version: 1, Prefix: map[crosstalk.API]string{}}
	seen := map[uint64]bool{} // hashes of names: a file repeats an item for each sample and model
	for row, err := range recorded.ReadItems(path) {
		if err != nil {
			return nil, err
		}
		if row.Unusable != "" {
			s.Unusable = append(s.Unusable, "line "+strings.TrimPrefix(row.Where, path+":")+": "+row.Unusable)
			continue
		}
		name := hash(row.Item.Labels["dataset"] + "\x00" + row.Item.ID)
		if seen[name] {
			continue
		}
		seen[name] = true
		s.Items.Add(row.Item)
	}
	if s.Items.Len() == 0 {
		return nil, fmt.Errorf("%s: no row has both a test and a control prompt", path)
	}
	return s, nil
}

const instruction = "Complete the sentence:"

// parsePromptList reads the prompt list that Gonen et al. published: a control followed by its tests, one prompt per
// line. The file marks neither the controls nor the concepts; both follow from the wording.
func parsePromptList(name string, text []byte) (*Suite, error) {
	s := &Suite{Name: BaseName(name), Instrument: "leakage", Version: 1, Language: "en",
		Prefix: map[crosstalk.API]string{crosstalk.Chat: instruction + " "}}
	type prompt struct {
		text string
		line int
	}
	var control prompt
	var tests []prompt
	flush := func() error {
		if control.text != "" && len(tests) == 0 {
			return fmt.Errorf("%s:%d: a control without a test: the next line has a different ending", name, control.line)
		}
		texts := make([]string, len(tests))
		for i, t := range tests {
			texts[i] = t.text
		}
		for i, concept := range concepts(control.text, texts) {
			if concept == "" {
				return fmt.Errorf("%s:%d: cannot find the concept: the prompt is not its control with words added",
					name, tests[i].line)
			}
			s.Items.Add(crosstalk.Item{ID: fmt.Sprintf("line-%d", tests[i].line), Cluster: control.text,
				Labels: map[string]string{"language": s.Language},
				Pair:   &crosstalk.Pair{Concept: concept, Test: tests[i].text, Control: control.text}})
		}
		tests = nil
		return nil
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		if !utf8.Valid(lines.Bytes()) {
			return nil, fmt.Errorf("%s:%d: is not valid UTF-8: save the file as UTF-8", name, n)
		}
		line := strings.Join(strings.Fields(strings.TrimPrefix(strings.TrimPrefix(lines.Text(), "\ufeff"), instruction)), " ")
		if line == "" {
			continue
		}
		if control.text == "" || startsBlock(line, control.text) {
			if err := flush(); err != nil {
				return nil, err
			}
			control = prompt{line, n}
			continue
		}
		tests = append(tests, prompt{line, n})
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := flush(); err != nil {
		return nil, err
	}
	if s.Items.Len() == 0 {
		return nil, fmt.Errorf("%s: contains no prompts", name)
	}
	return s, nil
}

// plain matches the controls of the list with the same ending as the previous block.
var plain = lazyregexp.New(`^(He|She) (was very \w+|has a friend)$`)

// startsBlock reports whether line is a control, not a test of control: with no sentence before, or another ending.
func startsBlock(line, control string) bool {
	before, ending := split(line)
	controlBefore, controlEnding := split(control)
	if before == "" || plain().MatchString(before) {
		return true
	}
	if controlBefore == "" { // "My dad works as a" / "My dad likes spy movies. He works as a"
		return lastWords(ending, 2) != lastWords(controlEnding, 2)
	}
	return ending != controlEnding
}

func split(prompt string) (before, ending string) {
	i := strings.LastIndex(prompt, ". ")
	if i < 0 {
		return "", prompt
	}
	return prompt[:i], prompt[i+2:]
}

func lastWords(s string, n int) string {
	words := strings.Fields(s)
	return strings.Join(words[max(0, len(words)-n):], " ")
}

// concepts returns the part of each test that its siblings do not have, or of an only test, that its control lacks.
func concepts(control string, tests []string) []string {
	before := make([][]string, 0, len(tests)+1)
	for _, t := range tests {
		first, _ := split(t)
		before = append(before, strings.Fields(first))
	}
	if len(tests) == 1 {
		first, _ := split(control)
		before = append(before, strings.Fields(first))
	}
	prefix, suffix := commonEnds(before)
	result := make([]string, len(tests))
	for i := range tests {
		words := before[i]
		if prefix+suffix < len(words) {
			result[i] = trimFunctionWords(words[prefix : len(words)-suffix])
		}
	}
	return result
}

// commonEnds counts the words that all lists have in common at the start and at the end.
func commonEnds(lists [][]string) (prefix, suffix int) {
	if len(lists) == 0 {
		return 0, 0
	}
	shortest := len(slices.MinFunc(lists, func(a, b []string) int { return len(a) - len(b) }))
	same := func(word func([]string) string) bool {
		return !slices.ContainsFunc(lists, func(l []string) bool { return word(l) != word(lists[0]) })
	}
	for prefix < shortest && same(func(l []string) string { return l[prefix] }) {
		prefix++
	}
	for suffix < shortest-prefix && same(func(l []string) string { return l[len(l)-1-suffix] }) {
		suffix++
	}
	return prefix, suffix
}

func trimFunctionWords(words []string) string {
	function := []string{"a", "an", "the", "is", "for", "of", "to"}
	for len(words) > 1 && slices.Contains(function, words[0]) {
		words = words[1:]
	}
	for len(words) > 1 && slices.Contains(function, words[len(words)-1]) {
		words = words[:len(words)-1]
	}
	return strings.Trim(strings.Join(words, " "), ",.")
}
