package recorded

import (
	"cmp"
	"encoding/json"
	"maps"
	"strconv"
	"strings"

	"crosstalk/internal/table"
)

const spansColumn = "resourceSpans" // of traces of OpenTelemetry (OTLP as JSON)

// isSpan reports whether a row has spans, or is one, as exporters to the console and to files write them.
func isSpan(row table.Row) bool {
	return row.Lists[spansColumn] != nil ||
		row.Has("attributes") && (row.Has("context") || row.Has("traceId") || row.Has("trace_id"))
}

// span is a span of OpenTelemetry. Attributes are a list in OTLP, and an object elsewhere.
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

// newSpans reads spans: a reply for each with messages of a model, by the semantic conventions for generative AI,
// OpenLLMetry's, OpenInference's or those of the AI SDK.
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

// reply is the answer in a span with these attributes, if it has one.
func (s span) reply(of map[string]string) (r reply, ok bool) {
	if s.Context != nil {
		s.Trace, s.Span = s.Context.Trace, s.Context.Span
	}
	answer := textIn(cmp.Or(of[outputMessages], of["gen_ai.completion"], of["ai.response.text"], of["events"],
		numbered(of, "gen_ai.completion.", ""), numbered(of, "llm.completions.", ""),
		numbered(of, "llm.output_messages.", ".message")))
	turns := turnsOf(cmp.Or(of[inputMessages], of["gen_ai.prompt"], of["ai.prompt.messages"], of["ai.prompt"],
		of["events"], numbered(of, "gen_ai.prompt.", ""), numbered(of, "llm.prompts.", ""),
		numbered(of, "llm.input_messages.", ".message")))
	values := map[string]string{"completion": answer, "id": cmp.Or(s.SpanID, s.Span),
		"model": cmp.Or(of["gen_ai.response.model"], of["gen_ai.request.model"], of["ai.model.id"], of["llm.model_name"])}
	return reply{values: values, turns: turns, cluster: cmp.Or(s.TraceID, s.Trace)}, answer != ""
}

// event adds what an event tells to the attributes of its span: a message, or other attributes.
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

// attributes are keyed by name. Values are texts, or JSON of anything else.
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

// numbered are the messages in attributes such as gen_ai.prompt.0.content, as JSON.
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
