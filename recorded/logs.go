package recorded

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"crosstalk/internal/lazyregexp"
	"crosstalk/internal/table"
)

// shape describes how a product logs a request to a model and its answer in one row.
type shape struct {
	name    string
	has     string // paths that every row has
	request string // the path of the request: messages, an object with them, or text; empty: none
	answer  string // the path of the answer; empty: none, or "." for the row itself
	told    by
}

// by specifies how a shape is recognised.
type by int

const (
	content by = iota // one of the paths has JSON
	alone             // the paths exist
	steps             // like alone; a row is a step of a trace, with its kind
)

var shapes = []shape{
	{"batch output of OpenAI", "custom_id response.body", "", "response.body", content},
	{"batch input of OpenAI", "custom_id body.model", "body", "", content},
	{"batch input of Anthropic", "custom_id params.messages", "params", "", content},
	{"batch results of Anthropic", "custom_id result.type", "", "result.message", content},
	{"Helicone's log", "request_body response_body", "request_body", "response_body", content},
	{"Helicone's log", "llmSchema.request llmSchema.response", "llmSchema.request", "llmSchema.response", content},
	{"results of the AI SDK", "text finishReason messages", "messages", "text", alone},
	{"results of the AI SDK", "text finishReason prompt", "prompt", "text", alone},
	{"results of Claude Code", "type subtype result", "", "result", alone},
	{"LiteLLM's log", litellm + ".response", litellm + ".messages", litellm + ".response", alone},
	{"LiteLLM's log", "call_type messages response", "messages", "response", alone},
	{"requests with responses", "request response", "request", "response", content},
	{"requests with responses", "messages response", "messages", "response", content},
	{"requests with responses", "messages completion", "messages", "completion", content},
	{"requests with responses", "messages choices.0", "messages", "choices.0", alone},
	{"LangSmith's runs", "run_type inputs outputs", "inputs", "outputs", steps},
	{"LangSmith's runs", "inputs outputs", "inputs", "outputs", content},
	{"Langfuse's observations", "traceId type input output", "input", "output", steps},
	{"Langfuse's observations", "trace_id type input output", "input", "output", steps},
	{"Langfuse's traces", "input output", "input", "output", content},
	{"responses of OpenAI", "choices.0", "", ".", alone},
	{"responses of OpenAI", "object output.0", "input", ".", alone},
	{"messages of Anthropic", "stop_reason role content", "", ".", alone},
}

// litellm is the column of LiteLLM's log in the data that its callbacks receive.
const litellm = "standard_logging_object"

func shapeOf(row table.Row) (s shape, ok bool) {
	i := slices.IndexFunc(shapes, func(s shape) bool {
		for place := range strings.FieldsSeq(s.has) {
			if _, found := placed(row, place); !found {
				return false
			}
		}
		request, _ := placed(row, s.request)
		answer, _ := placed(row, s.answer)
		return s.told != content || isJSON(answer) || isJSON(request) && s.request != messagesColumn
	})
	if i < 0 {
		return s, false
	}
	return shapes[i], true
}

// placed returns the value at a path of a row, as JSON unless it is text.
func placed(row table.Row, place string) (string, bool) {
	if list, ok := row.Lists[place]; ok {
		return listed(list), true
	}
	text, ok := nested(row, place)
	return text, ok && place != ""
}

// listed returns a list as JSON. Its elements are JSON, or else texts.
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

// logged reads rows of a shape: one reply each. asked maps the ids of batch requests to their messages.
func logged(s shape, asked map[string][]string) layout {
	told := "the user's messages from " + s.request + ", answers from " + s.answer
	switch {
	case s.answer == "":
		told = "the user's messages from " + s.request + ", for the answers in the batch's output"
	case s.request == "" && strings.HasPrefix(s.name, "batch "):
		told = "answers from " + s.answer + "; name the batch's input file before it for the user's messages"
	case s.answer == ".":
		told = "an answer in each row"
	}
	known := said{}
	read := func(row table.Row) (map[string]string, []reply, error) {
		columns := maps.Clone(row.Values)
		maps.Copy(columns, members(row.Values[litellm]))
		for _, place := range []string{s.request, s.answer, "metadata"} {
			place, _, _ = strings.Cut(place, ".")
			delete(columns, place)
		}
		maps.Copy(columns, members(row.Values["metadata"]))
		id := firstOf(columns, "custom_id", "id", "request_id", "trace_id", "litellm_call_id")
		conversation := firstOf(columns, "sessionId", "session_id", "conversation_id", "traceId", "thread_id")
		maps.DeleteFunc(columns, func(_, value string) bool { return isJSON(value) || len(value) > maxLabel })
		request, _ := placed(row, s.request)
		turns := textsOf(request, user)
		if s.answer == "" {
			asked[id] = turns
			return columns, nil, nil
		}
		if turns == nil {
			sent, _ := placed(row, "proxy_server_request") // of LiteLLM, if its messages are empty
			turns = asked[id]
			if turns == nil {
				turns = textsOf(sent, user)
			}
		}
		answer, _ := placed(row, s.answer)
		if s.answer == "." {
			answer = whole(row)
		}
		text := textIn(answer)
		values := map[string]string{"completion": text}
		if text == "" && callsTool().MatchString(answer) || s.told == steps && !known.step(row, text) {
			return columns, nil, nil
		}
		for _, place := range []string{s.answer, s.request} {
			if model, _ := placed(row, place+".model"); model != "" && columns["model"] == "" {
				columns["model"] = model
			}
		}
		if values["id"] = id; id == "" {
			values["id"] = fmt.Sprintf("line %d", row.Line)
		}
		failed := values["completion"] == "" && firstOf(row.Values, "error", "error_message") != ""
		return columns, []reply{{values: values, turns: turns, rules: rulesOf(request), failed: failed,
			cluster: cmp.Or(conversation, id)}}, nil
	}
	return layout{name: s.name, told: told, quiet: s.answer == "", read: read}
}

var callsTool = lazyregexp.New(`"(tool_calls|function_call)":\s*[\[{]\s*["{]|` +
	`"type":\s*"(tool_use|tool-call|tool_call|function_call)"`)

// said is the set of answers seen, by trace and text: the span of a program repeats its model's answer.
type said map[string]bool

// add reports whether an answer is the first of its trace with this text.
func (s said) add(trace, text string) bool {
	key := trace + "\x00" + text
	first := trace == "" || !s[key]
	s[key] = true
	return first
}

// step reports whether a step of a trace has an answer that is neither a tool's nor a repetition of another step's.
func (s said) step(row table.Row, text string) bool {
	switch strings.ToLower(cmp.Or(row.Values["run_type"], row.Values["type"])) {
	case "llm", "generation":
	case "tool", "retriever", "embedding", "parser", "prompt", "event", "evaluator", "guardrail":
		return false
	default:
		if text == "" {
			return false
		}
	}
	return s.add(cmp.Or(row.Values["trace_id"], row.Values["traceId"]), text)
}

// maxLabel limits the length of columns of logs that become labels, in bytes: longer ones are texts.
const maxLabel = 200

// firstOf returns the first non-empty value of some columns.
func firstOf(columns map[string]string, names ...string) string {
	for _, name := range names {
		if value := columns[name]; value != "" && value != "{}" && value != "null" {
			delete(columns, name)
			return value
		}
	}
	return ""
}

func whole(row table.Row) string {
	fields := map[string]json.RawMessage{}
	for name, value := range row.Values {
		fields[name] = json.RawMessage(jsonOf(value))
	}
	for name, list := range row.Lists {
		fields[name] = json.RawMessage(listed(list))
	}
	b, _ := json.Marshal(fields)
	return string(b)
}

// textsOf are the texts of a role's messages in a request.
func textsOf(request, role string) (texts []string) {
	for _, m := range messagesOf(json.RawMessage(jsonOf(request)), user) {
		if m.role == role && strings.TrimSpace(m.text) != "" {
			texts = append(texts, m.text)
		}
	}
	return texts
}

// rulesOf are the system messages of a request, which has them among the others or, as Anthropic's, beside them.
func rulesOf(request string) string {
	var beside struct{ System, Instructions json.RawMessage }
	json.Unmarshal([]byte(request), &beside)
	texts := textsOf(request, system)
	for _, raw := range []json.RawMessage{beside.System, beside.Instructions} {
		if text, _, _ := contentOf(raw); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}

// textIn returns the text of an answer, which is that of the assistant's last message in it.
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

// Names of JSON members that hold messages or a text, the most specific first.
var holders = []string{"messages", "choices", "candidates", "generations", "output", "outputs", "input", "inputs",
	"message", "args", "kwargs", "data", "contents", "prompt", "prompts", "question", "query", "completion", "answer",
	"response", "result", "text", "body", "json_data", "streamed_data", "content"}

// messagesOf finds the messages in a request or an answer, whatever wraps them. A bare text is a message of role.
func messagesOf(raw json.RawMessage, role string) (messages []message) {
	var fields map[string]json.RawMessage
	var list []json.RawMessage
	var text string
	switch {
	case json.Unmarshal(raw, &text) == nil:
		if isJSON(text) {
			return messagesOf(json.RawMessage(text), role)
		}
		if events := serverSent(text); events != nil {
			text, _ = streamed(events)
			role = assistant
		}
		return []message{{role, text}}
	case json.Unmarshal(raw, &list) == nil:
		if text, ok := streamed(list); ok {
			return []message{{assistant, text}}
		}
		if len(list) == 2 && roles[strings.ToLower(textOf(list[0]))] != "" { // LangChain: ["human", "Hi"]
			return []message{{roles[strings.ToLower(textOf(list[0]))], textOf(list[1])}}
		}
		for _, element := range list {
			messages = append(messages, messagesOf(element, role)...)
		}
		return messages
	}
	if m, _, _ := readMessage(raw); m.role != "" {
		return []message{m}
	}
	if json.Unmarshal(raw, &fields) != nil {
		return nil
	}
	if kind := textOf(fields["type"]); fields["text"] == nil && slices.Contains(notMessages, kind) {
		return nil
	}
	for _, name := range holders {
		if of := fields[name]; isSet(of) && string(of) != `""` && string(of) != "{}" {
			if name == "choices" && json.Unmarshal(of, &list) == nil && list[0] != nil {
				if _, chunk := streamed(list); !chunk {
					of = list[0] // others were not shown
				}
			}
			if messages = messagesOf(of, role); messages != nil {
				return messages
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) { // user_input, chat_response
		if of := fields[name]; namedAs[role]().MatchString(name) && of[0] == '"' && string(of) != `""` {
			return messagesOf(of, role)
		}
	}
	return nil
}

// namedAs matches the names of JSON members that hold a text of a role.
var namedAs = map[string]func() *regexp.Regexp{
	user:      lazyregexp.New(`(?i)input|question|query|prompt|message`),
	assistant: lazyregexp.New(`(?i)output|answer|response|reply|message|completion`),
}

// serverSent returns the JSON of a stream's server-sent events, or nil for any other text.
func serverSent(text string) (events []json.RawMessage) {
	if !strings.HasPrefix(text, "data:") && !strings.HasPrefix(text, "event:") {
		return nil
	}
	for line := range strings.Lines(text) {
		if data := strings.TrimPrefix(line, "data:"); isJSON(data) {
			events = append(events, json.RawMessage(data))
		}
	}
	return events
}

// streamed joins the pieces of a streamed answer: of OpenAI's chat completions or responses, or of Anthropic's API.
func streamed(events []json.RawMessage) (text string, is bool) {
	var b strings.Builder
	for _, raw := range events {
		var e struct {
			Type    string
			Delta   json.RawMessage
			Choices []struct {
				Index int
				Delta json.RawMessage
			}
		}
		json.Unmarshal(raw, &e)
		if len(e.Choices) == 0 || e.Choices[0].Index != 0 {
			if e.Type != "content_block_delta" && e.Type != "response.output_text.delta" {
				continue
			}
		} else {
			e.Delta = e.Choices[0].Delta
		}
		var piece struct{ Text, Content string }
		if json.Unmarshal(e.Delta, &piece.Text) != nil {
			json.Unmarshal(e.Delta, &piece)
		}
		is = is || e.Delta != nil
		b.WriteString(piece.Text + piece.Content)
	}
	return b.String(), is
}

// notMessages are types of items that are not messages: tool calls, their results and thoughts.
var notMessages = []string{"reasoning", "thinking", "function_call", "function_call_output", "tool_use", "tool_result",
	"tool-call", "tool-result", "web_search_call"}
