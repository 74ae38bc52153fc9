package recorded

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"iter"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"crosstalk"
	"crosstalk/internal/table"
	"crosstalk/measure/langid"
)

// Confusion is an answer that should be in one language.
type Confusion struct {
	Where    string // file:line
	ID       string // of the row, or of the turn in a conversation; empty if not in the file
	Model    string // empty if not in the file
	Item     crosstalk.Item
	Sample   int
	Answer   crosstalk.Answer
	Said     []string // the user's messages before the answer
	Rules    string   // the system messages before it
	Expect   string   // Reading.Expect, or what Reading.Suit made of it
	Unjudged string   // why the expected language is unknown; the item's is then empty
}

// Confusion yields the answers of a file: a table (table.Formats) with one row per answer; or chat logs, or logs of
// lm-evaluation-harness, Inspect or promptfoo. docs/recorded.md describes them.
//
// The columns of a table are completion and language, and optionally model, task, source, id, prompt and sample.
// The language is a BCP 47 tag (fr, zh-TW; see LanguageOf). Other text columns become labels, as do task, source
// and language. An answer with a prompt also gets the label length (crosstalk.LengthOf), if it has none.
//
// Rows with the same source and id answer one prompt, possibly in several languages, and form a cluster. Without an
// id the prompt identifies it; without a prompt every row is independent. The answers of a conversation form a
// cluster. Memory does not grow with the rows.
func (r Reading) Confusion(path string) iter.Seq2[Confusion, error] {
	return func(yield func(Confusion, error) bool) {
		f, err := r.Open(path)
		if err != nil {
			yield(Confusion{}, err)
			return
		}
		defer f.Close()
		f.Confusion(yield)
	}
}

// Confusion yields the answers of the file: see Reading.Confusion.
func (f *File) Confusion(yield func(Confusion, error) bool) {
	r := f.reading
	for a, err := range r.replies(f.Path, r.FileName.named(f.Path, f.rows())) {
		var c Confusion
		if err == nil {
			c, err = r.confusion(a)
		}
		if !yield(c, err) || err != nil {
			return
		}
	}
}

// Columns of a confusion item: those that do not become labels, and all with a meaning.
var (
	confusionContents = []string{"id", "model", "prompt", "completion", "sample"}
	confusionTexts    = append(slices.Clone(confusionContents), "language", "task", "source")
)

func (r Reading) confusion(a answered) (Confusion, error) {
	r.Expect = a.expect
	v := a.Values
	c := Confusion{Where: where(a.Row), ID: v["id"], Model: v["model"], Answer: Answer(v["completion"]),
		Said: a.turns, Rules: a.rules, Expect: a.expect}
	switch {
	case a.failed:
		c.Answer = crosstalk.Answer{Status: crosstalk.Failed}
	case a.mixed:
		c.Answer.Reason = crosstalk.Mixed
	case a.reasoning != "":
		c.Answer.Reasoning = strings.TrimSpace(a.reasoning + "\n\n" + c.Answer.Reasoning)
		if c.Answer.Status == crosstalk.Empty {
			c.Answer.Reason = crosstalk.Thinking
		}
	}
	err := cmp.Or(refuseLists(a.Row, confusionTexts), refuseObjects(a.Row))
	if err != nil {
		return c, err
	}
	for _, column := range []string{"completion", "language"} { // of each line of JSON
		if !a.Has(column) && (column == "completion" || r.Expect == "") {
			return c, a.HeaderErrorf("has no column %q; expected completion and language, "+
				"and optionally model, task, source, id, prompt, sample", column)
		}
	}
	if c.Sample, _, err = numberIn(a.Row, "sample", 0); err != nil {
		return c, err
	}
	labels := labelsOf(v, confusionContents)
	p := &crosstalk.Prompt{Text: v["prompt"]}
	labels["language"], c.Unjudged = r.expected(p, v["language"], a.turns)
	if length := crosstalk.LengthOf(v["prompt"]); length != "" && !a.Has("length") {
		labels["length"] = length
	}
	c.Item = ConfusionItem(labels, cmp.Or(v["id"], v["prompt"]), p)
	if a.cluster != "" {
		c.Item.Cluster = join(labels["source"], a.cluster)
	}
	return c, nil
}

// ConfusionItem returns the item of a prompt with this name within its task, source and language. Prompts with the
// same source and name form a cluster. Without a name it has no id.
func ConfusionItem(labels map[string]string, name string, p *crosstalk.Prompt) crosstalk.Item {
	item := crosstalk.Item{Labels: labels, Prompt: p}
	if name != "" {
		item.Cluster = join(labels["source"], name)
		item.ID = join(labels["task"], labels["source"], labels["language"], name)
	}
	return item
}

// join joins the non-empty parts with slashes.
func join(names ...string) string {
	return strings.Join(slices.DeleteFunc(names, func(s string) bool { return s == "" }), "/")
}

// LanguageOf returns the identifiers' label for the language of a BCP 47 tag: its ISO 639-1 code if it has one. If
// the tag asks for a script (langid.Script), scripted is the tag.
func LanguageOf(tag string) (code, scripted string, err error) {
	code, t, err := langid.Parse(tag)
	if err == nil && langid.Script(t) != "" {
		scripted = t.String()
	}
	return code, scripted, err
}

// Undetermined is the BCP 47 tag of a language that is unknown.
const Undetermined = "und"

// expected returns the language that an answer should be in, as stated in the file or by the policy, and sets the
// prompt's language. If a language is unknown, it is empty, and unjudged gives the reason.
func (r Reading) expected(p *crosstalk.Prompt, stated string, turns []string) (tag, unjudged string) {
	switch r.Expect {
	case "":
		if strings.TrimSpace(stated) == "" {
			return Undetermined, "no language is given"
		}
		tag = stated
	case ExpectUser:
		tag = r.Identify(turns...)
	case ExpectPrompt:
		tag = r.Identify(strings.Join(recent(turns), "\n"))
	default:
		tag = r.Expect
	}
	if tag == "" {
		return Undetermined, "the language of the prompt cannot be told"
	}
	var err error
	if p.Language, p.Tag, err = LanguageOf(tag); err != nil {
		unjudged = err.Error()
	}
	return tag, unjudged
}

// mostBytes limits how much of a conversation is identified for each answer, as the time grows with its square.
const mostBytes = 16 << 10

// recent returns the last turns of at most mostBytes together, but at least one.
func recent(turns []string) []string {
	first, bytes := len(turns), 0
	for first > 0 && (bytes == 0 || bytes+len(turns[first-1]) <= mostBytes) {
		first--
		bytes += len(turns[first])
	}
	return turns[first:]
}

// CheckExpect returns an error unless a text is a policy or a language.
func CheckExpect(expect string) error {
	if slices.Contains([]string{"", ExpectUser, ExpectPrompt}, expect) {
		return nil
	}
	if _, _, err := LanguageOf(expect); err != nil {
		return crosstalk.BadOption("language", " is %q; expected user, prompt or a language, such as en or pt-BR",
			cmp.Or(expect, "''"))
	}
	return nil
}

// FileName specifies which columns are in the names of files: {dataset}_prompts_{model}.
type FileName struct {
	pattern string
	columns []string
	match   *regexp.Regexp
}

var nameColumn = regexp.MustCompile(`\{([^{}]*)\}`)

// ParseFileName reads a pattern: a file's name without folder and extensions, with column names in braces. A column's
// value is as short as possible, but not empty. It returns nil for an empty pattern.
func ParseFileName(pattern string) (*FileName, error) {
	if pattern == "" {
		return nil, nil
	}
	n := &FileName{pattern: pattern}
	expression, at := "^", 0
	for _, m := range nameColumn.FindAllStringSubmatchIndex(pattern, -1) {
		column := strings.TrimSpace(pattern[m[2]:m[3]])
		if column == "" || slices.Contains(n.columns, column) {
			return nil, fmt.Errorf("%q has a column without a name, or twice; expected a pattern such as "+
				"{dataset}_prompts_{model}", pattern)
		}
		n.columns = append(n.columns, column)
		expression += regexp.QuoteMeta(pattern[at:m[0]]) + "(.+?)"
		at = m[1]
	}
	if n.columns == nil {
		return nil, fmt.Errorf("%q has no column in braces; expected a pattern such as {dataset}_prompts_{model}", pattern)
	}
	n.match = regexp.MustCompile(expression + regexp.QuoteMeta(pattern[at:]) + "$")
	return n, nil
}

func (n *FileName) values(path string) (map[string]string, error) {
	name := strings.TrimSuffix(filepath.Base(path), ".gz")
	name = strings.TrimSuffix(name, filepath.Ext(name))
	m := n.match.FindStringSubmatch(name)
	if m == nil {
		return nil, fmt.Errorf("%s: the file's name is not of the form %s", path, n.pattern)
	}
	values := map[string]string{}
	for i, column := range n.columns {
		values[column] = m[i+1]
	}
	return values, nil
}

// named adds the columns in a file's name to rows that have no value for them.
func (n *FileName) named(path string, rows iter.Seq2[table.Row, error]) iter.Seq2[table.Row, error] {
	if n == nil {
		return rows
	}
	return func(yield func(table.Row, error) bool) {
		values, err := n.values(path)
		if err != nil {
			yield(table.Row{}, err)
			return
		}
		for row, err := range rows {
			if err == nil && !row.Blank() {
				for column, value := range values {
					if strings.TrimSpace(row.Values[column]) == "" {
						row.Values[column] = value
					}
				}
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

// ReadPrompts yields the prompts of a table, one per row, as confusion items. The columns are language and prompt or
// messages, and optionally system, id, task and source. Every other text column becomes a label. Messages are a list
// of objects with role and content, the last of them the user's; in CSV they are JSON.
//
// Items are named like recorded answers (ConfusionItem), so that they can be paired; without an id, the prompt is the
// name.
func ReadPrompts(path string) iter.Seq2[crosstalk.Item, error] {
	needed := func(column string) bool {
		return slices.Contains(promptContents, column) || slices.Contains(confusionTexts, column)
	}
	return rowsOf(table.ReadNeeding(path, needed), path, readPrompt)
}

// Columns that do not become labels of a prompt. Files of recorded answers are suites too.
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

// precede reads the messages before both prompts of a pair: the columns system and messages.
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

// nameOf names a prompt without an id by its text. If that is long or incomplete, it adds a hash of the whole prompt.
func nameOf(p *crosstalk.Prompt) string {
	const most = 60
	if len(p.Before) == 0 && utf8.RuneCountInString(p.Text) <= most {
		return p.Text
	}
	h := fnv.New64a()
	h.Write(crosstalk.Canonical(p.Before))
	h.Write([]byte(p.Text))
	start := []rune(p.Text)
	return fmt.Sprintf("%s#%08x", string(start[:min(len(start), most)]), h.Sum64()>>32)
}
