package suite

import (
	"slices"
	"strings"

	"crosstalk"
)

var itemKeys = []string{"id", "category", "cluster", "gold", "texts"}

func (r *taskReader) items(t crosstalk.Task, e taskEntry, line int) {
	languages := r.names("language", e.Languages, line)
	if len(languages) == 0 && r.suite.Language != "" {
		languages = []string{r.suite.Language}
	}
	switch {
	case len(e.Items) > 0 && len(languages) == 0:
		r.refuse(line, "task %s: the language of its items is unknown; expected language: CODE at the top or "+
			"languages: [CODE, ...]", t.Name)
	case len(e.Items) > 0 && e.Data.line > 0:
		r.refuse(e.Data.line, "task %s has both items and data; expected one of them", t.Name)
	case len(e.Languages) > 0 && e.Data.value.Files.isMap():
		r.refuse(e.Languages[0].line, "task %s: files: {...} already names its languages; remove languages", t.Name)
	case e.Data.line > 0:
		r.data(t, languages, e.Data.value, e.Data.line)
	case len(e.Items) == 0 && !r.partial:
		r.refuse(line, "task %s has no items", t.Name)
	}
	for i, entry := range e.Items {
		r.refuseIf(len(entry) == 0, line, "task %s: item %d is empty", t.Name, i+1)
		r.item(t, languages, entry)
	}
}

func (r *taskReader) item(t crosstalk.Task, languages []string, written inOrder[node]) {
	line := written[0].line
	item := crosstalk.Item{Labels: map[string]string{"task": t.Name}, Input: &crosstalk.Input{Task: t.Name}}
	var category string
	simple := map[string]*string{"id": &item.ID, "category": &category, "cluster": &item.Cluster}
	for _, kv := range written { // the id first, because messages need it
		if v := simple[kv.key]; v != nil {
			r.get(kv.value, v)
		}
	}
	r.refuseIf(item.ID == "", line, "an item has no id")
	r.refuseIf(r.ids[item.ID] != 0, line, "duplicate id %.40q (first used in line %d)", item.ID, r.ids[item.ID])
	r.ids[item.ID] = line
	fields := map[string]string{}
	for _, kv := range written {
		switch {
		case simple[kv.key] != nil:
		case kv.key == "gold":
			item.Input.Gold = r.gold(t, item.ID, languages, kv)
		case kv.key == "texts":
			item.Input.Texts = r.texts(t, item.ID, languages, kv)
		case !slices.Contains(t.Fields, kv.key):
			r.refuse(kv.line, "item %.40s has the unknown field %.40q; expected %s",
				item.ID, kv.key, strings.Join(slices.Concat(itemKeys, t.Fields), ", "))
		case len(languages) > 1:
			r.refuse(kv.line, "item %.40s: its task has inputs in %s; expected texts: {LANGUAGE: {%s: ...}}",
				item.ID, strings.Join(languages, ", "), kv.key)
		default:
			var text string
			r.get(kv.value, &text)
			fields[kv.key] = text
		}
	}
	if len(fields) > 0 {
		r.refuseIf(item.Input.Texts != nil, line, "item %.40s has both texts and fields; expected one of them", item.ID)
		item.Input.Texts = map[string][]string{languages[0]: r.input(t, item.ID, languages[0], fields, line)}
	}
	if item.Input.Texts == nil && !r.partial {
		r.refuse(line, "item %.40s has no texts; expected %s", item.ID, strings.Join(t.Fields, ", "))
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
}

// gold reads the correct class: one for all languages, or one for each.
func (r *taskReader) gold(t crosstalk.Task, id string, languages []string, e entry[node]) map[string]string {
	by := r.byLanguage(e.value, languages, e.line)
	if e.value.isMap() {
		r.complete(id, "gold", languages, e.line, keys(by))
	}
	gold := map[string]string{}
	for _, g := range by {
		if len(t.Classes) > 0 && !slices.Contains(t.Classes, g.value) {
			r.refuse(g.line, "item %.40s: gold is the unknown class %.40q; choose one of: %s",
				id, g.value, strings.Join(t.Classes, ", "))
		}
		r.refuseIf(strings.TrimSpace(g.value) == "", g.line, "item %.40s: gold is empty", id)
		gold[g.key] = g.value
	}
	return gold
}

// byLanguage reads a text for each language, or one for all of languages.
func (r *taskReader) byLanguage(n node, languages []string, line int) (by inOrder[string]) {
	if n.isMap() {
		r.get(n, &by)
		return by
	}
	var text string
	r.get(n, &text)
	for _, l := range languages {
		by = append(by, entry[string]{l, text, line})
	}
	return by
}

func (r *taskReader) texts(t crosstalk.Task, id string, languages []string, e entry[node]) map[string][]string {
	var by inOrder[inOrder[string]]
	r.get(e.value, &by)
	r.complete(id, "text", languages, e.line, keys(by))
	texts := map[string][]string{}
	for _, l := range by {
		fields := map[string]string{}
		for _, kv := range l.value {
			if !slices.Contains(t.Fields, kv.key) {
				r.refuse(kv.line, "item %.40s has the unknown field %.40q; expected %s",
					id, kv.key, strings.Join(t.Fields, ", "))
			}
			fields[kv.key] = kv.value
		}
		texts[l.key] = r.input(t, id, l.key, fields, l.line)
	}
	return texts
}

func (r *taskReader) input(t crosstalk.Task, id, language string, fields map[string]string, line int) []string {
	texts := make([]string, len(t.Fields))
	for i, field := range t.Fields {
		if texts[i] = strings.TrimSpace(fields[field]); texts[i] == "" {
			r.refuse(line, "item %.40s has no %s in %s", id, field, language)
		}
	}
	return texts
}

// complete refuses a map whose languages differ from the languages of the task's inputs.
func (r *taskReader) complete(id, what string, languages []string, line int, found []string) {
	for _, l := range found {
		if !slices.Contains(languages, l) {
			r.refuse(line, "item %.40s has a %s in the unknown language %.40q; expected %s",
				id, what, l, strings.Join(languages, ", "))
		}
	}
	for _, l := range languages {
		r.refuseIf(!slices.Contains(found, l), line, "item %.40s has no %s in %s", id, what, l)
	}
}

func keys[T any](p inOrder[T]) []string {
	list := make([]string, len(p))
	for i, kv := range p {
		list[i] = kv.key
	}
	return list
}
