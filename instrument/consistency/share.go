package consistency

import (
	"cmp"
	"slices"

	"crosstalk"
)

// The measures that only figures have.
const (
	ConsistencyCorrect   = "consistency_correct"      // of items whose source is answered rightly
	ConsistencyIncorrect = "consistency_incorrect"    // of items whose source is answered wrongly
	ConsistencyBLEU50    = "consistency_bleu50"       // of items with BLEU above 50
	ConsistencyChange    = "consistency_change"       // to the source asked again
	AccuracyChange       = "accuracy_change"          // to the source
	InvalidShare         = "invalid"                  // share of answers without a label
	BLEUConsistency      = "bleu_consistency_pearson" // correlation of an item's BLEU with its consistency
	BLEUAccuracy         = "bleu_accuracy_pearson"    // with its accuracy
	BLEU                 = "bleu"                     // of all rewritten inputs as one corpus; 0 to 1
	LabelShare           = "label_share"              // share of a class among the answers
	Transition           = "transition"               // share of a class among items that the source puts into another
)

// Above is the BLEU that items of ConsistencyBLEU50 exceed.
const Above = 0.5

// share is an observation's contribution to a figure.
type share struct {
	measure string
	labels  map[string]string // beside the observation's
	value   float64
	with    float64 // what value is correlated with
	reason  string  // why there is no value
}

// shares are an observation's shares in figures. With detail, those that take
// answers apart by class are among them.
func (r Rules) shares(o crosstalk.Observation, detail bool) []share {
	own := share{measure: o.Measure, value: float64(o.Value), reason: o.NotScored}
	switch o.Measure {
	case Consistency:
		return r.consistencyShares(o, own, detail)
	case Accuracy:
		return r.answerShares(o, own, detail)
	case ItemBLEU:
		corpus := own
		corpus.measure = BLEU
		return []share{corpus, own}
	}
	return []share{own}
}

func (r Rules) consistencyShares(o crosstalk.Observation, own share, detail bool) []share {
	shares := []share{own}
	add := func(measure string, value, with float64) {
		shares = append(shares, share{measure: measure, value: value, with: with, reason: own.reason})
	}
	sourceRight, judged := o.Numbers[SourceCorrect]
	switch {
	case judged && sourceRight == 1:
		add(ConsistencyCorrect, own.value, 0)
	case judged:
		add(ConsistencyIncorrect, own.value, 0)
	}
	right, rightKnown := o.Numbers[Correct]
	if judged && rightKnown { // an answer without a label is wrong, whatever becomes of its pair
		shares = append(shares, share{measure: AccuracyChange, value: right - sourceRight})
	}
	if repeat, ok := o.Numbers[Repeated]; ok {
		add(ConsistencyChange, own.value-repeat, 0)
	}
	if bleu, ok := o.Numbers[BLEUNumber]; ok {
		if bleu > Above {
			add(ConsistencyBLEU50, own.value, 0)
		}
		add(BLEUConsistency, own.value, bleu)
		if rightKnown {
			shares = append(shares, share{measure: BLEUAccuracy, value: right, with: bleu})
		}
	}
	if detail && (own.reason == "" || own.reason == Invalid) {
		from := cmp.Or(o.Text(SourceClass), Invalid)
		for _, to := range r.classes(o.Labels["task"]) {
			shares = append(shares, share{measure: Transition, labels: map[string]string{"from": from, "to": to},
				value: float64(VerdictOf(cmp.Or(o.Text(ClassText), Invalid) == to))})
		}
	}
	return shares
}

func (r Rules) answerShares(o crosstalk.Observation, own share, detail bool) []share {
	invalid := share{measure: InvalidShare, value: float64(VerdictOf(o.Finding == Invalid)), reason: o.NotScored}
	if o.NotScored == NoGold || o.NotScored == Undefined {
		invalid.reason = ""
	}
	shares := []share{own, invalid}
	if !detail {
		return shares
	}
	byClass := func(found string, part Part, reason string) {
		for _, class := range r.classes(o.Labels["task"]) {
			labels := map[string]string{"class": class, "part": string(part)}
			value := float64(VerdictOf(found == class))
			shares = append(shares, share{measure: LabelShare, labels: labels, value: value, reason: reason})
		}
	}
	part := Part(o.Labels["part"])
	byClass(cmp.Or(o.Text(ClassText), Invalid), part, invalid.reason)
	if gold := o.Text(GoldText); gold != "" && part == Source && o.Sample == 0 {
		byClass(gold, Gold, "")
	}
	return shares
}

// classes are the classes of a task, and Invalid.
func (r Rules) classes(task string) []string {
	if len(r.Classes[task]) == 0 {
		return nil
	}
	return append(slices.Clip(r.Classes[task]), Invalid)
}
