package crosstalk

// Item is one thing to measure.
type Item struct {
	ID      string            `json:"id"`
	Cluster string            `json:"cluster,omitempty"` // of items that share a prompt; empty: of its own
	Labels  map[string]string `json:"labels,omitempty"`  // columns for grouping figures: category, language, source, ...
	Pair    *Pair             `json:"pair,omitempty"`    // leakage
	Prompt  *Prompt           `json:"prompt,omitempty"`  // confusion
	Input   *Input            `json:"input,omitempty"`   // consistency
}

// Pair is the content of a leakage item: two prompts with the same ending, of
// which only Test mentions Concept (Gonen et al. 2024, section 2.2).
type Pair struct {
	Concept string    `json:"concept"`
	Test    string    `json:"test"`
	Control string    `json:"control"`
	Before  []Message `json:"before,omitempty"`  // messages that precede both prompts: a system message, earlier turns
	Remove  []string  `json:"remove,omitempty"`  // cut out of both answers before scoring
	Leaks   []string  `json:"leaks,omitempty"`   // continuations of Test that would be a leak
	Neutral []string  `json:"neutral,omitempty"` // continuations of Control
	Sense   string    `json:"sense,omitempty"`   // everyday or literal sense of a name or an idiom, for reviewers

	// Context is set where a text around the prompt mentions the concept, not
	// the prompt. Test and Control are then what Context is as one text.
	Context *Context `json:"context,omitempty"`
}

// Prompt is the content of a confusion item: what is asked, and the language
// that the answer should be in (Marchisio et al. 2024, section 2.1).
type Prompt struct {
	Text     string `json:"text"`     // empty where an answer was recorded without its prompt
	Language string `json:"language"` // as language identifiers label it: ISO 639-1 where there is a code, else ISO 639-3

	// Tag is the language as a BCP 47 tag where it says more than Language: "zh-TW", "nb".
	Tag string `json:"tag,omitempty"`

	// Before are the messages that Text answers: a system message, and earlier turns of the user and the assistant.
	Before []Message `json:"before,omitempty"`

	// Placed are the same prompt with the instruction to answer in Language at
	// another place, by place: "start", "end", "integrated". Text is one of them.
	Placed map[string]string `json:"placed,omitempty"`
}
