package consistency

import (
	"cmp"
	"strings"

	"crosstalk"
	"crosstalk/measure/estimate"
	"crosstalk/measure/translation"

	"golang.org/x/text/language"
)

func (r Rules) signature(measure string, labels map[string]string, suites crosstalk.SuiteIDs) string {
	fields := []string{measure, "suite:" + suites.Of(labels)}
	reading := []string{"read:" + r.Reader, "invalid:" + r.invalid(), "review:" + cmp.Or(r.Review, "none")}
	if len(r.Classes[labels["task"]]) == 0 {
		reading = []string{"free:" + cmp.Or(r.Free, "-")}
	}
	quality := "bleu:" + flat(bleuFor(labels["pair"]).Signature(1))
	switch measure {
	case Rewriting:
		fields = append(fields, "lid:"+cmp.Or(r.Languages, "none"))
	case BLEU, ItemBLEU:
		fields = append(fields, quality)
	case ROUGE1, ROUGE2, ROUGEL:
		fields = append(fields, "rouge:"+flat(r.rouge(Sense(labels["pair"]).Target()).Signature()))
	case Quality:
		fields = append(fields, "scorer:"+r.Quality)
	case ConsistencyBLEU50, BLEUConsistency, BLEUAccuracy:
		fields = append(append(fields, reading...), quality)
	default:
		fields = append(fields, reading...)
	}
	return estimate.Signature(append(fields, "rewrites:"+cmp.Or(r.Rewrites, "-"))...)
}

// flat is a signature within a signature.
func flat(signature string) string { return strings.ReplaceAll(signature, "|", ",") }

// invalid says what becomes of answers without a label.
func (p Protocol) invalid() string {
	if p.InvalidIsClass {
		return "class"
	}
	return "apart"
}

// bleuFor is BLEU as it is computed for texts of a sense.
func bleuFor(sense string) translation.BLEU {
	return translation.BLEU{Tokenize: translation.TokenizerFor(Sense(sense).Target())}
}

// rouge is the protocol's ROUGE for texts in a language.
func (p Protocol) rouge(lang string) translation.ROUGE {
	base, _ := language.Make(lang).Base()
	switch {
	case p.ROUGE == ROUGEUnicode:
		return translation.ROUGEUnicode
	case base.String() == "zh":
		return translation.ROUGEChinese
	}
	return translation.ROUGEASCII
}
