package crosstalk

// PromptConfig is how a prompt becomes a request.
type PromptConfig struct {
	API      API      `json:"api"`
	Prefix   string   `json:"prefix,omitempty"` // before each prompt
	System   string   `json:"system,omitempty"` // chat only; empty: no system message
	Decoding Decoding `json:"decoding"`
	Logprobs int      `json:"logprobs,omitempty"` // candidates wanted at each position; 0: none
}

// Request is the request for one sample of a prompt.
func (p PromptConfig) Request(prompt string, sample int) Request {
	r := Request{API: p.API, Decoding: p.Decoding, Logprobs: p.Logprobs, Sample: sample}
	if p.API == Completions {
		r.Prompt = p.Prefix + prompt
		return r
	}
	if p.System != "" {
		r.Messages = append(r.Messages, Message{Role: "system", Content: p.System})
	}
	r.Messages = append(r.Messages, Message{Role: "user", Content: p.Prefix + prompt})
	return r
}

// Demonstration is a question with an answer, shown to the model before a
// prompt (few-shot prompting).
type Demonstration struct {
	Question string `json:"question"`
	Answer   string `json:"answer"`
}
