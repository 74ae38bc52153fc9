package recorded

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"crosstalk/internal/lazyregexp"
	"crosstalk/internal/table"
)

// afterColumn is the column for what came before an answer in a conversation: user, tool, compaction or assistant.
const afterColumn = "after"

// session is a conversation in a file that has a row for each message or event.
type session struct {
	turns []string // of the user, so far
	rules string   // the system messages
	n     int      // answers
	after string
}

func (s *session) answer(id, text string) reply {
	s.n++
	n := strconv.Itoa(s.n)
	r := reply{values: map[string]string{"completion": text, "id": id + "/" + n, turnColumn: n, afterColumn: s.after},
		cluster: id, turns: s.turns, rules: s.rules}
	s.after = assistant
	return r
}

func (s *session) ask(text string) {
	s.turns, s.after = append(s.turns[:len(s.turns):len(s.turns)], text), user
}

// isTranscript reports whether a row is an event of a session of Claude Code or Codex.
func isTranscript(row table.Row) bool {
	kind := row.Values["type"]
	first := row.Has("leafUuid") || kind == "file-history-snapshot"
	codex := []string{"session_meta", "response_item", "event_msg", "turn_context", "compacted"}
	old := row.Has("instructions") && row.Has("timestamp") && len(candidates(row.Values, "completion", nil)) == 0 // Codex
	streamed := row.Has("session_id") && (isJSON(row.Values["message"]) || kind == "system") || kind == "thread.started"
	return first || old || streamed || row.Has("sessionId") && kind != "" ||
		row.Has("payload") && slices.Contains(codex, kind)
}

// newTranscript reads the session of a coding assistant: its texts are answers; thoughts and tools are skipped.
func newTranscript() layout {
	s, model := session{after: user}, ""
	return layout{name: "a session of a coding assistant", told: "the assistant's texts; thoughts and tools are left out",
		read: func(row table.Row) (map[string]string, []reply, error) {
			raw, kind := row.Values["message"], row.Values["type"] // of Claude Code
			switch {
			case row.Has("payload"):
				raw = row.Values["payload"]
			case row.Has("item"): // of codex exec
				raw = row.Values["item"]
			case row.Has("role"): // of the first versions of Codex
				raw = whole(row)
			}
			var e struct {
				Type, Role, Model, Text string
				Content                 json.RawMessage
			}
			if raw != "" && json.Unmarshal([]byte(raw), &e) != nil {
				return nil, nil, row.Errorf("the event is not from a session of Claude Code or Codex")
			}
			model = cmp.Or(e.Model, model)
			id := strings.TrimSuffix(filepath.Base(row.File), filepath.Ext(row.File))
			columns := map[string]string{"isSidechain": row.Values["isSidechain"], "gitBranch": row.Values["gitBranch"]}
			text, others, err := contentOf(e.Content)
			if err != nil {
				return nil, nil, row.Errorf("%w", err)
			}
			text = strings.TrimSpace(text)
			if kind == "item.completed" && e.Type == "agent_message" {
				e.Role, text = assistant, e.Text
			}
			own := row.Values["isMeta"] == "true" || strings.HasPrefix(text, "<") || strings.HasPrefix(text, "# AGENTS.md ")
			switch {
			case row.Values["isCompactSummary"] == "true" || kind == "compacted" || e.Type == "compacted":
				s.after = "compaction"
			case strings.HasSuffix(e.Type, "_call_output"), e.Role == user && others && text == "":
				s.after = tool
			case e.Role == user && text != "" && !own:
				s.ask(text)
			case e.Role == assistant && text != "" && kind != "event_msg":
				r := s.answer(id, text)
				if model != "" {
					r.values["model"] = model
				}
				return columns, []reply{r}, nil
			}
			return columns, nil, nil
		}}
}

// Usual names of the speakers in a chat as text.
const (
	asking    = `user|human|customer|client|visitor|you|me|system|nutzer|kunde|usuario|utilisateur`
	answerers = `bot|chatbot|assistant|assistent|asistente|ai|agent|support|model|chatgpt|gpt|claude|gemini|copilot`
)

// Columns of a chat as text.
const (
	speakerColumn = "speaker"
	textColumn    = "text"
)

var (
	// whatsApp matches a message in an export of WhatsApp, whose dates depend on the phone's language.
	whatsApp = lazyregexp.New(`^\x{200e}?\[?\d{1,4}[./-] ?\d{1,2}[./-] ?\d{1,4}\.?[,،]?(?: klo| à| um)? ?` +
		`(?:上午|下午|午前|午後|오전|오후)? ?\d{1,2}[:.]\d\d(?:[:.]\d\d)?` +
		`(?:[ \x{202f}](?:[APap]\.?\s?[Mm]\.?|[صم]))?\]?(?: -|,)? ([^:]{1,80}): (.*)$`)
	bySpeaker = lazyregexp.New(`(?i)^\s*(?:\[?[\d:., T/-]{4,24}(?:Z| ?[AP]M)?\]?[ -]+)?[#*\[<]*\s*(` + asking + `|` +
		answerers + `)\s*[*\]>]*\s*(?::\**|>)\s*(.*)$`)
)

// textRows yields the messages of a chat in a text file: an export of WhatsApp, or lines such as User: and Bot:.
func textRows(f *table.File) iter.Seq2[table.Row, error] {
	path := f.Path
	return rowsBy(func(yield func(table.Row) error) error {
		lines := bufio.NewScanner(f.Text())
		lines.Buffer(nil, 1<<20)
		wrong := fmt.Errorf("%s: expected an export of WhatsApp, or lines that begin with "+
			`"User:" and "Bot:" in turn`, path)
		var last table.Row
		n := 1
		for ; lines.Scan(); n++ {
			line := lines.Text()
			m := whatsApp().FindStringSubmatch(line)
			if m == nil {
				m = bySpeaker().FindStringSubmatch(line)
			}
			switch {
			case m == nil && last.Values != nil:
				last.Values[textColumn] += "\n" + line
			case m == nil && strings.TrimSpace(line) != "" && n > 5: // notices, such as that of encryption, come first
				return wrong
			case m == nil:
			case strings.HasPrefix(m[2], "\u200e") || omitted().MatchString(m[2]): // from WhatsApp, not the speaker
			default:
				if last.Values != nil {
					if err := yield(last); err != nil {
						return err
					}
				}
				last = table.Row{File: path, Line: n, Header: n, Columns: []string{speakerColumn, textColumn},
					Values: map[string]string{speakerColumn: m[1], textColumn: m[2]}}
			}
		}
		if err := lines.Err(); err != nil {
			return fmt.Errorf("%s:%d: %w", path, n, err)
		}
		if last.Values == nil {
			return wrong
		}
		return yield(last)
	})
}

// omitted matches WhatsApp's placeholder for a picture in an export: <Media omitted>.
var omitted = lazyregexp.New(`^<[^<>]{1,40}>$`)

// newDialogue reads a chat as text. answers is the name of the speaker who answers; empty: a usual one.
func newDialogue(answers string) layout {
	s := session{after: user}
	return layout{name: "a chat as text (say who answers with --column completion=NAME)",
		read: func(row table.Row) (map[string]string, []reply, error) {
			speaker := strings.TrimSpace(row.Values[speakerColumn])
			text := strings.TrimSpace(row.Values[textColumn])
			is := strings.EqualFold(speaker, answers)
			if answers == "" {
				is = answering().MatchString(speaker)
			}
			switch {
			case text == "" || strings.EqualFold(speaker, system):
			case is:
				return map[string]string{}, []reply{s.answer(filepath.Base(row.File), text)}, nil
			default:
				s.ask(text)
			}
			return map[string]string{}, nil, nil
		}}
}

var answering = lazyregexp.New(`(?i)\b(` + answerers + `)\b|bot$`)

const spansColumn = "resourceSpans" // of OpenTelemetry traces (OTLP as JSON)

// isSpan reports whether a row contains or is a span, in the format of exporters to the console or to files.
func isSpan(row table.Row) bool {
	return row.Lists[spansColumn] != nil ||
		row.Has("attributes") && (row.Has("context") || row.Has("traceId") || row.Has("trace_id"))
}

// span is an OpenTelemetry span. Its attributes are a list in OTLP, and an object elsewhere.
type span struct {
	TraceID string          `json:"traceId"`
	Trace   string          `json:"trace_id"`
	SpanID  string          `json:"spanId"`
	Span    string          `json:"span_id"`
	Context *span           `json:"context"`
	Attrs   json.RawMessage `json:"attributes"`
	Events  []struct {
		Name  string          `json:"name"`
		Attrs json.RawMessage `json:"attributes"`
	} `json:"events"`
}

// newSpans reads a reply from each span with a model's messages, by the conventions of OpenTelemetry and three others.
func newSpans() layout {
	known := said{}
	return layout{name: "spans of OpenTelemetry", read: func(row table.Row) (map[string]string, []reply, error) {
		var replies []reply
		resources := row.Lists[spansColumn]
		if resources == nil {
			resources = []string{`{"scopeSpans": [{"spans": [` + whole(row) + `]}]}`}
		}
		for _, text := range resources {
			var resource struct {
				ScopeSpans []struct{ Spans []span }
			}
			if err := json.Unmarshal([]byte(text), &resource); err != nil {
				return nil, nil, row.Errorf("%s are not in OpenTelemetry's form: %w", spansColumn, err)
			}
			for _, scope := range resource.ScopeSpans {
				for _, s := range scope.Spans {
					of := attributes(s.Attrs)
					for _, e := range s.Events {
						event(of, e.Name, attributes(e.Attrs))
					}
					if r, ok := s.reply(of); ok && known.add(r.cluster, r.values["completion"]) {
						r.cluster = cmp.Or(of["gen_ai.conversation.id"], r.cluster)
						replies = append(replies, r)
					}
				}
			}
		}
		return map[string]string{}, replies, nil
	}}
}

// Attributes of messages in the current semantic conventions.
const (
	inputMessages  = "gen_ai.input.messages"
	outputMessages = "gen_ai.output.messages"
)

// reply returns the answer in a span with these attributes, if any.
func (s span) reply(of map[string]string) (r reply, ok bool) {
	if s.Context != nil {
		s.Trace, s.Span = s.Context.Trace, s.Context.Span
	}
	answer := textIn(cmp.Or(of[outputMessages], of["gen_ai.completion"], of["ai.response.text"], of["events"],
		numbered(of, "gen_ai.completion.", ""), numbered(of, "llm.completions.", ""),
		numbered(of, "llm.output_messages.", ".message")))
	request := cmp.Or(of[inputMessages], of["gen_ai.prompt"], of["ai.prompt.messages"], of["ai.prompt"],
		of["events"], numbered(of, "gen_ai.prompt.", ""), numbered(of, "llm.prompts.", ""),
		numbered(of, "llm.input_messages.", ".message"))
	values := map[string]string{"completion": answer, "id": cmp.Or(s.SpanID, s.Span),
		"model": cmp.Or(of["gen_ai.response.model"], of["gen_ai.request.model"], of["ai.model.id"], of["llm.model_name"])}
	return reply{values: values, turns: textsOf(request, user), rules: rulesOf(request),
		cluster: cmp.Or(s.TraceID, s.Trace)}, answer != ""
}

// event adds the content of an event to its span's attributes: a message, or other attributes.
func event(of map[string]string, name string, attributes map[string]string) {
	role, isMessage := strings.CutSuffix(strings.TrimPrefix(name, "gen_ai."), ".message")
	switch {
	case isMessage:
		before := strings.TrimSuffix(cmp.Or(of[inputMessages], "["), "]")
		if before != "[" {
			before += ","
		}
		of[inputMessages] = before + messageJSON(role, attributes["content"]) + "]"
	case name == "gen_ai.choice":
		of[outputMessages] = cmp.Or(attributes["message"], attributes["content"])
	default:
		maps.Copy(of, attributes)
	}
}

func messageJSON(role, content string) string {
	return `{"role":` + jsonOf(role) + `,"content":` + jsonOf(content) + `}`
}

// attributes returns attributes by name. Values are texts, or JSON of anything else.
func attributes(raw json.RawMessage) map[string]string {
	of := map[string]string{}
	var list []attribute
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		for _, a := range list {
			of[a.Key] = textOf(plainValue(a.Value))
		}
	} else if json.Unmarshal(raw, &fields) == nil {
		for name, value := range fields {
			of[name] = textOf(value)
		}
	}
	return of
}

type attribute struct {
	Key   string
	Value json.RawMessage
}

// plainValue returns a value of OTLP, such as {"stringValue": "x"}, as plain JSON.
func plainValue(raw json.RawMessage) json.RawMessage {
	var typed map[string]json.RawMessage
	json.Unmarshal(raw, &typed)
	for kind, value := range typed {
		if kind != "arrayValue" && kind != "kvlistValue" {
			return value
		}
		var inner struct{ Values []json.RawMessage }
		json.Unmarshal(value, &inner)
		fields := map[string]json.RawMessage{}
		for i, v := range inner.Values {
			var a attribute
			if inner.Values[i] = plainValue(v); kind == "kvlistValue" && json.Unmarshal(v, &a) == nil {
				fields[a.Key] = plainValue(a.Value)
			}
		}
		b, _ := json.Marshal(inner.Values)
		if kind == "kvlistValue" {
			b, _ = json.Marshal(fields)
		}
		return b
	}
	return json.RawMessage("null")
}

// numbered returns, as JSON, the messages in attributes such as gen_ai.prompt.0.content.
func numbered(of map[string]string, prefix, within string) string {
	var list []string
	for {
		at := prefix + strconv.Itoa(len(list)) + within
		content, ok := of[at+".content"]
		if !ok {
			break
		}
		list = append(list, messageJSON(cmp.Or(of[at+".role"], assistant), content))
	}
	if list == nil {
		return ""
	}
	return "[" + strings.Join(list, ",") + "]"
}
