package recorded

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"crosstalk"
	"crosstalk/internal/table"
)

// The replies of a conversation share what the user wrote: each has what came before
// it, and memory does not grow with the square of the conversation.
func TestTurnsAreShared(t *testing.T) {
	const n = 1000
	row := table.Row{File: "f", Lists: map[string][]string{}}
	for i := range n {
		row.Lists[messagesColumn] = append(row.Lists[messagesColumn],
			fmt.Sprintf(`{"role":"user","content":"question %d"}`, i), fmt.Sprintf(`{"role":"assistant","content":"answer %d"}`, i))
	}
	_, replies, err := chat.read(row)
	if err != nil || len(replies) != n {
		t.Fatal(len(replies), err)
	}
	arrays := map[*string]bool{}
	for i, r := range replies {
		arrays[&r.turns[0]] = true
		prompt := (Reading{}).answer(row, map[string]string{}, nil, r).Values["prompt"]
		if len(r.turns) != i+1 || r.turns[0] != "question 0" || r.turns[i] != fmt.Sprint("question ", i) || prompt != r.turns[i] {
			t.Fatalf("reply %d has %d turns, the last is %q", i, len(r.turns), r.turns[len(r.turns)-1])
		}
	}
	if len(arrays) > 20 { // one for each time that append doubles it
		t.Errorf("%d replies have %d lists of turns", n, len(arrays))
	}
}

// Of a long conversation, what is read again for each answer is bounded.
func TestExpectedOfLongConversations(t *testing.T) {
	var seen []string
	languages := func(texts ...string) string {
		seen = append(seen, texts...)
		for _, known := range []string{"de", "fr"} {
			if strings.Contains(strings.Join(texts, "\n"), known) {
				return known
			}
		}
		return ""
	}
	half := strings.Repeat("x", mostBytes/2)
	for _, c := range []struct {
		name, expect string
		turns        []string
		want         string
		texts        int
	}{
		{"all messages", ExpectPrompt, []string{"fr", half, half[:len(half)-2]}, "fr", 1},
		{"one byte too many", ExpectPrompt, []string{"fr", half, half[:len(half)-1]}, Undetermined, 1},
		{"a long last message", ExpectPrompt, []string{"fr", half + half + " de"}, "de", 1},
		{"no message", ExpectPrompt, nil, Undetermined, 1},
	} {
		seen = nil
		if tag, _ := (Reading{Expect: c.expect, Identify: languages}).expected(&crosstalk.Prompt{}, "",
			c.turns); tag != c.want || len(seen) != c.texts {
			t.Errorf("%s, %s: %s after %d texts; want %s after %d", c.expect, c.name, tag, len(seen), c.want, c.texts)
		}
	}
	if got := recent([]string{"a", "b", "c"}); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("the order is %q", got)
	}
}
