// Package replay provides recorded answers as a model.
package replay

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"crosstalk"
	"crosstalk/ask/journal"
	"crosstalk/internal/table"
	"crosstalk/model/settle"
)

// Model answers each request with the answer recorded for its text and sample.
type Model struct {
	name   string
	api    crosstalk.API
	exact  map[[sha256.Size]byte]crosstalk.Answer // by the whole request; journals only
	byText map[place]entry
	sum    hash.Hash
	models []string // whose answers were recorded
}

type place struct {
	text   string
	sample int
}

type entry struct {
	answer    crosstalk.Answer
	where     string
	ambiguous bool // a journal has several answers to requests with other settings
}

// Open reads the answers at path: a run's directory, its journal, or a file of records (table.Formats) with the
// columns prompt, answer (or completion, or text), and optionally sample and model. Without a sample column, rows
// with the same prompt are numbered; an answer that is a list is one sample per entry. If there are answers of
// several models, path#model selects one. The API is api, or as recorded, or Chat. Thoughts in a recorded answer are
// separated from it.
//
// The model's identity contains a hash of the content: with other answers it is another model.
func Open(path string, api crosstalk.API) (*Model, error) {
	m := &Model{api: api, exact: map[[sha256.Size]byte]crosstalk.Answer{}, byText: map[place]entry{}, sum: sha256.New()}
	only := ""
	if i := strings.LastIndexByte(path, '#'); i > 0 {
		if _, err := os.Stat(path); err != nil {
			path, only = path[:i], path[i+1:]
		}
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		err = m.readJournal(filepath.Join(path, journal.Name), only)
	case err == nil && filepath.Ext(path) == filepath.Ext(journal.Name):
		err = m.readJournal(path, only)
	default: // table's error if the file does not exist
		err = m.readTable(path, only)
	}
	if err != nil {
		return nil, err
	}
	slices.Sort(m.models)
	switch {
	case len(m.models) > 1:
		return nil, fmt.Errorf("%s: has answers of %d models; name one, as in replay:%s#%s (choose one of %s)",
			path, len(m.models), path, m.models[0], strings.Join(m.models, ", "))
	case len(m.byText) == 0 && only != "":
		return nil, fmt.Errorf("%s: has no answers of a model %q", path, only)
	case len(m.byText) == 0:
		return nil, fmt.Errorf("%s: has no answers", path)
	}
	if m.api == "" {
		m.api = crosstalk.Chat
	}
	m.name = fmt.Sprintf("%s@%x", filepath.Base(path), m.sum.Sum(nil)[:4])
	return m, nil
}

func (m *Model) Identity() crosstalk.Identity {
	return crosstalk.Identity{Provider: "replay", Name: m.name}
}

func (m *Model) API() crosstalk.API { return m.api }

// Answer implements crosstalk.Model: it returns the answer recorded for an equal request, or for its text and sample.
func (m *Model) Answer(ctx context.Context, req crosstalk.Request) (crosstalk.Answer, error) {
	if err := ctx.Err(); err != nil {
		return crosstalk.Answer{}, context.Cause(ctx)
	}
	if a, found := m.exact[sha256.Sum256(crosstalk.Canonical(req))]; found {
		return a, nil
	}
	e, found := m.byText[place{req.Text(), req.Sample}]
	switch {
	case !found:
		return crosstalk.Answer{}, m.rejected(req, "no answer was recorded")
	case e.ambiguous:
		return crosstalk.Answer{}, m.rejected(req, "several answers were recorded, none under these settings,")
	}
	return e.answer, nil
}

func (m *Model) rejected(req crosstalk.Request, what string) error {
	return &crosstalk.AskError{Fault: crosstalk.Rejected,
		Message: fmt.Sprintf("%s: %s for sample %d of the prompt %s", m.Identity(), what, req.Sample, short(req.Text()))}
}

func short(text string) string {
	if r := []rune(text); len(r) > 200 {
		text = string(r[:200]) + "…"
	}
	return strconv.Quote(text)
}

// add adds an answer recorded at where. Repeated answers are merged if equal; if not, in a journal they are
// ambiguous, in a file an error.
func (m *Model) add(at place, a crosstalk.Answer, where string, journalled bool) error {
	fmt.Fprintf(m.sum, "%q %d %q %q\n", at.text, at.sample, a.Status, a.Text)
	first, again := m.byText[at]
	switch {
	case !again:
		m.byText[at] = entry{answer: a, where: where}
	case journalled && (first.answer.Text != a.Text || first.answer.Status != a.Status):
		first.ambiguous = true
		m.byText[at] = first
	case !journalled:
		return fmt.Errorf("%s: duplicate sample %d of the prompt %s (first in %s)", where, at.sample, short(at.text),
			first.where)
	}
	return nil
}

func (m *Model) wants(model, only string) bool {
	if only != "" && model != only {
		return false
	}
	if !slices.Contains(m.models, model) {
		m.models = append(m.models, model)
	}
	return true
}

func (m *Model) readJournal(path, only string) error {
	j, err := journal.OpenReader(path)
	if err != nil {
		return err
	}
	defer j.Close()
	for r, err := range j.All() {
		if err != nil {
			return err
		}
		if r.Answer.Status == crosstalk.Failed || !m.wants(r.Identity.String(), only) {
			continue
		}
		if m.api == "" {
			m.api = r.Request.API
		}
		r.Answer = settle.Recorded(r.Answer)
		m.exact[sha256.Sum256(crosstalk.Canonical(r.Request))] = r.Answer
		if err := m.add(place{r.Request.Text(), r.Request.Sample}, r.Answer, path, true); err != nil {
			return err
		}
	}
	return nil
}

func (m *Model) readTable(path, only string) error {
	next := map[string]int{} // prompt -> the next sample
	for row, err := range table.Read(path) {
		if err != nil {
			return err
		}
		answers := []string{"answer", "completion", "text"}
		at := slices.IndexFunc(answers, row.Has)
		if at < 0 || !row.Has("prompt") {
			return row.Errorf("expected the columns prompt and answer (or completion, or text); found %s",
				strings.Join(row.Columns, ", "))
		}
		model, prompt := row.Values["model"], row.Values["prompt"]
		if !m.wants(model, only) {
			continue
		}
		if prompt == "" {
			return row.Errorf("the prompt is empty")
		}
		sample := next[prompt]
		if s := row.Values["sample"]; s != "" {
			if sample, err = strconv.Atoi(s); err != nil || sample < 0 {
				return row.Errorf("sample is %q; expected a whole number from 0", s)
			}
		}
		texts, isList := row.Lists[answers[at]]
		if !isList {
			texts = []string{row.Values[answers[at]]}
		}
		for i, text := range texts {
			a := crosstalk.Answer{Status: settle.Kind(text), Text: text, Model: model}
			if err := m.add(place{prompt, sample + i}, settle.Recorded(a), fmt.Sprintf("%s:%d", row.File, row.Line),
				false); err != nil {
				return err
			}
		}
		next[prompt] = sample + len(texts)
	}
	return nil
}
