package recorded

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"crosstalk/internal/lazyregexp"
	"crosstalk/internal/table"
)

// afterColumn says what came before an answer in a conversation: user, tool, compaction or assistant.
const afterColumn = "after"

// session is a conversation of which a file has a row for each message or event.
type session struct {
	turns []string // of the user
	n     int      // answers
	after string
}

func (s *session) answer(id, text string) reply {
	s.n++
	n := strconv.Itoa(s.n)
	r := reply{values: map[string]string{"completion": text, "id": id + "/" + n, turnColumn: n, afterColumn: s.after},
		cluster: id, turns: s.turns}
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

// newTranscript reads the session of a coding assistant: its texts are answers; thoughts and tools are left out.
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
			case row.Has("role"): // of Codex, at first
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

// Usual names of who speaks in a chat as text.
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
func textRows(path string) iter.Seq2[table.Row, error] {
	return rowsBy(func(yield func(table.Row) error) error {
		in, err := os.Open(path)
		if err != nil {
			return err
		}
		defer in.Close()
		lines := bufio.NewScanner(in)
		lines.Buffer(nil, 1<<20)
		wrong := fmt.Errorf("%s: expected an export of WhatsApp, or lines that begin with "+
			`"User:" and "Bot:" in turn`, path)
		var last table.Row
		n := 1
		for ; lines.Scan(); n++ {
			line := strings.TrimPrefix(lines.Text(), "\ufeff")
			m := whatsApp().FindStringSubmatch(line)
			if m == nil {
				m = bySpeaker().FindStringSubmatch(line)
			}
			switch {
			case m == nil && last.Values != nil:
				last.Values[textColumn] += "\n" + line
			case m == nil && strings.TrimSpace(line) != "" && n > 5: // a notice of encryption comes first
				return wrong
			case m == nil:
			case strings.HasPrefix(m[2], "\u200e") || omitted().MatchString(m[2]): // WhatsApp's own, not the speaker's
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

// IsChat reports whether a text file is a chat, as recorded answers may be: somebody else has said something before an
// answer, or it begins as an export of WhatsApp.
func IsChat(path string) bool {
	asked := false
	for row, err := range textRows(path) {
		is := answering().MatchString(row.Values[speakerColumn])
		if err != nil || asked && is {
			return err == nil
		}
		if asked = asked || !is; !bySpeaker().MatchString(row.Values[speakerColumn] + ":") {
			return true
		}
	}
	return false
}

// newDialogue reads a chat as text. answers is the name of who answers; empty: a usual one.
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
