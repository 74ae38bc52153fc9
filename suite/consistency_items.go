package suite

import (
	"slices"
	"strings"

	"crosstalk"
)

// itemKeys are the keys of an item besides its fields.
var itemKeys = []string{"id", "category", "cluster", "gold", "texts"}

func (r *taskReader) items(t crosstalk.Task, e taskEntry, line int) error {
	languages, err := r.names("language", e.Languages, line)
	if err != nil {
		return err
	}
	if len(languages) == 0 && r.suite.Language != "" {
		languages = []string{r.suite.Language}
	}
	switch {
	case len(e.Items) > 0 && len(languages) == 0:
		return r.errorf(line, "task %s: the language of its items is unknown; expected language: CODE at the top or "+
			"languages: [CODE, ...]", t.Name)
	case len(e.Items) > 0 && e.Data.line > 0:
		return r.errorf(e.Data.line, "task %s has both items and data; expected one of them", t.Name)
	case len(e.Languages) > 0 && e.Data.value.Files.isMap():
		return r.errorf(e.Languages[0].line, "task %s: files: {...} already names its languages; remove languages", t.Name)
	case e.Data.line > 0:
		return r.data(t, languages, e.Data.value, e.Data.line)
	case len(e.Items) == 0 && !r.partial:
		return r.errorf(line, "task %s has no items", t.Name)
	}
	for i, entry := range e.Items {
		if len(entry) == 0 {
			return r.errorf(line, "task %s: item %d is empty", t.Name, i+1)
		}
		if err := r.item(t, languages, entry); err != nil {
			return err
		}
	}
	return nil
}

func (r *taskReader) item(t crosstalk.Task, languages []string, written inOrder[node]) error {
	line := written[0].line
	item := crosstalk.Item{Labels: map[string]string{"task": t.Name}, Input: &crosstalk.Input{Task: t.Name}}
	var category string
	simple := map[string]*string{"id": &item.ID, "category": &category, "cluster": &item.Cluster}
	for _, kv := range written { // the id first, because messages need it
		if v := simple[kv.key]; v != nil {
			if err := r.get(kv.value, v); err != nil {
				return err
			}
		}
	}
	switch {
	case item.ID == "":
		return r.errorf(line, "an item has no id")
	case r.ids[item.ID] != 0:
		return r.errorf(line, "duplicate id %.40q (first used in line %d)", item.ID, r.ids[item.ID])
	}
	r.ids[item.ID] = line
	fields := map[string]string{}
	for _, kv := range written {
		var err error
		switch {
		case simple[kv.key] != nil:
		case kv.key == "gold":
			item.Input.Gold, err = r.gold(t, item.ID, languages, kv)
		case kv.key == "texts":
			item.Input.Texts, err = r.texts(t, item.ID, languages, kv)
		case !slices.Contains(t.Fields, kv.key):
			err = r.errorf(kv.line, "item %.40s has the unknown field %.40q; expected %s",
				item.ID, kv.key, strings.Join(slices.Concat(itemKeys, t.Fields), ", "))
		case len(languages) > 1:
			err = r.errorf(kv.line, "item %.40s: its task has inputs in %s; expected texts: {LANGUAGE: {%s: ...}}",
				item.ID, strings.Join(languages, ", "), kv.key)
		default:
			var text string
			err = r.get(kv.value, &text)
			fields[kv.key] = text
		}
		if err != nil {
			return err
		}
	}
	if len(fields) > 0 {
		if item.Input.Texts != nil {
			return r.errorf(line, "item %.40s has both texts and fields; expected one of them", item.ID)
		}
		texts, err := r.input(t, item.ID, languages[0], fields, line)
		if err != nil {
			return err
		}
		item.Input.Texts = map[string][]string{languages[0]: texts}
	}
	if item.Input.Texts == nil && !r.partial {
		return r.errorf(line, "item %.40s has no texts; expected %s", item.ID, strings.Join(t.Fields, ", "))
	}
	if item.Cluster == "" {
		item.Cluster = item.ID
	}
	if category != "" {
		item.Labels["category"] = category
	}
	if len(languages) == 1 {
		item.Labels["language"] = languages[0]
	}
	r.suite.Items.Add(item)
	return nil
}

// gold reads the correct class: one for all languages, or one for each.
func (r *taskReader) gold(t crosstalk.Task, id string, languages []string, e entry[node]) (map[string]string, error) {
	by, err := r.byLanguage(e.value, languages, e.line)
	if err == nil && e.value.isMap() {
		err = r.complete(id, "gold", languages, e.line, keys(by))
	}
	if err != nil {
		return nil, err
	}
	gold := map[string]string{}
	for _, g := range by {
		if len(t.Classes) > 0 && !slices.Contains(t.Classes, g.value) {
			return nil, r.errorf(g.line, "item %.40s: gold is the unknown class %.40q; choose one of: %s",
				id, g.value, strings.Join(t.Classes, ", "))
		}
		if strings.TrimSpace(g.value) == "" {
			return nil, r.errorf(g.line, "item %.40s: gold is empty", id)
		}
		gold[g.key] = g.value
	}
	return gold, nil
}

// byLanguage reads a text for each language, or one for all of languages.
func (r *taskReader) byLanguage(n node, languages []string, line int) (by inOrder[string], err error) {
	if n.isMap() {
		err = r.get(n, &by)
		return by, err
	}
	var text string
	err = r.get(n, &text)
	for _, l := range languages {
		by = append(by, entry[string]{l, text, line})
	}
	return by, err
}

// texts reads an item's fields in several languages.
func (r *taskReader) texts(t crosstalk.Task, id string, languages []string,
	e entry[node]) (map[string][]string, error) {
	var by inOrder[inOrder[string]]
	if err := r.get(e.value, &by); err != nil {
		return nil, err
	}
	if err := r.complete(id, "text", languages, e.line, keys(by)); err != nil {
		return nil, err
	}
	texts := map[string][]string{}
	for _, l := range by {
		fields := map[string]string{}
		for _, kv := range l.value {
			if !slices.Contains(t.Fields, kv.key) {
				return nil, r.errorf(kv.line, "item %.40s has the unknown field %.40q; expected %s",
					id, kv.key, strings.Join(t.Fields, ", "))
			}
			fields[kv.key] = kv.value
		}
		var err error
		if texts[l.key], err = r.input(t, id, l.key, fields, l.line); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// input puts the fields of a text in order.
func (r *taskReader) input(t crosstalk.Task, id, language string, fields map[string]string,
	line int) ([]string, error) {
	texts := make([]string, len(t.Fields))
	for i, field := range t.Fields {
		if texts[i] = strings.TrimSpace(fields[field]); texts[i] == "" {
			return nil, r.errorf(line, "item %.40s has no %s in %s", id, field, language)
		}
	}
	return texts, nil
}

// complete refuses a map whose languages differ from the languages of the task's inputs.
func (r *taskReader) complete(id, what string, languages []string, line int, found []string) error {
	for _, l := range found {
		if !slices.Contains(languages, l) {
			return r.errorf(line, "item %.40s has a %s in the unknown language %.40q; expected %s",
				id, what, l, strings.Join(languages, ", "))
		}
	}
	for _, l := range languages {
		if !slices.Contains(found, l) {
			return r.errorf(line, "item %.40s has no %s in %s", id, what, l)
		}
	}
	return nil
}

func keys[T any](p inOrder[T]) []string {
	list := make([]string, len(p))
	for i, kv := range p {
		list[i] = kv.key
	}
	return list
}
