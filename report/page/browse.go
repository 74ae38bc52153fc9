package page

import "crosstalk"

// NewCard is a card with the observations of one answer, or of answers side by
// side, with up to longest bytes of each text. prompt returns the prompt of an
// answer, if it is known; it may be nil.
func NewCard(observations []crosstalk.Observation, longest int, prompt func(crosstalk.Key) (string, bool),
	reasoning func(crosstalk.Key) string) *Card {
	c := &Card{longest: longest}
	for _, o := range observations {
		c.Name = brief(o.Item)
		c.add(o)
	}
	a := &Answers{Prompt: prompt, Reasoning: reasoning}
	a.prompts(c)
	a.thoughts(c)
	c.finish()
	return c
}
