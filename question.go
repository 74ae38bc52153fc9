package crosstalk

// Question is asked of people about the answers of an instrument.
type Question struct {
	Name       string    // as stored in labels; the first question of an instrument has its name
	Title      string    // in a few words
	Measure    string    // whose observations are judged
	Text       string    // the question; X is the topic, A and B the sides
	Guide      []string  // what people should know, in sentences
	Topic      string    // the text of observations that is X, or else the label
	Given      [2]string // the texts that the sides answer, if people should see them
	Sides      [2]string // the texts that are A and B; the second is empty where there is one
	Unit       Unit      // what is judged
	Corrects   []string  // measures whose figures labels correct: of lines, of words, and the harmonic mean; nil: Measure
	Choices    []Choice
	Several    bool // any words are a label, several of them separated by ";"
	Words      bool // people mark words of the text
	Fault      string
	FaultValue float64  // the value of observations that found the label Fault
	Undecided  string   // the label of a tie between annotators
	Apart      []string // columns whose values never share a figure
	Near       float64  // units whose doubt is at most this are doubtful
}

// Choice is a label to choose.
type Choice struct {
	Label string // as stored
	Shown string // as shown; empty: as stored. "A" is the first side on the unblinded sheet
	Value Value  // on the scale of the measure; undefined: none
}

// Unit is what a question is about: the scored answer of an observation, or a pair of them, unless it says otherwise. A
// key is a column, the name of a text, or "finding".
type Unit struct {
	Only    map[string][]string // observations with one of these values of each key
	Except  map[string][]string // observations with one of these values of a key have no unit
	Lines   bool                // each line that the rules check (LineRules)
	Alike   []string            // observations with the same values of these keys are one unit
	Classes []string            // texts with classes: what is judged is the first, whatever the score, and all are choices
	Request bool                // people see the request, if the run has it, in place of the first text given
	Sure    map[string][]string // for classes: values of keys that say that the instrument is sure
}

// LineRules are rules that judge the lines and the words of an answer.
type LineRules interface {
	Rules
	// JudgedLines returns the lines of an observation's answer that the rules check. judge makes a judge with a threshold
	// of risk.
	JudgedLines(judge func(risk float64) Judge, o Observation) []JudgedLine
	// Split returns the words of a text in a language, with their offsets.
	Split(language, text string) []Span
}

// JudgedLine is a line of an answer: its text as received and, if it is wrong, its language.
type JudgedLine struct {
	Span
	Wrong bool
	Doubt float64 // distance of its probability from the other verdict; infinite: more than that of the nearest line
}
