package recorded

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"hash/fnv"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"crosstalk"
	"crosstalk/internal/table"
)

// ReadPrompts yields the prompts of a table, one per row, as confusion items: the columns are language and prompt
// or messages, and optionally system, id, task and source. Every other text column becomes a label. Messages are a
// list of objects with role and content, the last of them the user's; in CSV they are JSON.
//
// Items are named as recorded answers are (ConfusionItem), so that both can be
// paired; without an id, the prompt names the item, shortened if it is long.
func ReadPrompts(path string) iter.Seq2[crosstalk.Item, error] {
	needed := func(column string) bool {
		return slices.Contains(promptContents, column) || slices.Contains(confusionTexts, column)
	}
	return rowsOf(table.ReadNeeding(path, needed), path, readPrompt)
}

// Columns that are not labels of a prompt. Files of recorded answers are suites too.
var promptContents = append(slices.Clone(confusionContents), "system", messagesColumn)

func readPrompt(row table.Row) (item crosstalk.Item, err error) {
	v := row.Values
	if !row.Has("language") || !row.Has("prompt") && !row.Has(messagesColumn) {
		return item, row.HeaderErrorf("expected the columns language, and prompt or messages, "+
			"and optionally system, id, task, source; the columns are %s", list(row, v))
	}
	if err := refuseLists(row, append(slices.Clone(confusionTexts), "system")); err != nil {
		return item, err
	}
	p := &crosstalk.Prompt{Text: v["prompt"]}
	if p.Language, p.Tag, err = LanguageOf(v["language"]); err != nil {
		return item, row.Errorf("%w", err)
	}
	if p.Before, err = precede(row); err != nil {
		return item, err
	}
	if row.Lists[messagesColumn] != nil || v[messagesColumn] != "" {
		n := len(p.Before)
		switch {
		case strings.TrimSpace(p.Text) != "":
			return item, row.Errorf("has a prompt and messages; expected one of them")
		case n == 0 || p.Before[n-1].Role != user:
			return item, row.Errorf("messages do not end with one of the user, which is to be answered")
		}
		p.Before, p.Text = p.Before[:n-1:n-1], p.Before[n-1].Content
	}
	if strings.TrimSpace(p.Text) == "" {
		return item, row.Errorf("the prompt is empty")
	}
	labels := labelsOf(v, promptContents)
	if length := crosstalk.LengthOf(p.Text); length != "" && !row.Has("length") {
		labels["length"] = length
	}
	return ConfusionItem(labels, cmp.Or(v["id"], nameOf(p)), p), nil
}

// precede reads what precedes both prompts of a pair: the column system, and messages.
func precede(row table.Row) (before []crosstalk.Message, err error) {
	messages, left, err := messagesIn(row)
	if err == nil && left > 0 {
		err = row.Errorf("messages have parts other than text, such as calls of tools, which cannot be asked")
	}
	if err != nil {
		return nil, err
	}
	if s := row.Values["system"]; strings.TrimSpace(s) != "" {
		before = append(before, crosstalk.Message{Role: system, Content: s})
	}
	for _, m := range messages {
		if m.role == system && len(before) > 0 {
			return nil, row.Errorf("expected one system message, before all others")
		}
		before = append(before, crosstalk.Message{Role: m.role, Content: m.text})
	}
	return before, nil
}

// nameOf names a prompt without an id by its text, and by a hash of all of it if that is long or does not say all.
func nameOf(p *crosstalk.Prompt) string {
	const most = 60
	if len(p.Before) == 0 && utf8.RuneCountInString(p.Text) <= most {
		return p.Text
	}
	h := fnv.New64a()
	h.Write(crosstalk.Canonical(p.Before))
	h.Write([]byte(p.Text))
	start := []rune(p.Text)
	sum := binary.BigEndian.AppendUint64(nil, h.Sum64())
	return string(start[:min(len(start), most)]) + "#" + hex.EncodeToString(sum[:4])
}
