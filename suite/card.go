package suite

import "strings"

// Card says what a user should know about a suite before trusting its figures.
type Card struct {
	Purpose    string `yaml:"purpose" json:"purpose"`
	Written    string `yaml:"written" json:"written"`       // how, and by which rules
	Weaknesses string `yaml:"weaknesses" json:"weaknesses"` // that are known
	Reviewed   string `yaml:"reviewed" json:"reviewed"`     // who has reviewed it in its language; "nobody", if nobody has
}

// Lines are the card's entries with their keys.
func (c Card) Lines() [][2]string {
	return [][2]string{{"purpose", c.Purpose}, {"written", c.Written}, {"weaknesses", c.Weaknesses},
		{"reviewed", c.Reviewed}}
}

// check refuses a card with an empty entry, and trims the others.
func (c *Card) check(d document) error {
	if c == nil {
		return nil
	}
	for _, line := range c.Lines() {
		if strings.TrimSpace(line[1]) == "" {
			return d.errorf(d.lineOf("card"), "card: %s is missing", line[0])
		}
	}
	*c = Card{strings.TrimSpace(c.Purpose), strings.TrimSpace(c.Written), strings.TrimSpace(c.Weaknesses),
		strings.TrimSpace(c.Reviewed)}
	return nil
}
