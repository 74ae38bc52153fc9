package recorded

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"crosstalk/internal/table"
)

// shape is how a product logs a request to a model and its answer in one row.
type shape struct {
	name    string
	has     []string // places that every row has
	request string   // the place of the request: messages, an object with them, or text; empty: none
	answer  string   // the place of the answer; empty: none, or "." for the row itself
}

// shapes are tried in this order. A row has a shape if it has the places, and what is
// there is JSON.
var shapes = []shape{
	{"batch output of OpenAI", []string{"custom_id", "response.body"}, "", "response.body"},
	{"batch input of OpenAI", []string{"custom_id", "body.model"}, "body", ""},
	{"batch results of Anthropic", []string{"custom_id", "result.type"}, "", "result.message"},
	{"Helicone's log", []string{"request_body", "response_body"}, "request_body", "response_body"},
	{"requests with responses", []string{"request", "response"}, "request", "response"},
	{"LiteLLM's log", []string{"messages", "response"}, "messages", "response"}, // "response" is JSON
	{"LangSmith's runs", []string{"inputs", "outputs"}, "inputs", "outputs"},
	{"Langfuse's observations", []string{"traceId", "input", "output"}, "input", "output"},
	{"Langfuse's traces", []string{"input", "output"}, "input", "output"},
	{"responses of OpenAI", []string{"choices.0"}, "", "."},
	{"responses of OpenAI", []string{"object", "output"}, "input", "."},
	{"messages of Anthropic", []string{"stop_reason", "role", "content"}, "", "."},
}

// shapeOf is the shape of a row.
func shapeOf(row table.Row) (s shape, ok bool) {
	i := slices.IndexFunc(shapes, func(s shape) bool {
		for _, place := range s.has {
			if _, found := placed(row, place); !found {
				return false
			}
		}
		request, _ := placed(row, s.request)
		answer, _ := placed(row, s.answer)
		return s.answer == "." || isJSON(answer) || isJSON(request) && s.request != messagesColumn
	})
	if i < 0 {
		return s, false
	}
	return shapes[i], true
}

// placed is what is at a place of a row, as JSON where it is not a text.
func placed(row table.Row, place string) (string, bool) {
	if list, ok := row.Lists[place]; ok {
		return listed(list), true
	}
	text, ok := nested(row, place)
	return text, ok && place != ""
}

// listed is a list as JSON: its elements are JSON, or else texts.
func listed(list []string) string {
	elements := make([]string, len(list))
	for i, text := range list {
		if elements[i] = text; !json.Valid([]byte(text)) {
			b, _ := json.Marshal(text)
			elements[i] = string(b)
		}
	}
	return "[" + strings.Join(elements, ",") + "]"
}

func isJSON(text string) bool {
	text = strings.TrimSpace(text)
	return text != "" && (text[0] == '{' || text[0] == '[') && json.Valid([]byte(text))
}

// logged reads rows of a shape: one reply each. asked are the messages of batches, by
// the id of the request.
func logged(s shape, asked map[string][]string) layout {
	told := "the user's messages from " + s.request + ", answers from " + s.answer
	switch {
	case s.answer == "":
		told = "the user's messages from " + s.request + ", for the answers in the batch's output"
	case s.request == "" && strings.HasPrefix(s.name, "batch output"):
		told = "answers from " + s.answer + "; name the batch's input file before it for the user's messages"
	case s.answer == ".":
		told = "an answer in each row"
	}
	read := func(row table.Row) (map[string]string, []reply, error) {
		columns := maps.Clone(row.Values)
		for _, place := range []string{s.request, s.answer, "metadata"} {
			place, _, _ = strings.Cut(place, ".")
			delete(columns, place)
		}
		maps.Copy(columns, members(row.Values["metadata"]))
		id := firstOf(columns, "custom_id", "id", "request_id", "trace_id", "litellm_call_id")
		conversation := firstOf(columns, "sessionId", "session_id", "conversation_id", "traceId", "thread_id")
		maps.DeleteFunc(columns, func(_, value string) bool { return isJSON(value) || len(value) > maxLabel })
		request, _ := placed(row, s.request)
		turns := turnsOf(request)
		if s.answer == "" {
			asked[id] = turns
			return columns, nil, nil
		}
		if turns == nil {
			turns = asked[id]
		}
		answer, _ := placed(row, s.answer)
		if s.answer == "." {
			answer = whole(row)
		}
		values := map[string]string{"completion": textIn(answer)}
		for _, place := range []string{s.answer, s.request} {
			if model, _ := placed(row, place+".model"); model != "" && columns["model"] == "" {
				columns["model"] = model
			}
		}
		if values["id"] = id; id == "" {
			values["id"] = fmt.Sprintf("line %d", row.Line)
		}
		failed := values["completion"] == "" && firstOf(row.Values, "error", "error_message") != ""
		return columns, []reply{{values: values, turns: turns, cluster: cmp.Or(conversation, id), failed: failed}}, nil
	}
	return layout{name: s.name, told: told, quiet: s.answer == "", read: read}
}

// maxLabel limits the columns of logs that become labels, in bytes: longer ones are texts.
const maxLabel = 200

// firstOf takes the first of some columns that has a value.
func firstOf(columns map[string]string, names ...string) string {
	for _, name := range names {
		if value := columns[name]; value != "" && value != "{}" && value != "null" {
			delete(columns, name)
			return value
		}
	}
	return ""
}

// whole is a row as a JSON object.
func whole(row table.Row) string {
	fields := map[string]json.RawMessage{}
	for name, value := range row.Values {
		if !isJSON(value) {
			b, _ := json.Marshal(value)
			value = string(b)
		}
		fields[name] = json.RawMessage(value)
	}
	for name, list := range row.Lists {
		fields[name] = json.RawMessage(listed(list))
	}
	b, _ := json.Marshal(fields)
	return string(b)
}

// turnsOf are the user's messages in a request.
func turnsOf(request string) (turns []string) {
	for _, m := range messagesOf(json.RawMessage(jsonOf(request)), user) {
		if m.role == user && strings.TrimSpace(m.text) != "" {
			turns = append(turns, m.text)
		}
	}
	return turns
}

// textIn is the text of an answer: of the last message of the assistant in it.
func textIn(answer string) string {
	text := ""
	for _, m := range messagesOf(json.RawMessage(jsonOf(answer)), assistant) {
		if m.role == assistant {
			text = m.text
		}
	}
	return text
}

// jsonOf returns JSON unchanged, and other text as a JSON string.
func jsonOf(text string) string {
	if isJSON(text) {
		return text
	}
	b, _ := json.Marshal(text)
	return string(b)
}

// Members of objects that hold messages or a text, the most specific first.
var (
	holders = []string{"messages", "choices", "generations", "output", "outputs", "input", "inputs", "message", "kwargs",
		"data", "contents", "prompt", "question", "query", "completion", "answer", "response", "result", "text"}
)

// messagesOf finds the messages in a request or an answer, however they are wrapped. A
// bare text is a message of role.
func messagesOf(raw json.RawMessage, role string) (messages []message) {
	var fields map[string]json.RawMessage
	var list []json.RawMessage
	var text string
	switch {
	case json.Unmarshal(raw, &text) == nil:
		if isJSON(text) {
			return messagesOf(json.RawMessage(text), role)
		}
		return []message{{role, text}}
	case json.Unmarshal(raw, &list) == nil:
		for _, element := range list {
			messages = append(messages, messagesOf(element, role)...)
		}
		return messages
	case json.Unmarshal(raw, &fields) != nil:
		return nil
	}
	if m, ok := messageIn(fields); ok {
		return []message{m}
	}
	if kind := textOf(fields["type"]); fields["text"] == nil && slices.Contains(notMessages, kind) {
		return nil
	}
	for _, name := range holders {
		if of := fields[name]; isSet(of) && string(of) != `""` && string(of) != "{}" {
			if messages = messagesOf(of, role); messages != nil {
				return messages
			}
		}
	}
	return nil
}

// notMessages are types of items that are no messages: calls of tools, their results and thoughts.
var notMessages = []string{"reasoning", "thinking", "function_call", "function_call_output", "tool_use", "tool_result",
	"tool-call", "tool-result", "web_search_call"}

// messageIn reads an object that is a message: with a role, or of LangChain.
func messageIn(fields map[string]json.RawMessage) (m message, ok bool) {
	role := cmp.Or(textOf(fields["role"]), textOf(fields["from"]))
	if kind := textOf(fields["type"]); role == "" && roles[strings.ToLower(kind)] != "" {
		role = kind // LangChain: human, ai
	}
	var class []string
	if json.Unmarshal(fields["id"], &class) == nil && len(class) > 0 { // LangChain's: HumanMessage
		role = strings.TrimSuffix(strings.TrimSuffix(class[len(class)-1], "Chunk"), "Message")
	}
	if m.role = roles[strings.ToLower(role)]; m.role == "" {
		return m, false
	}
	for _, name := range []string{"content", "parts", "kwargs", "data", "value", "text"} {
		of := fields[name]
		if name == "kwargs" || name == "data" {
			var inner map[string]json.RawMessage
			json.Unmarshal(of, &inner)
			of = inner["content"]
		}
		if isSet(of) {
			m.text, _, _ = contentOf(of)
			return m, true
		}
	}
	return m, true
}

// spans reads traces of OpenTelemetry (OTLP as JSON): a reply for each span with messages
// of a model, by the semantic conventions for generative AI, OpenLLMetry's or those of the AI SDK.
var spans = layout{name: "spans of OpenTelemetry", read: func(row table.Row) (map[string]string, []reply, error) {
	var replies []reply
	for _, text := range row.Lists[spansColumn] {
		var resource struct {
			ScopeSpans []struct {
				Spans []struct {
					TraceID    string `json:"traceId"`
					SpanID     string `json:"spanId"`
					Attributes []struct {
						Key   string                     `json:"key"`
						Value map[string]json.RawMessage `json:"value"`
					} `json:"attributes"`
				} `json:"spans"`
			} `json:"scopeSpans"`
		}
		if err := json.Unmarshal([]byte(text), &resource); err != nil {
			return nil, nil, row.Errorf("%s are not in OpenTelemetry's form: %w", spansColumn, err)
		}
		for _, scope := range resource.ScopeSpans {
			for _, span := range scope.Spans {
				of := map[string]string{}
				for _, a := range span.Attributes {
					for _, value := range a.Value {
						of[a.Key] = textOf(value)
					}
				}
				answer := textIn(cmp.Or(of["gen_ai.output.messages"], of["ai.response.text"], numbered(of, "gen_ai.completion.")))
				if answer == "" {
					continue
				}
				turns := turnsOf(cmp.Or(of["gen_ai.input.messages"], of["ai.prompt.messages"], of["ai.prompt"],
					numbered(of, "gen_ai.prompt.")))
				values := map[string]string{"completion": answer, "id": span.SpanID,
					"model": cmp.Or(of["gen_ai.response.model"], of["gen_ai.request.model"], of["ai.model.id"])}
				replies = append(replies, reply{values: values, turns: turns,
					cluster: cmp.Or(of["gen_ai.conversation.id"], span.TraceID)})
			}
		}
	}
	return map[string]string{}, replies, nil
}}

const spansColumn = "resourceSpans"

// numbered are the messages in attributes such as gen_ai.prompt.0.content, as JSON.
func numbered(of map[string]string, prefix string) string {
	var list []map[string]string
	for i := 0; ; i++ {
		at := prefix + strconv.Itoa(i)
		content, ok := of[at+".content"]
		if !ok {
			break
		}
		list = append(list, map[string]string{"role": cmp.Or(of[at+".role"], assistant), "content": content})
	}
	if list == nil {
		return ""
	}
	b, _ := json.Marshal(list)
	return string(b)
}
