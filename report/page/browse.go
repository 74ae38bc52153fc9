package page

import "crosstalk"

// Headlines are the first figures over all that was measured under a condition,
// and how many more there are.
func Headlines(estimates []crosstalk.Estimate) (list []Headline, more int) {
	return headlines(estimates), moreHeadlines(estimates)
}

// NewCard shows the observations of one answer, or of answers side by side: up
// to longest bytes of each text. prompt returns what was asked for an answer,
// if that is known; it may be nil.
func NewCard(observations []crosstalk.Observation, longest int, prompt func(crosstalk.Key) (string, bool)) *Card {
	c := &Card{longest: longest}
	for _, o := range observations {
		c.Name = brief(o.Item)
		c.add(o)
	}
	(&Answers{Prompt: prompt}).prompts(c)
	c.finish()
	return c
}
