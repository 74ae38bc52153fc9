package crosstalk

// Carrier is a way in which a text reaches a model together with a prompt that it has nothing to do with.
type Carrier string

const (
	Example Carrier = "example" // a few-shot example: a question with its answer, written before the prompt
	System  Carrier = "system"  // a system message
	Note    Carrier = "note"    // something remembered about the user, in the system message
	Passage Carrier = "passage" // a retrieved document, before the prompt
	Turn    Carrier = "turn"    // an earlier turn of the same conversation
)

// Carriers are all carriers.
var Carriers = []Carrier{Example, System, Note, Passage, Turn}

// InTurns reports whether the carrier's text is a question with an answer.
func (c Carrier) InTurns() bool { return c == Example || c == Turn }

// Context is what a model reads with the prompt of a context leakage item.
type Context struct {
	Carrier Carrier `json:"carrier"`
	Prompt  string  `json:"prompt"`  // the same with both texts
	Test    Carried `json:"test"`    // mentions the concept
	Control Carried `json:"control"` // does not
}

// Carried is the content of a carrier: a text or, for Example and Turn, a question with its answer.
type Carried struct {
	Text      string `json:"text,omitempty"`
	User      string `json:"user,omitempty"`
	Assistant string `json:"assistant,omitempty"`
}

// String is the text as it was written: without roles, the question before its answer.
func (c Carried) String() string {
	if c.User != "" || c.Assistant != "" {
		return c.User + "\n" + c.Assistant
	}
	return c.Text
}

// Whole is the carrier's text and the prompt as one text, for models that continue a text.
func (c Carrier) Whole(of Carried, prompt string) string {
	const question, answer = "Q: ", "\nA:"
	switch c {
	case Example, Turn:
		return question + of.User + answer + " " + of.Assistant + "\n\n" + question + prompt + answer
	case Note:
		of.Text = tagged("memory", of.Text)
	case Passage:
		of.Text = tagged("document", of.Text)
	}
	return of.Text + "\n\n" + question + prompt + answer
}

// NextQuestion begins a question that a model asks itself after an answer to Carrier.Whole.
const NextQuestion = "\nQ:"

// CarriedRequest is the request for one sample of a prompt with what a carrier
// carries. A system message of p comes before the carrier's.
func (p PromptConfig) CarriedRequest(c Carrier, of Carried, prompt string, sample int) Request {
	if p.API == Completions {
		return p.Request(c.Whole(of, prompt), sample)
	}
	var turns []Message
	switch c {
	case Example:
		p.Prefix, prompt = "", c.Whole(of, p.Prefix+prompt)
	case System:
		p.System = below(p.System, of.Text)
	case Note:
		p.System = below(p.System, tagged("memory", of.Text))
	case Passage:
		p.Prefix = tagged("document", of.Text) + "\n\n" + p.Prefix
	case Turn:
		turns = []Message{{Role: "user", Content: of.User}, {Role: "assistant", Content: of.Assistant}}
	}
	return p.RequestAfter(turns, prompt, sample)
}

// tagged marks where a text begins and ends, in any language.
func tagged(tag, text string) string { return "<" + tag + ">\n" + text + "\n</" + tag + ">" }

func below(first, text string) string {
	if first == "" {
		return text
	}
	return first + "\n\n" + text
}
