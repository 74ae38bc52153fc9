package labels

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"crosstalk/instrument/confusion"
	"crosstalk/instrument/consistency"
	"crosstalk/instrument/leakage"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
)

// Question is what people are asked about the answers of an instrument.
type Question struct {
	Name       string // as stored in labels; the first one of an instrument has the instrument's name
	Instrument string
	Title      string    // short
	Measure    string    // whose observations are judged
	Text       string    // the question; X is the topic, A and B the sides
	Guide      []string  // what people should know, in sentences
	Topic      string    // the text of observations that is X, or else the label
	Given      [2]string // the texts that the sides answer, if people should see them
	Sides      [2]string // the texts that are A and B; the second is empty where there is one
	Choices    []Choice
	Several    bool     // any words are a label, several of them separated by ";": Choices are of no use
	Words      bool     // people mark words of the text
	Fault      string   // the label of what the instrument looks for
	FaultValue float64  // the value of observations that found it
	Undecided  string   // the label of a tie between annotators
	Apart      []string // columns whose values never share a figure
	Near       float64  // units with a Doubt of at most this are doubtful
}

// Choice is a possible answer to a question.
type Choice struct {
	Label string  // as stored
	Shown string  // as asked; empty: as stored. "A" stands for the first side on the unblinded sheet
	Value float64 // on the scale of the measure; NaN: none
}

// Labels of leakage.
const (
	Test    = "test"
	Control = "control"
	Neither = "neither"
)

// CannotTell is the label of who cannot say.
const CannotTell = "cannot tell"

// The names of questions.
const (
	NearerText  = "leakage"
	Language    = "confusion" // of an answer
	Lines       = "lines"     // the language of a line
	SameMeaning = "consistency"
	Reading     = "reading" // what an answer says
	Codes       = "codes"   // what is wrong with a pair of answers
)

// NoClass is the label of an answer that says none of the classes.
const NoClass = "none"

const markWords = "Click each word that is in another language. Names, loan words, quotations and program code are not in another language."

// Questions are those of all instruments. That of leakage is Gonen et al.'s
// (2024, section 5).
var Questions = []Question{{
	Name: NearerText, Instrument: "leakage", Title: "Which text is nearer to X?", Measure: leakage.Measure,
	Text: "Consider the word or phrase X. Which of the following texts (A or B) is more semantically related to X?",
	Guide: []string{"Read X and both texts. Choose the text whose meaning has more to do with X, by whatever path: the same subject, a part, a place, an association.",
		"Which text is better, longer or more likely does not matter. Choose neither if both are as near, or both have nothing to do with X."},
	Topic: leakage.Concept, Sides: [2]string{leakage.Test, leakage.Control},
	Choices: []Choice{{Test, "A", 1}, {Control, "B", 0}, {Label: Neither, Value: 0.5}},
	Fault:   Test, FaultValue: 1, Undecided: Neither, Apart: []string{leakage.DatasetColumn, leakage.LanguageColumn}, Near: 0.03,
}, {
	Name: Language, Instrument: "confusion", Title: "Is the answer in the right language?", Measure: confusion.LPR,
	Text: "Is every line of text A in the language X? Ignore names and single words of another language: " +
		"right, wrong, or cannot tell.",
	Guide: []string{"Choose wrong if at least one line is mostly in another language, else right. Mistakes and odd wording do not matter.", markWords},
	Topic: confusion.LanguageColumn, Sides: [2]string{confusion.AnswerText}, Words: true,
	Choices: []Choice{{Label: "right", Value: 1}, {Label: "wrong", Value: 0}, {Label: CannotTell, Value: math.NaN()}},
	Fault:   "wrong", Undecided: CannotTell, Apart: []string{confusion.TaskColumn}, Near: 0.1,
}, {
	Name: Lines, Instrument: "confusion", Title: "Is the line in the right language?", Measure: confusion.LPR,
	Text:  "Is line A in the language X? Ignore names and single words of another language: right, wrong, or cannot tell.",
	Guide: []string{"Choose wrong if the line is mostly in another language, else right. Mistakes and odd wording do not matter.", markWords},
	Topic: confusion.LanguageColumn, Sides: [2]string{confusion.AnswerText}, Words: true,
	Choices: []Choice{{Label: "right", Value: 1}, {Label: "wrong", Value: 0}, {Label: CannotTell, Value: math.NaN()}},
	Fault:   "wrong", Undecided: CannotTell, Apart: []string{confusion.TaskColumn}, Near: 0.1,
}, {
	Name: SameMeaning, Instrument: "consistency", Title: "Do the answers mean the same?", Measure: consistency.Consistency,
	Text: "A and B answer the question X, perhaps in another language or in other words. Do they mean the same: yes, no, or cannot tell?",
	Guide: []string{"Compare what the answers say about the question, not how they say it. Language, length, politeness and reasons do not matter.",
		"Which answer is right does not matter either. Choose cannot tell if an answer says nothing clear, or you do not know its language."},
	Topic: consistency.SourceInput, Sides: [2]string{consistency.SourceAnswer, consistency.AnswerText},
	Choices: []Choice{{Label: "yes", Value: 1}, {Label: "no", Value: 0}, {Label: CannotTell, Value: math.NaN()}},
	Fault:   "no", Undecided: CannotTell, Apart: []string{consistency.TaskColumn, consistency.PairColumn, consistency.PartColumn},
}, {
	Name: Reading, Instrument: "consistency", Title: "What does the answer say?", Measure: consistency.Accuracy,
	Text: "Which class of the task X does answer A choose? Choose none if it chooses no class, or several.",
	Guide: []string{"Read what the answer says, even if it is wrong, in another language, or has a strange form.",
		"A reason that contradicts the choice does not matter. An answer that evades, refuses or only repeats the question chooses none."},
	Topic: consistency.TaskColumn, Sides: [2]string{consistency.AnswerText}, Undecided: CannotTell, Apart: []string{consistency.TaskColumn},
}, {
	Name: Codes, Instrument: "consistency", Title: "Why do the answers differ?", Measure: consistency.Consistency,
	Text: "A and B answer the same question and were read as answers with different meanings. Why do they differ?",
	Guide: []string{"Compare the questions first, then the answers. Name the reason in a word or two, such as mistranslation, misread answer, or change of mind.",
		"Use the same words for the same reason. Separate several reasons with semicolons."},
	Given: [2]string{consistency.SourceInput, consistency.InputText}, Sides: [2]string{consistency.SourceAnswer, consistency.AnswerText},
	Several: true, Undecided: CannotTell, Apart: []string{consistency.TaskColumn},
}}

// QuestionFor returns the question of this name.
func QuestionFor(name string) (Question, error) {
	i := slices.IndexFunc(Questions, func(q Question) bool { return q.Name == name })
	if i < 0 {
		return Question{}, fmt.Errorf("unknown question %q; choose one of: %s", name, strings.Join(names(Questions), ", "))
	}
	return Questions[i], nil
}

// QuestionsOf returns the questions of an instrument, the most important first.
func QuestionsOf(instrument string) (list []Question) {
	for _, q := range Questions {
		if q.Instrument == instrument {
			list = append(list, q)
		}
	}
	return list
}

func names(questions []Question) (list []string) {
	for _, q := range questions {
		list = append(list, q.Name)
	}
	return list
}

// takes returns an error if label is not an answer to the question.
func (q Question) takes(label string) error {
	choices := q.Labels()
	if len(choices) == 0 || slices.Contains(choices, label) { // without choices here, units have their own
		return nil
	}
	return fmt.Errorf("unknown label %q; choose one of: %s", label, strings.Join(choices, ", "))
}

// Labels are the labels of the choices.
func (q Question) Labels() (list []string) {
	for _, c := range q.Choices {
		list = append(list, c.Label)
	}
	return list
}

// shown are the choices as they are asked.
func (q Question) shown() (list []string) {
	for _, c := range q.Choices {
		if c.Shown != "" {
			list = append(list, c.Shown)
		} else {
			list = append(list, c.Label)
		}
	}
	return list
}

// value is that of a label, NaN where it has none.
func (q Question) value(label string) float64 {
	for _, c := range q.Choices {
		if c.Label == label {
			return c.Value
		}
	}
	return math.NaN()
}

// paired reports whether two texts are compared.
func (q Question) paired() bool { return q.Sides[1] != "" }

// LanguageName is the English name of a language, or the code where it is none.
func LanguageName(code string) string {
	tag, err := language.Parse(code)
	if err != nil {
		return code
	}
	return cmp.Or(display.English.Tags().Name(tag), code)
}

// Asks is the text of the question about a topic, for pages that show the choices
// beside it. The name of a language is in the text.
func (q Question) Asks(topic string) string {
	if !q.Words {
		return q.Text
	}
	text, _, _ := strings.Cut(strings.ReplaceAll(q.Text, "the language X", LanguageName(topic)), ": ")
	return text + "."
}
