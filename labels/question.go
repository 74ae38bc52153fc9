package labels

import (
	"cmp"
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"crosstalk/internal/ordered"

	"github.com/goccy/go-yaml"
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
)

// Question is asked about the answers of an instrument. questions.yaml describes the fields.
type Question struct {
	Name       string
	Instrument string
	Title      string
	Measure    string
	Text       string
	Guide      []string
	Topic      string
	Given      [2]string
	Sides      [2]string
	Unit       string
	Choices    []choice
	Several    bool
	Words      bool
	Fault      string
	FaultValue float64 `yaml:"fault_value"`
	Undecided  string
	Apart      []string
	Near       float64
}

type choice struct {
	Label string  // as stored
	Shown string  // as asked; empty: as stored. "A" is the first side on the unblinded sheet
	Value float64 // on the scale of the measure; NaN: none
}

// What Question.Unit can be, besides an answer.
const (
	unitLine    = "line"
	unitReading = "reading"
	unitPair    = "pair"
)

// The names of questions that readers of labels know.
const (
	Reading = "reading" // the class that an answer chooses
	Codes   = "codes"   // why a pair of answers differs
)

// Labels of several questions.
const (
	cannotTell = "cannot tell"
	noClass    = "none" // of an answer that chooses none of the classes
)

//go:embed questions.yaml
var questionsFile []byte

var questions = sync.OnceValue(func() (list []Question) {
	if err := yaml.Unmarshal(questionsFile, &list); err != nil {
		panic(err)
	}
	return list
})

func questionFor(name string) (Question, error) {
	i := slices.IndexFunc(questions(), func(q Question) bool { return q.Name == name })
	if i < 0 {
		return Question{}, fmt.Errorf("unknown question %q; choose one of: %s", name, strings.Join(names(questions()), ", "))
	}
	return questions()[i], nil
}

// QuestionsOf returns the questions of an instrument, the most important first.
func QuestionsOf(instrument string) []Question {
	return slices.DeleteFunc(slices.Clone(questions()), func(q Question) bool { return q.Instrument != instrument })
}

func names(questions []Question) []string {
	return ordered.Map(questions, func(q Question) string { return q.Name })
}

func (q Question) labels() []string {
	return ordered.Map(q.Choices, func(c choice) string { return c.Label })
}

func (q Question) shown() []string {
	return ordered.Map(q.Choices, func(c choice) string { return cmp.Or(c.Shown, c.Label) })
}

func (q Question) value(label string) float64 {
	for _, c := range q.Choices {
		if c.Label == label {
			return c.Value
		}
	}
	return math.NaN()
}

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
