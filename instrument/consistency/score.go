package consistency

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"crosstalk"
	"crosstalk/measure/segment"
	"crosstalk/measure/segment/jieba"
	"crosstalk/measure/similarity"
	"crosstalk/measure/translation"
)

type scoring struct {
	*Instrument
	ctx       context.Context
	ask       crosstalk.Asker
	item      crosstalk.Item
	task      crosstalk.Task
	answers   Answers
	rewritten map[Sense]Rewritten
	forms     []Form
	bleu      map[Sense]float64 // BLEU of rewritten inputs
	reading   string            // asRead, reviewed, or "" if nothing is reviewed

	observations []crosstalk.Observation
}

// observation returns an observation without a value yet.
func (s *scoring) observation(measure, pair string, part Part, sample int) crosstalk.Observation {
	labels := map[string]string{}
	maps.Copy(labels, s.item.Labels)
	labels[TaskColumn], labels[pairColumn] = s.task.Name, pair
	variant := pair
	if part != "" {
		labels[partColumn] = string(part)
		variant += " " + string(part)
	}
	condition := s.Condition
	if s.reading != "" {
		condition = map[string]string{readingColumn: s.reading}
		maps.Copy(condition, s.Condition)
	}
	return crosstalk.Observation{Measure: measure, Item: s.item.ID, Cluster: cmp.Or(s.item.Cluster, s.item.ID),
		Sample: sample, Variant: variant, Value: crosstalk.Undefined, Condition: condition, Labels: labels}
}

// scoreAnswers observes each answer, and each pair of it and the answer to the source.
func (s *scoring) scoreAnswers() error {
	answers := map[Form][]answer{}
	for _, form := range s.forms {
		for _, a := range s.answers[form] {
			answers[form] = append(answers[form], s.read(form, a))
		}
	}
	samples := s.samples()
	for _, form := range s.forms {
		pair, part := form.Place()
		for k, a := range answers[form] {
			if part == Source && k >= samples {
				part = Repeat
			}
			o := s.observation(Accuracy, pair, part, k)
			if err := s.judge(&o, form, a); err != nil {
				return err
			}
			s.observations = append(s.observations, o)
		}
	}
	for _, form := range s.forms {
		pair, part := form.Place()
		source, compared := answers[form.Source()], answers[form]
		if part == Source {
			part, compared = Repeat, compared[min(1, len(compared)):]
		}
		if source == nil {
			continue // the answer to compare with was never requested
		}
		for k, a := range compared {
			o := s.observation(Consistency, pair, part, k)
			if err := s.compare(&o, form, at(source, k), a); err != nil {
				return err
			}
			if part != Repeat {
				// whether the next run of the source is consistent with this one
				if this, next := at(source, k), at(source, k+1); s.incomparable(this, next) == "" {
					same, _, err := s.same(form.Source(), this, next)
					if err != nil {
						return err
					}
					if same != Unknown {
						o.Numbers[repeated] = float64(same)
					}
				}
			}
			s.observations = append(s.observations, o)
		}
	}
	return nil
}

func at(answers []answer, k int) answer {
	if k < len(answers) {
		return answers[k]
	}
	return answer{reason: Missing}
}

// samples returns how often each question was asked. A source is asked once more, for the baseline.
func (s *scoring) samples() int {
	n, sources := 0, 0
	for form, answers := range s.answers {
		if _, part := form.Place(); part == Source {
			sources = max(sources, len(answers))
		} else {
			n = max(n, len(answers))
		}
	}
	return cmp.Or(n, max(1, sources-1))
}

// judge completes the observation of one answer.
func (s *scoring) judge(o *crosstalk.Observation, form Form, a answer) error {
	o.Answers = keys(a.Key)
	addSide(o, answerText, a)
	addFact(o, classText, a.class)
	gold, known := s.gold(form)
	addFact(o, goldText, gold)
	if a.rule != "" {
		addFact(o, ruleText, a.rule)
		addFact(o, Confidence, a.confidence.String())
	}
	if a.Key == (crosstalk.Key{}) && a.Status != "" {
		o.AddText(crosstalk.Given, promptText, s.question(form))
	}
	o.AddText(crosstalk.Aside, senseText, string(form.Instruction))
	if a.override != nil {
		o.AddText(crosstalk.Aside, reviewer, a.override.Reviewer)
		o.AddText(crosstalk.Aside, reviewReason, a.override.Reason)
	}
	switch {
	case a.reason != "":
		o.NotScored = a.reason
		return nil
	case a.class == "":
		o.Finding = Invalid
	}
	right, used, err := s.right(form, a)
	switch {
	case err != nil:
		return err
	case !known:
		o.NotScored = noGold
	case right == Unknown:
		o.NotScored = undefined
	case right == No:
		o.Value, o.Finding = 0, cmp.Or(o.Finding, wrong)
	default:
		o.Value = 1
	}
	o.Answers = append(o.Answers, used...)
	return nil
}

// question returns the prompt of a form, with the source's words where a rewriting was not recorded.
func (s *scoring) question(form Form) string {
	in, known := s.task.Instructions[string(form.Instruction)]
	if !known || len(in.Parts) == 0 { // a recorded rewriting may have answer words only
		in = s.task.Instructions[string(form.Instruction.Origin())]
	}
	texts := s.rewritten[form.Input].Texts
	if texts == nil {
		texts = s.item.Input.Texts[string(form.Input.Origin())]
	}
	return s.task.Prompt(in, texts)
}

// addSide adds an answer's text, if there is an answer: sides are in the order of the observation's answers.
func addSide(o *crosstalk.Observation, name string, a answer) {
	if a.Status != "" {
		o.AddText(crosstalk.Side, name, a.Text)
	}
}

func addFact(o *crosstalk.Observation, name, text string) {
	if text != "" {
		o.AddText(crosstalk.Fact, name, text)
	}
}

// compare completes the observation of an answer compared with the answer to the source.
func (s *scoring) compare(o *crosstalk.Observation, form Form, source, a answer) error {
	o.Answers = keys(source.Key, a.Key)
	o.Numbers = map[string]float64{}
	for name, side := range map[string]struct {
		Form
		answer
	}{sourceCorrect: {form.Source(), source}, correct: {form, a}} {
		right, _, err := s.right(side.Form, side.answer)
		if err != nil {
			return err
		}
		if right != Unknown {
			o.Numbers[name] = float64(right)
		}
	}
	if r, ok := s.rewritten[form.Input]; ok {
		r.describe(o, s.item.Input.Texts[string(form.Input.Origin())])
		if bleu, ok := s.bleu[form.Input]; ok {
			o.Numbers[bleuNumber] = bleu
		}
	}
	addSide(o, sourceAnswer, source)
	addSide(o, answerText, a)
	addFact(o, sourceClass, source.class)
	addFact(o, classText, a.class)
	addFact(o, ruleText, a.rule)
	if a.rule != "" {
		o.AddText(crosstalk.Aside, sourceRule, source.rule)
	}
	if o.NotScored = s.incomparable(source, a); o.NotScored != "" {
		return nil
	}
	same, used, err := s.same(form.Source(), source, a)
	if err != nil {
		return err
	}
	o.Answers = append(o.Answers, used...)
	switch same {
	case Unknown:
		o.NotScored = undefined
	case Yes:
		o.Value = 1
	default:
		o.Value, o.Finding = 0, Inconsistent
	}
	return nil
}

// incomparable returns why two answers cannot be compared, "" if they can.
func (s *scoring) incomparable(a, b answer) string {
	for _, reason := range []crosstalk.Status{crosstalk.Failed, crosstalk.Refused, crosstalk.Empty, crosstalk.NoAnswer,
		noRewriting, Missing} {
		if a.reason == string(reason) || b.reason == string(reason) {
			return string(reason)
		}
	}
	if !s.Protocol.InvalidIsClass && (a.class == "" || b.class == "") {
		return Invalid
	}
	return ""
}

// same compares two answers to a question: classes by id, free answers by the instrument's comparer. It returns the
// keys of its requests.
func (s *scoring) same(question Form, a, b answer) (Verdict, []crosstalk.Key, error) {
	if len(s.task.Classes) > 0 {
		return VerdictOf(a.class == b.class), nil, nil
	}
	return s.sameFree(question, a.class, b.class)
}

// right compares an answer with the correct one. An answer without a class is wrong.
func (s *scoring) right(form Form, a answer) (Verdict, []crosstalk.Key, error) {
	gold, known := s.gold(form)
	switch {
	case !known || a.reason != "":
		return Unknown, nil, nil
	case a.class == "":
		return No, nil, nil
	case len(s.task.Classes) > 0:
		return VerdictOf(a.class == gold), nil, nil
	}
	return s.sameFree(form, gold, a.class)
}

// gold returns the correct answer for the input's original text: languages can differ.
func (s *scoring) gold(form Form) (string, bool) {
	gold, known := s.item.Input.Gold[string(form.Input.Origin())]
	return gold, known
}

func keys(of ...crosstalk.Key) []crosstalk.Key {
	return slices.DeleteFunc(of, func(k crosstalk.Key) bool { return k == crosstalk.Key{} })
}

// Score makes observations of the answers to an item, and of its rewritten texts, if any. ask is needed only if free
// answers are compared by asking. All observations have the labels task and pair, which form Variant, and these texts
// and numbers, if they exist:
//
//	Consistency  part; sourceInput, inputText, flagsText, sourceAnswer, answerText, sourceClass, classText, ruleText,
//	             sourceRule; sourceCorrect, correct, repeated, bleuNumber
//	Accuracy     part; answerText, classText, goldText, ruleText, Confidence, senseText, reviewer, reviewReason
//	Rewriting    sourceInput, inputText, flagsText
//	itemBLEU     inputText, Reference; counts of words and n-grams
//	ROUGE1, ROUGE2, ROUGEL, Quality
func (in *Instrument) Score(ctx context.Context, ask crosstalk.Asker, item crosstalk.Item, answers Answers,
	rewritten map[Sense]Rewritten) ([]crosstalk.Observation, error) {
	task, err := in.taskOf(item)
	if err != nil {
		return nil, err
	}
	s := &scoring{Instrument: in, ctx: ctx, ask: ask, item: item, task: task, answers: answers, rewritten: rewritten}
	return s.score()
}

func (s *scoring) score() ([]crosstalk.Observation, error) {
	s.bleu = map[Sense]float64{}
	s.forms = slices.SortedFunc(maps.Keys(s.answers), compareForms)
	if err := s.scoreRewritten(); err != nil {
		return nil, err
	}
	readings := []string{""}
	if s.Overrides != nil {
		readings = []string{asRead, reviewed}
	}
	for _, s.reading = range readings {
		if err := s.scoreAnswers(); err != nil {
			return nil, err
		}
	}
	return s.observations, nil
}

func (in *Instrument) taskOf(item crosstalk.Item) (crosstalk.Task, error) {
	if item.Input == nil {
		return crosstalk.Task{}, fmt.Errorf("item %s has no input: it is not a consistency item", item.ID)
	}
	i := slices.IndexFunc(in.Tasks, func(t crosstalk.Task) bool { return t.Name == item.Input.Task })
	if i < 0 {
		return crosstalk.Task{}, fmt.Errorf("item %s has the unknown task %q", item.ID, item.Input.Task)
	}
	return in.Tasks[i], nil
}

// Rewritten contains the texts of an item in another sense.
type Rewritten struct {
	Texts   []string // the task's fields, for prompts, or nil
	Outputs []string // the model's raw answers, if any
	Flags   []string // reasons to doubt them
	Answers []crosstalk.Key
}

// describe adds a rewriting to an observation that depends on it.
func (r Rewritten) describe(o *crosstalk.Observation, source []string) {
	o.AddText(crosstalk.Given, sourceInput, strings.Join(source, "\n"))
	if r.Texts != nil {
		o.AddText(crosstalk.Given, inputText, strings.Join(r.Texts, "\n"))
	}
	addFact(o, flagsText, strings.Join(r.Flags, ", "))
	o.Answers = append(o.Answers, r.Answers...)
}

func (s *scoring) scoreRewritten() error {
	for _, sense := range slices.Sorted(maps.Keys(s.rewritten)) {
		r := s.rewritten[sense]
		o := s.observation(Rewriting, string(sense), "", 0)
		source := s.item.Input.Texts[string(sense.Origin())]
		r.describe(&o, source)
		switch {
		case r.Texts == nil:
			o.NotScored = noRewriting
		case len(source) == 0:
			o.NotScored = noSource // flags compare with the source
		case len(r.Flags) > 0:
			o.Value, o.Finding = 0, flagged
		default:
			o.Value = 1
		}
		s.observations = append(s.observations, o)
		if err := s.scoreQuality(sense, r); err != nil {
			return err
		}
	}
	return nil
}

// scoreQuality compares rewritten inputs with human ones in the same language. The value of an item is the mean over
// its texts (Ohmer et al. 2023, section 4.3).
func (s *scoring) scoreQuality(sense Sense, r Rewritten) error {
	reference := s.item.Input.Texts[sense.Target()]
	if len(r.Texts) == 0 || len(reference) != len(r.Texts) {
		return nil
	}
	bleu, rouge := translation.TokenizerFor(sense.Target()), s.Protocol.rouge(sense.Target())
	var sum translation.BLEUStats
	figures := map[string]float64{}
	n := float64(len(r.Texts))
	for i, text := range r.Texts {
		if reference[i] == "" {
			return nil // the scorer cannot judge the rewriting
		}
		stats := bleu.Stats(text, reference[i])
		sum.Add(stats)
		figures[itemBLEU] += stats.Score() / 100 / n
		overlap := rouge.Score(text, reference[i])
		if s.Protocol.ROUGE == ROUGEPapers && rouge.Signature() == translation.ROUGEChinese.Signature() {
			overlap = rouge.ScoreWords(segment.Words(jieba.Segmenter{}, text), segment.Words(jieba.Segmenter{}, reference[i]))
		}
		figures[ROUGE1] += overlap.ROUGE1 / n
		figures[ROUGE2] += overlap.ROUGE2 / n
		figures[ROUGEL] += overlap.ROUGEL / n
	}
	s.bleu[sense] = figures[itemBLEU]
	figures[itemBLEU] = min(figures[itemBLEU], 1) // exp and log can give 100.00000000000004 for equal texts
	measures := []string{itemBLEU, ROUGE1, ROUGE2, ROUGEL}
	if s.Quality != nil {
		pairs := make([]similarity.Pair, len(r.Texts))
		for i := range pairs {
			pairs[i] = similarity.Pair{A: r.Texts[i], B: reference[i]}
			if source := s.item.Input.Texts[string(sense.Origin())]; i < len(source) {
				pairs[i].Source = source[i]
			}
		}
		scores, err := s.Quality.Scores(s.ctx, pairs)
		if err != nil {
			return err
		}
		for _, score := range scores {
			figures[Quality] += score / n
		}
		measures = append(measures, Quality)
	}
	for _, measure := range measures {
		o := s.observation(measure, string(sense), "", 0)
		o.Answers = r.Answers
		if f := crosstalk.Value(figures[measure]); f.Defined() {
			o.Value = f
		} else {
			o.NotScored = undefined
		}
		if measure == itemBLEU {
			o.Numbers = bleuNumbers(sum)
			o.AddText(crosstalk.Given, inputText, strings.Join(r.Texts, "\n"))
			o.AddText(crosstalk.Given, Reference, strings.Join(reference, "\n"))
		}
		s.observations = append(s.observations, o)
	}
	return nil
}

// The BLEU of many items is computed from the sums of their counts, which observations contain.
var bleuNames = [...]string{"matches_1", "matches_2", "matches_3", "matches_4",
	"ngrams_1", "ngrams_2", "ngrams_3", "ngrams_4", "words", "reference_words", "texts"}

func bleuNumbers(b translation.BLEUStats) map[string]float64 {
	numbers := map[string]float64{}
	for i, n := range slices.Concat(b.Counts[:], b.Totals[:], []int{b.SysLen, b.RefLen, b.Segments}) {
		numbers[bleuNames[i]] = float64(n)
	}
	return numbers
}

func bleuStats(numbers map[string]float64) translation.BLEUStats {
	at := func(i int) int { return int(numbers[bleuNames[i]]) }
	return translation.BLEUStats{Counts: [...]int{at(0), at(1), at(2), at(3)},
		Totals: [...]int{at(4), at(5), at(6), at(7)}, SysLen: at(8), RefLen: at(9), Segments: at(10)}
}
