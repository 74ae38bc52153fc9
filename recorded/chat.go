package recorded

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"crosstalk/internal/table"
)

// Columns of chat logs.
const (
	messagesColumn = "messages"
	turnColumn     = "turn" // the number of an answer in its conversation, from 1
)

// conversationColumns are the usual names of the column that identifies a conversation.
var conversationColumns = []string{"id", "conversation_id", "conversationId", "session_id", "chat_id", "thread_id",
	"custom_id"}

// chat reads conversations: one reply for each turn of the assistant that has text. If a row also has an answer
// (completion or a usual name of it), its messages precede that answer.
var chat = layout{name: "messages of the assistant", read: func(row table.Row) (map[string]string, []reply, error) {
	messages, _, err := messagesIn(row)
	if err != nil {
		return nil, nil, err
	}
	columns := maps.Clone(row.Values)
	delete(columns, messagesColumn)
	id := ""
	for _, column := range conversationColumns {
		if id = columns[column]; id != "" {
			delete(columns, column)
			break
		}
	}
	id = cmp.Or(id, fmt.Sprintf("%s:%d", filepath.Base(row.File), row.Line))
	if n := len(messages); n == 0 || messages[n-1].role != assistant {
		found := candidates(columns, "completion", nil)
		if _, stated := columns["completion"]; stated {
			found = []string{"completion"}
		}
		if len(found) == 1 {
			messages = append(messages, message{role: assistant, text: columns[found[0]]})
			delete(columns, found[0])
		}
	}
	var replies []reply
	var turns []string
	rules := ""
	for _, m := range messages {
		switch m.role {
		case system:
			if len(rules) < mostBytes { // replies share them, too
				rules += m.text + "\n"
			}
		case user:
			turns = append(turns, m.text) // replies share turns: each has those before it
		case assistant:
			n := strconv.Itoa(len(replies) + 1)
			values := map[string]string{"completion": m.text, "id": id + "/" + n, turnColumn: n}
			replies = append(replies, reply{values: values, cluster: id, turns: turns, rules: rules})
		}
	}
	return columns, replies, nil
}}

func isMessage(row table.Row) bool {
	return roles[strings.ToLower(row.Values["role"])] != "" && (row.Has("content") || row.Has("parts"))
}

// newMessages reads a conversation with one message per row, or several conversations that a column tells apart.
func newMessages() layout {
	s, id := session{after: user}, ""
	return layout{name: "messages of a conversation", told: "the assistant's messages",
		read: func(row table.Row) (map[string]string, []reply, error) {
			columns := maps.Clone(row.Values)
			for _, column := range []string{"id", "role", "content", "parts"} {
				delete(columns, column)
			}
			of := cmp.Or(firstOf(columns, conversationColumns...),
				strings.TrimSuffix(filepath.Base(row.File), filepath.Ext(row.File)))
			if of != id {
				s, id = session{after: user}, of
			}
			maps.DeleteFunc(columns, func(_, value string) bool { return isJSON(value) || len(value) > maxLabel })
			switch m, _, _ := readMessage([]byte(whole(row))); {
			case strings.TrimSpace(m.text) == "":
			case m.role == user:
				s.ask(m.text)
			case m.role == system && len(s.rules) < mostBytes:
				s.rules += m.text + "\n"
			case m.role == assistant:
				return columns, []reply{s.answer(id, m.text)}, nil
			}
			return columns, nil, nil
		}}
}

// nameAnswer renames the column of the answer to messages, if the user named one. A missing answer is empty, not
// guessed.
func (r Reading) nameAnswer(row table.Row) error {
	theirs := r.Columns["completion"]
	if theirs == "" {
		return nil
	}
	if _, list := row.Lists[theirs]; list {
		return row.Errorf("%s is a list; expected text", theirs)
	}
	text, _ := nested(row, theirs)
	delete(row.Values, theirs)
	row.Values["completion"] = text
	return nil
}

// messagesOf renames the column of messages, which the user or ShareGPT's format may name otherwise.
func (r Reading) messagesOf(row table.Row) table.Row {
	theirs := r.Columns[messagesColumn]
	if theirs == "" && !row.Has(messagesColumn) && row.Lists["conversations"] != nil {
		theirs = "conversations"
	}
	if theirs == "" {
		return row
	}
	if of, ok := row.Lists[theirs]; ok {
		delete(row.Lists, theirs)
		row.Lists[messagesColumn] = of
	} else if text, ok := nested(row, theirs); ok {
		delete(row.Values, theirs)
		row.Values[messagesColumn] = text
	}
	return row
}

// hasMessages reports whether a row is a conversation: it has a list of messages, as JSON in a table.
func hasMessages(row table.Row) bool {
	return row.Lists[messagesColumn] != nil || strings.HasPrefix(strings.TrimSpace(row.Values[messagesColumn]), "[")
}

type message struct {
	role string // system, user or assistant
	text string
}

const (
	system    = "system"
	user      = "user"
	assistant = "assistant"
	tool      = "tool" // output of a tool; not kept
)

// roles are the names of roles in the formats of OpenAI, Anthropic, Gemini and ShareGPT.
var roles = map[string]string{
	"system": system, "developer": system,
	"user": user, "human": user,
	"assistant": assistant, "ai": assistant, "model": assistant, "gpt": assistant, "chatgpt": assistant, "bot": assistant,
	"tool": tool, "function": tool, "function_call": tool, "observation": tool,
}

// messagesIn reads a row's messages. It skips and counts parts that are not text, such as tool calls.
func messagesIn(row table.Row) (messages []message, left int, err error) {
	texts := row.Lists[messagesColumn]
	if text := row.Values[messagesColumn]; text != "" {
		var raw []json.RawMessage
		if err := json.Unmarshal([]byte(text), &raw); err != nil {
			return messages, left, row.Errorf("messages is %.40q; expected a list of messages in JSON", text)
		}
		for _, m := range raw {
			texts = append(texts, string(m))
		}
	}
	for i, text := range texts {
		m, others, err := readMessage([]byte(text))
		if err != nil {
			return messages, left, row.Errorf("message %d: %w", i+1, err)
		}
		if others {
			left++
		}
		if !others || strings.TrimSpace(m.text) != "" {
			messages = append(messages, m)
		}
	}
	return messages, left, nil
}

// readMessage reads a message. others reports whether it has anything but text, such as a tool call, or is a tool
// call, a tool's output, or thoughts. After an error, m has the role if known.
func readMessage(text []byte) (m message, others bool, err error) {
	var of struct {
		Type, Role     string
		From           string // ShareGPT
		ID             json.RawMessage
		Content, Parts json.RawMessage                   // parts of the AI SDK and Gemini
		Kwargs, Data   struct{ Content json.RawMessage } // LangChain
		Value, Text    json.RawMessage                   // ShareGPT
		Refusal        string
		ToolCalls      json.RawMessage `json:"tool_calls"`
		Call           json.RawMessage `json:"function_call"`
	}
	odd := json.Unmarshal(text, &of) != nil
	role := cmp.Or(of.Role, of.From)
	if role == "" && roles[strings.ToLower(of.Type)] != "" {
		role = of.Type // LangChain: human, ai
	}
	var class []string
	if json.Unmarshal(of.ID, &class) == nil && len(class) > 0 { // LangChain's: HumanMessage
		role = strings.TrimSuffix(strings.TrimSuffix(class[len(class)-1], "Chunk"), "Message")
	}
	switch m.role = roles[strings.ToLower(role)]; {
	case m.role == tool, role == "" && of.Type != "" && of.Type != "message":
		return m, true, nil
	case m.role == "" && odd:
		return m, false, errors.New("expected an object with role and content")
	case m.role == "":
		return m, false, fmt.Errorf("the role is %.40q; expected system, user, assistant or tool", role)
	}
	contents := []json.RawMessage{of.Content, of.Parts, of.Kwargs.Content, of.Data.Content, of.Value, of.Text}
	if i := slices.IndexFunc(contents, isSet); i >= 0 {
		m.text, others, err = contentOf(contents[i])
	}
	m.text = cmp.Or(m.text, of.Refusal)
	return m, others || isSet(of.ToolCalls) || isSet(of.Call), err
}

func isSet(raw json.RawMessage) bool {
	return raw != nil && !slices.Contains([]string{"null", "[]"}, string(raw))
}

// contentOf returns the text of a message's content: a string, or parts, whose texts are joined by line breaks.
// others reports whether there are other parts, such as tool calls, images or thoughts.
func contentOf(raw json.RawMessage) (text string, others bool, err error) {
	if !isSet(raw) {
		return "", false, nil
	}
	if raw[0] == '"' {
		return textOf(raw), false, nil
	}
	var parts []json.RawMessage
	if raw[0] != '[' || json.Unmarshal(raw, &parts) != nil {
		return "", false, errors.New("content is neither text nor a list of parts")
	}
	var texts []string
	for _, p := range parts {
		if p[0] == '"' {
			texts = append(texts, textOf(p))
			continue
		}
		var part struct {
			Type    string          `json:"type"`
			Text    *string         `json:"text"`
			Content json.RawMessage `json:"content"`
			Refusal *string         `json:"refusal"`
		}
		if json.Unmarshal(p, &part) != nil {
			return "", false, errors.New("a part of content is neither text nor an object with type")
		}
		switch {
		case part.Type == "refusal" && part.Refusal != nil:
			texts = append(texts, *part.Refusal)
		case part.Text != nil && slices.Contains([]string{"", "text", "input_text", "output_text"}, part.Type):
			texts = append(texts, *part.Text)
		case part.Type == "text" && bytes.HasPrefix(part.Content, []byte(`"`)): // OpenTelemetry
			texts = append(texts, textOf(part.Content))
		default:
			others = true
		}
	}
	return strings.Join(texts, "\n"), others, nil
}

// conversation reads a prompt: the JSON messages of a chat, or a single user message.
func conversation(prompt string) []string {
	turns := textsOf(prompt, user)
	if turns == nil && prompt != "" {
		turns = []string{prompt}
	}
	return turns
}
